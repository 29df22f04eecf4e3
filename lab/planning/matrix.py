"""The cells of a design: one set of settings a run."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from lab.errors import BadRequest
from lab.planning.goal import Design
from lab.recipe.model import Recipe, SettingRule
from lab.recipe.values import Setting

MOST_RUNS = 2000
_DIGITS = 4
_MOST_DRAWS = 100

Ranges = Mapping[str, tuple[float, float]]


def cells(recipe: Recipe, design: Design) -> list[dict[str, Setting]]:
    """One mapping of settings a run, full factorial over the factors, seeds last so that whole cells finish together.

    With ranges, `trials` points spread evenly over them (a Halton sequence) for each seed. Raises `BadRequest` when
    there are none or too many.
    """
    count = size(design)
    if count < 1:
        raise BadRequest("The plan has no runs.", next_step="Name at least one value for each setting.")
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
    varied = [name for name in names if name not in ("seed", *design.ranges)]
    axes = _axes(recipe, design, varied)
    fixed = {name: design.factors[name][0] for name in varied if name not in axes}
    for point in _points(recipe, design, axes):
        for seed in design.factors.get("seed", (None,)):
            yield {**fixed, **point, **({} if seed is None else {"seed": seed})}


def most_points(recipe: Recipe, factors: Mapping[str, tuple[Setting, ...]], ranges: Ranges) -> int | None:
    """How many different points a search can try; `None` where a range holds any fraction."""
    count = math.prod(len(levels) for name, levels in factors.items() if name not in ("seed", *ranges))
    for name, (low, high) in ranges.items():
        rule = recipe.settings[name]
        if rule.choices is not None:
            count *= sum(low <= float(choice) <= high for choice in rule.choices)
        elif rule.kind == "int":
            count *= math.floor(high) - math.ceil(low) + 1
        else:
            return None
    return count


def _points(recipe: Recipe, design: Design, axes: Mapping[str, int]) -> Iterator[dict[str, Setting]]:
    """`trials` different points; a repeated one is passed over, since the same run twice tells nothing new."""
    wanted, seen = design.trials or 0, set[tuple[Setting, ...]]()
    for trial in range(1, wanted * _MOST_DRAWS + 1):
        point = {name: _at(recipe, design, name, halton(trial, base)) for name, base in axes.items()}
        key = tuple(point.values())
        if key not in seen:
            seen.add(key)
            yield point
        if len(seen) == wanted:
            return


def _axes(recipe: Recipe, design: Design, varied: list[str]) -> dict[str, int]:
    """What is searched, each with a prime of its own: ranges first, for small primes spread best."""
    searched = [*design.ranges, *(name for name in varied if len(design.factors[name]) > 1)]
    unknown = next((name for name in design.ranges if name not in recipe.settings), None)
    if unknown is not None:
        raise BadRequest(f"The recipe {recipe.name} has no setting {unknown} to search.")
    return dict(zip(searched, _primes(), strict=False))


def _at(recipe: Recipe, design: Design, name: str, share: float) -> Setting:
    if name in design.ranges:
        low, high = design.ranges[name]
        return within(recipe.settings[name], low, high, share)
    levels = design.factors[name]
    return levels[int(share * len(levels))]


def within(rule: SettingRule, low: float, high: float, share: float) -> Setting:
    """The value at `share` (0 to 1) of the way from low to high on the rule's scale; of choices, the one there.

    A whole number where the setting is one, else rounded to 4 digits; never outside the range.
    """
    if rule.choices is not None:
        offered = sorted((c for c in rule.choices if low <= float(c) <= high), key=float)
        return offered[min(int(share * len(offered)), len(offered) - 1)]
    if rule.scale == "log" and low > 0:
        value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    else:
        value = low + share * (high - low)
    if rule.kind == "int":
        return min(math.floor(high), max(math.ceil(low), round(value)))
    return min(float(high), max(float(low), float(f"{value:.{_DIGITS}g}")))


def halton(index: int, base: int) -> float:
    """Element `index` (from 1) of the van der Corput sequence in `base`, in (0, 1)."""
    share, fraction = 0.0, 1.0
    while index > 0:
        fraction /= base
        share += fraction * (index % base)
        index //= base
    return share


def _primes() -> Iterator[int]:
    return (n for n in itertools.count(2) if all(n % d for d in range(2, math.isqrt(n) + 1)))
