"""What a message holds that bears on experiments, read in the order in which things can be told apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent.offline.bounds import Bounds, read_bounds, read_metrics, read_strategy, read_target
from agent.offline.claims import Claim, Claims, make_claims, scale_of
from agent.offline.levels import read_levels, read_named_alike, read_unknown, read_worded
from agent.offline.lexicon import QUALIFIERS
from agent.offline.model import Vocabulary
from agent.offline.names import read_names
from agent.offline.sheet import Sheet
from agent.offline.switches import read_fixed, read_switches
from agent.offline.values import Group

_CAPITAL_METRICS = frozenset(
    "map error return memory dice em reward loss recall mae latency vram throughput 显存 返回 损失 奖励 召回 flops".split()
)
SEARCHES = ("bayesian", "random", "adaptive")


@dataclass(frozen=True)
class Parts:
    """Factors by name, search intervals, bounds, and settings named without levels; `known`: some name is a known one."""

    factors: Mapping[str, list[Any]]
    spans: Mapping[str, tuple[float, float]]
    bounds: Bounds
    loose: tuple[str, ...] = ()
    known: bool = False

    @property
    def searching(self) -> bool:
        """Whether the ranges are to be searched, not gone through."""
        bounds = self.bounds
        return bounds.strategy in SEARCHES or (
            bounds.trials is not None and bool(self.spans) and bounds.strategy != "grid"
        )


def read_parts(plain: str, vocabulary: Vocabulary, now: datetime | None = None) -> Parts:
    """Read a plain text whole."""
    sheet, bounds = Sheet(plain, vocabulary), Bounds()
    switches = read_switches(sheet)
    bounds.strategy = read_strategy(sheet)
    read_target(sheet, bounds)
    bounds.metrics = read_metrics(sheet, _CAPITAL_METRICS)
    worded = read_levels(sheet)
    claims = make_claims(sheet)
    read_bounds(sheet, claims, bounds, now)
    numbers, spans = _numbers(sheet, claims, searching=bounds.strategy in SEARCHES)
    for name, levels in read_worded(sheet):
        worded.setdefault(name, levels)
    fixed = read_fixed(sheet)
    models, datasets = read_names(sheet)
    factors: dict[str, list[Any]] = {"model": models, "dataset": datasets}
    for name, levels in (pair for found in (switches, numbers, worded) for pair in found.items()):
        kept = factors.setdefault(name, [])
        kept += [
            level
            for level in levels
            if not any(level is one or (type(level) is type(one) and level == one) for one in kept)
        ]
    for name, levels in fixed.items():
        factors.setdefault(name, list(levels))
    if bounds.seeds is not None:
        factors["seed"] = bounds.seeds
    factors = {name: levels for name, levels in factors.items() if levels}
    known = any(term.is_a("model") or term.is_a("dataset") for term in sheet.terms)
    loose = (name for place, name in claims.loose if sheet.free(place) and len(sheet.terms[place].text) > 1)
    return Parts(factors, spans, bounds, tuple(dict.fromkeys(name for name in loose if name not in factors)), known)


def _numbers(
    sheet: Sheet, claims: Claims, *, searching: bool
) -> tuple[dict[str, list[Any]], dict[str, tuple[float, float]]]:
    """Levels and search intervals of the settings that numbers were given for."""
    found: dict[str, list[Any]] = {}
    spans: dict[str, tuple[float, float]] = {}
    named = [(_qualified(sheet, claim), claim.group) for claim in claims.of("setting")]
    for name, group in (*named, *read_unknown(sheet, claims), *read_named_alike(sheet, claims)):
        if name == "warmup" and all(0 < element.low < 1 for element in group.elements):
            name = "warmup_ratio"
        levels = found.setdefault(name, [])
        levels += [level for level in _levels(name, group) if level not in levels]
        span = group.span
        if span is not None and (searching or not group.bracketed or len(group.elements) == 1):
            spans[name] = span
    return found, spans


def _qualified(sheet: Sheet, claim: Claim) -> str:
    """`label noise`, `encoder lr`: whose setting it is belongs to its name."""
    before = sheet.low(claim.place - 1)
    if before not in QUALIFIERS or not sheet.spaced(claim.place):
        return claim.name
    sheet.take(claim.place - 1, claim.place)
    return f"{before}_{claim.name}"


def _levels(name: str, group: Group) -> list[Any]:
    """A range of image sizes doubles only where that ends at its end; what is searched over decades is not counted."""
    scale = scale_of(name)
    span = group.span
    if span is not None and not group.bracketed:
        low, high = span
        if name == "image_size" and not (low > 0 and _is_power_of_two(high / low)):
            scale = "linear"
        elif scale in ("whole", "linear") and low > 0 and high / low >= 100:
            scale = "decades"
    return list(group.levels("linear" if scale in ("words", "switch") else scale))


def _is_power_of_two(value: float) -> bool:
    return value.is_integer() and (int(value) & (int(value) - 1)) == 0
