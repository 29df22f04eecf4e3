"""What a plan may use: budgets, deadlines, trials, seeds, GPUs, and the way of searching."""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agent.offline.lexicon import GPU, METRICS
from agent.offline.numbers import LITERAL, WORD_NUMBER, Number, atoms, count_of, parse_number
from agent.offline.text import Page

_MOST = (
    r"(?:(?:with\s+|on\s+)?(?:a\s+|the\s+)?(?:total\s+|max(?:imum)?\s+)?budget(?:\s+(?:of|is))?|at\s+most|max(?:imum)?(?:\s+of)?|up\s+to"
    r"|no\s+more\s+than|not\s+more\s+than|under|within|below|less\s+than|fewer\s+than|limit(?:ed)?(?:\s+(?:to|of|is))?|cap(?:ped)?(?:\s+at)?"
    r"|stay(?:ing)?\s+(?:under|below|within)|<=?|≤|预算(?:是|为)?|最多|不超过|不要超过|以内|上限(?:是|为)?|总共|限制在?)\s*[:=]?\s*(?:about\s+|around\s+|~)?"
)
_GPU_HOURS = re.compile(
    rf"(?:{_MOST})?({LITERAL}|{WORD_NUMBER})\s*[- ]?(?:{GPU}[- ]?)?(?:(gpu)?[-\s]*(hours?|hrs?|h|days?|小时|天)(?:\s*of\s*gpu(?:\s*time)?)?|(?:卡时|gpu时|卡·时))"
    r"(?![a-z])(?:\s*(?:in\s+)?total|\s*budget|\s*以内|\s*之内|的预算|预算|\s*max(?:imum)?)?"
)
_DEADLINES: tuple[tuple[re.Pattern[str], float], ...] = tuple(
    (re.compile(pattern), hours)
    for pattern, hours in (
        (
            r"(?:by|before|until|need(?:ed)?\s+(?:it\s+)?|due|for)\s+(?:the\s+)?(?:end\s+of\s+)?day\s+after\s+tomorrow|后天(?:之前|前)?",
            48,
        ),
        (
            r"(?:by|before|until|due|for|finish(?:ed)?)\s+tomorrow(?:\s+(?:morning|noon|evening|night))?|明天(?:早上|上午|下午|晚上)?(?:之前|以前|前)?(?=[^每]|$)|明早",
            24,
        ),
        (
            r"(?:by\s+|before\s+)?tonight|by\s+(?:the\s+)?end\s+of\s+(?:the\s+)?(?:day|today)|by\s+eod|today|今晚(?:之前|前)?|今天(?:之内|内|之前|前)",
            12,
        ),
        (r"overnight|by\s+(?:the\s+)?morning|一晚上?", 12),
        (
            r"(?:by|before|until|due)\s+(?:the\s+)?(?:end\s+of\s+)?next\s+week|(?:within|in)\s+(?:a|one)\s+week|一周(?:之内|以内|内)|下周(?:之前|前)",
            168,
        ),
        (r"by\s+(?:the\s+)?(?:end\s+of\s+)?(?:this|the)\s+week|本周(?:之内|内)|这周(?:之内|内)", 120),
    )
)
_WITHIN = re.compile(
    rf"(?:within|in|finish(?:ed)?\s+in|need(?:ed)?\s+(?:it\s+)?in|deadline(?:\s+(?:is|of|in))?|less\s+than|done\s+in)\s*[:=]?\s*(?:the\s+next\s+)?"
    rf"({WORD_NUMBER})\s*(hours?|hrs?|h|days?|weeks?|minutes?|mins?)(?![a-z])(?!\s*(?:per|each|/))"
    rf"|(?:在)?({WORD_NUMBER})\s*个?(小时|天|周|分钟)(?:之内|以内|内)(?:完成|跑完|给|出)?|截止(?:时间)?({WORD_NUMBER})个?(小时|天)后?"
)
_PER_RUN = re.compile(
    rf"(?:{_MOST})?({WORD_NUMBER})\s*(hours?|hrs?|h|minutes?|mins?)\s*(?:per|each|/|a)\s*(?:run|trial|experiment|job)?|每(?:个|次)(?:实验|运行|任务)?(?:最多|不超过)({WORD_NUMBER})\s*(小时|分钟)"
)
_WEEKDAY = re.compile(
    r"(?:by|before|until|due)\s+(?:this\s+|next\s+)?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(?:在)?(?:这|本)?(?:周|星期|礼拜)([一二三四五六日天])(?:之前|以前|前)"
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TRIALS = re.compile(
    rf"({_MOST})?({WORD_NUMBER})\s*(?:bayesian\s+|random\s+|optuna\s+|search\s+|hyperparameter\s+)?(?:trials?|evaluations?|configs?|configurations?|samples|试验|次试验|次尝试|组(?:参数|配置|超参)?|个trial)"
    rf"|({_MOST})({WORD_NUMBER})\s*(?:runs?|experiments?|jobs?|次运行|个实验|次)(?![a-z]|重复)"
)
_SEEDS = (
    re.compile(
        rf"(?:number\s+of\s+|num[_ ])?seeds\s*(?:=|:)\s*(?P<count>\d+)(?![\d.])(?!\s*(?:,|and|、|和|/|\||-|to|\d))|(?:种子|随机种子)(?:数|数量|个数)?(?:改成|改为|设为|换成|变成|增加到|减少到|为|是)?(?P<count2>{WORD_NUMBER})个"
    ),
    re.compile(
        r"(?:random\s+)?seeds?\s*(?:=|:|in|from|are|is)?\s*[\[({]?\s*(?P<low>\d+)\s*(?:-|to|through|\.\.+|到|至|~)\s*(?P<high>\d+)[\])}]?(?![\d.])"
    ),
    re.compile(r"(?:random[\s_]+)?seed\s*(?:=|:|是|为)\s*(?P<one>\d+)(?![\d.])(?!\s*(?:,|and|、|和|/|\||\d))"),
    re.compile(
        r"(?:random[\s_]+)?(?:seeds?|随机种子|种子)\s*(?:=|:|in|are|是|为|用|分别为|分别是)?\s*(?P<list>[\[({]?\s*\d+(?:\s*(?:,\s*and|,|、|/|\||and|和|与)\s*\d+)+\s*[\])}]?)(?!\s*(?:epochs?|gpus?|轮))"
    ),
    re.compile(
        rf"(?P<count>{WORD_NUMBER})\s*(?:different\s+|random\s+|independent\s+|distinct\s+|个不同的|个独立的)*(?:个)?(?:随机)?(?:seeds?|sedes?|sees|种子)(?:\s*(?:each|per\s+\w+|apiece))?"
    ),
    re.compile(
        rf"(?:repeat(?:ed|ing)?|replicate[ds]?|rerun|run|repeating)\s+(?:each|every|all|them|it|everything)?\s*(?:\w+\s+)?(?P<count>{WORD_NUMBER})\s*(?:times|x)(?![a-z])"
    ),
    re.compile(
        rf"(?P<count>{WORD_NUMBER})\s*(?:repeats?|repetitions?|replicates?|replicas|(?:independent\s+)?runs?\s+(?:each|per\s+(?:setting|config(?:uration)?|cell|combination|model)))(?![a-z])"
    ),
    re.compile(rf"averag(?:ed?|ing)\s+over\s+(?P<count>{WORD_NUMBER})\s*(?:runs?|seeds?|trials?|repeats?)"),
    re.compile(
        rf"(?:各|每个|每组|都|均)?(?:重复|各跑|跑)(?P<count>{WORD_NUMBER})\s*(?:次|遍)|(?P<count2>{WORD_NUMBER})次重复|(?P<count3>{WORD_NUMBER})个(?:随机)?种子"
    ),
    re.compile(r"(?:random[\s_]+)?seed\s+(?P<one>\d+)(?![\d.])|种子\s*(?P<one2>\d+)(?![\d.])"),
)
_PER = r"(?:\s*(?:per|for\s+each|each|/)\s*(?:run|experiment|trial|job|model|cell)?)?"
_GPU_COUNT = re.compile(
    rf"(?:(?:using|use|with|on|each\s+on|each\s+with|needs?|requires?)\s+)?(?:每个实验|每次实验|每个任务|每个|每次)?(?:都)?(?:用|使用|需要)?\s*"
    rf"(?P<count>{WORD_NUMBER})\s*(?:[x×*]\s*|张|块|个|卡|片|台)?\s*(?:nvidia\s+|free\s+)?(?P<type>{GPU})(?:-?\d+\s*gb?)?s?(?![a-z0-9])(?:\s*gpus?|\s*显卡|\s*卡)?{_PER}"
)
_GPU_ANY = re.compile(
    rf"(?:(?:using|use|with|on|each\s+on|needs?)\s+)?(?:每个实验|每次实验|每个任务|每个|每次)?(?:都)?(?:用|使用|需要)?\s*(?P<count>{WORD_NUMBER})\s*(?:[x×]\s*|张|块|个|-)?\s*(?:gpus?|显卡|卡)(?![a-z0-9]|时|[-\s]*(?:hours?|hrs?|days?|小时))(?:\s*node)?{_PER}"
)
_GPU_TYPE = re.compile(
    rf"(?:(?:using|use|on|with)\s+(?:the\s+|our\s+)?|在|用)?(?<![a-z0-9-])(?P<type>{GPU})s?(?![a-z0-9-])(?:\s*gpus?|\s*显卡|\s*node)?"
)
_MEMORY = re.compile(
    r"(\d+)\s*(gi?b|g|ti?b)(?:\s*of)?\s*(?:ram|(?:host\s+)?memory|内存)|(?:ram|memory|内存)\s*(?:=|:|of)?\s*(\d+)\s*(gi?b|g)(?![a-z])"
)
_NODES = re.compile(rf"({WORD_NUMBER})\s*(?:nodes?|machines?|台机器|个节点|节点)(?![a-z])")
_CPUS = re.compile(rf"({WORD_NUMBER})\s*(?:cpus?|cpu\s*cores?|cores|个cpu|核)(?![a-z])")
_STRATEGIES = (
    (
        "bayesian",
        r"bayesian(?:\s+(?:optimi[sz]ation|search|opt))?|bayes(?:\s*opt)?|(?<![a-z])tpe(?![a-z])|optuna|贝叶斯(?:优化|搜索)?",
    ),
    (
        "adaptive",
        r"adaptive(?:ly)?|hyperband|(?<![a-z])asha(?![a-z])|successive\s+halving|(?<![a-z])bohb(?![a-z])|自适应|逐次减半",
    ),
    ("random", r"random\s+(?:search|sampling)|randomly\s+sample|随机搜索"),
    (
        "grid",
        r"grid(?:\s*search)?|full\s+factorial|all\s+combinations|every\s+combination|cartesian|网格(?:搜索)?|全组合|所有组合",
    ),
)
_TARGET = re.compile(
    rf"(?:until|till|stop\s+(?:when|at|once)|target(?:\s+of|\s*[:=])?|reach(?:es)?|直到|达到|目标)\s*(?:the\s+)?(?:val(?:idation)?\s+|test\s+)?(?:accuracy|acc|loss|f1|bleu|map|miou|准确率|损失)?\s*(?:is|of|reaches|hits|exceeds|达到|超过|>=?|≥|<=?|≤|:|=)?\s*({LITERAL})"
)


@dataclass
class Bounds:
    """What was found; each mapping holds only what was said."""

    limits: dict[str, Any] = field(default_factory=dict[str, Any])
    resources: dict[str, Any] = field(default_factory=dict[str, Any])
    seeds: list[int] | None = None
    trials: int | None = None
    strategy: str | None = None
    metrics: list[str] = field(default_factory=list[str])


def read_bounds(page: Page, now: datetime | None = None) -> Bounds:
    """Read all of it, most telling first, and cross it off."""
    found = Bounds()
    _read_per_run(page, found)
    _read_gpu_hours(page, found)
    _read_deadline(page, found, now)
    _read_seeds(page, found)
    _read_strategy(page, found)
    _read_trials(page, found)
    _read_target(page, found)
    _read_resources(page, found)
    return found


def _take(page: Page, pattern: re.Pattern[str]) -> re.Match[str] | None:
    match = pattern.search(page.lower)
    if match is not None:
        page.cross_off(*match.span())
    return match


def _hours(count: Number, unit: str) -> Number:
    per = {"m": 1 / 60, "分": 1 / 60, "d": 24, "天": 24, "w": 168, "周": 168}.get(unit[:1], 1)
    value = count * per
    return round(value) if abs(value - round(value)) < 1e-9 else round(value, 4)


def _read_per_run(page: Page, found: Bounds) -> None:
    match = _take(page, _PER_RUN)
    if match is not None:
        count = count_of(match[1] or match[3])
        if count is not None:
            found.limits["hours_per_run"] = _hours(count, match[2] or match[4])


def _read_gpu_hours(page: Page, found: Bounds) -> None:
    for match in _GPU_HOURS.finditer(page.lower):
        if (
            "gpu" not in match[0]
            and "卡" not in match[0]
            and not re.search(rf"(?<![a-z0-9]){GPU}[- ]?(?:hours?|days?)", match[0])
        ):
            continue
        count = count_of(match[1]) if re.fullmatch(WORD_NUMBER, match[1]) else parse_number(match[1])
        if count is not None:
            days = match[3] is not None and match[3][:1] in ("d", "天")
            found.limits["gpu_hours"] = count * 24 if days else count
            page.cross_off(*match.span())
            return


def _read_deadline(page: Page, found: Bounds, now: datetime | None) -> None:
    match = _take(page, _WITHIN)
    if match is not None:
        count = count_of(next(match[i] for i in (1, 3, 5) if match[i]))
        if count is not None:
            found.limits["deadline_hours"] = _hours(count, next(match[i] for i in (2, 4, 6) if match[i]))
            return
    match = _take(page, _WEEKDAY)
    if match is not None:
        day = _DAYS.index(match[1]) if match[1] else "一二三四五六日天".index(match[2]) % 7
        found.limits["deadline_hours"] = _until_weekday(min(day, 6), now)
        return
    for pattern, hours in _DEADLINES:
        if _take(page, pattern) is not None:
            found.limits["deadline_hours"] = hours
            return


def _until_weekday(day: int, now: datetime | None) -> int:
    """Hours to the end of that weekday's office hours (18:00); a week at the most."""
    if now is None:
        return 120
    end = (now + timedelta(days=(day - now.weekday()) % 7)).replace(hour=18, minute=0, second=0, microsecond=0)
    left = (end - now).total_seconds() / 3600
    return round(left if left > 0 else left + 168)


def _read_seeds(page: Page, found: Bounds) -> None:
    for pattern in _SEEDS:
        match = pattern.search(page.lower)
        if match is None:
            continue
        seeds = _seed_levels({k: v for k, v in match.groupdict().items() if v is not None})
        if seeds is not None:
            found.seeds = seeds
            page.cross_off(*match.span())
            return


def _seed_levels(parts: dict[str, str]) -> list[int] | None:
    if "low" in parts:
        low, high = int(parts["low"]), int(parts["high"])
        return list(range(low, high + 1)) if 0 <= high - low < 1000 else None
    if "list" in parts:
        return [int(value) for value in atoms(parts["list"])]
    one = parts.get("one") or parts.get("one2")
    if one is not None:
        return [int(one)]
    count = count_of(next(v for k, v in parts.items() if k.startswith("count")))
    return list(range(int(count))) if count is not None and 1 <= count <= 1000 else None


def _read_strategy(page: Page, found: Bounds) -> None:
    for name, pattern in _STRATEGIES:
        match = re.search(pattern, page.lower)
        if match is not None:
            found.strategy = name
            page.cross_off(*match.span())
            return


def _read_trials(page: Page, found: Bounds) -> None:
    match = _take(page, _TRIALS)
    if match is None:
        return
    count = count_of(match[2] or match[4])
    if count is not None and count >= 1:
        found.trials = int(count)
        found.limits["max_runs"] = int(count)


def _read_target(page: Page, found: Bounds) -> None:
    match = _take(page, _TARGET)
    if match is not None:
        found.limits["target"] = parse_number(match[1])


def _read_resources(page: Page, found: Bounds) -> None:
    match = _take(page, _GPU_COUNT)
    if match is not None:
        count = count_of(match["count"])
        found.resources |= {"gpus": int(count) if count else 1, "gpu_type": _gpu_name(match["type"])}
    else:
        match = _take(page, _GPU_TYPE)
        if match is not None and match["type"]:
            found.resources["gpu_type"] = _gpu_name(match["type"])
        match = _take(page, _GPU_ANY)
        if match is not None and (count := count_of(match["count"])) is not None:
            found.resources["gpus"] = int(count)
    match = _take(page, _MEMORY)
    if match is not None:
        found.resources["memory"] = f"{match[1] or match[3]}{'TiB' if (match[2] or match[4])[0] == 't' else 'GiB'}"
    for name, pattern in (("nodes", _NODES), ("cpus", _CPUS)):
        match = _take(page, pattern)
        if match is not None and (count := count_of(match[1])) is not None:
            found.resources[name] = int(count)


def _gpu_name(text: str) -> str:
    name = re.sub(r"[ -]+", " ", text.strip()).upper()
    return name[:-1] if re.fullmatch(r"[A-Z]\d+S", name) and name != "L40S" else name


def read_metrics(page: Page, known: tuple[str, ...] = ()) -> list[str]:
    """The metrics named, under their usual names."""
    names = [(alias, name) for name, aliases in METRICS for alias in aliases] + [(name, name) for name in known]
    names.sort(key=lambda pair: -len(pair[0]))
    found: list[tuple[int, str]] = []
    for alias, name in names:
        pattern = re.escape(alias.lower()).replace(r"\ ", r"[\s_-]+")
        for match in re.finditer(rf"(?<![a-z0-9@_-]){pattern}(?![a-z0-9@_]|-[a-z0-9])", page.lower):
            if "\x00" not in page.left[match.start() : match.end()]:
                found.append((match.start(), name))
                page.cross_off(*match.span())
    return list(dict.fromkeys(name for _place, name in sorted(found)))
