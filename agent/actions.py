"""What a click does. Clicks and tools share the lab's use cases; a click is the person's own word."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from agent.tool import Answer, AnyTool, Failed, NeedsApproval, ToolContext
from agent.tools.plans import show_plan
from lab.cards import Card, Tone
from lab.errors import LabError
from lab.plans.again import retry_run
from lab.plans.steps import approve_plan, cancel_plan, cancel_run, deny_plan, start_plan
from lab.views.logs import diagnosis_card, log_card

_ID_DIGITS = 18


class _Wanted(BaseModel):
    """The call that a confirming button holds."""

    tool: str = ""
    arguments: dict[str, Any] = {}


@dataclass(frozen=True)
class Click:
    """A pressed button: its action, what it acts on, and the answer to its question."""

    action: str
    value: str
    text: str = ""

    @property
    def subject(self) -> int:
        """The id in `plan:3:DIGEST` or `run:7`. Raises `LabError` for a value that no card of ours holds."""
        parts = self.value.split(":")
        if len(parts) < 2 or not (parts[1].isascii() and parts[1].isdecimal() and len(parts[1]) < _ID_DIGITS):
            raise LabError("This button is not one of mine.", next_step="Use a newer card.")
        return int(parts[1])

    @property
    def digest(self) -> str | None:
        parts = self.value.split(":")
        return parts[2] if len(parts) > 2 else None


Press = Callable[[ToolContext, Click], Card]


def press(context: ToolContext, click: Click, tools: Mapping[str, AnyTool]) -> tuple[Card, ...]:
    """Carry a click out. What the lab refuses comes back as a card that says why."""
    try:
        if click.action == "call_tool":
            return _call_tool(context, click, tools)
        action = _ACTIONS.get(click.action)
        if action is None:
            return (Card("error", text=f"I don't know the button {click.action}.", tone=Tone.WARNING),)
        return (action(context, click),)
    except LabError as error:
        return (Card("error", text=str(error), tone=Tone.WARNING),)


def _call_tool(context: ToolContext, click: Click, tools: Mapping[str, AnyTool]) -> tuple[Card, ...]:
    try:
        wanted = _Wanted.model_validate_json(click.value)
    except ValidationError:
        wanted = _Wanted()
    tool = tools.get(wanted.tool)
    if tool is None:
        return (Card("error", text="This button is not one of mine.", tone=Tone.WARNING),)
    outcome = tool.call(context, wanted.arguments)
    match outcome:
        case Answer(cards=cards):
            return cards
        case NeedsApproval(card=card):
            return (card,)
        case Failed(text=text):
            return (Card("error", text=text, tone=Tone.WARNING),)


_ACTIONS: Mapping[str, Press] = {
    "run_plan": lambda c, k: start_plan(c.lab, c.actor, k.subject, k.digest),
    "cancel_plan": lambda c, k: cancel_plan(c.lab, c.actor, k.subject),
    "approve_plan": lambda c, k: approve_plan(c.lab, c.actor, k.subject, k.digest),
    "deny_plan": lambda c, k: deny_plan(c.lab, c.actor, k.subject, k.text, k.digest),
    "cancel_run": lambda c, k: cancel_run(c.lab, c.actor, k.subject),
    "retry_run": lambda c, k: retry_run(c.lab, c.actor, k.subject),
    "show_log": lambda c, k: log_card(c.lab, k.subject),
    "show_plan": lambda c, k: show_plan(c.lab, k.subject),
    "diagnose_run": lambda c, k: diagnosis_card(c.lab, k.subject),
}
