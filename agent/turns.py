"""From a stored message to stored replies: history and context go in, the loop runs, cards come out."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from sqlmodel import Session, col, select

from agent.errors import ModelError
from agent.loop import Turn, TurnEnd, TurnLimits
from agent.model import Message, Model, ModelReply
from agent.offline_model import CONTEXT_MARK
from agent.tool import AnyTool, ToolContext
from lab.cards import Card, Tone
from lab.schema import Thread, TranscriptEntry
from lab.services import Actor, Lab

_MOST_HISTORY = 30


@dataclass(frozen=True)
class Mind:
    """The models in the order in which they are tried, and the tools they may call."""

    models: tuple[Model, ...]
    tools: Mapping[str, AnyTool]
    limits: TurnLimits = field(default_factory=TurnLimits)


async def answer(mind: Mind, lab: Lab, actor: Actor, thread_id: int, inbox_id: int, text: str) -> tuple[Card, ...]:
    """Answer one message of a thread. A model that fails gives way to the next; the last one's failure is told."""
    context, history = _load(lab, actor, thread_id, inbox_id, text)
    told: list[Card] = []
    for model in mind.models:
        turn = Turn(model, mind.tools, context, mind.limits, keep=_keeper(lab, thread_id, inbox_id))
        try:
            end: TurnEnd = await turn.run(history, [{"role": "user", "content": text}])
        except ModelError as error:
            acted = any(message.get("role") == "tool" for message in turn.messages)
            told.append(_fallback_card(error, last=acted or model is mind.models[-1]))
            if acted:
                return (*turn.cards, *told)
            continue
        return (*told, *end.cards)
    return tuple(told)


@cache
def system_prompt() -> str:
    """The text of `prompts/system.md`."""
    return files("prompts").joinpath("system.md").read_text(encoding="utf-8")


def _load(lab: Lab, actor: Actor, thread_id: int, inbox_id: int, text: str) -> tuple[ToolContext, list[Message]]:
    with lab.store.read() as tx:
        thread = tx.get(Thread, thread_id)
        plan, run = (thread.plan_id, thread.run_id) if thread is not None else (None, None)
        past = _history(tx, thread_id, inbox_id)
    about = {"role": "system", "content": f"{CONTEXT_MARK}{json.dumps({'plan': plan, 'run': run})}"}
    history = [{"role": "system", "content": system_prompt()}, *past, about]
    return ToolContext(lab, actor, thread_id, plan, run, text), history


def _history(tx: Session, thread_id: int, inbox_id: int) -> list[Message]:
    """The newest whole turns of the thread before this message: a tool's answer is never parted from its request."""
    query = (
        select(TranscriptEntry)
        .where(TranscriptEntry.thread_id == thread_id, col(TranscriptEntry.inbox_id) < inbox_id)
        .order_by(col(TranscriptEntry.inbox_id).desc(), col(TranscriptEntry.position).desc())
        .limit(_MOST_HISTORY)
    )
    messages = [dict(entry.content) for entry in reversed(tx.exec(query).all())]
    start = next((place for place, message in enumerate(messages) if message.get("role") == "user"), len(messages))
    return messages[start:]


def _keeper(lab: Lab, thread_id: int, inbox_id: int) -> Callable[[Message, ModelReply | None], None]:
    with lab.store.read() as tx:
        query = select(TranscriptEntry.position).where(TranscriptEntry.inbox_id == inbox_id)
        position = max([-1, *tx.exec(query).all()]) + 1

    def keep(message: Message, reply: ModelReply | None) -> None:
        nonlocal position
        with lab.store.write() as tx:
            tx.add(
                TranscriptEntry(
                    thread_id=thread_id,
                    inbox_id=inbox_id,
                    position=position,
                    role=str(message.get("role")),
                    content=message,
                    model=reply.model if reply else None,
                    tokens_in=reply.tokens_in if reply else None,
                    tokens_out=reply.tokens_out if reply else None,
                    cost_usd=reply.cost_usd if reply else None,
                    created_at=lab.clock(),
                )
            )
        position += 1

    return keep


def _fallback_card(error: ModelError, *, last: bool) -> Card:
    after = "Please try again in a moment." if last else "I answer by my own rules meanwhile."
    return Card("notice", text=f"The language model can't be used now: {error}. {after}", tone=Tone.WARNING)
