"""One level of one setting, read by the recipe's rule."""

import math
from dataclasses import dataclass

from lab.recipe.model import SettingRule
from lab.recipe.values import Setting, plain
from lab.words import listing, number

_ON = frozenset({"on", "true", "yes", "with", "1", "开", "有", "是"})
_OFF = frozenset({"off", "false", "no", "without", "0", "关", "无", "否", "none"})
_KINDS = {"int": "whole number", "float": "number", "bool": "on or off", "str": "text"}
SEED_RULE = SettingRule(type="int", low=0)
"""What a seed may be where the recipe has no rule of its own."""


@dataclass(frozen=True)
class Level:
    """A valid value, or what is wrong with it."""

    value: Setting | None = None
    problem: str = ""


def convert_level(name: str, rule: SettingRule, level: Setting) -> Level:
    """The level as the rule's kind of value, when the rule allows it."""
    value = _typed(rule.kind, level)
    if value is None:
        return Level(problem=f"{name}={number(level)} is no {rule.kind} ({_KINDS[rule.kind]}).")
    if rule.choices is not None:
        match = next((choice for choice in rule.choices if same_level(choice, value, level)), None)
        if match is None:
            offered = listing([number(choice) for choice in rule.choices])
            return Level(problem=f"{name}={number(value)} is not offered by the recipe; it offers {offered}.")
        return Level(match)
    if isinstance(value, int | float) and not isinstance(value, bool):
        problem = _bounds_problem(name, rule, value)
        return Level(problem=problem) if problem else Level(value)
    return Level(value)


def same_level(one: Setting, *others: Setting) -> bool:
    """Whether any of the others is the same level: numbers by value, on and off by meaning, words as people write."""
    return any(_same(one, other) for other in others)


def range_problem(name: str, rule: SettingRule, low: float, high: float) -> str:
    """What is wrong with searching `name` from `low` to `high`; empty when nothing is."""
    if rule.kind not in ("int", "float"):
        return f"{name} is no number and can't be searched over a range."
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"The range of {name} needs two numbers as its ends."
    if low >= high:
        return f"The range of {name} is empty: {number(low)} is not below {number(high)}."
    if rule.scale == "log" and low <= 0:
        return f"{name} is searched on a log scale, which starts above 0, not at {number(low)}."
    if rule.choices is not None and not any(low <= float(choice) <= high for choice in rule.choices):
        return f"The recipe offers no {name} from {number(low)} to {number(high)}."
    if rule.kind == "int" and math.ceil(low) > math.floor(high):
        return f"There is no whole number from {number(low)} to {number(high)} for {name}."
    return _bounds_problem(name, rule, low) or _bounds_problem(name, rule, high)


def _bounds_problem(name: str, rule: SettingRule, value: float) -> str:
    if rule.low is not None and value < rule.low:
        return f"{name}={number(value)} is below the recipe's lowest, {number(rule.low)}."
    if rule.high is not None and value > rule.high:
        return f"{name}={number(value)} is above the recipe's highest, {number(rule.high)}."
    return ""


def _same(one: Setting, other: Setting) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        on = _boolean(one)
        return on is not None and on == _boolean(other)
    left, right = _number(one), _number(other)
    if left is not None or right is not None:
        return left == right
    return plain(one) == plain(other) and (bool(plain(one)) or one == other)


def _typed(kind: str, level: Setting) -> Setting | None:
    """The level as a value of its kind, or `None`. A number is never read off on and off, nor off NaN and infinity."""
    match kind:
        case "bool":
            return _boolean(level)
        case "int":
            found = None if isinstance(level, bool) else _number(level)
            return found if isinstance(found, int) else int(found) if found is not None and found.is_integer() else None
        case "float":
            found = None if isinstance(level, bool) else _number(level)
            return None if found is None else _float(found)
        case _:
            text = level if isinstance(level, str) else number(level)
            return None if "\x00" in text else text


def _number(level: Setting) -> int | float | None:
    """The finite number that a level is or spells; whole ones keep all their digits."""
    if isinstance(level, bool):
        return None
    try:
        found = level if isinstance(level, int) else int(level) if isinstance(level, str) else float(level)
    except ValueError:
        try:
            found = float(level)
        except ValueError:
            return None
    return found if isinstance(found, int) or math.isfinite(found) else None


def _float(value: float) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _boolean(level: Setting) -> bool | None:
    if isinstance(level, bool):
        return level
    if isinstance(level, float):
        return {0.0: False, 1.0: True}.get(level)
    word = str(level).strip().casefold()
    return True if word in _ON else False if word in _OFF else None
