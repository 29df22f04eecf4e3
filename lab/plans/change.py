"""Changing a draft: what a follow-up such as “drop BLIP” or “3 seeds” makes of a design."""

from collections.abc import Mapping
from typing import Any

from lab.errors import BadRequest, BadSetting
from lab.planning.goal import Design, Goal, Limits, Needs, Strategy, Value
from lab.planning.levels import convert_level
from lab.recipe.model import Recipe, Setting, plain
from lab.words import listing, number


class DesignChange(Value):
    """What should be different. `set` replaces a setting's levels, `add` and `drop` extend and thin them.

    `scale` multiplies numeric levels; `seeds` gives the number of seeds. Names are as people write them.
    """

    set: Mapping[str, tuple[Setting, ...]] = {}
    add: Mapping[str, tuple[Setting, ...]] = {}
    drop: Mapping[str, tuple[Setting, ...]] = {}
    scale: Mapping[str, float] = {}
    seeds: int | None = None
    scale_seeds: float | None = None
    ranges: Mapping[str, tuple[float, float]] = {}
    metrics: tuple[str, ...] = ()
    limits: Limits = Limits()
    resources: Needs = Needs()
    strategy: Strategy | None = None
    trials: int | None = None


def changed_design(recipe: Recipe, design: Design, change: DesignChange) -> Design:
    """The design with the change applied. Raises `BadSetting` for what the recipe does not know, `BadRequest`."""
    factors: dict[str, tuple[Setting, ...]] = dict(design.factors)
    ranges = dict(design.ranges)
    for name, levels in change.set.items():
        own = _own(recipe, design, name)
        factors[own] = _converted(recipe, own, levels)
        ranges.pop(own, None)
    for name, levels in change.add.items():
        own = _own(recipe, design, name)
        factors[own] = tuple(dict.fromkeys([*_present(recipe, factors, own), *_converted(recipe, own, levels)]))
    for name, levels in change.drop.items():
        own = _own(recipe, design, name)
        factors[own] = _without(own, factors.get(own, ()), levels)
    for name, factor in change.scale.items():
        own = _own(recipe, design, name)
        factors[own] = tuple(_scaled(recipe, own, level, factor) for level in _present(recipe, factors, own))
    for name, (low, high) in change.ranges.items():
        own = _own(recipe, design, name)
        ranges[own] = (low, high)
        factors.pop(own, None)
    seeds = _seeds(change, factors)
    if seeds is not None:
        factors["seed"] = tuple(range(seeds))
    return Design(
        factors=factors,
        ranges=ranges,
        strategy=change.strategy or (design.strategy if ranges else "grid"),
        trials=(change.trials or change.limits.max_runs or design.trials or 20) if ranges else None,
        metrics=tuple(rule.name for name in change.metrics if (rule := recipe.metric(name))) or design.metrics,
        resources=_merged(design.resources, change.resources),
        limits=_merged(design.limits, change.limits),
    )


def goal_of(goal: str, design: Design) -> Goal:
    """The design as a goal again, for a plan like an earlier one."""
    return Goal(goal=goal, factors=design.factors, ranges=design.ranges, strategy=design.strategy)


def change_words(before: Design, after: Design) -> list[str]:
    """What differs, one line each, as `-`/`+`."""
    lines: list[str] = []
    for name in dict.fromkeys([*before.factors, *after.factors]):
        old, new = before.factors.get(name, ()), after.factors.get(name, ())
        gone = [number(v) for v in old if v not in new]
        come = [number(v) for v in new if v not in old]
        lines += [f"- {name}: {listing(gone)}"] if gone else []
        lines += [f"+ {name}: {listing(come)}"] if come else []
    for part in ("ranges", "resources", "limits", "strategy", "trials", "metrics"):
        old, new = getattr(before, part), getattr(after, part)
        if old != new:
            lines.append(f"+ {part}: {_words(new)}")
    return lines


def _own(recipe: Recipe, design: Design, name: str) -> str:
    own = recipe.setting_name(name)
    if own is None and name in design.factors:
        own = name
    if own is None:
        known = listing(sorted(recipe.settings))
        raise BadSetting(f"The recipe {recipe.name} has no setting {name}.", next_step=f"It has {known}.")
    return own


def _converted(recipe: Recipe, own: str, levels: tuple[Setting, ...]) -> tuple[Setting, ...]:
    if own in ("model", "dataset"):
        offered = recipe.models if own == "model" else recipe.datasets
        names = {plain(name): name for name in offered}
        missing = [str(level) for level in levels if plain(level) not in names]
        if missing and offered:
            raise BadSetting(
                f"{recipe.name} has no {own} {listing(missing)}.", next_step=f"It has {listing([*offered])}."
            )
        return tuple(names.get(plain(level), level) for level in levels)
    rule = recipe.settings.get(own)
    if rule is None:
        return levels
    found = [convert_level(own, rule, level) for level in levels]
    problem = next((level.problem for level in found if level.problem), "")
    if problem:
        raise BadSetting(problem)
    return tuple(level.value for level in found if level.value is not None)


def _present(recipe: Recipe, factors: Mapping[str, tuple[Setting, ...]], own: str) -> tuple[Setting, ...]:
    if own in factors:
        return factors[own]
    rule = recipe.settings.get(own)
    return (rule.default,) if rule is not None and rule.default is not None else ()


def _without(own: str, levels: tuple[Setting, ...], drop: tuple[Setting, ...]) -> tuple[Setting, ...]:
    gone = {plain(number(level)) for level in drop}
    left = tuple(level for level in levels if plain(number(level)) not in gone)
    if not left:
        raise BadRequest(f"Nothing of {own} would be left.", next_step="Cancel the plan instead, or name what to keep.")
    if len(left) == len(levels):
        raise BadRequest(f"The plan has no {own} {listing([number(d) for d in drop])}.")
    return left


def _scaled(recipe: Recipe, own: str, level: Setting, factor: float) -> Setting:
    if isinstance(level, bool) or not isinstance(level, int | float):
        raise BadSetting(f"{own}={number(level)} is no number and can't be scaled.")
    value = level * factor
    return _converted(recipe, own, (round(value) if isinstance(level, int) else float(f"{value:.4g}"),))[0]


def _seeds(change: DesignChange, factors: Mapping[str, tuple[Setting, ...]]) -> int | None:
    count = change.seeds
    if count is None and change.scale_seeds is not None:
        count = round(len(factors.get("seed", (0,))) * change.scale_seeds)
    if count is not None and count < 1:
        raise BadRequest("At least one seed is needed.")
    return count


def _merged(old: Any, new: Any) -> Any:
    return old.model_copy(update=new.model_dump(exclude_none=True))


def _words(value: Any) -> str:
    if isinstance(value, Value):
        return ", ".join(f"{k}={number(v)}" for k, v in value.model_dump(exclude_none=True).items())
    if isinstance(value, Mapping):
        pairs = value.items()  # type: ignore[reportUnknownMemberType]
        return ", ".join(f"{k} {number(low)} to {number(high)}" for k, (low, high) in pairs)  # type: ignore[misc]
    if isinstance(value, tuple):
        return listing([str(v) for v in value])  # type: ignore[reportUnknownVariableType]
    return str(value)
