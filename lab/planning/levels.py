"""One level of one setting, read by the recipe's rule."""

from dataclasses import dataclass

from lab.recipe.model import Setting, SettingRule, plain
from lab.words import listing, number

_ON = frozenset({"on", "true", "yes", "with", "1", "开", "有", "是"})
_OFF = frozenset({"off", "false", "no", "without", "0", "关", "无", "否", "none"})


@dataclass(frozen=True)
class Level:
    """A valid value, or what is wrong with it."""

    value: Setting | None = None
    problem: str = ""


def convert_level(name: str, rule: SettingRule, level: Setting) -> Level:
    """The level as the rule's kind of value, when the rule allows it."""
    value = _typed(rule, level)
    if value is None:
        return Level(problem=f"{name}={number(level)} is no {rule.kind}.")
    if rule.choices is not None:
        match = next((c for c in rule.choices if c == value or plain(c) == plain(value)), None)
        if match is None:
            offered = listing([number(choice) for choice in rule.choices])
            return Level(problem=f"{name}={number(value)} is not offered by the recipe; it offers {offered}.")
        return Level(match)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if rule.low is not None and value < rule.low:
            return Level(problem=f"{name}={number(value)} is below the recipe's lowest, {number(rule.low)}.")
        if rule.high is not None and value > rule.high:
            return Level(problem=f"{name}={number(value)} is above the recipe's highest, {number(rule.high)}.")
    return Level(value)


def range_problem(name: str, rule: SettingRule, low: float, high: float) -> str:
    """What is wrong with searching `name` from `low` to `high`; empty when nothing is."""
    if rule.kind not in ("int", "float"):
        return f"{name} is no number and can't be searched over a range."
    if low >= high:
        return f"The range of {name} is empty: {number(low)} is not below {number(high)}."
    if rule.low is not None and low < rule.low:
        return f"{name}={number(low)} is below the recipe's lowest, {number(rule.low)}."
    if rule.high is not None and high > rule.high:
        return f"{name}={number(high)} is above the recipe's highest, {number(rule.high)}."
    return ""


def _typed(rule: SettingRule, level: Setting) -> Setting | None:
    try:
        match rule.kind:
            case "bool":
                return _boolean(level)
            case "int":
                whole = float(level)
                return int(whole) if whole == int(whole) else None
            case "float":
                return float(level)
            case _:
                return number(level) if not isinstance(level, str) else level
    except (ValueError, OverflowError):
        return None


def _boolean(level: Setting) -> bool | None:
    if isinstance(level, bool):
        return level
    word = str(level).strip().casefold()
    return True if word in _ON else False if word in _OFF else None
