"""The cells of a design: one set of settings a run."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from lab.errors import BadRequest
from lab.planning.goal import Design
from lab.recipe.model import Recipe, Setting, SettingRule

MOST_RUNS = 2000
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)


def cells(recipe: Recipe, design: Design) -> list[dict[str, Setting]]:
    """One mapping of settings a run, full factorial over the factors, seeds last so that whole cells finish together.

    With ranges, `trials` points spread evenly over them (a Halton sequence) for each seed. Raises `BadRequest` when
    there are too many.
    """
    count = size(design)
    if count == 0:
        raise BadRequest("The plan has no runs.", next_step="Name at least one setting to vary.")
    if count > MOST_RUNS:
        raise BadRequest(
            f"The matrix has {count} runs; one plan holds at most {MOST_RUNS}.",
            next_step="Fix some settings, or ask for a search with a number of trials.",
        )
    defaults = {name: rule.default for name, rule in recipe.settings.items() if rule.default is not None}
    return [{**defaults, **cell} for cell in _cells(recipe, design)]


def size(design: Design) -> int:
    """How many runs the design has."""
    if design.ranges:
        return (design.trials or 0) * len(design.factors.get("seed", (0,)))
    return math.prod(len(levels) for levels in design.factors.values())


def settings_digest(recipe_name: str, settings: Mapping[str, Any]) -> str:
    """The same for the same settings of the same recipe, whatever their order."""
    text = json.dumps([recipe_name, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _cells(recipe: Recipe, design: Design) -> Iterator[dict[str, Setting]]:
    names = list(design.factors)
    if not design.ranges:
        for levels in itertools.product(*design.factors.values()):
            yield dict(zip(names, levels, strict=True))
        return
    searched = [name for name in names if name != "seed" and len(design.factors[name]) > 1]
    fixed = {name: design.factors[name][0] for name in names if name not in searched and name != "seed"}
    for trial in range(design.trials or 0):
        point = _point(recipe, design, searched, trial)
        for seed in design.factors.get("seed", ()) or (None,):
            yield {**fixed, **point, **({} if seed is None else {"seed": seed})}


def _point(recipe: Recipe, design: Design, searched: list[str], trial: int) -> dict[str, Setting]:
    point: dict[str, Setting] = {}
    for place, name in enumerate((*design.ranges, *searched)):
        share = halton(trial + 1, _PRIMES[place % len(_PRIMES)])
        if name in design.ranges:
            low, high = design.ranges[name]
            point[name] = within(recipe.settings[name], low, high, share)
        else:
            levels = design.factors[name]
            point[name] = levels[int(share * len(levels))]
    return point


def within(rule: SettingRule, low: float, high: float, share: float) -> int | float:
    """The value at `share` (0 to 1) of the way from low to high, on the rule's scale, rounded to 4 digits."""
    if rule.scale == "log" and low > 0:
        value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    else:
        value = low + share * (high - low)
    return round(value) if rule.kind == "int" else float(f"{min(high, max(low, value)):.4g}")


def halton(index: int, base: int) -> float:
    """Element `index` (from 1) of the van der Corput sequence in `base`, in (0, 1)."""
    share, fraction = 0.0, 1.0
    while index > 0:
        fraction /= base
        share += fraction * (index % base)
        index //= base
    return share
