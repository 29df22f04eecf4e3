"""From settings to the arguments of a script, in the script's own style."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from lab.errors import BadSetting
from lab.recipe.model import Recipe, filled, placeholders
from lab.recipe.values import Setting

_PLAIN_WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_\-./]*")
_TYPED_WORDS = frozenset({"true", "false", "null", "nan", "inf"})
_SLASHES = re.compile(r"(\\*)('|\Z)")


def render_argv(recipe: Recipe, settings: Mapping[str, Any], resume: str | None = None) -> tuple[str, ...]:
    """The command of one attempt. `{name}` in the recipe's command takes a setting's value; the rest become arguments.

    `model` and `dataset` are passed when the recipe offers a choice of them or has them as a setting; `seed` when the
    plan sets one. A value is always glued to its flag, so that one which begins with a dash stays a value. Raises
    `BadSetting` when the command asks for a setting that has no value, or a value can't be written.
    """
    parts = shlex.split(recipe.command)
    used = {name for part in parts for name in placeholders(part)}
    values = {name: _text(value) for name, value in settings.items() if value is not None}
    missing = sorted(used - values.keys())
    if missing:
        raise BadSetting(
            f"The command of {recipe.name} needs a {missing[0]}.",
            next_step=f"Name one, or give `settings.{missing[0]}` a default in the recipe.",
        )
    argv = [filled(part, values) for part in parts]
    for name, value in settings.items():
        if name not in used and _is_passed(recipe, name):
            argv += _argument(recipe, name, value)
    if resume is not None and recipe.checkpoints is not None and recipe.checkpoints.resume is not None:
        argv.append(_glued(recipe.style, recipe.checkpoints.resume, resume))
    return tuple(argv)


def _is_passed(recipe: Recipe, name: str) -> bool:
    if name in recipe.settings or name in recipe.knobs or name == "seed":
        return True
    return {"model": len(recipe.models) > 1, "dataset": len(recipe.datasets) > 1}.get(name, False)


def _argument(recipe: Recipe, name: str, value: Setting | None) -> list[str]:
    if value is None:
        return []
    rule = recipe.settings.get(name)
    flag = (rule.flag if rule is not None else None) or recipe.knobs.get(name)
    if recipe.style in ("argparse", "custom"):
        flag = flag or f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            return _switch(flag, value, default=rule is not None and rule.default is True)
        return [_glued(recipe.style, flag, value)]
    return [_glued(recipe.style, flag or (name if recipe.style == "hydra" else f"--{name}"), value)]


def _switch(flag: str, value: bool, *, default: bool) -> list[str]:
    """A bare flag where the value is not the script's own: `--flag` turns on, `--no-flag` off.

    https://docs.python.org/3/library/argparse.html, `store_true`, `store_false` and `BooleanOptionalAction`.
    """
    if flag.startswith("--no-"):
        return [] if value else [flag]
    if value == default:
        return []
    return [flag] if value else [f"--no-{flag.lstrip('-')}"]


def _glued(style: str, flag: str, value: Setting) -> str:
    if style == "hydra":
        return f"{flag.lstrip('-')}={_hydra_text(value)}"
    return f"{flag}={_text(value)}"


def _hydra_text(value: Setting) -> str:
    r"""The value in Hydra's override grammar: text is quoted unless it is a plain word.

    In quotes, a quote is written `\'`, and backslashes are doubled only before a quote or the end.
    https://hydra.cc/docs/advanced/override_grammar/basic/#quoted-values
    """
    if not isinstance(value, str) or (_PLAIN_WORD.fullmatch(value) and value.lower() not in _TYPED_WORDS):
        return _text(value)
    if "${" in value:
        raise BadSetting(f"{value!r} can't be given to Hydra: it would replace what is in ${{…}}.")
    escaped = _SLASHES.sub(lambda m: m[1] * 2 + ("\\'" if m[2] else ""), value)
    return f"'{escaped}'"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
