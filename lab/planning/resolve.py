"""Reading a goal against the lab's recipes: the names become the recipe's own, and what can't be settled is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.planning.choose import NAMED, fitting_recipes, names_recipe, offered, own_level, which_recipe
from lab.planning.goal import Design, Goal, Limits
from lab.planning.levels import SEED_RULE, convert_level, range_problem
from lab.planning.matrix import Ranges, most_points, size
from lab.recipe.files import Shelf
from lab.recipe.model import Recipe
from lab.recipe.values import Setting
from lab.words import listing

USUAL_TRIALS = 20

Factors = Mapping[str, tuple[Setting, ...]]


@dataclass(frozen=True)
class Resolved:
    """A design for a recipe, or the questions that stand in its way. `notes` are told and stop nothing."""

    recipe: Recipe | None
    design: Design | None
    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


def resolve(goal: Goal, shelf: Shelf) -> Resolved:
    """Find the recipe that the goal is about and turn the goal's names and levels into that recipe's own."""
    candidates = fitting_recipes(goal, shelf)
    if len(candidates) != 1:
        question, nearest = which_recipe(goal, shelf, candidates)
        return Resolved(None, None, (question,), (), nearest)
    recipe = candidates[0]
    questions: list[str] = []
    notes: list[str] = []
    factors = _factors(goal, recipe, questions)
    ranges = _ranges(goal, recipe, questions)
    metrics = _metrics(goal, recipe, notes)
    if questions:
        return Resolved(recipe, None, tuple(questions), tuple(notes))
    whole = _complete(recipe, factors, ranges)
    design = Design(
        factors=whole,
        ranges=ranges,
        strategy=goal.strategy or ("random" if ranges else "grid"),
        trials=trials_within(recipe, goal.limits, goal.n_runs, whole, ranges) if ranges else None,
        metrics=metrics,
        resources=goal.resources,
        limits=goal.limits,
    )
    too_many = over_limit(design)
    return Resolved(recipe, None if too_many else design, (too_many,) if too_many else (), tuple(notes))


def choose_recipe(goal: Goal, shelf: Shelf) -> Recipe | None:
    """The one recipe that the goal is about; `None` when none fits, or several do."""
    candidates = fitting_recipes(goal, shelf)
    return candidates[0] if len(candidates) == 1 else None


def read_levels(recipe: Recipe, own: str, levels: Sequence[Setting]) -> tuple[tuple[Setting, ...], list[str]]:
    """The levels of a setting by its own name, as the recipe has them, each once; and what is wrong with the rest."""
    if own in NAMED or own in (recipe.setting_name(kind) for kind in NAMED):
        kind = own if own in NAMED else next(k for k in NAMED if recipe.setting_name(k) == own)
        return _read_names(recipe, kind, levels)
    rule = recipe.settings.get(own, SEED_RULE if own == "seed" else None)
    if rule is None:
        return tuple(dict.fromkeys(levels)), []
    converted = [convert_level(own, rule, level) for level in levels]
    good = tuple(dict.fromkeys(level.value for level in converted if level.value is not None))
    return good, [level.problem for level in converted if level.problem]


def trials_within(recipe: Recipe, limits: Limits, n_runs: int | None, factors: Factors, ranges: Ranges) -> int:
    """How many points to search: as many as were asked for, each run once a seed, and no more than there are."""
    asked = [count for count in (limits.max_runs, n_runs) if count is not None]
    count = (min(asked) if asked else USUAL_TRIALS) // max(1, len(factors.get("seed", ())))
    there_are = most_points(recipe, factors, ranges)
    return max(1, count if there_are is None else min(count, there_are))


def over_limit(design: Design) -> str:
    """What to ask when the design has more runs than the person allowed; empty when it has not."""
    count, most = size(design), design.limits.max_runs
    if most is None or count <= most:
        return ""
    return f"That makes {count} runs, and you allowed {most} at most. Which levels or seeds should be left out?"


def ordered(factors: Factors) -> dict[str, tuple[Setting, ...]]:
    """Model and dataset first, seeds last, so that the runs of a cell stand together."""
    place = {"model": 0, "dataset": 1, "seed": 3}
    return {name: factors[name] for name in sorted(factors, key=lambda name: place.get(name, 2))}


def _factors(goal: Goal, recipe: Recipe, questions: list[str]) -> dict[str, tuple[Setting, ...]]:
    factors: dict[str, tuple[Setting, ...]] = {}
    for name, levels in goal.factors.items():
        own = recipe.setting_name(name)
        if own is None:
            questions.append(_unknown_setting(recipe, name))
        elif not levels:
            questions.append(f"Which values of {own}?")
        else:
            good, bad = read_levels(recipe, own, levels)
            questions += bad
            factors[own] = tuple(dict.fromkeys([*factors.get(own, ()), *good]))
    return {own: levels for own, levels in factors.items() if levels}


def _read_names(recipe: Recipe, kind: str, levels: Sequence[Setting]) -> tuple[tuple[Setting, ...], list[str]]:
    found = [(level, own_level(recipe, kind, level)) for level in levels]
    good = tuple(dict.fromkeys(own for _level, own in found if own is not None))
    has = f"it has {listing([*offered(recipe, kind)])}" if offered(recipe, kind) else f"it has no choice of {kind}s"
    called = kind == "dataset"
    bad = [level for level, own in found if own is None and not (called and names_recipe(recipe, level))]
    return good, [f"The recipe {recipe.name} has no {kind} {level}; {has}." for level in bad]


def _unknown_setting(recipe: Recipe, name: str) -> str:
    has = f"it has {listing(sorted(recipe.settings))}" if recipe.settings else "it has none"
    return (
        f"The recipe {recipe.name} has no setting {name}; {has}. "
        f"Add it to {recipe.source or 'the recipe'} if the script takes it."
    )


def _ranges(goal: Goal, recipe: Recipe, questions: list[str]) -> Ranges:
    found: dict[str, tuple[float, float]] = {}
    for name, (low, high) in goal.ranges.items():
        own = recipe.setting_name(name)
        rule = recipe.settings.get(own) if own else None
        if own is None or rule is None:
            questions.append(_unknown_setting(recipe, name))
            continue
        low, high = rule.low if low is None else low, rule.high if high is None else high
        if low is None or high is None:
            questions.append(f"From where to where should {own} be searched?")
        elif problem := range_problem(own, rule, low, high):
            questions.append(problem)
        else:
            found[own] = (low, high)
    return found


def _metrics(goal: Goal, recipe: Recipe, notes: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in goal.metrics:
        rule = recipe.metric(name)
        if rule is None:
            known = listing([m.name for m in recipe.metrics]) or "no metric"
            notes.append(f"The recipe {recipe.name} does not print {name}; it prints {known}.")
        else:
            found.append(rule.name)
    return tuple(dict.fromkeys(found)) or tuple(m.name for m in recipe.metrics[:1])


def _complete(recipe: Recipe, factors: Factors, ranges: Mapping[str, object]) -> dict[str, tuple[Setting, ...]]:
    """The factors in their order; a single model or dataset needs no naming."""
    whole = {name: levels for name, levels in factors.items() if name not in ranges}
    for kind in NAMED:
        own, names = recipe.setting_name(kind) or kind, offered(recipe, kind)
        if own not in whole and names:
            rule = recipe.settings.get(own)
            whole[own] = (rule.default if rule is not None and rule.default is not None else names[0],)
    return ordered(whole)
