"""Numbers and settings in words, the same everywhere."""

from collections.abc import Mapping
from typing import Any


def duration(seconds: float | None) -> str:
    """`42 s`, `7 min`, `3.2 h`, `2.1 d`; an unknown length is `?`."""
    if seconds is None:
        return "?"
    for limit, size, unit in ((90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            value = seconds / size
            return f"{value:.0f} {unit}" if unit == "s" or value >= 10 else f"{value:.1f} {unit}"
    return f"{seconds / 86_400:.1f} d"


def hours_words(hours: float | None) -> str:
    """`0.25`, `7.5`, `120`, `1,200`; unknown hours are `?`."""
    if hours is None:
        return "?"
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def size(count: float | None) -> str:
    """`512 MiB`, `1.5 GiB`; an unknown size is `?`."""
    if count is None:
        return "?"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def number(value: object) -> str:
    """A setting's value as people write it: 0.001, 1e-05, 64, on. Levels that differ read differently."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else f"{value:.10g}"
    return str(value)


def settings_words(settings: Mapping[str, Any]) -> str:
    """`model=cnn lr=0.01 batch_size=256`."""
    return " ".join(f"{name}={number(value)}" for name, value in settings.items())


def listing(items: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def plural(count: int, noun: str) -> str:
    """`1 run`, `3 runs`, `2 retries`."""
    if count == 1:
        return f"{count} {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{count} {noun[:-1]}ies"
    return f"{count} {noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{count} {noun}s"
