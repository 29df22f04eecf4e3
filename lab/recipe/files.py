"""Reading recipe files and finding the one that a request is about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError
from rapidfuzz import fuzz, process

from lab.errors import BadRecipe
from lab.recipe.model import Recipe, plain

FILE_NAMES = ("recipe.yaml", "recipe.yml")


def load_recipe(path: Path) -> Recipe:
    """Read one recipe file. Raises `BadRecipe` with the file, the key and what to write instead."""
    try:
        data: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path}: can't be read: {error}.", next_step="Check the path and its permissions.") from error
    except yaml.YAMLError as error:
        raise BadRecipe(f"{path}: {_yaml_place(error)}", next_step="Mend the YAML and try again.") from error
    if not isinstance(data, dict):
        raise BadRecipe(f"{path}: a recipe is a mapping with at least `name` and `command`.")
    return recipe_from(cast("dict[Any, Any]", data), str(path))


def recipe_from(data: Mapping[Any, Any], source: str) -> Recipe:
    """A recipe from its plain values, e.g. a plan's snapshot. Raises `BadRecipe`."""
    try:
        return Recipe.model_validate({**data, "source": source})
    except ValidationError as error:
        raise BadRecipe(f"{source}: {_first_problem(error)}", next_step="See docs/RECIPES.md for each key.") from error


@dataclass(frozen=True)
class Shelf:
    """The recipes that could be read, and one line for each that could not."""

    recipes: tuple[Recipe, ...]
    problems: tuple[str, ...] = ()

    def by_name(self, name: str) -> Recipe | None:
        wanted = plain(name)
        return next((r for r in self.recipes if wanted in {plain(n) for n in (r.name, *r.aliases)}), None)

    def nearest(self, words: Iterable[str], limit: int = 3) -> tuple[Recipe, ...]:
        """The recipes whose names, models or datasets come closest to `words`, best first."""
        texts = {r.name: " ".join((r.name, *r.aliases, *r.models, *r.datasets, r.about)) for r in self.recipes}
        query = " ".join(words)
        found = process.extract(query, texts, scorer=fuzz.token_set_ratio, limit=limit)
        names = [str(name) for _text, _score, name in found]
        return tuple(r for name in names for r in self.recipes if r.name == name)


def load_shelf(directories: Sequence[Path]) -> Shelf:
    """Every recipe below `directories`; a broken one is told, and never hides the others. First name wins."""
    recipes: dict[str, Recipe] = {}
    problems: list[str] = []
    for path in _recipe_files(directories):
        try:
            recipe = load_recipe(path)
        except BadRecipe as error:
            problems.append(str(error))
            continue
        if recipe.name in recipes:
            problems.append(f"{path}: the name {recipe.name!r} is taken by {recipes[recipe.name].source}.")
        else:
            recipes[recipe.name] = recipe
    return Shelf(tuple(recipes.values()), tuple(problems))


def _recipe_files(directories: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for directory in directories:
        if directory.is_file():
            found.append(directory)
        elif directory.is_dir():
            found += sorted(p for name in FILE_NAMES for p in directory.rglob(name))
            found += sorted(p for p in directory.glob("*.y*ml") if p.name not in FILE_NAMES)
    return found


def _yaml_place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "is no YAML"
    return f"line {mark.line + 1}: {problem}." if mark is not None else f"{problem}."


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "recipe"
    if first["type"] == "extra_forbidden":
        known = sorted(Recipe.model_fields)
        close = process.extractOne(key.rsplit(".", 1)[-1], known, scorer=fuzz.ratio, score_cutoff=60)
        hint = f" Did you mean `{close[0]}`?" if close else ""
        return f"`{key}` is no key of a recipe.{hint}"
    return f"`{key}`: {first['msg'].removeprefix('Value error, ')}."
