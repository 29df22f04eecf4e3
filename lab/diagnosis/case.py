"""A log under examination: its lines, tracebacks and progress, and what is known from outside."""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property

from lab.diagnosis.model import Evidence, Hints
from lab.diagnosis.progress import Progress, find_progress
from lab.diagnosis.signature import Condition, Signature
from lab.diagnosis.tracebacks import Traceback, find_tracebacks
from lab.diagnosis.transcript import Line

_BEFORE, _AFTER = 30, 12
_LAST_FRAMES = 3
_WHOLE = frozenset({"log", "gpu", "exit"})
_MOST_LOG = 400_000


@dataclass(frozen=True)
class Finding:
    """A signature seen on a line. `category` and the rest already follow the variant that fits."""

    signature: Signature
    index: int
    category: str
    weight: int
    values: dict[str, str] = field(default_factory=dict[str, str])
    variant: int | None = None
    traceback: Traceback | None = None


@dataclass
class Case:
    """All that a judgement may rest on."""

    lines: list[Line]
    hints: Hints
    last: int = field(init=False)

    def __post_init__(self) -> None:
        self.last = len(self.lines) - 1
        self._whole: dict[tuple[str, str], bool] = {}

    @cached_property
    def tracebacks(self) -> list[Traceback]:
        """In the order in which they begin."""
        return find_tracebacks(self.lines)

    @cached_property
    def progress(self) -> Progress:
        """Training steps and losses."""
        return find_progress(self.lines)

    @cached_property
    def owners(self) -> dict[int, Traceback]:
        """The traceback that each line belongs to, where it belongs to one."""
        found: dict[int, Traceback] = {}
        for traceback in self.tracebacks:
            for index in range(traceback.start, traceback.end + 1):
                if self.lines[index].stream == traceback.stream:
                    found.setdefault(index, traceback)
        return found

    @cached_property
    def frame_lines(self) -> frozenset[int]:
        """Lines that are a traceback's source code, or the `File` line above it."""
        found: set[int] = set()
        for traceback in self.tracebacks:
            for frame in traceback.frames:
                found.update((frame.index, frame.index - 1) if frame.code else (frame.index,))
        return frozenset(found)

    @cached_property
    def text(self) -> str:
        """The whole log's bodies, bounded."""
        joined = "\n".join(line.text for line in self.lines)
        return joined if len(joined) <= _MOST_LOG else joined[: _MOST_LOG // 2] + joined[-_MOST_LOG // 2 :]

    @cached_property
    def outside(self) -> str:
        """Exit code, signal and scheduler state as one text for patterns."""
        h = self.hints
        return f"exit={h.exit_code} signal={h.signal} state={h.scheduler_state}"

    @cached_property
    def streams(self) -> frozenset[str]:
        """The named writers."""
        return frozenset(line.stream for line in self.lines if line.stream)

    def evidence(self, index: int) -> Evidence:
        """A line as it is shown."""
        line = self.lines[index]
        return Evidence(line.number, line.text.strip("\r\n"))

    def holds(self, condition: Condition, index: int) -> bool:
        """Whether a condition is met for what was found on a line."""
        if condition.place not in _WHOLE:
            return (condition.pattern.search(self.part(condition.place, index)) is not None) != condition.absent
        key = (condition.place, condition.pattern.text)
        if key not in self._whole:
            self._whole[key] = condition.pattern.search(self.part(condition.place, index)) is not None
        return self._whole[key] != condition.absent

    def part(self, place: str, index: int) -> str:
        """The text that a condition speaks of."""
        traceback = self.owners.get(index)
        if place == "line":
            return self.lines[index].body
        if place == "message":
            return f"{traceback.kind}: {traceback.message}" if traceback else self.lines[index].body
        if place in ("frames", "last-frames"):
            return _frames(traceback, place == "last-frames")
        if place == "near":
            return self.near(index)
        if place == "exit":
            return self.outside
        return (self.hints.gpu or "") if place == "gpu" else self.text

    def near(self, index: int) -> str:
        """The lines around one, of the same writer or of nobody known."""
        stream = self.lines[index].stream
        rows = self.lines[max(0, index - _BEFORE) : index + _AFTER]
        return "\n".join(row.body for row in rows if row.stream in (stream, ""))

    def index_of(self, number: int) -> int:
        """The first kept line with this number or a later one."""
        return bisect_left(self.lines, number, key=lambda line: line.number)


def _frames(traceback: Traceback | None, last_only: bool) -> str:
    if traceback is None:
        return ""
    frames = traceback.frames[-_LAST_FRAMES:] if last_only else traceback.frames
    return "\n".join(f"{frame.file} {frame.name} {frame.code}" for frame in frames)


QUOTE_LABEL = re.compile(
    r"(?i)^\W*(?:\d+\W+)?(?:(?!.*\b(?:error|fail\w*|exception)\b[^\n]{0,8}[:=])\w+[ -])?(?:sample|example|prompt|generat\w+|completion|response|answer|question|"
    r"instruction|input|output|target|reference|hyp(?:othesis)?|pred(?:iction)?|decoded|text|content|caption|transcript|document|assistant)s?\b"
    r"(?:[ _]?[\[#(]?\d+[\])]?(?:/\d+)?| \w{1,12})?\s*[:=>|]\s?"
)
