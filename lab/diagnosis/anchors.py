"""The words a regular expression can't match without: what a fast multi-literal scan looks for first."""

import importlib
from typing import Any

_parser: Any = importlib.import_module("re._parser")
_SHORTEST = 3
_MOST = 24


def anchors(pattern: str) -> tuple[str, ...]:
    """Lower-case literals of which every match contains one; empty when there is no such set of useful length."""
    found = _of_sequence(_parser.parse(pattern))
    return tuple(sorted({word.lower() for word in found})) if found else ()


def _of_sequence(items: Any) -> frozenset[str]:
    """The best anchor set of a concatenation: literal runs and the sets of its groups compete."""
    best: frozenset[str] = frozenset()
    run = ""
    for op, argument in items:
        name = str(op)
        if name == "LITERAL" and argument < 128:
            run += chr(argument)
            continue
        best, run = _better(best, _as_set(run)), ""
        if name == "LITERAL":
            best = _better(best, _non_ascii(argument))
        else:
            best = _better(best, _of_item(name, argument))
    return _better(best, _as_set(run))


def _of_item(name: str, argument: Any) -> frozenset[str]:
    if name == "SUBPATTERN":
        return _of_sequence(argument[3])
    if name == "ATOMIC_GROUP":
        return _of_sequence(argument)
    if name == "BRANCH":
        sets = [_of_sequence(branch) for branch in argument[1]]
        return frozenset[str]().union(*sets) if all(sets) else frozenset()
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
        return _of_sequence(argument[2])
    return frozenset()


def _as_set(run: str) -> frozenset[str]:
    return frozenset({run}) if len(run) >= _SHORTEST else frozenset()


def _non_ascii(code: int) -> frozenset[str]:
    """A single letter of another script is rare enough in a log to look for."""
    return frozenset({chr(code)}) if code > 0x2FF else frozenset()


def _better(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    return other if _worth(other) > _worth(one) else one


def _worth(words: frozenset[str]) -> float:
    """Long and few beats short and many."""
    if not words or len(words) > _MOST:
        return 0.0
    return min(len(word.encode()) for word in words) - 0.1 * len(words)
