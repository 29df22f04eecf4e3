"""The root cause in one sentence, with what was read from the log."""

import re

from lab.diagnosis.allocation import in_words, read_allocation
from lab.diagnosis.case import Case, Finding

_SLOT = re.compile(r"(\s?)\{(\w+)\}")
_PATH = re.compile(r"""['"‘`](?P<quoted>[^'"’`]*/[^'"’`]*)['"’`]|(?<![\w:/])(?P<bare>/(?:[\w.+@=-]+/)+[\w.+@=-]*)""")
_URL = re.compile(r"https?://\S+?(?=[\s'\"),;]|$)")
_LIMIT = re.compile(r"ulimit -n\D{0,12}(\d+)|(\d+) (?:descriptors|open files)")
_SHAPES = re.compile(r"\(?\d+(?:x\d+)+ and \d+(?:x\d+)+\)?|\[[\d, ]+\]")
_PORT = re.compile(r"(?i)(?:\bport\b\D{0,4}|[\w\]]:)(\d{2,5})\b")
_LONGEST = 160


def tell(case: Case, finding: Finding, template: str) -> str:
    """Fill a signature's sentence: `{name}` after a blank stands for the value, elsewhere for ` (value)` or nothing."""

    def fill(slot: re.Match[str]) -> str:
        value = _value(case, finding, slot[2])
        if slot[1]:
            return slot[1] + (value or "an unknown number of")
        return f" ({value})" if value else ""

    return _SLOT.sub(fill, template)


def _value(case: Case, finding: Finding, name: str) -> str:
    line = case.lines[finding.index]
    if name in finding.values:
        prefix = "Xid " if name == "xid" else ""
        return prefix + finding.values[name].strip()
    if name == "size":
        return in_words(read_allocation(_message(case, finding))).strip(" ()")
    if name == "path":
        return path_in(line.body)
    if name == "repo":
        found = _URL.search(line.body)
        return found[0] if found else ""
    if name in ("error", "args", "why"):
        return _short(line.message.strip())
    if name == "limit":
        found = _LIMIT.search(case.text)
        return f"the limit is {found[1] or found[2]}" if found else ""
    if name == "port":
        found = _PORT.search(line.body)
        return found[1] if found else ""
    if name == "shapes":
        found = _SHAPES.search(line.body)
        return found[0].strip("()") if found else ""
    return _progress(case) if name == "progress" else ""


def path_in(text: str) -> str:
    """The first path of a message."""
    found = _PATH.search(text)
    return (found["quoted"] or found["bare"]) if found else ""


def _message(case: Case, finding: Finding) -> str:
    rows = case.lines[finding.index : finding.index + 16]
    return "\n".join(row.body for row in rows)


def _progress(case: Case) -> str:
    last = case.progress.last_index
    return f"last seen: {_short(case.lines[last].body.strip())}" if last is not None else ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
