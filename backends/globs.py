"""Glob patterns over relative POSIX paths."""

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def glob_regex(pattern: str) -> re.Pattern[str]:
    """The regular expression of a glob, for `fullmatch`.

    `*` and `?` stop at `/`; `**` spans directories, and `**/` also none; `[...]` is one character, `[!...]` any other.
    """
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        piece, at = _piece(pattern, at)
        parts.append(piece)
    return re.compile("".join(parts), re.DOTALL)


def _piece(pattern: str, at: int) -> tuple[str, int]:
    if pattern.startswith("**/", at):
        return "(?:.*/)?", at + 3
    if pattern.startswith("**", at):
        return ".*", at + 2
    if pattern[at] == "*":
        return "[^/]*", at + 1
    if pattern[at] == "?":
        return "[^/]", at + 1
    if pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
        return _class(pattern[at + 1 : end]), end + 1
    return re.escape(pattern[at]), at + 1


def _class(inside: str) -> str:
    negated, members = inside.startswith("!"), inside.removeprefix("!")
    if not members:
        return re.escape(f"[{inside}]")
    spans: list[str] = []
    at = 0
    while at < len(members):
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            low, high = sorted((members[at], members[at + 2]))
            spans.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            spans.append(re.escape(members[at]))
            at += 1
    return f"(?!/)[{'^' if negated else ''}{''.join(spans)}]"
