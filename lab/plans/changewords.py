"""What differs between two designs, in words."""

from collections.abc import Mapping
from typing import Any, cast

from lab.planning.goal import Design, Value
from lab.words import listing, number

_PARTS = ("ranges", "resources", "limits", "strategy", "trials", "metrics")


def change_words(before: Design, after: Design) -> list[str]:
    """What differs, one line each, as `-`/`+`."""
    lines: list[str] = []
    for name in dict.fromkeys([*before.factors, *after.factors]):
        old, new = before.factors.get(name, ()), after.factors.get(name, ())
        gone = [number(level) for level in old if level not in new]
        come = [number(level) for level in new if level not in old]
        lines += [f"- {name}: {listing(gone)}"] if gone else []
        lines += [f"+ {name}: {listing(come)}"] if come else []
    for part in _PARTS:
        old, new = getattr(before, part), getattr(after, part)
        if old != new:
            words = _words(new)
            lines.append(f"+ {part}: {words}" if words else f"- {part}: {_words(old)}")
    return lines


def _words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Value):
        return ", ".join(f"{name}={number(said)}" for name, said in value.model_dump(exclude_none=True).items())
    if isinstance(value, Mapping):
        spans = cast("Mapping[str, tuple[float, float]]", value)
        return ", ".join(f"{name} {number(low)} to {number(high)}" for name, (low, high) in spans.items())
    if isinstance(value, tuple):
        return listing([str(item) for item in cast("tuple[object, ...]", value)])
    return number(value)
