"""What goes into the interpreter and what comes out, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class RecipeWords:
    """The names that one recipe knows."""

    name: str
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    on_off: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vocabulary:
    """The names that the lab's recipes know, beside the built-in ones."""

    recipes: tuple[RecipeWords, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(name for recipe in self.recipes for name in recipe.models)

    @property
    def datasets(self) -> tuple[str, ...]:
        names = (name for recipe in self.recipes for name in (*recipe.datasets, recipe.name))
        return tuple(dict.fromkeys(names))

    @property
    def settings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for recipe in self.recipes for name in recipe.settings))

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for recipe in self.recipes for name in recipe.metrics))


@dataclass(frozen=True)
class ThreadContext:
    """The plan and the run that the thread is about now: what “it” means.

    `last_question` is the tool for which a number was asked last (`Which run do you mean?`), so that a bare number
    answers it.
    """

    plan: int | None = None
    run: int | None = None
    last_question: str | None = None


@dataclass(frozen=True)
class ToolCall:
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Interpretation:
    """The call that the message asks for, one short line a thing understood, and what has to be asked first."""

    call: ToolCall
    understood: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    language: Literal["en", "zh"] = "en"
    confidence: float = 1.0
