"""Reading recipe files and finding the one that a request is about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError
from rapidfuzz import fuzz, process, utils

from lab.errors import BadRecipe
from lab.planning.levels import convert_level
from lab.recipe.model import Recipe
from lab.recipe.reading import PlainYaml, first_problem, yaml_place
from lab.recipe.values import plain

FILE_NAMES = ("recipe.yaml", "recipe.yml")
_SUFFIXES = (".yaml", ".yml")


def load_recipe(path: Path) -> Recipe:
    """Read one recipe file. Raises `BadRecipe` with the file, the key and what to write instead."""
    try:
        data: object = yaml.load(path.read_text(encoding="utf-8"), PlainYaml)  # noqa: S506 - a SafeLoader
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path}: can't be read: {error}.", next_step="Check the path and its permissions.") from error
    except yaml.YAMLError as error:
        raise BadRecipe(f"{path}: {yaml_place(error)}", next_step="Mend the YAML and try again.") from error
    if not isinstance(data, dict):
        raise BadRecipe(
            f"{path}: a recipe is a mapping with at least `name` and `command`.", next_step="See docs/RECIPES.md."
        )
    return recipe_from(cast("dict[Any, Any]", data), str(path.absolute()))


def recipe_from(data: Mapping[Any, Any], source: str) -> Recipe:
    """A recipe from its plain values, e.g. a plan's snapshot. Raises `BadRecipe`."""
    try:
        recipe = Recipe.model_validate({**data, "source": source})
    except ValidationError as error:
        raise BadRecipe(f"{source}: {first_problem(error)}", next_step="See docs/RECIPES.md for each key.") from error
    for name, rule in recipe.settings.items():
        problem = convert_level(name, rule, rule.default).problem if rule.default is not None else ""
        if problem:
            raise BadRecipe(f"{source}: the default of `settings.{name}` contradicts its rule: {problem}")
    return recipe


@dataclass(frozen=True)
class Shelf:
    """The recipes that could be read, and one line for each that could not."""

    recipes: tuple[Recipe, ...]
    problems: tuple[str, ...] = ()

    def by_name(self, name: str) -> Recipe | None:
        """The recipe of that name, else the first with that alias."""
        wanted = plain(name)
        named = (r for r in self.recipes if plain(r.name) == wanted)
        called = (r for r in self.recipes if wanted in {plain(alias) for alias in r.aliases})
        return next(named, None) or next(called, None)

    def nearest(self, words: Iterable[str], limit: int = 3) -> tuple[Recipe, ...]:
        """The recipes whose names, models or datasets come closest to `words`, best first."""
        texts = [" ".join((r.name, *r.aliases, *r.models, *r.datasets, r.about)) for r in self.recipes]
        query = utils.default_process(" ".join(words))
        found = process.extract(query, texts, scorer=fuzz.token_set_ratio, processor=utils.default_process, limit=limit)
        return tuple(self.recipes[place] for _text, _score, place in found)


def load_shelf(directories: Sequence[Path]) -> Shelf:
    """Every recipe below `directories`; a broken one is told, and never hides the others. First name wins."""
    recipes: list[Recipe] = []
    problems: list[str] = []
    taken: dict[str, Recipe] = {}
    for path in _recipe_files(directories):
        try:
            recipe = load_recipe(path)
        except BadRecipe as error:
            problems.append(str(error))
            continue
        if owner := taken.get(plain(recipe.name)):
            problems.append(f"{path}: the name {recipe.name!r} is taken by {owner.source}.")
            continue
        recipes.append(recipe)
        for name in (recipe.name, *recipe.aliases):
            owner = taken.setdefault(plain(name), recipe)
            if owner is not recipe:
                problems.append(f"{path}: the alias {name!r} is taken by {owner.source}.")
    return Shelf(tuple(recipes), tuple(problems))


def _recipe_files(directories: Sequence[Path]) -> list[Path]:
    """Each file once, also where one directory lies in another."""
    found: dict[Path, Path] = {}
    for directory in directories:
        for path in _below(directory):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _below(directory: Path) -> list[Path]:
    if directory.is_file():
        return [directory]
    if not directory.is_dir():
        return []
    named = sorted(path for name in FILE_NAMES for path in directory.rglob(name) if path.is_file())
    beside = sorted(path for path in directory.iterdir() if path.suffix in _SUFFIXES and path.is_file())
    return [*named, *beside]
