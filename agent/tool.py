"""The port of the tools: what the mind can ask the lab to do.

A handler calls a use case of the lab and never decides permission. What comes of a call is a value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.model import ToolSignature
from lab.cards import Card
from lab.errors import ApprovalRequired, LabError
from lab.policy import Effect
from lab.services import Actor, Lab


class Arguments(BaseModel):
    """Base of the tools' arguments: what the model adds beside them is left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


@dataclass(frozen=True)
class ToolContext:
    """On whose behalf, in which thread, and what that thread is about now."""

    lab: Lab
    actor: Actor
    thread_id: int | None
    plan_id: int | None = None
    run_id: int | None = None
    text: str = ""
    understood: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """It was done. `text` is for the model, `cards` for the thread; `untrusted` says that it holds words of others."""

    text: str
    cards: tuple[Card, ...] = ()
    untrusted: bool = False


@dataclass(frozen=True)
class Failed:
    """It can't be done as asked; `text` says why and what to do instead. `retryable` when other arguments may do."""

    text: str
    retryable: bool = False


@dataclass(frozen=True)
class NeedsApproval:
    """A person has to click first; `card` holds the button."""

    text: str
    card: Card


Outcome = Answer | Failed | NeedsApproval
A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One thing that the mind can do. `about` is one line, shown to models and in the help."""

    name: str
    about: str
    arguments: type[A]
    effect: Effect
    handle: Callable[[ToolContext, A], Outcome]

    def signature(self) -> ToolSignature:
        """The tool in the chat-completions form."""
        schema = self.arguments.model_json_schema()
        return {"type": "function", "function": {"name": self.name, "description": self.about, "parameters": schema}}

    def call(self, context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
        """Check the arguments and run the handler. The lab's own errors become outcomes; defects are raised."""
        try:
            checked = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            return Failed(f"{self.name}: {_problems(error)}", retryable=True)
        try:
            return self.handle(context, checked)
        except ApprovalRequired as error:
            return Failed(str(error))
        except LabError as error:
            return Failed(str(error))


AnyTool = Tool[Any]


def by_name(tools: Sequence[AnyTool]) -> dict[str, AnyTool]:
    """The tools by name. Raises `ValueError` when two share one."""
    found = {tool.name: tool for tool in tools}
    if len(found) != len(tools):
        raise ValueError("two tools share a name")
    return found


def _problems(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors()[:4])
