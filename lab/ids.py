"""The id of a stored row."""

from typing import Protocol


class _Stored(Protocol):
    id: int | None


def id_of(row: _Stored) -> int:
    """The row's id. Raises `ValueError` for a row that was never flushed: a defect of the caller."""
    if row.id is None:
        raise ValueError(f"{type(row).__name__} has no id before it is stored")
    return row.id
