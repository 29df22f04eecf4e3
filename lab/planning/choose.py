"""Which recipe a goal is about."""

import re
from collections.abc import Sequence

from lab.planning.goal import Goal
from lab.recipe.files import Shelf
from lab.recipe.model import Recipe, placeholders
from lab.recipe.values import Setting, plain
from lab.words import listing

NAMED = ("model", "dataset")


def fitting_recipes(goal: Goal, shelf: Shelf) -> tuple[Recipe, ...]:
    """The recipes that the goal can be about: one when it is settled, several when it is a question, or none.

    The recipe named, else those that know all the models and datasets asked for (or that the text names), else the
    only one that there is. Among several, those with the most settings of the goal.
    """
    if goal.recipe is not None:
        found = shelf.by_name(goal.recipe)
        return (found,) if found is not None else ()
    able = [r for r in shelf.recipes if all(knows(r, kind, level) for kind in NAMED for level in wanted(goal, kind))]
    named = [r for r in able if any(wanted(goal, kind) for kind in NAMED) or _mentions(goal, r)]
    if not named and len(shelf.recipes) == 1 and (goal.factors or goal.ranges):
        named = able
    scores = {r.name: sum(r.setting_name(n) is not None for n in (*goal.factors, *goal.ranges)) for r in named}
    best = [r for r in named if scores[r.name] == max(scores.values())]
    said = [r for r in best if _mentions(goal, r)]
    return tuple(said if len(best) > 1 and said else best)


def wanted(goal: Goal, kind: str) -> tuple[Setting, ...]:
    """The models or datasets that the goal names."""
    return next((levels for name, levels in goal.factors.items() if plain(name) == kind), ())


def offered(recipe: Recipe, kind: str) -> tuple[str, ...]:
    """The models or datasets that the recipe lists."""
    own = recipe.setting_name(kind) or kind
    rule = recipe.settings.get(own)
    choices = tuple(str(choice) for choice in (rule.choices or ())) if rule is not None else ()
    return tuple(dict.fromkeys([*(recipe.models if kind == "model" else recipe.datasets), *choices]))


def takes_any(recipe: Recipe, kind: str) -> bool:
    """Whether the script takes a model or dataset of any name: it has an argument for it, and no list."""
    own = recipe.setting_name(kind) or kind
    return not offered(recipe, kind) and (own in recipe.settings or own in placeholders(recipe.command))


def own_level(recipe: Recipe, kind: str, level: Setting) -> Setting | None:
    """The recipe's own name for a model or dataset; `None` when it has none.

    People also name a recipe by its name where they mean its data: that is its first dataset.
    """
    names = offered(recipe, kind)
    match = next((name for name in names if plain(name) == plain(level)), None)
    if match is not None:
        return match
    if kind == "dataset" and names and plain(level) in {plain(n) for n in (recipe.name, *recipe.aliases)}:
        return names[0]
    return level if takes_any(recipe, kind) else None


def knows(recipe: Recipe, kind: str, level: Setting) -> bool:
    """Whether the recipe can run this model or dataset, or is itself called so."""
    return own_level(recipe, kind, level) is not None or (kind == "dataset" and names_recipe(recipe, level))


def names_recipe(recipe: Recipe, level: Setting) -> bool:
    """Whether a dataset level is the recipe's own name, and the recipe has no datasets to choose from."""
    return not offered(recipe, "dataset") and plain(level) in {plain(n) for n in (recipe.name, *recipe.aliases)}


def which_recipe(goal: Goal, shelf: Shelf, candidates: Sequence[Recipe]) -> tuple[str, tuple[str, ...]]:
    """The question to ask when no single recipe fits, and the names of those nearest."""
    if not shelf.recipes:
        return "The lab has no recipe yet. `labhand recipe` explains how to write one beside your training script.", ()
    words = [str(level) for kind in NAMED for level in wanted(goal, kind)]
    nearest = tuple(candidates) or shelf.nearest(words or [goal.recipe or goal.goal])
    if candidates:
        asked = f"{listing([r.name for r in candidates])} could all do it. Which one is it about?"
    elif goal.recipe is not None:
        asked = f"There is no recipe named {goal.recipe}."
    elif words:
        asked = f"No recipe of this lab covers {listing(words)}."
    else:
        asked = "Which experiment is it about?"
    offers = "; ".join(
        f"{r.name} (models {listing([*r.models]) or 'any'}; datasets {listing([*r.datasets]) or 'any'})"
        for r in nearest
    )
    names = tuple(r.name for r in nearest)
    return (f"{asked} The nearest: {offers}." if offers else asked), names


def _mentions(goal: Goal, recipe: Recipe) -> bool:
    return any(_says(goal.goal, name) for name in (recipe.name, *recipe.aliases))


def _says(text: str, name: str) -> bool:
    """Whether the text has the name as a word of its own, however its parts are joined."""
    parts = [re.escape(part) for part in re.split(r"[\s\-_.]+", name) if part]
    pattern = r"[\s\-_.]*".join(parts)
    return re.search(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])", text, re.IGNORECASE) is not None
