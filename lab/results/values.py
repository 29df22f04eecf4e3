"""The values that the results are made of: `Design` and `RunResult` go in, a `Matrix` of `Cell`s comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Level = str | int | float | bool
SEED = "seed"


def level_key(level: object) -> object:
    """What makes two levels the same: 1 and 1.0 are, 1 and True are not, nor 1 and "1"."""
    return (type(level).__name__, level) if isinstance(level, bool | str) or level is None else ("number", level)


class Against(StrEnum):
    """A cell beside the best one. `UNKNOWN` where there is nothing to test, e.g. one seed each."""

    BEST = "best"
    TIE = "tie"
    WORSE = "worse"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Design:
    """What was compared. `factors` maps each factor to its levels, in the order to show; `seed` counts as replication.

    A factor without levels takes those that the runs have. `title` is the research goal; `use` says which value of a
    run counts. `contexts` are factors whose levels are not rivals: each dataset has a best cell of its own.
    """

    factors: Mapping[str, tuple[Level, ...]]
    metric: str
    goal: Literal["maximize", "minimize"] = "maximize"
    title: str = ""
    use: Literal["last", "best"] = "last"
    contexts: tuple[str, ...] = ("dataset",)


@dataclass(frozen=True)
class RunResult:
    """One run's end, or where it stands. `state` is the run's state; `category` its diagnosis, `reason` that in words.

    `metrics` and `best` map a metric to its last and best value, `None` where the last one was no finite number.
    `remedies` say in words what was changed before it ran ("gradient checkpointing").
    """

    run_id: int
    settings: Mapping[str, Level]
    state: str
    metrics: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    best: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    seconds: float | None = None
    attempts: int = 1
    category: str | None = None
    reason: str | None = None
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Value:
    """One run's number. Runs of one seed are paired over cells."""

    run_id: int
    seed: Level | None
    value: float


@dataclass(frozen=True)
class Failure:
    """A run that gave no number, and why in a word or two."""

    run_id: int
    seed: Level | None
    category: str | None
    word: str


@dataclass(frozen=True)
class Repair:
    """A run that only ran after changes: what was changed, and after which failure in a word or two."""

    run_id: int
    seed: Level | None
    remedies: tuple[str, ...]
    after: str | None


@dataclass(frozen=True)
class Verdict:
    """A test of a cell against the best: the difference best − other in the metric's unit, p after correction."""

    against: Against
    method: str | None = None
    difference: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class Cell:
    """All runs with one combination of levels. `low` and `high` bound the mean with 95% confidence."""

    levels: tuple[Level, ...]
    values: tuple[Value, ...] = ()
    failures: tuple[Failure, ...] = ()
    repairs: tuple[Repair, ...] = ()
    pending: int = 0
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    seconds: float | None = None
    verdict: Verdict = Verdict(Against.UNKNOWN)

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def numbers(self) -> tuple[float, ...]:
        return tuple(value.value for value in self.values)

    @property
    def failed(self) -> bool:
        """Runs failed and none gave a number."""
        return bool(self.failures) and not self.values

    @property
    def tied(self) -> bool:
        return self.verdict.against is Against.TIE


@dataclass(frozen=True)
class Matrix:
    """Every combination of levels with what came of it. `factors` are without the seed; cells follow their order.

    `contexts` are those of the factors whose levels are not compared with each other.
    """

    metric: str
    goal: Literal["maximize", "minimize"]
    title: str
    factors: Mapping[str, tuple[Level, ...]]
    cells: tuple[Cell, ...]
    runs: int
    seeds: int
    contexts: tuple[str, ...] = ()

    def cell(self, *levels: Level) -> Cell | None:
        """The cell at those levels, in the order of `factors`."""
        wanted = [level_key(level) for level in levels]
        return next((c for c in self.cells if [level_key(level) for level in c.levels] == wanted), None)

    @property
    def best(self) -> Cell | None:
        """The best cell where all are compared with each other; `None` without a number or with several contexts."""
        return self.bests[0] if len(self.bests) == 1 else None

    @property
    def bests(self) -> tuple[Cell, ...]:
        """The best cell of each context, in the order of the contexts' levels."""
        found = (cell for cell in self.cells if cell.verdict.against is Against.BEST)
        orders = [self.factors[name] for name in self.contexts]
        return tuple(
            sorted(found, key=lambda cell: [o.index(x) for o, x in zip(orders, self.context(cell), strict=True)])
        )

    @property
    def ties(self) -> tuple[Cell, ...]:
        """Cells that can't be told from the best, nearest first."""
        tied = (cell for cell in self.cells if cell.tied)
        return tuple(sorted(tied, key=lambda cell: abs(cell.verdict.difference or 0.0)))

    def context(self, cell: Cell) -> tuple[Level, ...]:
        """The levels that say with which other cells a cell is compared: those of the contexts."""
        return tuple(level for name, level in zip(self.factors, cell.levels, strict=True) if name in self.contexts)

    @property
    def pending(self) -> int:
        """Runs that have not ended."""
        return sum(cell.pending for cell in self.cells)

    def named(self, cell: Cell) -> dict[str, Level]:
        """A cell's levels by factor."""
        return dict(zip(self.factors, cell.levels, strict=True))
