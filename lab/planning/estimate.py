"""How long the cells will take: from like runs of the past, else from the recipe's own word."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lab.planning.goal import Needs
from lab.recipe.model import Recipe
from lab.words import duration, hours_words, plural

_HOUR = 3600.0
_UNPROVEN = 2.0
"""With no past runs the true length is taken to lie within this factor of the recipe's word, either way."""
_LIKENESS = ("model", "dataset", "batch_size")
_LENGTHS = ("epochs", "steps", "max_steps", "iterations")


@dataclass(frozen=True)
class PastRun:
    """A run that ended well: its settings and the seconds its last attempt took."""

    settings: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """Hours for a whole plan; `None` where neither the recipe nor the past says. `basis` tells on what it rests."""

    runs: int
    gpus: int
    run_seconds: float | None
    gpu_hours: float | None
    gpu_hours_low: float | None
    gpu_hours_high: float | None
    cpu_hours: float | None
    cpu_hours_high: float | None
    basis: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def estimate(recipe: Recipe, cells: Sequence[Mapping[str, Any]], past: Sequence[PastRun], needs: Needs) -> Estimate:
    """Sum of the cells' expected lengths, with a low and a high end, in GPU-hours and CPU-hours."""
    nodes = needs.nodes or recipe.resources.nodes
    gpus = (needs.gpus if needs.gpus is not None else recipe.resources.gpus) * nodes
    cpus = (needs.cpus or recipe.resources.cpus) * nodes
    spans = _spans(recipe, cells, past)
    known = [span for span in spans if span is not None]
    if len(known) < len(spans) or not spans:
        return Estimate(
            len(cells), gpus, None, None, None, None, None, None, "unknown: no past run, no hours in the recipe"
        )
    low, mid, high = (math.fsum(span[i] for span in known) for i in range(3))
    basis = f"{plural(len(past), 'past run')} of {recipe.name}" if past else "the recipe's own word, not yet measured"
    return Estimate(
        runs=len(cells),
        gpus=gpus,
        run_seconds=mid / len(cells),
        gpu_hours=mid * gpus / _HOUR,
        gpu_hours_low=low * gpus / _HOUR,
        gpu_hours_high=high * gpus / _HOUR,
        cpu_hours=mid * cpus / _HOUR,
        cpu_hours_high=high * cpus / _HOUR,
        basis=basis,
    )


def estimate_words(found: Estimate, parallel: int | None = None) -> str:
    """`12 runs x 1 GPU, about 24 GPU-hours (12 to 48)`, or CPU time where no GPU is asked for."""
    head = plural(found.runs, "run")
    if found.run_seconds is None:
        return f"{head}, length unknown"
    clock = ""
    if parallel:
        clock = f", done in about {duration(found.run_seconds * found.runs / min(parallel, found.runs))}"
    if found.gpus:
        low, high = hours_words(found.gpu_hours_low), hours_words(found.gpu_hours_high)
        hours = f"{hours_words(found.gpu_hours)} GPU-hours ({low} to {high})"
        return f"{head} x {plural(found.gpus, 'GPU')}, about {hours}{clock}"
    return f"{head} of about {duration(found.run_seconds)} each, no GPU{clock}"


def _spans(
    recipe: Recipe, cells: Sequence[Mapping[str, Any]], past: Sequence[PastRun]
) -> list[tuple[float, float, float] | None]:
    """One span a cell; cells that differ in nothing that tells on the length share the work."""
    known: dict[tuple[object, ...], tuple[float, float, float] | None] = {}
    found: list[tuple[float, float, float] | None] = []
    for cell in cells:
        key = tuple(cell.get(name) for name in (*_LIKENESS, *_LENGTHS))
        if key not in known:
            known[key] = _span(recipe, cell, past)
        found.append(known[key])
    return found


def _span(recipe: Recipe, cell: Mapping[str, Any], past: Sequence[PastRun]) -> tuple[float, float, float] | None:
    like = _like(cell, past)
    if like:
        seconds = sorted(run.seconds * _length_ratio(cell, run.settings) for run in like)
        middle = statistics.median(seconds)
        if len(seconds) >= 5:
            low, high = seconds[len(seconds) // 10], seconds[-1 - len(seconds) // 10]
            return min(low, middle), middle, max(high, middle * 1.1)
        return middle / 1.5, middle, middle * 1.5
    if recipe.resources.hours is None:
        return None
    seconds_told = recipe.resources.hours * _HOUR
    return seconds_told / _UNPROVEN, seconds_told, seconds_told * _UNPROVEN


def _like(cell: Mapping[str, Any], past: Sequence[PastRun]) -> list[PastRun]:
    """The past runs most like the cell: the same model and batch, else the same model, else all."""
    for names in (_LIKENESS, _LIKENESS[:2], _LIKENESS[:1], ()):
        like = [run for run in past if all(run.settings.get(n) == cell.get(n) for n in names)]
        if like:
            return like
    return []


def _length_ratio(cell: Mapping[str, Any], settings: Mapping[str, Any]) -> float:
    for name in _LENGTHS:
        wanted, had = cell.get(name), settings.get(name)
        if isinstance(wanted, int | float) and isinstance(had, int | float) and had > 0 and wanted > 0:
            return float(wanted) / float(had)
    return 1.0
