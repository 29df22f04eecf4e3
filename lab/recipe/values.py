"""The values that recipes and requests are written with: settings, sizes, patterns and names."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator

Setting = str | int | float | bool
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(i?b)?|b)\s*", re.IGNORECASE)
_MOST_BYTES = 2**62


def parse_size(value: object) -> int | None:
    """Bytes from `1GiB`, `512 MB`, `16G` (as `16GiB`) or a number of bytes. Raises `ValueError`."""
    if value is None:
        return None
    size = _bytes(value)
    if size is None or not 0 < size <= _MOST_BYTES:
        raise ValueError(f"{value!r} is no size: write it like 512MiB or 16GiB")
    return size


def _bytes(value: object) -> int | None:
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    match = _SIZE.fullmatch(str(value))
    if match is None:
        return None
    unit = (match[2] or "").lower()
    power = _UNITS.get(unit, 0)
    factor = 10 ** (power // 10 * 3) if (match[3] or "").lower() == "b" else 2**power
    number = float(match[1]) * factor
    return int(number) if number <= _MOST_BYTES else None


def plain(name: object) -> str:
    """A name without case, width, blanks, `-`, `_` and `.`, for comparing what people write."""
    return re.sub(r"[\s\-_.]+", "", unicodedata.normalize("NFKC", str(name))).casefold()


def twice(names: Sequence[object]) -> str | None:
    """The first name that says the same as one before it; `None` when all differ."""
    seen: set[str] = set()
    for name in names:
        key = plain(name)
        if key in seen:
            return str(name)
        seen.add(key)
    return None


def _compiles(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ValueError(f"the pattern {pattern!r} is no regular expression: {error}") from error
    if groups < 1:
        raise ValueError(f"the pattern {pattern!r} needs one group (…) around the number")
    return pattern


def _listed(value: object) -> object:
    """One name for a list of one; a number for its text, since `[2048]` is a name to people and a number to YAML."""
    if isinstance(value, list | tuple):
        return tuple(_number_as_text(item) for item in cast("Sequence[object]", value))
    return (value,) if isinstance(value, str) else value


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _named(names: tuple[str, ...]) -> tuple[str, ...]:
    if any(not plain(name) for name in names):
        raise ValueError("a name here is empty")
    return names


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    again = twice(names)
    if again is not None:
        raise ValueError(f"{again!r} is listed twice; case, blanks, `-`, `_` and `.` make no difference")
    return names


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("it must not be empty")
    return text.strip()


Size = Annotated[int | None, BeforeValidator(parse_size)]
Pattern = Annotated[str, AfterValidator(_compiles)]
Aliases = Annotated[tuple[str, ...], BeforeValidator(_listed), AfterValidator(_named)]
Names = Annotated[Aliases, AfterValidator(_distinct)]
Text = Annotated[str, AfterValidator(_said)]
NumberOrText = Annotated[str, BeforeValidator(_number_as_text)]
