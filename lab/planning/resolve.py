"""Reading a goal against the lab's recipes: the names become the recipe's own, and what can't be settled is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.planning.goal import Design, Goal
from lab.planning.levels import convert_level, range_problem
from lab.recipe.files import Shelf
from lab.recipe.model import Recipe, Setting, plain
from lab.words import listing

_NAMED = ("model", "dataset")


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
    recipe = choose_recipe(goal, shelf)
    if recipe is None:
        return _no_recipe(goal, shelf)
    factors: dict[str, tuple[Setting, ...]] = {}
    questions: list[str] = []
    notes: list[str] = []
    for name, levels in goal.factors.items():
        own = recipe.setting_name(name)
        if own is None:
            questions.append(_unknown_setting(recipe, name))
            continue
        good, bad = _levels(recipe, own, levels)
        factors[own] = (*factors.get(own, ()), *good)
        questions += bad
    ranges = _ranges(goal, recipe, questions)
    metrics = _metrics(goal, recipe, notes)
    if questions:
        return Resolved(recipe, None, tuple(questions), tuple(notes))
    design = Design(
        factors=_complete(recipe, factors, ranges),
        ranges=ranges,
        strategy=goal.strategy or ("random" if ranges else "grid"),
        trials=_trials(goal, ranges),
        metrics=metrics,
        resources=goal.resources,
        limits=goal.limits,
    )
    return Resolved(recipe, design, (), tuple(notes))


def choose_recipe(goal: Goal, shelf: Shelf) -> Recipe | None:
    """The recipe named, else the one that knows all the models and datasets asked for, else the only one that could.

    Among several that know everything, the one with the most settings of the goal wins; a tie is a question.
    """
    if goal.recipe is not None:
        return shelf.by_name(goal.recipe)
    fitting = [r for r in shelf.recipes if _knows(r, "model", goal) and _knows(r, "dataset", goal)]
    named = [r for r in fitting if _wanted(goal, "model") or _wanted(goal, "dataset") or _mentions(goal, r)]
    if not named and len(shelf.recipes) == 1 and goal.factors:
        named = fitting
    scores = {r.name: sum(r.setting_name(n) is not None for n in (*goal.factors, *goal.ranges)) for r in named}
    best = [r for r in named if scores[r.name] == max(scores.values())]
    return best[0] if len(best) == 1 else None


def _mentions(goal: Goal, recipe: Recipe) -> bool:
    return any(plain(name) in plain(goal.goal) for name in (recipe.name, *recipe.aliases))


def _wanted(goal: Goal, kind: str) -> tuple[Setting, ...]:
    return next((levels for name, levels in goal.factors.items() if plain(name) == kind), ())


def _known_names(recipe: Recipe, kind: str) -> tuple[str, ...]:
    listed = recipe.models if kind == "model" else (*recipe.datasets, recipe.name, *recipe.aliases)
    rule = recipe.settings.get(kind)
    return (*listed, *(str(choice) for choice in (rule.choices or ()))) if rule else listed


def _knows(recipe: Recipe, kind: str, goal: Goal) -> bool:
    known = {plain(name) for name in _known_names(recipe, kind)}
    return all(plain(level) in known for level in _wanted(goal, kind))


def _levels(recipe: Recipe, own: str, levels: Sequence[Setting]) -> tuple[tuple[Setting, ...], list[str]]:
    if own in _NAMED:
        names = {plain(name): name for name in reversed(_known_names(recipe, own))}
        if own == "dataset":
            names |= {plain(n): recipe.datasets[0] for n in (recipe.name, *recipe.aliases) if recipe.datasets}
            names |= {plain(n): n for n in recipe.datasets}
        bad = [str(level) for level in levels if plain(level) not in names]
        good = tuple(names[plain(level)] for level in levels if plain(level) in names)
        offered = listing([*(recipe.models if own == "model" else recipe.datasets)])
        return good, [f"The recipe {recipe.name} has no {own} {name}; it has {offered}." for name in bad]
    rule = recipe.settings.get(own)
    if rule is None:
        return tuple(levels), []
    converted = [convert_level(own, rule, level) for level in levels]
    good = tuple(level.value for level in converted if level.value is not None)
    return good, [level.problem for level in converted if level.problem]


def _unknown_setting(recipe: Recipe, name: str) -> str:
    return (
        f"The recipe {recipe.name} has no setting {name}; it has {listing(sorted(recipe.settings))}. "
        f"Add it to {recipe.source or 'the recipe'} if the script takes it."
    )


def _ranges(goal: Goal, recipe: Recipe, questions: list[str]) -> Mapping[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for name, (low, high) in goal.ranges.items():
        own = recipe.setting_name(name)
        rule = recipe.settings.get(own) if own else None
        if own is None or rule is None:
            questions.append(_unknown_setting(recipe, name))
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


def _complete(
    recipe: Recipe, factors: Mapping[str, tuple[Setting, ...]], ranges: Mapping[str, object]
) -> dict[str, tuple[Setting, ...]]:
    """The factors without repeated levels, model and dataset first; a single model or dataset needs no naming."""
    whole = {name: tuple(dict.fromkeys(levels)) for name, levels in factors.items() if name not in ranges}
    if "model" not in whole and recipe.models:
        rule = recipe.settings.get("model")
        default = rule.default if rule is not None and rule.default is not None else recipe.models[0]
        whole["model"] = (default,)
    if "dataset" not in whole and recipe.datasets:
        whole["dataset"] = (recipe.datasets[0],)
    order = {name: place for place, name in enumerate(("model", "dataset"))}
    last = len(order) + 1
    names = sorted(whole, key=lambda name: last if name == "seed" else order.get(name, len(order)))
    return {name: whole[name] for name in names}


def _trials(goal: Goal, ranges: Mapping[str, object]) -> int | None:
    if not ranges:
        return None
    return goal.limits.max_runs or goal.n_runs or 20


def _no_recipe(goal: Goal, shelf: Shelf) -> Resolved:
    words = [str(level) for kind in _NAMED for level in _wanted(goal, kind)] or [goal.goal]
    nearest = shelf.nearest(words)
    if not shelf.recipes:
        question = "The lab has no recipe yet. `labhand recipe` explains how to write one beside your training script."
        return Resolved(None, None, (question,))
    if goal.recipe is not None:
        asked = f"There is no recipe named {goal.recipe}."
    elif _wanted(goal, "model") or _wanted(goal, "dataset"):
        asked = f"No recipe of this lab covers {listing(words)}."
    else:
        asked = "Which experiment is it about?"
    offers = "; ".join(
        f"{r.name} (models {listing(list(r.models)) or 'any'}; datasets {listing(list(r.datasets)) or 'any'})"
        for r in nearest
    )
    return Resolved(None, None, (f"{asked} The nearest: {offers}.",), (), tuple(r.name for r in nearest))
