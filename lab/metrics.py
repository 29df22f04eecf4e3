"""Reading metrics out of a log while it grows.

`MetricReader` knows a recipe's patterns; what it has read so far is a frozen `ReadState` that becomes JSON and back, so
that a restart goes on in the middle of a line. `LINE_LIMIT` bounds memory, `THIN_FROM` and `THIN_STEP` bound points.
"""

import base64
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from lab.recipe.model import MetricRule, Recipe

LINE_LIMIT = 64 * 1024
"""Bytes of one line that are read; the rest of it is passed over."""
WHOLE_LIMIT = 2048
"""Characters of a line that is matched as a whole; a longer one is matched in overlapping windows, so that no pattern
takes quadratic time over it."""
WINDOW = 1024
WINDOW_OVERLAP = 256
THIN_FROM = 5_000
"""Points of one metric that are given unthinned."""
THIN_STEP = 500
"""After each so many more, only every second of those given before: a million values make fewer than 10,000 points."""
STEP_LIMIT = 10**15

_MARKS = re.compile(rb"[\r\n\x08]")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_SIGN = r"[-+]?"
_EXPONENT = r"(?:[eE][-+]?[0-9]+)?"
_SPECIAL = r"(?i:[-+]?(?:nan|inf(?:inity)?)(?![A-Za-z0-9_]))"
_LEADING_ANYTHING = re.compile(r"^(?:\.[*+]\??)(?![?+{*])")
_THOUSANDS = re.compile(r"^[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?$")
_STEP_TOKENS = tuple(
    re.compile(rf"(?<![A-Za-z0-9])(?:{word})['\"]?\s*[=:]?\s*\[?\s*([0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
    for word in ("(?:global[_ ])?step", "iter(?:ation)?", "epoch")
)


@dataclass(frozen=True)
class MetricPoint:
    """One number that a run printed; exactly one of `value` and `special` (`nan`, `inf`, `-inf`) is set."""

    name: str
    step: int
    value: float | None
    special: str | None = None


@dataclass(frozen=True)
class Series:
    """What is known of one metric: how often it was seen, how often given on, its last and best point."""

    seen: int = 0
    given: int = 0
    given_at: int = 0
    last: MetricPoint | None = None
    best: MetricPoint | None = None

    @property
    def withheld(self) -> bool:
        """The last point was thinned out; `MetricReader.finish` gives it."""
        return self.given_at < self.seen


@dataclass(frozen=True)
class ReadState:
    """Where reading stands. `step` is the last one that the recipe's own step pattern found."""

    tail: bytes = b""
    skipping: bool = False
    redrawn: bool = False
    step: int | None = None
    series: Mapping[str, Series] = field(default_factory=dict[str, Series])

    def to_json(self) -> dict[str, Any]:
        """The state as plain JSON values."""
        series = {name: asdict(one) for name, one in self.series.items()}
        return {
            "tail": base64.b64encode(self.tail).decode("ascii"),
            "skipping": self.skipping,
            "redrawn": self.redrawn,
            "step": self.step,
            "series": series,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any] | None) -> "ReadState":
        """The state that `to_json` wrote; a new one from `None` or `{}`."""
        if not data:
            return ReadState()
        series = {name: _series_from(one) for name, one in data["series"].items()}
        return ReadState(base64.b64decode(data["tail"]), data["skipping"], data["redrawn"], data["step"], series)


def _series_from(data: Mapping[str, Any]) -> Series:
    points = {key: MetricPoint(**data[key]) if data[key] else None for key in ("last", "best")}
    return Series(data["seen"], data["given"], data["given_at"], points["last"], points["best"])


class MetricReader:
    """Reads the metrics of one recipe. Holds patterns only, so one reader serves any number of runs."""

    def __init__(self, recipe: Recipe) -> None:
        self._rules = recipe.metrics
        self._step = re.compile(recipe.step_pattern) if recipe.step_pattern else None

    @cached_property
    def _patterns(self) -> tuple[tuple[MetricRule, re.Pattern[str]], ...]:
        return tuple((rule, number_pattern(rule.pattern)) for rule in self._rules)

    def read(self, state: ReadState, chunk: bytes) -> tuple[ReadState, list[MetricPoint]]:
        """Take the next bytes of the log. Gives the state after them and the points of all lines they complete."""
        reading = _Reading(self, state)
        data = state.tail + chunk
        end = 0
        for mark in _MARKS.finditer(data):
            raw = data[end : mark.start()]
            end = mark.end()
            reading.piece(raw)
            reading.separator(raw, mark[0])
        rest = data[end:]
        if len(rest) > LINE_LIMIT:
            reading.piece(rest)
            reading.skipping = True
        return reading.state(b"" if reading.skipping else rest), reading.points

    def finish(self, state: ReadState) -> tuple[ReadState, list[MetricPoint]]:
        """The log has ended: its last line without a newline, and last points that were thinned out."""
        reading = _Reading(self, state)
        reading.piece(state.tail)
        for name, one in reading.series.items():
            if one.withheld and one.last is not None:
                reading.points.append(one.last)
                reading.series[name] = replace(one, given=one.given + 1, given_at=one.seen)
        return reading.state(b""), reading.points

    def step_in(self, text: str, known: int | None) -> int | None:
        """The step that the recipe's own pattern finds in a line, else the one known before."""
        step = _whole(_last_group(self._step, text) or "") if self._step is not None else None
        return known if step is None else step

    def numbers_in(self, text: str) -> list[tuple[MetricRule, str]]:
        """The metrics that a line carries, each with the text of its number."""
        return [(rule, group) for rule, pattern in self._patterns if (group := _last_group(pattern, text))]


class _Reading:
    """One call's work: a state thawed, moved along the bytes and frozen again."""

    def __init__(self, reader: MetricReader, state: ReadState) -> None:
        self.points: list[MetricPoint] = []
        self.series = dict(state.series)
        self.skipping = state.skipping
        self._redrawn = state.redrawn
        self._step = state.step
        self._reader = reader

    def state(self, tail: bytes) -> ReadState:
        return ReadState(tail, self.skipping, self._redrawn, self._step, self.series)

    def separator(self, raw: bytes, mark: bytes) -> None:
        """After `raw` comes a line end, or the carriage return before a progress bar is drawn again."""
        drawn = self.skipping or bool(raw.strip(b"\x00")) or self._redrawn
        self._redrawn = drawn and mark != b"\n"
        self.skipping = False

    def piece(self, raw: bytes) -> None:
        """One line, or one drawing of a progress bar."""
        if self.skipping or not raw:
            return
        for text in _readings(raw[:LINE_LIMIT]):
            self._step = self._reader.step_in(text, self._step)
            found = self._reader.numbers_in(text)
            if found:
                step = self._step if self._step is not None else _step_token(text)
                for rule, group in found:
                    self._take(rule, group, step)
                return

    def _take(self, rule: MetricRule, group: str, step: int | None) -> None:
        before = self.series.get(rule.name, Series())
        point = _point(rule.name, group, step, before.last)
        if point is None or (self._redrawn and _repeats(point, before.last, step)):
            return
        self.series[rule.name], give = _advance(before, point, rule)
        if give:
            self.points.append(point)


def number_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern with its first group widened: `([0-9.]+)` then also reads `1e-05`, `-0.5`, `nan` and `inf` whole.

    A leading `.*` is dropped: it finds nothing more, and costs quadratic time on each line without a match.
    """
    pattern = _LEADING_ANYTHING.sub("", pattern)
    span = _first_group(pattern)
    if span is None:
        return re.compile(pattern)
    start, end = span
    try:
        number = f"{_SIGN}(?:{pattern[start:end]}){_EXPONENT}|{_SPECIAL}"
        return re.compile(f"{pattern[:start]}{number}{pattern[end:]}")
    except re.error:
        return re.compile(pattern)


def _first_group(pattern: str) -> tuple[int, int] | None:
    """Where the inside of the first capturing group begins and ends."""
    start: int | None = None
    depth = 0
    in_class = False
    for token in re.finditer(r"\\.|\[\^?\]?|\]|\(\?P<\w+>|\(\??|\)", pattern, re.DOTALL):
        text = token[0]
        if text.startswith("["):
            in_class = not (in_class and text.endswith("]"))
        elif text == "]":
            in_class = False
        elif in_class or text.startswith("\\"):
            continue
        elif text == ")":
            depth -= 1
            if start is not None and depth == 0:
                return start, token.start()
        elif start is not None:
            depth += 1
        elif text != "(?":
            start, depth = token.end(), 1
    return None


def _readings(raw: bytes) -> Iterator[str]:
    """The text of a line as UTF-8 and, where that fails, as the Chinese GB 18030; UTF-16's zero bytes are dropped."""
    raw = raw.replace(b"\x00", b"")
    try:
        yield _ANSI.sub("", raw.decode("utf-8"))
    except UnicodeDecodeError:
        yield _ANSI.sub("", raw.decode("utf-8", errors="replace"))
        yield _ANSI.sub("", raw.decode("gb18030", errors="replace"))


def _last_group(pattern: re.Pattern[str], text: str) -> str | None:
    found: str | None = None
    for window in _windows(text):
        for match in pattern.finditer(window):
            found = match[1] or found
    return found


def _windows(text: str) -> Iterator[str]:
    if len(text) <= WHOLE_LIMIT:
        yield text
        return
    for start in range(0, len(text) - WINDOW_OVERLAP, WINDOW - WINDOW_OVERLAP):
        yield text[start : start + WINDOW]


def _step_token(text: str) -> int | None:
    for pattern in _STEP_TOKENS:
        match = pattern.search(text[:WHOLE_LIMIT])
        if match is not None:
            return _whole(match[1])
    return None


def _whole(text: str) -> int | None:
    number = _number(text)
    if number is None or not math.isfinite(number) or number != int(number) or not 0 <= number < STEP_LIMIT:
        return None
    return int(number)


def _number(text: str) -> float | None:
    text = text.strip().rstrip(".,;:%")
    if _THOUSANDS.match(text):
        text = text.replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


def _point(name: str, text: str, step: int | None, last: MetricPoint | None) -> MetricPoint | None:
    number = _number(text)
    if number is None:
        return None
    if step is None:
        step = last.step + 1 if last is not None else 1
    if math.isnan(number):
        return MetricPoint(name, step, None, "nan")
    if math.isinf(number):
        return MetricPoint(name, step, None, "inf" if number > 0 else "-inf")
    return MetricPoint(name, step, number)


def _repeats(point: MetricPoint, last: MetricPoint | None, step: int | None) -> bool:
    """A progress bar drawn again with the number it already showed."""
    if last is None or (point.value, point.special) != (last.value, last.special):
        return False
    return step is None or step == last.step


def _advance(before: Series, point: MetricPoint, rule: MetricRule) -> tuple[Series, bool]:
    seen = before.seen + 1
    changed = before.last is None or (before.last.special is None) != (point.special is None)
    give = changed or seen - before.given_at >= _stride(before.given)
    given, given_at = (before.given + 1, seen) if give else (before.given, before.given_at)
    return Series(seen, given, given_at, point, _better(before.best, point, rule)), give


def _stride(given: int) -> int:
    return 1 if given < THIN_FROM else 2 << ((given - THIN_FROM) // THIN_STEP)


def _better(best: MetricPoint | None, point: MetricPoint, rule: MetricRule) -> MetricPoint | None:
    if point.value is None:
        return best
    if best is None or best.value is None:
        return point
    wins = point.value > best.value if rule.goal == "maximize" else point.value < best.value
    return point if wins else best
