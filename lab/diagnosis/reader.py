"""What of a log is kept for judging: all of a short one; of a long one its head, its tail and the lines around what a
scan for the signatures' words found, the first of each kind and the last."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from lab.diagnosis.lines import RawLine, visible_parts
from lab.diagnosis.scan import Scanner
from lab.diagnosis.signature import Signatures
from lab.diagnosis.source import Block, blocks

KEEP_ALL = 1 << 20
_HEAD = 96 << 10
_TAIL = 256 << 10
_BEFORE = 2 << 10
_AFTER = 6 << 10
_FIRST_WINDOWS = 384 << 10
_LAST_WINDOWS = 384 << 10
_PER_BLOCK = 3
_NEWS = 12
_NOISY_SIDE = 1 << 10


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the log: the number of its first line, and its bytes."""

    first: int
    data: bytes


@dataclass
class _Kept:
    """Bounded memory of a log: the first windows, a ring of the last ones, and where noisy literals were seen last."""

    early: list[Window] = field(default_factory=list[Window])
    early_bytes: int = 0
    late: deque[Window] = field(default_factory=deque[Window])
    late_bytes: int = 0
    blocks_with: dict[int, int] = field(default_factory=dict[int, int])
    noisy: dict[int, Window] = field(default_factory=dict[int, Window])
    before: tuple[Block, set[int]] | None = None

    def add(self, window: Window) -> None:
        """Take a window in."""
        if self.early_bytes < _FIRST_WINDOWS:
            self.early.append(window)
            self.early_bytes += len(window.data)
            return
        self.late.append(window)
        self.late_bytes += len(window.data)
        while self.late_bytes > _LAST_WINDOWS and len(self.late) > 1:
            self.late_bytes -= len(self.late.popleft().data)

    def news(self, present: set[int]) -> set[int]:
        """The literals that do not stand in so many blocks that they say nothing."""
        for literal in present:
            self.blocks_with[literal] = self.blocks_with.get(literal, 0) + 1
        return {literal for literal in present if self.blocks_with[literal] <= _NEWS}

    def turn(self, block: Block | None, noisy: set[int], literals: Sequence[bytes]) -> None:
        """Where a noisy literal falls silent, keep the last place it stood in."""
        if self.before is not None:
            last, there = self.before
            silent = there - noisy
            low = last.data.lower() if silent else b""
            for literal in silent:
                at = low.rfind(literals[literal])
                self.noisy[literal] = _cut(last, max(0, at - _NOISY_SIDE), min(len(low), at + _NOISY_SIDE))
        self.before = (block, noisy) if block is not None else None

    @property
    def windows(self) -> list[Window]:
        """All that is kept, in no order."""
        return [*self.early, *self.late, *self.noisy.values()]


def read_lines(source: bytes | BinaryIO, signatures: Signatures) -> list[RawLine]:
    """The kept lines in order, with their true numbers; `after_gap` marks where lines were left out."""
    stream = blocks(source)
    start: list[Block] = []
    size = 0
    for block in stream:
        start.append(block)
        size += len(block.data)
        if size > KEEP_ALL:
            break
    else:
        return list(_lines([Window(block.first, block.data) for block in start]))
    literals = [literal.encode() for literal in signatures.telling]
    return list(_lines(_windows(start, stream, signatures.telling_scanner, literals)))


def _windows(start: list[Block], rest: Iterator[Block], scanner: Scanner, literals: Sequence[bytes]) -> list[Window]:
    kept = _Kept()
    kept.add(_cut(start[0], 0, min(len(start[0].data), _HEAD)))
    tail, tail_end = b"", 1
    for source in (start, rest):
        for block in source:
            _keep_hits(kept, block, scanner.present(block.data), literals)
            tail = (tail + block.data)[-_TAIL:] if len(block.data) < _TAIL else block.data[-_TAIL:]
            tail_end = block.first + block.ends
    kept.turn(None, set(), literals)
    tail = tail[tail.find(b"\n") + 1 :]
    return _merged([*kept.windows, Window(tail_end - tail.count(b"\n"), tail)])


def _keep_hits(kept: _Kept, block: Block, present: set[int], literals: Sequence[bytes]) -> None:
    """The surroundings of the first and the last few places of each literal that the scan saw in the block."""
    news = kept.news(present)
    kept.turn(block, present - news, literals)
    if not news:
        return
    low = block.data.lower()
    places = {place for number in news for place in _places(low, literals[number])}
    for begin, end in _spans(sorted(places), len(low)):
        kept.add(_cut(block, begin, end))


def _spans(places: list[int], size: int) -> list[tuple[int, int]]:
    """Stretches around the places, those that touch made one."""
    spans: list[tuple[int, int]] = []
    for place in places:
        begin, end = max(0, place - _BEFORE), min(size, place + _AFTER)
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    return spans


def _places(low: bytes, literal: bytes) -> list[int]:
    found: list[int] = []
    at = low.find(literal)
    while at >= 0 and len(found) < _PER_BLOCK:
        found.append(at)
        at = low.find(literal, at + len(literal))
    end = len(low)
    for _ in range(_PER_BLOCK):
        at = low.rfind(literal, 0, end)
        if at < 0:
            break
        found.append(at)
        end = at
    return found


def _cut(block: Block, begin: int, end: int) -> Window:
    """Whole lines around a span of a block (a line of many megabytes stays cut)."""
    data = block.data
    begin = data.rfind(b"\n", 0, begin) + 1 if begin else 0
    line_end = data.find(b"\n", end)
    end = len(data) if line_end < 0 or end >= len(data) else line_end + 1
    longest = _BEFORE + _AFTER
    if end - begin > max(longest * 8, _HEAD * 2) and data.find(b"\n", begin, end) < 0:
        end = begin + longest
    return Window(block.first + data.count(b"\n", 0, begin), data[begin:end])


def _merged(windows: list[Window]) -> list[Window]:
    """Windows in order, without the lines that an earlier one has already."""
    merged: list[Window] = []
    next_line = 1
    for window in sorted(windows, key=lambda w: w.first):
        lines = window.data.count(b"\n") + (0 if window.data.endswith(b"\n") else 1)
        skip = next_line - window.first
        if skip >= lines:
            continue
        data = window.data.split(b"\n", skip)[skip] if skip > 0 else window.data
        merged.append(Window(max(window.first, next_line), data))
        next_line = window.first + lines
    return merged


def _lines(windows: list[Window]) -> Iterator[RawLine]:
    expected = 1
    for window in windows:
        rows = window.data.split(b"\n")
        if rows and not rows[-1]:
            rows.pop()
        for offset, row in enumerate(rows):
            number = window.first + offset
            for part in visible_parts(row):
                yield RawLine(number, part, after_gap=offset == 0 and number > expected)
        expected = window.first + len(rows)
