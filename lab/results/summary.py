"""From runs to the matrix: which run belongs to which cell, and what each cell amounts to."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from lab.results.statistics import Compare, compare_by_t, interval
from lab.results.values import (
    SEED,
    Against,
    Cell,
    Design,
    Failure,
    Level,
    Matrix,
    Repair,
    RunResult,
    Value,
    Verdict,
    level_key,
)
from lab.results.words import reason_word

HUGE = 1e150
"""A number this large (or infinite, or NaN) is taken as diverged; its square would not be a number any more."""
_WAITING = frozenset({"draft", "awaiting_approval", "queued", "submitting", "running", "preempted"})


def summarise(design: Design, runs: Sequence[RunResult], compare: Compare = compare_by_t) -> Matrix:
    """The matrix of a plan's runs.

    Every combination of the design's levels has a cell, also where nothing ran yet. A run with a level that the design
    does not name adds it. `compare` judges each cell against the best. The best has the best mean among the cells where
    more than half as many runs gave a number as in the fullest one: one lucky seed does not beat three.
    """
    factors = _factors(design, runs)
    by_levels: dict[tuple[object, ...], list[RunResult]] = {}
    for run in runs:
        by_levels.setdefault(tuple(level_key(run.settings.get(name)) for name in factors), []).append(run)
    cells: list[Cell] = []
    for levels in itertools.product(*factors.values()):
        mine = by_levels.pop(tuple(level_key(level) for level in levels), [])
        cells.append(_cell(design, levels, mine))
    seeds = {level_key(run.settings[SEED]) for run in runs if SEED in run.settings}
    most = max((cell.n for cell in cells), default=0)
    contexts = tuple(name for name in factors if name in design.contexts)
    matrix = Matrix(
        design.metric, design.goal, design.title, factors, tuple(cells), len(runs), max(len(seeds), most), contexts
    )
    return replace(matrix, cells=tuple(_judged(matrix, compare)))


def _factors(design: Design, runs: Sequence[RunResult]) -> dict[str, tuple[Level, ...]]:
    return {name: _levels(name, levels, runs) for name, levels in design.factors.items() if name != SEED}


def _levels(name: str, given: Iterable[Level], runs: Sequence[RunResult]) -> tuple[Level, ...]:
    levels = {level_key(level): level for level in given}
    found = {level_key(run.settings[name]): run.settings[name] for run in runs if name in run.settings}
    added = [level for key, level in found.items() if key not in levels]
    if added:
        everything = [*levels.values(), *added]
        numeric = all(isinstance(level, int | float) for level in everything)
        return tuple(sorted(everything, key=lambda level: float(level))) if numeric else tuple(everything)
    return tuple(levels.values())


@dataclass(frozen=True)
class _Sorted:
    values: tuple[Value, ...]
    failures: tuple[Failure, ...]
    pending: int


def _sort(design: Design, runs: Sequence[RunResult]) -> _Sorted:
    values: list[Value] = []
    failures: list[Failure] = []
    pending = 0
    for run in runs:
        seed = run.settings.get(SEED)
        number = _number(design, run)
        if run.state in _WAITING:
            pending += 1
        elif run.state == "succeeded" and number is not None:
            values.append(Value(run.run_id, seed, number))
        else:
            failures.append(Failure(run.run_id, seed, run.category, reason_word(run, design.metric)))
    return _Sorted(tuple(values), tuple(failures), pending)


def _number(design: Design, run: RunResult) -> float | None:
    number = (run.best if design.use == "best" else run.metrics).get(design.metric)
    return number if number is not None and abs(number) < HUGE else None


def _cell(design: Design, levels: tuple[Level, ...], runs: Sequence[RunResult]) -> Cell:
    found = _sort(design, runs)
    numbers = [value.value for value in found.values]
    bounds = interval(numbers)
    seconds = [run.seconds for run in runs if run.seconds is not None]
    gave = {value.run_id for value in found.values}
    repairs = tuple(
        Repair(
            run.run_id, run.settings.get(SEED), run.remedies, reason_word(run, design.metric) if run.category else None
        )
        for run in runs
        if run.remedies and run.run_id in gave
    )
    return Cell(
        levels=levels,
        values=found.values,
        failures=found.failures,
        repairs=repairs,
        pending=found.pending,
        mean=fmean(numbers) if numbers else None,
        sd=stdev(numbers) if len(numbers) > 1 else None,
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
        seconds=sum(seconds) if seconds else None,
    )


def _judged(matrix: Matrix, compare: Compare) -> list[Cell]:
    """The cells, each with its comparison with the best of its context."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in matrix.cells:
        groups.setdefault(tuple(level_key(level) for level in matrix.context(cell)), []).append(cell)
    verdicts: dict[int, Verdict] = {}
    for group in groups.values():
        best = _best(group, matrix)
        if best is None:
            continue
        verdicts[id(best)] = Verdict(Against.BEST, difference=0.0)
        others = [cell for cell in group if cell is not best and cell.mean is not None]
        verdicts.update(zip(map(id, others), compare(best, others), strict=True))
    return [replace(cell, verdict=verdicts.get(id(cell), cell.verdict)) for cell in matrix.cells]


def _best(cells: Sequence[Cell], matrix: Matrix) -> Cell | None:
    most = max(cell.n for cell in cells)
    candidates = [cell for cell in cells if cell.mean is not None and (2 * cell.n > most or most == 1)]
    sign = 1.0 if matrix.goal == "maximize" else -1.0
    return max(candidates, key=lambda cell: sign * (cell.mean or 0.0), default=None)
