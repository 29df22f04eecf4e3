"""Follow-ups to a plan: what should be different, in the words of `change_plan` and `retry_run`."""

import re
from typing import Any

from agent.offline.lexer import count_of, parse_number
from agent.offline.parts import Parts
from agent.offline.patterns import LITERAL, WORD_NUMBER

_LEAD = (
    r"^[\s,]*(?:(?:please|pls|plz|ok(?:ay)?|and|but|also|actually|no|nah|hmm|yes|yeah|sure|fine|great|thanks|wait|oh|hey|hi|hello|labhand|now|then|so|well|sorry"
    r"|can (?:you|we)|could (?:you|we)|would you|let'?s|lets|i'd like to|i want to|we should|maybe|perhaps|just|on second thought|in plan \d+|for plan \d+|plan \d+"
    r"|请|那|那就|还是|再|另外|帮我|麻烦|嗯|好的?|算了|把?计划\d+|不|等等|不过|然后)[\s,:-]*){0,6}"
)
_DROPS = r"drop|remove|skip|exclude|without|leave out|take out|delete|forget(?: about)?|get rid of|cut out|omit|ditch|kick out|minus|scrap|no(?= (?!more than))|not"
_DROPS_ZH = "去掉|不要|删掉|删除|移除|去除|除了|排除|不跑|不用|别跑|别用|砍掉|剔除|取消"
_ADDS = r"add|include|also|plus|as well|throw in|extend|append|too|additionally"
_ADDS_ZH = "加上|加入|添加|再加|增加|追加|也跑|也试|还要|再试|再跑|多加|加"
_FOLLOWS = re.compile(
    rf"{_LEAD}(?:(?:{_DROPS}|{_ADDS}|only|keep|use|make|change|set|switch|replace|swap|increase|decrease|reduce|raise|lower|double|triple|halve|half|twice|fewer|more|less|cut|limit|cap|with|instead"
    r"|give it|try it|try|go with|go for|do it with|run it with|run it on|run them on|put it on|rather|bump|extend|shorten|instead of|at most|under|up the|update|turn (?:on|off)|enable|disable|\d+ more|one more|another|restrict|stick with|move it to|scale|drop)(?![a-z])"
    rf"|{_DROPS_ZH}|{_ADDS_ZH}|改成|改为|改|换成|换|只要|只用|只跑|只|减少|减半|用|把|种子|seeds?|限制|预算|翻倍|设为|设成|调到|提高|降低|缩小|增大|改用|保留)"
)
_DROP = re.compile(
    rf"{_LEAD}(?:(?:{_DROPS})(?![a-z])|{_DROPS_ZH}|把.{{1,30}}(?:去掉|删掉|删除|移除|去除))|(?:去掉|删掉|不要了|移除)[吧了 ]*$"
)
_ADD = re.compile(
    rf"{_LEAD}(?:(?:can we |could we )?(?:{_ADDS})(?![a-z])|{_ADDS_ZH}|把.{{1,30}}加(?:上|进))|(?: (?:too|as well|also)|(?:也|一起)(?:加上|跑|试|试试|跑一下|试一下))[ .!]*$"
)
_MORE_SEEDS = re.compile(
    rf"(?:再加|多加|增加|加|多跑|再跑|再来|add|plus|another|extra|include)\s*(?P<count>{WORD_NUMBER})?\s*(?:more |extra |additional |random |another ){{0,3}}(?:个)?(?:随机)?(?:seeds?|种子)"
    rf"|(?P<more>{WORD_NUMBER}) (?:more|extra|additional) (?:random )?seeds?"
)
_SEEDS_LAST = re.compile(
    r"(?:seeds?|种子)(?:数)?[^\w]{0,3}(?:to |just |only |down to |say |就)?(\d{1,3})\W*$|(?:seeds?|种子).{0,8}?(\d{1,3})个?(?:就够|够了|就行|就好)"
)
_BARE = re.compile(
    rf"(?:drop|remove|skip|without|去掉|不要|删掉|删除|移除)\s*(?:the )?(?P<value>{LITERAL})\s*(?:one|level|cell)?\W*$"
)
_CLAUSE = re.compile(
    r"\s*(?:[,;.]\s*|\b(?:and|then|but) (?:also )?|,?\s*(?:再|并且|同时|然后|另外))(?=(?:also |then |再|也)?(?:drop|remove|skip|without|add|use|set|make|change|switch|increase"
    r"|reduce|only|keep|double|halve|limit|cap|replace|去掉|不要|删|移除|加|增加|改|换|用|把|只|减|种子|学习率改))"
)
_HALF = re.compile(
    r"\bhalf\b|\bhalve[sd]?\b|\bhalving\b|减半|一半|\b0\.5x|\b50%|减少一半|缩小一半|砍半|除以2|除以二|\b1/2\b"
)
_DOUBLE = re.compile(r"\bdouble[sd]?\b|\bdoubling\b|\btwice\b|\b2x\b|\b2 x\b|翻倍|两倍|加倍|翻一番|增加一倍|乘以2|乘2")
_TIMES = re.compile(
    rf"({WORD_NUMBER})\s*(?:x\b|times|倍)|\b(quarter|tenth|third|triple|quadruple|四分之一|十分之一|三分之一)|by (?:a factor of )?({WORD_NUMBER})x?\b"
)
_FRACTIONS = {
    "quarter": 0.25,
    "tenth": 0.1,
    "third": 1 / 3,
    "triple": 3.0,
    "quadruple": 4.0,
    "四分之一": 0.25,
    "十分之一": 0.1,
    "三分之一": 1 / 3,
}
_SMALLER = re.compile(r"lower|reduce|decrease|smaller|less|divide|shrink|降低|减小|缩小|除以")
_REPLACE = re.compile(r"(?:replace|swap|exchange|换掉|instead of)")
_NEEDS = re.compile(
    rf"{_LEAD}(?:drop|remove|exclude|leave out|only|half the seeds|double the|halve|make it|change it|change the|instead|不要|去掉|删掉|改成|改为|种子改|只要|只跑)"
)

ANY = "*"
"""In `drop`: whichever setting has the level."""


def is_follow_up(lowered: str) -> bool:
    """Whether the message reads as a change to what was just planned."""
    return _FOLLOWS.search(lowered) is not None


def needs_plan(lowered: str, parts: Parts) -> bool:
    """Whether the message makes sense only as a change, so that the plan has to be asked for."""
    named = {"model", "dataset"} & parts.factors.keys()
    return (
        len(lowered) < 60 and _NEEDS.search(lowered) is not None and not ("dataset" in named and len(parts.factors) > 1)
    )


def clauses_of(plain: str) -> list[str]:
    """The parts of a message that each ask for one change: `drop lr 0.2 and use 10 epochs`."""
    return [part for part in _CLAUSE.split(plain) if part.strip()]


def merged(changes: list[dict[str, Any]]) -> dict[str, Any]:
    """The changes of several clauses as one; what a later clause says of a setting wins."""
    whole: dict[str, Any] = {}
    for change in changes:
        for name, value in change.items():
            both = isinstance(value, dict) and isinstance(whole.get(name), dict)
            whole[name] = {**whole[name], **value} if both else value
    return whole


def change_arguments(lowered: str, parts: Parts) -> dict[str, Any]:
    """The arguments of `change_plan`; empty when nothing to change was said."""
    scale = scale_of(lowered, parts)
    levels = {name: found for name, found in parts.factors.items() if name != "seed" and name not in scale}
    verb = _verb(lowered)
    arguments: dict[str, Any] = {verb: levels}
    if verb == "drop" and not levels and parts.loose:
        arguments["drop"] = {name: [] for name in parts.loose}
    arguments["scale_seeds"] = scale.pop("seed", None)
    arguments["scale"] = scale
    more = _MORE_SEEDS.search(lowered)
    if more is not None:
        arguments["add_seeds"] = int(count_of(more["count"] or more["more"] or "1") or 1)
    elif (plain := _SEEDS_LAST.search(lowered)) is not None and parts.bounds.seeds is None:
        arguments["seeds"] = int(plain[1] or plain[2])
    elif arguments["scale_seeds"] is None:
        _seeds(arguments, verb, parts.bounds.seeds)
    bare = _BARE.search(lowered)
    if bare is not None and not levels:
        arguments["drop"] = {ANY: [parse_number(bare["value"].rstrip("%"))]}
    if parts.searching and parts.spans:
        arguments["ranges"] = {name: list(span) for name, span in parts.spans.items()}
        arguments[verb] = {name: found for name, found in levels.items() if name not in parts.spans}
    for name in ("limits", "resources", "metrics", "strategy", "trials"):
        arguments[name] = getattr(parts.bounds, name)
    if arguments["trials"] is not None and arguments["limits"].get("max_runs") == arguments["trials"]:
        arguments["limits"] = {name: value for name, value in arguments["limits"].items() if name != "max_runs"}
    return {name: value for name, value in arguments.items() if value}


def _verb(lowered: str) -> str:
    return "drop" if _DROP.search(lowered) else "add" if _ADD.search(lowered) else "set"


def _seeds(arguments: dict[str, Any], verb: str, seeds: list[int] | None) -> None:
    """So many seeds, or those named."""
    if seeds is None:
        return
    if seeds == [0] or (len(seeds) > 1 and seeds == list(range(len(seeds)))):
        arguments["seeds"] = len(seeds)
    else:
        arguments[verb] = {**arguments[verb], "seed": seeds}


def retry_arguments(lowered: str, parts: Parts) -> dict[str, Any]:
    """`set` and `scale` for `retry_run`."""
    scale = scale_of(lowered, parts)
    named = ("model", "dataset")
    settings = {n: levels[0] for n, levels in parts.factors.items() if levels and n not in scale and n not in named}
    found: dict[str, Any] = {"set": settings, "scale": scale}
    return {name: value for name, value in found.items() if value}


def scale_of(lowered: str, parts: Parts) -> dict[str, float]:
    """Which settings are halved or doubled: the one named near the word."""
    factor = _factor(lowered)
    if factor is None:
        return {}
    if re.search(r"seeds?|种子", lowered) and not parts.loose:
        return {"seed": factor}
    owners = parts.loose or tuple(
        name for name in parts.factors if parts.factors[name] in ([0.5], [2], [1], [3], [4], [10])
    )
    if not owners and re.search(r"seeds?|种子", lowered):
        return {"seed": factor}
    return {owners[0]: factor} if owners else {}


def _factor(lowered: str) -> float | None:
    if _HALF.search(lowered):
        return 0.5
    if _DOUBLE.search(lowered):
        return 2.0
    times = _TIMES.search(lowered)
    if times is None:
        return None
    if times[2] is not None:
        return _FRACTIONS[times[2]]
    count = count_of(times[1] or times[3])
    if not count:
        return None
    return 1 / float(count) if _SMALLER.search(lowered) else float(count)
