"""Knobs: how a meaning (a smaller micro-batch, the same effective batch) becomes a framework's own arguments.

The port is `Knobs`; there is one adapter a style of script. An adapter returns `None` when it can't tell, and a remedy
is then refused rather than guessed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lab.recipe.model import Recipe

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Batch:
    """`effective = micro * accumulation` samples a step on each device."""

    micro: int
    accumulation: int

    @property
    def effective(self) -> int:
        return self.micro * self.accumulation


class Knobs(Protocol):
    """What a script's settings mean, and how to set them. All methods are pure."""

    def batch(self, settings: Settings) -> Batch | None:
        """The batch that these settings make."""
        ...

    def with_micro_batch(self, settings: Settings, micro: int) -> Settings | None:
        """The settings to change so that a micro-batch holds `micro` samples and the effective batch stays."""
        ...

    def switch(self, settings: Settings, meaning: str) -> Settings | None:
        """The settings to change so that `meaning` (e.g. `gradient_checkpointing`) is on; empty when it is already."""
        ...

    def name_of(self, meaning: str) -> str | None:
        """The setting that carries a meaning such as `lr` or `clip_grad_norm`."""
        ...


class ArgparseKnobs:
    """A script with plain arguments, told by the recipe's `knobs`.

    `micro_batch` alone: the script splits `batch_size` by itself, so the effective batch is `batch_size`.
    `micro_batch` and `accumulation`: their product is the effective batch.
    `accumulation` alone: `batch_size` is the micro-batch.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._knobs = recipe.knobs

    def batch(self, settings: Settings) -> Batch | None:
        whole = _positive(settings.get("batch_size"))
        micro = _positive(settings.get("micro_batch"))
        accumulation = _positive(settings.get("accumulation"))
        has_micro, has_accumulation = "micro_batch" in self._knobs, "accumulation" in self._knobs
        if has_micro and has_accumulation:
            size = micro or whole
            return Batch(size, accumulation or 1) if size else None
        if has_micro and whole:
            size = min(micro or whole, whole)
            return Batch(size, whole // size) if whole % size == 0 else None
        if has_accumulation and whole:
            return Batch(whole, accumulation or 1)
        return None

    def with_micro_batch(self, settings: Settings, micro: int) -> Settings | None:
        now = self.batch(settings)
        if now is None or micro < 1 or micro >= now.micro or now.effective % micro:
            return None
        accumulation = now.effective // micro
        if "micro_batch" not in self._knobs:
            return {"batch_size": micro, "accumulation": accumulation}
        if "accumulation" not in self._knobs:
            return {"micro_batch": micro}
        return {"micro_batch": micro, "accumulation": accumulation}

    def switch(self, settings: Settings, meaning: str) -> Settings | None:
        if meaning not in self._knobs:
            return None
        return {} if settings.get(meaning) is True else {meaning: True}

    def name_of(self, meaning: str) -> str | None:
        return self._recipe.setting_name(meaning) or (meaning if meaning in self._knobs else None)


_ADAPTERS: Mapping[str, Callable[[Recipe], Knobs]] = {"argparse": ArgparseKnobs, "custom": ArgparseKnobs}


def knobs_for(recipe: Recipe) -> Knobs | None:
    """The adapter for the recipe's style, or `None` while there is none."""
    adapter = _ADAPTERS.get(recipe.style)
    return adapter(recipe) if adapter is not None else None


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
