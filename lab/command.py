"""From settings to the arguments of a script, in the script's own style."""

import shlex
from collections.abc import Mapping
from typing import Any

from lab.recipe.model import Recipe, Setting

_ALWAYS_NAMED = ("model", "dataset", "seed")


def render_argv(recipe: Recipe, settings: Mapping[str, Any], resume: str | None = None) -> tuple[str, ...]:
    """The command of one attempt. `{name}` in the recipe's command takes a setting's value; the rest become arguments.

    `model` and `dataset` are passed when the recipe offers a choice of them or has them as a setting; `seed` when the
    plan sets one. A value is always glued to its flag, so that one which begins with a dash stays a value.
    """
    parts = shlex.split(recipe.command)
    used = {name for name in settings for part in parts if f"{{{name}}}" in part}
    argv = [_fill(part, settings) for part in parts]
    for name, value in settings.items():
        if name not in used and _is_passed(recipe, name):
            argv += _argument(recipe, name, value)
    if resume is not None and recipe.checkpoints is not None and recipe.checkpoints.resume is not None:
        argv += _glue(recipe.style, recipe.checkpoints.resume, resume)
    return tuple(argv)


def _fill(part: str, settings: Mapping[str, Any]) -> str:
    for name, value in settings.items():
        part = part.replace(f"{{{name}}}", _text(value))
    return part


def _is_passed(recipe: Recipe, name: str) -> bool:
    if name in recipe.settings or name in recipe.knobs:
        return True
    if name == "model":
        return len(recipe.models) > 1
    if name == "dataset":
        return len(recipe.datasets) > 1
    return name in _ALWAYS_NAMED


def _argument(recipe: Recipe, name: str, value: Setting | None) -> list[str]:
    if value is None:
        return []
    rule = recipe.settings.get(name)
    flag = (rule.flag if rule is not None else None) or recipe.knobs.get(name)
    if recipe.style in ("argparse", "custom"):
        flag = flag or f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            return [flag] if value else []
        return [f"{flag}={_text(value)}"]
    return _glue(recipe.style, flag or (name if recipe.style == "hydra" else f"--{name}"), _text(value))


def _glue(style: str, flag: str, value: str) -> list[str]:
    if style == "hydra":
        return [f"{flag.lstrip('-')}={_hydra_text(value)}"]
    return [f"{flag}={value}"]


def _hydra_text(value: str) -> str:
    """Quoted where Hydra's override grammar would read more than a plain word."""
    if all(c.isalnum() or c in "_-./+" for c in value) and value:
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return str(value)
