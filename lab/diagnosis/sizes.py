"""Sizes as software prints them, in bytes."""

import re

_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SIZE = r"(\d[\d,]*(?:\.\d*)?) ?([KMGT]?)i?(?:B\b|bytes\b|b\b)?"
_SIZE = re.compile(SIZE)


def size_in_bytes(text: str) -> int | None:
    """`1.50 GiB`, `512MB`, `37748736 bytes`, `2.0G`. GB is read as GiB: tools that print it mean it."""
    found = _SIZE.search(text)
    if found is None:
        return None
    return round(float(found[1].replace(",", "")) * _FACTORS[found[2].upper()])


def words(count: float) -> str:
    """`15.7 GiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
