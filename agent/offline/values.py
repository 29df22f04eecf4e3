"""Values: lists and ranges of numbers, and what a range means for its setting."""

import math
from dataclasses import dataclass, replace

from agent.offline.lexer import Number, clean
from agent.offline.lexicon import Scale
from agent.offline.sheet import Sheet

_OPEN, _CLOSE = frozenset("[({'\"`"), frozenset("])}'\"`")
_MOST_LEVELS = 200
_LAST = frozenset(["and", "or", "&", "和", "与", ", and", ",and", ", or", ",or", "以及"])
_REFERRING = frozenset(
    "# plan run job experiment page version figure table section 计划 方案 实验 运行 任务 作业 第".split()
)
_SPACED = ("evenly", "equally", "spaced", "evenly-spaced", "linearly", "geometrically", "different")


@dataclass(frozen=True)
class Element:
    """One number, or a range from `low` to `high`; `start` and `end` are places on the sheet."""

    low: Number
    high: Number | None
    start: int
    end: int
    wordy: bool = False


@dataclass(frozen=True)
class Group:
    """Numbers that stand together. `bracketed`: written as `[a, b]`."""

    elements: tuple[Element, ...]
    start: int
    end: int
    step: Number | None = None
    count: int | None = None
    spacing: str = ""
    bracketed: bool = False

    @property
    def span(self) -> tuple[Number, Number] | None:
        """The interval that a search would use: a lone range, or the two numbers of a bracket."""
        if len(self.elements) == 1 and self.elements[0].high is not None:
            low, high = self.elements[0].low, self.elements[0].high
        elif self.bracketed and len(self.elements) == 2 and all(e.high is None for e in self.elements):
            low, high = self.elements[0].low, self.elements[1].low
        else:
            return None
        return (min(low, high), max(low, high)) if low != high else None

    def without_last(self) -> "Group | None":
        kept = self.elements[:-1]
        return replace(self, elements=kept, end=kept[-1].end, bracketed=False) if kept else None

    def last(self) -> "Group":
        return Group(self.elements[-1:], self.elements[-1].start, self.end)

    def levels(self, scale: Scale) -> list[Number]:
        """The numbers meant, in the order written, each once."""
        found: list[Number] = []
        for element in self.elements:
            if element.high is None:
                found.append(element.low)
            else:
                found += expand(self._scale(scale), element.low, element.high, self.step, self.count)
        return list(dict.fromkeys(found))

    def _scale(self, scale: Scale) -> Scale:
        return {"log": "decades", "doubling": "powers", "decades": "decades"}.get(self.spacing, scale)  # type: ignore[return-value]


def groups_of(sheet: Sheet) -> list[Group]:
    """All groups of unread numbers, from left to right."""
    groups: list[Group] = []
    place = 0
    while place < len(sheet):
        group = _group_at(sheet, place)
        if group is None:
            place += 1
        else:
            groups.append(group)
            place = group.end
    return groups


def _group_at(sheet: Sheet, place: int) -> Group | None:
    start, bracketed = place, False
    if sheet.kind(place) == "from":
        place += 1
    while sheet.low(place) in _OPEN and sheet.free(place) and place - start < 3:
        bracketed = bracketed or sheet.low(place) in "[({"
        place += 1
    first = _element(sheet, place, between=sheet.low(start) in ("between", "ranging between", "介于", "在"))
    if first is None:
        return None
    elements = [first]
    comma = closed_list = False
    while (following := _next_element(sheet, elements[-1].end)) is not None:
        between = [sheet.low(at) for at in range(elements[-1].end, following.start)]
        if closed_list and between in ([","], ["、"]):
            break
        closed_list = comma and bool(_LAST & {*between})
        comma = comma or between in ([","], ["、"])
        elements.append(following)
    end = elements[-1].end
    closed = end
    while sheet.low(closed) in _CLOSE and sheet.free(closed) and bracketed and closed - end < 2:
        closed += 1
    group = Group(tuple(elements), start, closed, bracketed=bracketed and closed > end)
    return _with_tail(sheet, group)


def _element(sheet: Sheet, place: int, *, between: bool = False) -> Element | None:
    if sheet.kind(place) != "number" or not _stands_alone(sheet, place):
        return None
    term = sheet.terms[place]
    low = term.value if term.value is not None else 0
    after = place + 1
    if after < len(sheet) and sheet.low(after) in _CLOSE and sheet.is_a(after + 1, "to"):
        after += 1
    between = between or (sheet.low(after) in ("和", "与", "and") and sheet.is_a(after + 2, "span"))
    joined = (
        sheet.is_a(after, "to") or (between and sheet.low(after) in ("and", "&", "和", "与")) or _dash(sheet, after)
    )
    start = after + 1 if sheet.free(after + 1) and sheet.low(after + 1) not in _OPEN else after + 2
    if joined and sheet.kind(start) == "number":
        high = sheet.terms[start].value
        return Element(low, high, place, start + 1, term.wordy)
    return Element(low, None, place, place + 1, term.wordy)


def _stands_alone(sheet: Sheet, place: int) -> bool:
    """Not the number of a run, a plan, a place or a version."""
    counts = sheet.is_a(place + 1, "unit", "gpu") and sheet.low(place - 1) in (
        "run",
        "job",
        "experiment",
        "实验",
        "运行",
        "任务",
    )
    return (counts or sheet.low(place - 1) not in _REFERRING) and sheet.low(place + 1) != "号"


def _dash(sheet: Sheet, place: int) -> bool:
    """A dash between two numbers, with blanks on both sides or on neither."""
    return (
        sheet.free(place)
        and sheet.low(place) == "-"
        and sheet.spaced(place) == sheet.spaced(place + 1 if place + 1 < len(sheet) else place)
    )


def _next_element(sheet: Sheet, place: int) -> Element | None:
    """The element behind a separator, or behind nothing but a blank."""
    at = place
    while at - place < 2 and (sheet.is_a(at, "sep") or _contrasting(sheet, at)):
        at += 1
    if at == place and sheet.low(place) == ";" and sheet.kind(place + 1) == "number":
        return None
    if sheet.low(at) in ("even", "finally", "maybe", "also", "perhaps", "lastly") and at > place:
        at += 1
    if sheet.kind(at) == "from":
        at += 1
    return _element(sheet, at) if sheet.kind(at) == "number" and not _counts_values(sheet, at) else None


def _contrasting(sheet: Sheet, place: int) -> bool:
    """`32 with 64`: a list in the words of comparing, unless the number counts something."""
    number = sheet.low(place) == "with" and sheet.free(place) and sheet.kind(place + 1) == "number"
    return number and not (sheet.is_a(place + 2, "unit", "setting", "gpu", "level") or sheet.kind(place + 2) == "word")


def _counts_values(sheet: Sheet, place: int) -> bool:
    """`5 log-spaced values`: how many, not one of them."""
    after = place + 1
    while sheet.is_a(after, "spacing") or sheet.low(after) in _SPACED:
        after += 1
    return sheet.is_a(after, "points") and (after > place + 1 or not sheet.is_a(after + 1, "number"))


def _with_tail(sheet: Sheet, group: Group) -> Group:
    """Steps, counts and spacing said behind a range: `in steps of 10`, `(5 log-spaced values)`."""
    if all(element.high is None for element in group.elements):
        return group
    at = group.end
    for _round in range(3):
        start = at
        while (
            sheet.free(start)
            and sheet.low(start)
            in (",", "(", "with", "using", "in", "at", "a", "of", "之间", "取", "共", "以", "的", "on", "by", "and")
            and start - at < 3
        ):
            start += 1
        moved = _tail_at(sheet, start, group)
        if moved is None:
            break
        group, at = moved
        if sheet.free(at) and sheet.low(at) == ")":
            at += 1
    end = at if at > group.end else group.end
    if sheet.is_a(end, "span"):
        end += 1
    return replace(group, end=end)


def _tail_at(sheet: Sheet, at: int, group: Group) -> tuple[Group, int] | None:
    if sheet.is_a(at, "step"):
        number = at + 2 if sheet.low(at + 1) in ("of", "=", ":", "为", "是") else at + 1
        if sheet.kind(number) == "number":
            return replace(group, step=sheet.terms[number].value), number + 1
    if (
        sheet.kind(at) == "number"
        and sheet.low(at + 1) in ("steps", "increments", "increment", "intervals")
        and sheet.low(at - 1) in ("in", "by", "with", "at")
    ):
        return replace(group, step=sheet.terms[at].value), at + 2
    if sheet.is_a(at, "spacing"):
        return replace(group, spacing=sheet.terms[at].as_a("spacing") or ""), at + 1
    if sheet.kind(at) == "number":
        spaced = at + 1
        spacing = ""
        while sheet.is_a(spaced, "spacing") or sheet.low(spaced) in _SPACED:
            spacing = sheet.terms[spaced].as_a("spacing") or spacing
            spaced += 1
        if sheet.is_a(spaced, "points"):
            spacing = "log" if "log" in sheet.low(spaced) or "geometric" in sheet.low(spaced) else spacing
            value = sheet.terms[at].value or 0
            return replace(group, count=int(value), spacing=spacing or group.spacing), spaced + 1
    return None


def expand(
    scale: Scale, low: Number, high: Number, step: Number | None = None, count: int | None = None
) -> list[Number]:
    """The levels that a range is meant to have, in the order in which it was written.

    Decades for what is searched on a logarithm, powers of two for sizes, whole or even steps for the rest.
    """
    first, last = min(low, high), max(low, high)
    if step is not None and step > 0:
        levels = _stepped(first, last, step)
    elif count is not None and count > 1:
        levels = _spaced(scale, first, last, count)
    elif scale == "decades":
        levels = _powers(first, last, 10)
    elif scale == "powers" and first > 0:
        levels = _powers(first, last, 2)
    else:
        levels = _stepped(first, last, _even_step(first, last))
    return levels if low <= high else levels[::-1]


def _powers(first: Number, last: Number, base: int) -> list[Number]:
    if first <= 0:
        return [first, last]
    levels: list[Number] = []
    value: float = first
    while value <= last * (1 + 1e-9) and len(levels) < 64:
        levels.append(_like(value, first, last))
        value *= base
    if not math.isclose(levels[-1], last, rel_tol=1e-6):
        levels.append(last)
    return levels


def _stepped(first: Number, last: Number, step: Number) -> list[Number]:
    count = int(min((last - first) / step + 1e-9, _MOST_LEVELS - 1)) + 1
    return [_like(first + step * place, first, last, step) for place in range(count)]


def _spaced(scale: Scale, first: Number, last: Number, count: int) -> list[Number]:
    count = min(count, _MOST_LEVELS)
    if scale in ("decades", "powers") and first > 0:
        ratio = (last / first) ** (1 / (count - 1))
        return [_like(clean(first * ratio**place), first, last) for place in range(count)]
    return [_like(first + (last - first) * place / (count - 1), first, last) for place in range(count)]


def _even_step(first: Number, last: Number) -> Number:
    span = last - first
    if span <= 0:
        return 1
    integral = isinstance(first, int) and isinstance(last, int)
    if integral and span <= 10 and span != 0 and not (first == 0 and last == 1):
        return 1
    for step in (0.01, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 5000, 10_000):
        steps = span / step
        if steps <= 6.01 and math.isclose(steps, round(steps), abs_tol=1e-6) and (not integral or step >= 1):
            return step
    return span


def _like(value: float, *others: Number) -> Number:
    """An int where all that it came from are ints and it is whole."""
    if all(isinstance(other, int) for other in others) and math.isclose(value, round(value), abs_tol=1e-9):
        return round(value)
    return clean(value)
