"""YAML as people mean it, and what is wrong with a recipe in one line."""

import re
from collections.abc import Hashable
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from rapidfuzz import fuzz, process
from yaml.constructor import ConstructorError

from lab.recipe.model import Recipe

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+$")
"""A float such as 1e-5, which YAML 1.1 takes for text because it has no point; YAML 1.2 core schema."""


class PlainYaml(yaml.SafeLoader):
    """YAML's plain values only, with floats as YAML 1.2 has them, and a repeated key as an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _value in node.value:
            key: object = key_node.value
            if key in seen and key != "<<":
                raise ConstructorError(None, None, f"the key {key!r} is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


PlainYaml.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, list("-+.0123456789"))  # pyright: ignore[reportUnknownMemberType]


def yaml_place(error: yaml.YAMLError) -> str:
    """`line 4: what is wrong.`"""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "is no YAML"
    return f"line {mark.line + 1}: {problem}." if mark is not None else f"{problem}."


def first_problem(error: ValidationError) -> str:
    """The first thing to mend, with its key and, for a typing error, the key that was meant."""
    problems = error.errors()
    first = next((one for one in problems if one["type"] == "extra_forbidden"), problems[0])
    key = ".".join(str(part) for part in first["loc"]) or "recipe"
    if first["type"] == "extra_forbidden":
        known = sorted(_part_at(first["loc"][:-1]).model_fields)
        close = process.extractOne(str(first["loc"][-1]), known, scorer=fuzz.ratio, score_cutoff=60)
        hint = f"Did you mean `{close[0]}`?" if close else f"There are {', '.join(known)}."
        return f"`{key}` is no key of a recipe. {hint}"
    if first["type"] == "missing":
        return f"`{key}` is missing."
    if first["type"] in ("model_type", "mapping_type", "dict_type"):
        return f"`{key}` must be a mapping such as {{key: value}}."
    return f"`{key}`: {first['msg'].removeprefix('Value error, ')}."


def _part_at(location: tuple[int | str, ...]) -> type[BaseModel]:
    """The part of a recipe that lies at a place such as `settings.lr`."""
    part: type[BaseModel] = Recipe
    for step in location:
        if isinstance(step, str) and step in part.model_fields:
            part = _model_in(part.model_fields[step].annotation) or part
    return part


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner))), None)
