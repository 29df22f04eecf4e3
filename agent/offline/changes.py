"""Follow-ups to a plan: what should be different, in the words of `change_plan` and `retry_run`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.offline.bounds import Bounds
from agent.offline.numbers import LITERAL, WORD_NUMBER, count_of, parse_number

_FOLLOWS = re.compile(
    r"^\s*(?:please\s+|pls\s+|ok(?:ay)?[, ]+|and\s+|but\s+|also\s+|actually[, ]+|no[, ]+|hmm[, ]+|yes[, ]+|can\s+(?:you|we)\s+|could\s+(?:you|we)\s+|let'?s\s+|请|那|还是|再|另外)*"
    r"(?:drop|remove|skip|exclude|without|leave\s+out|delete|forget|no\s|only|just|keep|add|include|also|plus|use|make|change|set|switch|replace|increase|decrease|reduce|raise|lower|double|halve|half|twice|fewer|more|less|cut|limit|cap|with|instead"
    r"|give\s+it|try\s+it|go\s+with|do\s+it\s+with|run\s+it\s+with|rather|bump"
    r"|去掉|不要|删掉|删除|移除|加上|加入|添加|增加|再加|改成|改为|改|换成|换|只要|只用|只跑|减少|减半|用|把|种子|限制|预算|翻倍|除了)"
)
_DROP = re.compile(
    r"^\s*(?:\S+\s+){0,4}?(?:drop|remove|skip|exclude|without|leave\s+out|delete|forget(?:\s+about)?|no)(?![a-z])|^\s*(?:\S+\s+){0,4}?(?:去掉|不要|删掉|删除|移除|除了)"
)
_ADD = re.compile(
    r"^\s*(?:\S+\s+){0,3}?(?:add|include|also|plus|as\s+well)(?![a-z])|^\s*(?:\S+\s+){0,3}?(?:加上|加入|添加|再加|增加|加)"
)
_MORE_SEEDS = re.compile(
    rf"(?:再加|多加|增加|加|多跑|再跑|add|plus|another|extra)\s*(?P<count>{WORD_NUMBER})?\s*(?:more\s+|extra\s+|additional\s+|random\s+)*(?:个)?(?:随机)?(?:seeds?|种子)"
    rf"|(?P<more>{WORD_NUMBER})\s+(?:more|extra|additional)\s+(?:random\s+)?seeds?"
)
_BARE = re.compile(rf"(?:drop|remove|skip|without|去掉|不要|删掉|删除|移除)\s*(?P<value>{LITERAL})\s*$")
_CLAUSE = re.compile(
    r"\s*(?:[,;.]\s*|\b(?:and|then|but)\s+(?:also\s+)?|,?\s*(?:再|并且|同时|然后|另外))(?=(?:also\s+|then\s+|再|也)?(?:drop|remove|skip|without|add|use|set|make|change|switch|increase"
    r"|reduce|only|keep|double|halve|去掉|不要|删|移除|加|增加|改|换|用|把|只|减|种子))"
)
_HALF = re.compile(r"\bhalf(?:\s+(?:the|of\s+the|as\s+many|as\s+large\s+an?|a))?|\bhalve|减半|一半|\b0\.5x|\b50%")
_DOUBLE = re.compile(r"\bdouble|\btwice(?:\s+(?:the|as\s+many))?|\b2x\b|翻倍|两倍|加倍")
_SCALED = re.compile(rf"({WORD_NUMBER})\s*(?:x|times|倍)")

ANY = "*"
"""In `drop`: whichever setting has the level."""


@dataclass(frozen=True)
class Parts:
    """What the message holds: factors by name, search intervals, and bounds."""

    factors: Mapping[str, list[Any]]
    spans: Mapping[str, tuple[float, float]]
    bounds: Bounds
    loose: tuple[str, ...] = ()


def is_follow_up(lowered: str) -> bool:
    """Whether the message reads as a change to what was just planned."""
    return _FOLLOWS.search(lowered) is not None


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
    scale = scale_of(lowered, parts.loose)
    verb = "drop" if _DROP.search(lowered) else "add" if _ADD.search(lowered) else "set"
    levels = {name: found for name, found in parts.factors.items() if name != "seed" and name not in scale}
    arguments: dict[str, Any] = {verb: levels}
    arguments["scale_seeds"] = scale.pop("seed", None)
    arguments["scale"] = scale
    more = _MORE_SEEDS.search(lowered)
    if more is not None:
        arguments["add_seeds"] = int(count_of(more["count"] or more["more"] or "1") or 1)
    elif arguments["scale_seeds"] is None:
        _seeds(arguments, verb, parts.bounds.seeds)
    bare = _BARE.search(lowered)
    if bare is not None and not levels:
        arguments["drop"] = {ANY: [parse_number(bare["value"])]}
    bounds = parts.bounds
    if bounds.strategy not in (None, "grid") and parts.spans:
        arguments["ranges"] = {name: list(span) for name, span in parts.spans.items()}
        arguments[verb] = {name: found for name, found in levels.items() if name not in parts.spans}
    for name in ("limits", "resources", "metrics", "strategy", "trials"):
        arguments[name] = getattr(bounds, name)
    return {name: value for name, value in arguments.items() if value}


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
    scale = scale_of(lowered, parts.loose)
    settings = {name: levels[0] for name, levels in parts.factors.items() if levels and name not in scale}
    found: dict[str, Any] = {}
    if settings:
        found["set"] = settings
    if scale:
        found["scale"] = scale
    return found


def scale_of(lowered: str, loose: tuple[str, ...]) -> dict[str, float]:
    """Which settings are halved or doubled: the one named near the word."""
    times = _SCALED.search(lowered)
    count = count_of(times[1]) if times is not None else None
    factor = 0.5 if _HALF.search(lowered) else 2.0 if _DOUBLE.search(lowered) else float(count) if count else None
    if factor is None:
        return {}
    if re.search(r"seeds?|种子", lowered):
        return {"seed": factor}
    return {loose[0]: factor} if loose else {}
