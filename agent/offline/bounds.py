"""What a plan may use: budgets, deadlines, trials, seeds, machines, and the way of searching."""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agent.offline.claims import Claim, Claims
from agent.offline.lexer import Number, whole
from agent.offline.sheet import Sheet

_HOURS: dict[str, float] = {
    "hours": 1,
    "days": 24,
    "weeks": 168,
    "minutes": 1 / 60,
    "gpu_hours": 1,
    "gpu_days": 24,
    "gpu_weeks": 168,
}
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_END_OF_DAY = 18
"""Office hours end at six: that is when something due on a day is needed."""
_REPEATED = re.compile(r"repeat|replicat|重复|各跑|各|每|\brun each|\brerun|averag|mean of|均跑|都跑|分别跑|跑")
_UNTIL = re.compile(
    r"(?:until|till|stop (?:when|at|once|if)|target(?: of)?|reach(?:es)?|to reach|hits?|to get to|get to|aim(?:ing)? for|goal of|直到|达到|目标)"
)
_NOT_A_START = frozenset(["start", "run", "launch", "begin", "starting", "running", "since", "from", "of"])


@dataclass
class Bounds:
    """What was found; each mapping holds only what was said."""

    limits: dict[str, Any] = field(default_factory=dict[str, Any])
    resources: dict[str, Any] = field(default_factory=dict[str, Any])
    seeds: list[int] | None = None
    trials: int | None = None
    strategy: str | None = None
    metrics: list[str] = field(default_factory=list[str])


def read_strategy(sheet: Sheet) -> str | None:
    """The way of searching that is named."""
    found = [sheet.terms[place].as_a("strategy") for place in range(len(sheet)) if sheet.is_a(place, "strategy")]
    for place in range(len(sheet)):
        if sheet.is_a(place, "strategy"):
            sheet.take(place, place + 1)
    return next((name for name in found if name != "grid"), found[0] if found else None)


def read_target(sheet: Sheet, bounds: Bounds) -> None:
    """`until accuracy reaches 0.95`: read before numbers are handed out."""
    for place in range(len(sheet)):
        if sheet.kind(place) != "number" or sheet.is_a(place + 1, "setting", "unit", "sep"):
            continue
        before = sheet.said(max(0, place - 6), place).lower()
        metric = any(sheet.is_a(at, "metric") for at in (*range(max(0, place - 6), place), place + 1))
        if metric and _UNTIL.search(before):
            bounds.limits["target"] = sheet.terms[place].value
            sheet.take(place, place + 1)
            return


def read_bounds(sheet: Sheet, claims: Claims, bounds: Bounds, now: datetime | None = None) -> Bounds:
    """Read limits, seeds and machines out of the claims of units and GPUs."""
    for claim in claims.made:
        if claim.kind == "gpu":
            bounds.resources |= {"gpus": _count(claim), "gpu_type": gpu_name(claim.name)}
        elif claim.kind == "unit":
            _read_unit(sheet, claim, bounds)
    _read_times(sheet, bounds)
    _read_deadline(sheet, bounds, now)
    _read_lone_gpu(sheet, bounds)
    return bounds


def _count(claim: Claim) -> int:
    return int(claim.group.elements[0].low)


def _number(claim: Claim) -> Number:
    return whole(claim.group.elements[0].low)


def _read_unit(sheet: Sheet, claim: Claim, bounds: Bounds) -> None:
    name = claim.name
    if name in ("gpu_hours", "gpu_days", "gpu_weeks"):
        bounds.limits["gpu_hours"] = whole(_number(claim) * _HOURS[name])
    elif name in _HOURS:
        _read_hours(sheet, claim, bounds)
    elif name == "seeds":
        bounds.seeds = seed_levels(sheet, claim)
    elif name in ("gpus", "nodes", "cpus"):
        bounds.resources.setdefault(name, _count(claim))
    elif name in ("memory", "memory_tb"):
        if not (sheet.is_a(claim.place - 2, "gpu") or sheet.is_a(claim.place + 1, "gpu")) and not _is_card_memory(
            sheet, claim
        ):
            bounds.resources["memory"] = f"{_count(claim)}{'GiB' if name == 'memory' else 'TiB'}"
    else:
        _read_runs(sheet, claim, bounds)


def _is_card_memory(sheet: Sheet, claim: Claim) -> bool:
    """`A100 80GB`, `24 GB GPUs`: the size of the card, no need of host memory."""
    around = [sheet.terms[at] for at in (claim.group.start - 1, claim.place + 1) if 0 <= at < len(sheet)]
    return any(term.is_a("gpu") or term.as_a("unit") == "gpus" for term in around)


def seed_levels(sheet: Sheet, claim: Claim) -> list[int] | None:
    """The seeds: so many (`3 seeds`, `seeds: 3`), or those named (`seed 42`, `seeds 0-4`)."""
    group, word = claim.group, sheet.low(claim.place)
    first = group.elements[0]
    if first.high is not None:
        low, high = int(first.low), int(first.high)
        return list(range(low, high + 1)) if 0 <= high - low < 1000 else None
    if len(group.elements) > 1:
        return [int(element.low) for element in group.elements]
    count = int(first.low)
    said_count = word.endswith("s") or any(part in word for part in ("个", "数量", "种子数"))
    counted_behind = sheet.low(group.end) == "个" or sheet.low(group.end) == "种"
    if claim.right and not (said_count or counted_behind):
        return [count]
    return list(range(count)) if 1 <= count <= 1000 else None


def _read_runs(sheet: Sheet, claim: Claim, bounds: Bounds) -> None:
    """Trials, runs and repeats: what the number counts depends on the words around it."""
    count, name = _count(claim), claim.name
    before = sheet.said(max(0, claim.group.start - 4), claim.group.start).lower()
    per = any(sheet.is_a(at, "per") for at in (claim.place + 1, claim.place + 2, claim.group.start - 1))
    most = _limited(sheet, claim)
    if name in ("repeats", "times"):
        repeated = (
            name == "repeats"
            or per
            or _REPEATED.search(before) is not None
            or (most is False and "times" in sheet.low(claim.place))
        )
        if repeated and 1 < count <= 1000 and bounds.seeds is None:
            bounds.seeds = list(range(count))
        return
    if name == "runs" or sheet.low(claim.place) in ("次", "trials", "runs"):
        averaged = re.search(r"averag|mean (?:of|over)|std|重复|各跑|各|每|都跑|均跑|(?:^|\W)跑$", before) is not None
        if (per or averaged) and not most and bounds.seeds is None:
            bounds.seeds = list(range(min(count, 1000)))
            return
        if name == "runs" and not (most or bounds.strategy not in (None, "grid")):
            return
    if count >= 1 and (name != "trials" or sheet.low(claim.place) not in ("samples", "次") or most or bounds.strategy):
        bounds.trials = count
        bounds.limits["max_runs"] = count


def _read_times(sheet: Sheet, bounds: Bounds) -> None:
    """`3x each`: so many repeats."""
    for place in range(len(sheet) - 2):
        if sheet.kind(place) == "number" and sheet.low(place + 1) == "x" and sheet.is_a(place + 2, "per"):
            count = sheet.terms[place].value
            if bounds.seeds is None and isinstance(count, int) and 1 <= count <= 1000:
                bounds.seeds = list(range(count))
                sheet.take(place, place + 3)


def _limited(sheet: Sheet, claim: Claim) -> bool:
    before = any(sheet.is_a(at, "most") for at in range(max(0, claim.group.start - 3), claim.group.start))
    between = any(sheet.terms[at].is_a("most") for at in range(claim.place + 1, claim.group.start))
    after = any(sheet.is_a(at, "most", "within") for at in range(claim.place + 1, claim.place + 4))
    return before or between or after


def _read_hours(sheet: Sheet, claim: Claim, bounds: Bounds) -> None:
    """Hours without `GPU`: a deadline, a limit per run, or a budget."""
    start, end = claim.group.start, claim.place + 1
    hours = whole(_number(claim) * _HOURS[claim.name])
    before = [sheet.terms[at] for at in range(max(0, start - 4), start)]
    cut = max((at for at, term in enumerate(before) if term.low in (",", ";", ".", "、")), default=-1) + 1
    words = " ".join(term.low for term in before[cut:])
    after = [sheet.terms[at] for at in range(end, min(len(sheet), end + 3))]
    if any(term.is_a("per") for term in (*before[cut:][-3:], *after[:2])) and not any(
        term.low == "every" for term in before
    ):
        bounds.limits["hours_per_run"] = hours
    elif re.search(r"budget|预算", words) and claim.name in ("hours", "days"):
        bounds.limits["gpu_hours"] = hours
    elif any(term.low in ("ago", "前", "every", "last", "past", "old") for term in (*before[-1:], *after[:1])):
        return
    elif any(
        term.is_a("in") or term.is_a("most") or term.is_a("by") or term.low in ("need", "deadline", "截止")
        for term in before[-3:]
    ) or any(term.is_a("within") or term.low in ("以内", "之内", "内", "max", "完成", "deadline") for term in after):
        bounds.limits["deadline_hours"] = hours
    elif re.search(r"(?:train|run|training|跑|训练)\s+for|for$|跑$|训练$", words):
        bounds.limits["hours_per_run"] = hours


def _read_deadline(sheet: Sheet, bounds: Bounds, now: datetime | None) -> None:
    if "deadline_hours" in bounds.limits:
        return
    for place in range(len(sheet)):
        hours = _deadline_at(sheet, place, now)
        if hours is not None:
            bounds.limits["deadline_hours"] = hours
            sheet.take(place, place + 1)
            return


def _deadline_at(sheet: Sheet, place: int, now: datetime | None) -> Number | None:
    before = sheet.low(place - 1)
    if sheet.is_a(place, "deadline") and before not in _NOT_A_START:
        return int(sheet.terms[place].as_a("deadline") or 24)
    day = sheet.terms[place].as_a("weekday") if sheet.free(place) else None
    if day is not None:
        due = any(sheet.is_a(at, "by") for at in (place - 1, place - 2, place + 1)) or before in (
            "need",
            "this",
            "next",
            "for",
        )
        return _until_weekday(_WEEKDAYS.index(day), now) if due else None
    if sheet.kind(place) == "number" and sheet.is_a(place - 1, "by") and sheet.low(place + 1) in ("am", "pm"):
        return _until_hour(int(sheet.terms[place].value or 0) % 12 + 12 * (sheet.low(place + 1) == "pm"), now)
    return None


def _until_weekday(day: int, now: datetime | None) -> int:
    """Hours to the end of that weekday's office hours; five days where the time is not known."""
    if now is None:
        return 120
    end = (now + timedelta(days=(day - now.weekday()) % 7)).replace(hour=_END_OF_DAY, minute=0, second=0, microsecond=0)
    left = (end - now).total_seconds() / 3600
    return round(left if left > 0 else left + 168)


def _until_hour(hour: int, now: datetime | None) -> int | None:
    if now is None:
        return None
    end = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    left = (end - now).total_seconds() / 3600
    return max(1, round(left if left > 0 else left + 24))


def _read_lone_gpu(sheet: Sheet, bounds: Bounds) -> None:
    """A kind of GPU without a count (`on the A100s`), or with `a` for one."""
    for place in range(len(sheet)):
        kind = sheet.terms[place].as_a("gpu") if sheet.free(place) else None
        if kind is not None:
            bounds.resources.setdefault("gpu_type", gpu_name(kind))
            if sheet.low(place - 1) in ("a", "an", "单", "one") or sheet.low(place + 1) == "单卡":
                bounds.resources.setdefault("gpus", 1)
            sheet.take(place, place + 1)
        elif (
            sheet.is_a(place, "unit")
            and sheet.terms[place].as_a("unit") == "gpus"
            and sheet.low(place - 1) in ("a", "an", "单")
        ):
            bounds.resources.setdefault("gpus", 1)
            sheet.take(place, place + 1)


def gpu_name(text: str) -> str:
    """As vendors write it: `A100`, `RTX 3090`."""
    return re.sub(r"[ -]+", " ", text.strip()).upper()


def read_metrics(sheet: Sheet, context_needed: frozenset[str]) -> list[str]:
    """The metrics named, under their usual names. Some words are metrics only where results are spoken of."""
    found: list[str] = []
    for place in range(len(sheet)):
        if not sheet.free(place):
            continue
        term = sheet.terms[place]
        name = term.as_a("metric")
        if term.kind == "setting" and term.name == "precision" and _reported(sheet, place):
            name = "precision"
        if name is None or (term.kind != "metric" and not _reported(sheet, place)):
            continue
        if term.low in context_needed and term.text != "mAP" and not _reported(sheet, place):
            continue
        found.append(name)
        sheet.take(place, place + 1)
    return list(dict.fromkeys(found))


_REPORTING = re.compile(
    r"report|measur|track|metric|log\b|monitor|record|care about|look at|in terms of|compare (?:their|the)|optimi[sz]e for|maximi[sz]e|minimi[sz]e|judge|score|evaluate by|指标|汇报|报告|记录|关注|衡量|统计|评估指标"
)


def _reported(sheet: Sheet, place: int) -> bool:
    """Whether results are spoken of: `report F1`, `指标看mAP`, or joined to another metric."""
    before = sheet.said(max(0, place - 8), place).lower()
    sentence = re.split(r"[;.!?]", before)[-1]
    joined = any(sheet.is_a(at - 1, "sep") and sheet.terms[at - 2].is_a("metric") for at in (place,) if at >= 2)
    return joined or _REPORTING.search(sentence) is not None
