"""Changing a draft: what a follow-up such as “drop BLIP” or “3 seeds” makes of a design."""

import math
from collections.abc import Mapping
from typing import Any

from lab.errors import BadRequest, BadSetting
from lab.planning.choose import NAMED
from lab.planning.goal import Design, Goal, Limits, Needs, Strategy, Value
from lab.planning.levels import range_problem, same_level
from lab.planning.matrix import MOST_RUNS, Ranges, size
from lab.planning.resolve import Factors, ordered, over_limit, read_levels, trials_within
from lab.plans.changewords import change_words as change_words
from lab.recipe.model import Recipe
from lab.recipe.values import Setting
from lab.words import listing, number


class DesignChange(Value):
    """What should be different. `set` replaces a setting's levels, `add` and `drop` extend and thin them.

    An empty `drop` takes the setting out, so that it has its default again. `scale` multiplies numeric levels; `seeds`
    gives the number of seeds, `add_seeds` how many more. Names are as people write them; `*` in `drop` is whichever
    setting has the level.
    """

    set: Mapping[str, tuple[Setting, ...]] = {}
    add: Mapping[str, tuple[Setting, ...]] = {}
    drop: Mapping[str, tuple[Setting, ...]] = {}
    scale: Mapping[str, float] = {}
    seeds: int | None = None
    scale_seeds: float | None = None
    add_seeds: int | None = None
    ranges: Mapping[str, tuple[float, float]] = {}
    metrics: tuple[str, ...] = ()
    limits: Limits = Limits()
    resources: Needs = Needs()
    strategy: Strategy | None = None
    trials: int | None = None


def changed_design(recipe: Recipe, design: Design, change: DesignChange) -> Design:
    """The design with the change applied. Raises `BadSetting` for what the recipe does not know, `BadRequest`."""
    edit = _Edit(recipe, design)
    for name, levels in change.set.items():
        edit.set(name, levels)
    for name, levels in change.add.items():
        edit.add(name, levels)
    for name, levels in change.drop.items():
        edit.drop(name, levels)
    for name, factor in change.scale.items():
        edit.scale(name, factor)
    for name, (low, high) in change.ranges.items():
        edit.search(name, low, high)
    edit.seed(edit.seed_count(change.add_seeds) or change.seeds, change.scale_seeds)
    after = _finished(recipe, design, change, ordered(edit.factors), edit.ranges)
    if problem := over_limit(after):
        raise BadRequest(problem)
    return after


def goal_of(goal: str, design: Design) -> Goal:
    """The design as a goal again, for a plan like an earlier one."""
    return Goal(
        goal=goal,
        factors=design.factors,
        ranges=design.ranges,
        n_runs=size(design) if design.ranges else None,
        strategy=design.strategy,
        metrics=design.metrics,
        resources=design.resources,
        limits=design.limits,
    )


class _Edit:
    """Factors and ranges of a design while they are being changed."""

    def __init__(self, recipe: Recipe, design: Design) -> None:
        self._recipe = recipe
        self.factors: dict[str, tuple[Setting, ...]] = dict(design.factors)
        self.ranges: dict[str, tuple[float, float]] = dict(design.ranges)

    def set(self, name: str, levels: tuple[Setting, ...]) -> None:
        own = self._own(name)
        if not levels:
            raise BadRequest(f"Which values of {own}?", next_step=f"Name them, or drop {own} to have its default.")
        self.factors[own] = self._read(own, levels)
        self.ranges.pop(own, None)

    def add(self, name: str, levels: tuple[Setting, ...]) -> None:
        own = self._own(name)
        if own in self.ranges:
            raise BadRequest(f"{own} is searched over a range.", next_step=f"Set {own} to values, or change the range.")
        self.factors[own] = tuple(dict.fromkeys([*self._present(own), *self._read(own, levels)]))

    def drop(self, name: str, levels: tuple[Setting, ...]) -> None:
        own = self._holder(levels) if name == "*" else self._own(name)
        if not levels:
            self._take_out(own)
            return
        present = self.factors.get(own, ())
        missing = [level for level in levels if not same_level(level, *present)]
        if missing:
            raise BadRequest(f"The plan has no {own} {listing([number(level) for level in missing])}.")
        left = tuple(level for level in present if not same_level(level, *levels))
        if not left:
            raise BadRequest(f"Nothing of {own} would be left.", next_step="Cancel the plan, or name what to keep.")
        self.factors[own] = left

    def _holder(self, levels: tuple[Setting, ...]) -> str:
        """The one setting that varies and has all these levels. Raises `BadRequest` when none or several do."""
        holders = [
            name
            for name, present in self.factors.items()
            if len(present) > 1 and all(same_level(level, *present) for level in levels)
        ]
        if len(holders) != 1:
            said = listing([number(level) for level in levels])
            raise BadRequest(f"Which setting's {said} should go?", next_step="Name the setting too.")
        return holders[0]

    def scale(self, name: str, factor: float) -> None:
        own = self._own(name)
        if not math.isfinite(factor):
            raise BadRequest(f"{own} can't be scaled by {factor}.")
        if own in self.ranges:
            low, high = self.ranges[own]
            self.search(own, float(f"{low * factor:.10g}"), float(f"{high * factor:.10g}"))
            return
        present = self._present(own)
        if not present:
            raise BadRequest(f"{own} has no value to scale.", next_step=f"Set {own} to a value.")
        self.factors[own] = self._read(own, tuple(self._scaled(own, level, factor) for level in present))

    def search(self, name: str, low: float, high: float) -> None:
        own = self._own(name)
        rule = self._recipe.settings.get(own)
        problem = f"{own} can't be searched." if rule is None else range_problem(own, rule, low, high)
        if problem:
            raise BadSetting(problem)
        self.ranges[own] = (low, high)
        self.factors.pop(own, None)

    def seed_count(self, more: int | None) -> int | None:
        """How many seeds there are with so many more."""
        return len(self.factors.get("seed", (0,))) + more if more else None

    def seed(self, count: int | None, factor: float | None) -> None:
        if count is None and factor is None:
            return
        if count is None:
            wanted = len(self.factors.get("seed", (0,))) * (factor or 0.0)
            count = round(wanted) if math.isfinite(wanted) else MOST_RUNS + 1
        if count < 1:
            raise BadRequest("At least one seed is needed.")
        if count > MOST_RUNS:
            raise BadRequest(
                f"One plan holds at most {MOST_RUNS} runs, so no more seeds.", next_step="Say fewer seeds."
            )
        self.factors["seed"] = self._read("seed", tuple(range(count)))

    def _own(self, name: str) -> str:
        own = self._recipe.setting_name(name) or (name if name in self.factors else None)
        if own is None:
            known = listing(sorted(self._recipe.settings)) or "none"
            raise BadSetting(f"The recipe {self._recipe.name} has no setting {name}.", next_step=f"It has {known}.")
        return own

    def _read(self, own: str, levels: tuple[Setting, ...]) -> tuple[Setting, ...]:
        good, problems = read_levels(self._recipe, own, levels)
        if problems:
            raise BadSetting(problems[0])
        return good

    def _present(self, own: str) -> tuple[Setting, ...]:
        """The levels that the plan has now, if only the default."""
        if own in self.factors:
            return self.factors[own]
        rule = self._recipe.settings.get(own)
        return (rule.default,) if rule is not None and rule.default is not None else ()

    def _take_out(self, own: str) -> None:
        if own in NAMED:
            raise BadRequest(f"A plan needs a {own}.", next_step=f"Set the {own} to another one.")
        if own not in self.factors and own not in self.ranges:
            raise BadRequest(f"The plan does not vary {own}.")
        self.factors.pop(own, None)
        self.ranges.pop(own, None)

    def _scaled(self, own: str, level: Setting, factor: float) -> Setting:
        if isinstance(level, bool) or not isinstance(level, int | float):
            raise BadSetting(f"{own}={number(level)} is no number and can't be scaled.")
        rule = self._recipe.settings.get(own)
        whole = isinstance(level, int) and (rule is None or rule.kind == "int")
        value = level * factor
        if not math.isfinite(value):
            raise BadSetting(f"{own}={number(level)} times {number(factor)} is too large.")
        scaled = round(value) if whole else float(f"{value:.4g}")
        if level and factor and not scaled:
            raise BadSetting(f"{own}={number(level)} times {number(factor)} would be 0.")
        return scaled


def _finished(recipe: Recipe, design: Design, change: DesignChange, factors: Factors, ranges: Ranges) -> Design:
    limits = _merged(design.limits, change.limits)
    return Design(
        factors=factors,
        ranges=ranges,
        strategy=_strategy(design, change, ranges),
        trials=_trials(recipe, design, change, factors, ranges) if ranges else None,
        metrics=_metrics(recipe, change) or design.metrics,
        resources=_merged(design.resources, change.resources),
        limits=limits,
    )


def _strategy(design: Design, change: DesignChange, ranges: Ranges) -> Strategy:
    """What was said, else as before; a range turns a grid into a random search, and without ranges all is a grid."""
    if change.strategy is not None:
        return change.strategy
    if not ranges:
        return "grid"
    return "random" if design.strategy == "grid" else design.strategy


def _trials(recipe: Recipe, design: Design, change: DesignChange, factors: Factors, ranges: Ranges) -> int:
    if change.trials is not None and change.trials < 1:
        raise BadRequest("At least one trial is needed.")
    limits = _merged(design.limits, change.limits)
    seeds = max(1, len(factors.get("seed", ())))
    said = change.trials or (None if change.limits.max_runs else design.trials)
    return trials_within(recipe, limits, said * seeds if said else None, factors, ranges)


def _metrics(recipe: Recipe, change: DesignChange) -> tuple[str, ...]:
    found = {name: recipe.metric(name) for name in change.metrics}
    unknown = [name for name, rule in found.items() if rule is None]
    if unknown:
        known = listing([metric.name for metric in recipe.metrics]) or "no metric"
        raise BadRequest(f"The recipe {recipe.name} does not print {listing(unknown)}; it prints {known}.")
    return tuple(dict.fromkeys(rule.name for rule in found.values() if rule is not None))


def _merged(old: Any, new: Any) -> Any:
    """The old values with what was newly said on top."""
    return old.model_copy(update=new.model_dump(exclude_none=True))
