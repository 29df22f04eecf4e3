"""Column types and helpers shared by the tables."""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import JSON, CheckConstraint, DateTime, Dialect
from sqlalchemy.types import TypeDecorator

JsonDict = dict[str, Any]
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class JsonColumn(TypeDecorator[Any]):
    """JSON as text on every database, so that the order of keys and the kind of numbers stay as they were written.

    `None` is SQL's NULL, never the JSON word. What no database takes is replaced as `storable` says.
    """

    impl = JSON
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(none_as_null=True)

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return None if value is None else storable(value)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time in UTC on every database; a naive one is refused, since nobody could tell what it meant."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone was about to be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def storable(value: Any) -> Any:
    """The value as every database keeps it: `None` for NaN and infinities, text as `storable_text` makes it.

    Logs are full of both, and PostgreSQL refuses them.
    """
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {storable_text(key) if isinstance(key, str) else key: storable(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [storable(item) for item in cast("list[object]", value)]
    return value


def storable_text(text: str) -> str:
    """The text with NUL and lone surrogates replaced: UTF-8 has no such characters, PostgreSQL refuses NUL."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def one_of(column: str, states: type[StrEnum]) -> CheckConstraint:
    """A CHECK that the column holds one of the enumeration's values."""
    return CheckConstraint(f"{column} IN ({_listed(states)})", name=f"{column}_known")


def state_in(states: type[StrEnum], chosen: Collection[StrEnum]) -> str:
    """SQL that says that the column `state` is one of those chosen, in the order of the enumeration."""
    return f"state IN ({_listed(state for state in states if state in chosen)})"


def _listed(states: Iterable[StrEnum]) -> str:
    return ", ".join(f"'{state.value}'" for state in states)
