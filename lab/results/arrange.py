"""Which factor goes down, which across, and which make separate panels."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from lab.results.values import Cell, Level, Matrix


@dataclass(frozen=True)
class Arrangement:
    """`rows` and `columns` name the factors of each panel, `across` and `down` those that tell panels apart."""

    rows: str | None
    columns: str | None
    across: tuple[str, ...] = ()
    down: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One combination of the panel factors' levels, with its place in the grid of panels."""

    line: int
    place: int
    across: tuple[Level, ...]
    down: tuple[Level, ...]


def arrange(matrix: Matrix) -> Arrangement:
    """The two numeric factors with the most levels span each panel, the rest makes panels; words come after numbers."""
    factors = [name for name, levels in matrix.factors.items() if len(levels) > 1] or list(matrix.factors)[:1]
    if len(factors) <= 1:
        return Arrangement(factors[0] if factors else None, None)
    if len(factors) == 2:
        rows, columns = factors
    else:
        rows, columns = sorted(factors, key=lambda name: _axis_rank(matrix, name))[:2]
        rows, columns = sorted((rows, columns), key=factors.index)
    if len(matrix.factors[columns]) > max(7, len(matrix.factors[rows])):
        rows, columns = columns, rows
    rest = [name for name in factors if name not in (rows, columns)]
    down = rest[:-1] if len(rest) > 1 else []
    return Arrangement(rows, columns, tuple(rest[len(down) :]), tuple(down))


def _axis_rank(matrix: Matrix, name: str) -> tuple[bool, int]:
    levels = matrix.factors[name]
    words = any(isinstance(level, bool | str) for level in levels)
    return words and len(levels) <= 3, -len(levels)


def panels(matrix: Matrix, arrangement: Arrangement) -> Iterator[Panel]:
    """Every panel, line by line."""
    down = itertools.product(*(matrix.factors[name] for name in arrangement.down))
    for line, lower in enumerate(down):
        across = itertools.product(*(matrix.factors[name] for name in arrangement.across))
        for place, upper in enumerate(across):
            yield Panel(line, place, upper, lower)


def cell_at(matrix: Matrix, arrangement: Arrangement, panel: Panel, row: Level, column: Level | None) -> Cell | None:
    """The cell of a panel at a row and a column."""
    known = dict(zip(arrangement.across, panel.across, strict=True)) | dict(
        zip(arrangement.down, panel.down, strict=True)
    )
    if arrangement.rows is not None:
        known[arrangement.rows] = row
    if arrangement.columns is not None and column is not None:
        known[arrangement.columns] = column
    return matrix.cell(*(known.get(name, levels[0]) for name, levels in matrix.factors.items()))
