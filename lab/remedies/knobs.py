"""Knobs: how a meaning (a smaller micro-batch, the same effective batch) becomes a framework's own arguments.

The port is `Knobs`; there is one adapter a style of script. An adapter returns `None` when it can't tell, and a remedy
is then refused rather than guessed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lab.planning.levels import convert_level
from lab.recipe.model import Recipe
from lab.recipe.values import plain

Settings = Mapping[str, Any]

_SYNONYMS = (
    frozenset({"lr", "learning_rate"}),
    frozenset({"clip_grad_norm", "max_grad_norm", "gradient_clip_val"}),
    frozenset({"gradient_checkpointing", "grad_checkpoint", "activation_checkpointing"}),
    frozenset({"micro_batch", "micro_batch_size"}),
    frozenset({"accumulation", "gradient_accumulation_steps", "accumulate_grad_batches"}),
)
"""Names that mean the same in transformers (`TrainingArguments`), Lightning (`Trainer`) and plain scripts."""


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

    @property
    def micro_name(self) -> str | None:
        """The setting that holds the size of a micro-batch."""
        ...

    def allows(self, settings: Settings) -> bool:
        """Whether the recipe's rules allow each of these values."""
        ...


class ArgparseKnobs:
    """A script with plain arguments, told by the recipe's `knobs`.

    `micro_batch` alone: the script splits `batch_size` by itself, so the effective batch is `batch_size`.
    `micro_batch` and `accumulation`: their product is the effective batch.
    `accumulation` alone: `batch_size` is the micro-batch.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._whole = recipe.setting_name("batch_size") or "batch_size"
        self._micro = self._knob("micro_batch")
        self._accumulation = self._knob("accumulation")

    @property
    def micro_name(self) -> str | None:
        return self._micro or (self._whole if self._accumulation else None)

    def batch(self, settings: Settings) -> Batch | None:
        whole = _positive(settings.get(self._whole))
        micro = _positive(settings.get(self._micro)) if self._micro else None
        steps = (_positive(settings.get(self._accumulation)) if self._accumulation else None) or 1
        if self._micro and self._accumulation:
            size = micro or whole
            return Batch(size, steps) if size else None
        if self._micro and whole:
            size = min(micro or whole, whole)
            return Batch(size, whole // size) if whole % size == 0 else None
        if self._accumulation and whole:
            return Batch(whole, steps)
        return None

    def with_micro_batch(self, settings: Settings, micro: int) -> Settings | None:
        now = self.batch(settings)
        if now is None or self.micro_name is None or micro < 1 or micro >= now.micro or now.effective % micro:
            return None
        changed = {self.micro_name: micro}
        if self._accumulation:
            changed[self._accumulation] = now.effective // micro
        return changed if self.allows(changed) else None

    def switch(self, settings: Settings, meaning: str) -> Settings | None:
        name = self._knob(meaning)
        if name is None:
            return None
        changed = {name: True}
        return {} if settings.get(name) is True else changed if self.allows(changed) else None

    def name_of(self, meaning: str) -> str | None:
        found = (self._recipe.setting_name(name) for name in _synonyms(meaning))
        return next((name for name in found if name is not None), None) or self._knob(meaning)

    def allows(self, settings: Settings) -> bool:
        rules = self._recipe.settings
        return not any(convert_level(n, rules[n], value).problem for n, value in settings.items() if n in rules)

    def _knob(self, meaning: str) -> str | None:
        """The setting with a knob's argument, else one of its name, else the knob itself; `None` without the knob."""
        knob = next((name for name in _synonyms(meaning) if name in self._recipe.knobs), None)
        if knob is None:
            return None
        flag = self._recipe.knobs[knob]
        written = (own for own, rule in self._recipe.settings.items() if (rule.flag or _flag(own)) == flag)
        named = (self._recipe.setting_name(name) for name in _synonyms(meaning))
        return next(written, None) or next((name for name in named if name is not None), None) or knob


_ADAPTERS: Mapping[str, Callable[[Recipe], Knobs]] = {"argparse": ArgparseKnobs, "custom": ArgparseKnobs}


def knobs_for(recipe: Recipe) -> Knobs | None:
    """The adapter for the recipe's style, or `None` while there is none."""
    adapter = _ADAPTERS.get(recipe.style)
    return adapter(recipe) if adapter is not None else None


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most`, both at least 1."""
    return next(size for size in range(min(number, most), 0, -1) if number % size == 0)


def _synonyms(meaning: str) -> list[str]:
    """The meaning itself first, then the other names for it."""
    group = next((names for names in _SYNONYMS if plain(meaning) in {plain(n) for n in names}), frozenset[str]())
    return [meaning, *sorted(group - {meaning})]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
