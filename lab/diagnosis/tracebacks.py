"""Python tracebacks: frames, the exception, how one led to another; interleaved ranks are read apart."""

import re
from dataclasses import dataclass, field
from typing import Literal

from lab.diagnosis.transcript import Line

Link = Literal["cause", "context"]

START = re.compile(r"Traceback \(most recent call last\)|Original Traceback \(most recent|^-{20,}\s*Traceback")
_FRAME = re.compile(r'^\s*(?:\W\s*)?File "(?P<file>[^"]*)(?:", line (?P<line>\d+)(?:, in (?P<name>.+))?)?')
_RICH_FRAME = re.compile(r"^\s*(?P<file>(?:/|[\w.]+/)\S+\.py):(?P<line>\d+) in (?P<name>\S+)")
_EXCEPTION = re.compile(
    r"^(?:E\s{3})?(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*|(?:\w+\.)*\w+(?:Error|Exception|error|Timeout|Exit|Interrupt|timeout)"
    r"|Exception|KeyboardInterrupt)(?:\([^)]*\))?(?::(?:\s+(?P<message>.*)|\s*)|\s*)$"
)
_ORPHAN = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Timeout|NotFound|Exceeded|Unsupported)(?:\([^)]*\))?:\s+\S"
    r"|^(?:[a-z_]\w*\.)+[A-Z]\w+:\s+\S"
)
_LINK = {
    "The above exception was the direct cause of the following exception": "cause",
    "During handling of the above exception, another exception occurred": "context",
}
_BOX = re.compile(r"^[\s|+╭╰│─┌└├•]+|[│╮╯]\s*$")
_LONGEST = 2_000
_LONGEST_CHAIN = 32
_MESSAGE_LINES = 14


@dataclass(frozen=True, slots=True)
class Frame:
    """One level of the stack; `code` is its source line and `index` that line's place in the transcript."""

    file: str
    name: str
    code: str
    index: int


@dataclass
class Traceback:
    """One traceback. `error` is the index of the exception line; `None` when the log ends or turns before it."""

    stream: str
    start: int
    frames: list[Frame] = field(default_factory=list[Frame])
    error: int | None = None
    end: int = 0
    kind: str = ""
    message: str = ""
    link: Link | None = None
    ignored: bool = False
    cause: "Traceback | None" = None

    @property
    def name(self) -> str:
        """The exception's class without its module."""
        return self.kind.rpartition(".")[2]

    @property
    def chain(self) -> list["Traceback"]:
        """This traceback and those that led to it, the first cause first."""
        members = list[Traceback]()
        members.append(self)
        while members[-1].cause is not None and len(members) < _LONGEST_CHAIN:
            members.append(members[-1].cause)
        return members[::-1]


@dataclass
class _Reader:
    """The state of one stream's writer."""

    open: Traceback | None = None
    last: Traceback | None = None
    link: Link | None = None
    ignored: bool = False
    code_of: Frame | None = None
    message_left: int = 0


def find_tracebacks(lines: list[Line]) -> list[Traceback]:
    """All tracebacks in the order in which they begin."""
    readers: dict[str, _Reader] = {}
    found: list[Traceback] = []
    for index, line in enumerate(lines):
        reader = readers.setdefault(line.stream, _Reader())
        body = _unboxed(line.body)
        link = next((kind for words, kind in _LINK.items() if words in body), None)
        if link is not None:
            reader.link = link  # type: ignore[assignment]
            _close(reader)
        elif START.search(body) and '"Traceback' not in body:
            found.append(_begin(reader, line.stream, index, body))
        elif reader.open is not None:
            _go_on(reader, index, body)
        elif _FRAME.match(body) and reader.message_left == 0:
            found.append(_begin(reader, line.stream, index, body))
            _go_on(reader, index, body)
        elif _ORPHAN.match(body) and not _is_told_again(reader, body):
            found.append(_orphan(reader, line.stream, index, body))
        else:
            _after(reader, index, body)
    return found


def _orphan(reader: _Reader, stream: str, index: int, body: str) -> Traceback:
    """An exception line whose traceback was not printed, or was cut off."""
    traceback = _begin(reader, stream, index, body)
    _finish(reader, traceback, index, body)
    return traceback


def _is_told_again(reader: _Reader, body: str) -> bool:
    """Whether the line belongs to the message of the exception before it."""
    return reader.message_left > 0 and body.startswith((" ", "\t"))


def _begin(reader: _Reader, stream: str, index: int, body: str) -> Traceback:
    nested = body.lstrip().startswith("Original Traceback")
    link = "cause" if nested else reader.link
    cause = reader.last if reader.link else None
    traceback = Traceback(stream, index, end=index, link=link, ignored=reader.ignored, cause=cause)
    if nested and reader.last is not None and reader.last.error is not None:
        traceback.cause = reader.last.cause
        reader.last.cause = traceback
    reader.open, reader.link, reader.ignored, reader.code_of = traceback, None, False, None
    return traceback


def _go_on(reader: _Reader, index: int, body: str) -> None:
    traceback = reader.open
    if traceback is None or index - traceback.start > _LONGEST:
        _close(reader)
        return
    traceback.end = index
    frame = _FRAME.match(body) or _RICH_FRAME.match(body)
    if frame:
        reader.code_of = Frame(frame["file"], frame["name"] or "", "", index)
        traceback.frames.append(reader.code_of)
        return
    if traceback.frames and _EXCEPTION.match(body):
        _finish(reader, traceback, index, body)
    elif reader.code_of is not None and not reader.code_of.code and body.strip():
        traceback.frames[-1] = Frame(reader.code_of.file, reader.code_of.name, body.strip(), index)
        reader.code_of = None
    elif body.strip() and not body.startswith((" ", "\t", "[Previous line")) and traceback.frames:
        _close(reader)
        _after(reader, index, body)


def _finish(reader: _Reader, traceback: Traceback, index: int, body: str) -> None:
    error = _EXCEPTION.match(body)
    if error is not None:
        traceback.error, traceback.kind, traceback.message = index, error["type"], error["message"] or ""
    traceback.end = index
    _close(reader)
    reader.message_left = _MESSAGE_LINES


def _after(reader: _Reader, index: int, body: str) -> None:
    """Between tracebacks: the message may go on over a few lines, and what follows may be announced as ignored."""
    if "Exception ignored in" in body:
        reader.ignored = True
    elif reader.last is not None and reader.message_left > 0 and reader.last.error is not None:
        reader.message_left -= 1
        if body.strip() and not body.startswith(("[", "{", "+ ")):
            reader.last.message += "\n" + body
            reader.last.end = index
        elif body.strip():
            reader.message_left = 0


def _close(reader: _Reader) -> None:
    if reader.open is not None:
        reader.last, reader.open = reader.open, None
    reader.code_of = None


def _unboxed(body: str) -> str:
    """Without the frames that rich, exception groups and notebooks draw around a traceback."""
    if body[:1] in "╭│╰┌└├" or body.lstrip()[:2] in ("| ", "+-"):
        inner = _BOX.sub("", body)
        return inner if START.search(inner) or _EXCEPTION.match(inner) else "  " + inner
    return body
