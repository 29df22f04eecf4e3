"""Text about errors: samples, generations, quoted files. What is said there did not happen to this job."""

import re

from lab.diagnosis.case import QUOTE_LABEL, Case

_SHOWS_FILE = re.compile(
    r"^\+{1,3} (?:cat|head|tail|less|more|sed -n\S*|bat)\b(?P<what>.*)|^\$ (?:cat|head|tail|less|more)\b(?P<what2>.*)"
)
_OWN_LOG = re.compile(r"(?i)\.(?:log|err|out|stderr)\b|dmesg|syslog|messages|journal|slurm-|nvidia|/proc/|stack")
_COMMAND = re.compile(r"^(?:\+{1,3}|\$) \S")
_FENCE = re.compile(r"^\s*(?:\|\s*)?(?:```|~~~)")
_OPEN = re.compile(
    r"(?i)^\W*(?:[-=*#<>]{2,}\s*)(?:begin |start(?: of)? )?(?:\w+ ){0,3}"
    r"(?:sample|generation|generated|completion|prompt|document|example|text|quote|transcript|readme|dataset card|note)s?\b"
    r"(?![^\n]*\b(?:end|finished|done)\b)"
)
_CLOSE = re.compile(r"(?i)^\W*(?:[-=*#<>/]{2,}\s*)(?:/|end\b|done\b)|^\W*[-=*#]{6,}\s*$|^\W*</")
_QUOTED = re.compile(r"^\s*(?:>|&gt;)(?!>)\s?\S")
_RECORD = re.compile(r"^\s*[{\[]\s*[\"']")
_RECORD_TEXT = re.compile(
    r"(?i)[\"'](?:text|prompt|completion|instruction|content|input|output|response|question|answer|messages|body|summary|"
    r"document|title|generated|prediction|reference|target|caption|transcript|sentence)[\"']\s*:"
)
_TOOL = re.compile(r"(?i)^\W*(?:error|fatal|runtimeerror)\b")
_EXCEPTION_LINE = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b\s*(?::|$)")
_LONGEST_BLOCK = 200
_LOOK = 400
_ASSISTANT = re.compile(
    r"(?i)\b(?:AI assistant|language model|ignore (?:all |your )?(?:previous|prior) instructions)\b"
)


def quoted_lines(case: Case) -> frozenset[int]:
    """The indices of lines that only show text."""
    return frozenset(_blocks(case) | {i for i in range(len(case.lines)) if _is_quote(case, i)})


def _is_quote(case: Case, index: int) -> bool:
    """A line by itself: a quotation mark before it, a record with a text field, a label such as `prompt:`."""
    body = case.lines[index].message[:_LOOK]
    owner = case.owners.get(index)
    if owner is not None and owner.frames:
        return False
    if _QUOTED.match(body) or _ASSISTANT.search(body):
        return True
    if _RECORD.match(body) and _RECORD_TEXT.search(body):
        return True
    label = QUOTE_LABEL.match(body)
    return (
        label is not None
        and not _TOOL.match(body)
        and not _EXCEPTION_LINE.match(body)
        and _is_speech(body[label.end() :])
    )


def _is_speech(rest: str) -> bool:
    """Whether what follows a label is a text: quoted, or a sentence of some length."""
    return rest[:1] in "\"'“‘`<«「[" or len(rest.split()) >= 4


def _blocks(case: Case) -> set[int]:
    """Stretches that show a file or a sample: after `+ cat FILE` in a shell trace, between fences or banner lines."""
    found: set[int] = set()
    opened: tuple[str, int] | None = None
    for index, line in enumerate(case.lines):
        if opened is None:
            kind = _opens(line.message[:_LOOK])
            opened = (kind, index) if kind else None
            if kind == "fence":
                found.add(index)
            continue
        kind, start = opened
        if _closes(kind, line.message[:_LOOK]):
            reopened = _opens(line.message[:_LOOK]) if kind == "file" else None
            opened = (reopened, index) if reopened else None
            if kind != "file":
                found.update(range(start, index + 1))
            continue
        if index - start > _LONGEST_BLOCK:
            opened = None
        elif kind == "file":
            found.add(index)
    return found


def _opens(body: str) -> str | None:
    shown = _SHOWS_FILE.match(body)
    if shown is not None and not _OWN_LOG.search(shown["what"] or shown["what2"] or ""):
        return "file"
    if _FENCE.match(body):
        return "fence"
    return "sample" if _OPEN.match(body) else None


def _closes(kind: str, body: str) -> bool:
    if kind == "file":
        return _COMMAND.match(body) is not None
    if kind == "fence":
        return _FENCE.match(body) is not None
    return _CLOSE.match(body) is not None
