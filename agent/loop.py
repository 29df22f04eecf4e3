"""One turn: a message goes in, the model calls tools until it has answered, and every step is kept."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.errors import TurnLimit
from agent.model import Message, Model, ModelReply, ToolRequest, assistant_message
from agent.tool import Answer, AnyTool, Failed, NeedsApproval, Outcome, ToolContext
from lab.cards import Button, ButtonStyle, Card, Tone
from lab.policy import Effect

_MOST_RESULT = 6000
_REPEATS = 2


@dataclass(frozen=True)
class TurnLimits:
    """Where a turn ends whatever the model wants: model calls, seconds on the clock, tokens, US dollars."""

    steps: int = 8
    seconds: float = 120.0
    tokens: int = 60_000
    cost_usd: float = 1.0


@dataclass(frozen=True)
class TurnEnd:
    """What a turn leaves: the cards for the thread in order, and the new messages of the transcript."""

    cards: tuple[Card, ...]
    messages: tuple[Message, ...]


@dataclass
class Turn:
    """A turn under way. `keep` stores each new message before the next step, so that a killed turn can go on."""

    model: Model
    tools: Mapping[str, AnyTool]
    context: ToolContext
    limits: TurnLimits = TurnLimits()
    keep: Callable[[Message, ModelReply | None], None] = lambda _message, _reply: None
    messages: list[Message] = field(default_factory=list[Message])
    cards: list[Card] = field(default_factory=list[Card])
    asked: list[str] = field(default_factory=list[str])
    tainted: bool = False
    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    started: float = field(default_factory=time.monotonic)

    async def run(self, history: Sequence[Message], new: Sequence[Message] = ()) -> TurnEnd:
        """Go on from `history` (and the `new` messages) until the model has no more requests. Raises `ModelError`."""
        for message in new:
            self._add(message)
        signatures = [tool.signature() for tool in self.tools.values()]
        try:
            while True:
                self._check()
                left = self.limits.seconds - (time.monotonic() - self.started)
                async with asyncio.timeout(max(left, 0.1)):
                    reply = await self.model.reply([*history, *self.messages], signatures)
                self._count(reply)
                self._add(assistant_message(reply), reply)
                if reply.text.strip():
                    self.cards.append(Card("answer", text=reply.text.strip()))
                if not reply.requests:
                    break
                for request in reply.requests:
                    await self._act(request)
        except (TurnLimit, TimeoutError) as limit:
            self.cards.append(Card("error", text=f"I stopped here: {limit or 'it took too long'}.", tone=Tone.WARNING))
        return TurnEnd(tuple(self.cards), tuple(self.messages))

    async def _act(self, request: ToolRequest) -> None:
        outcome = await self._outcome(request)
        if isinstance(outcome, Answer):
            self.cards += outcome.cards
            self.tainted = self.tainted or outcome.untrusted
        elif isinstance(outcome, NeedsApproval):
            self.cards.append(outcome.card)
        elif not outcome.retryable:
            self.cards.append(Card("error", text=outcome.text, tone=Tone.WARNING))
        self._add({"role": "tool", "tool_call_id": request.id, "name": request.name, "content": bounded(outcome.text)})

    async def _outcome(self, request: ToolRequest) -> Outcome:
        tool = self.tools.get(request.name)
        if tool is None:
            return Failed(f"There is no tool {request.name}. Tools: {', '.join(self.tools)}.", retryable=True)
        call = f"{request.name} {json.dumps(dict(request.arguments), sort_keys=True, default=str)}"
        self.asked.append(call)
        if self.asked.count(call) > _REPEATS:
            raise TurnLimit(f"the same call was repeated ({request.name})")
        if self.tainted and tool.effect is not Effect.READ:
            return needs_click(tool, request.arguments)
        return await asyncio.to_thread(tool.call, self.context, request.arguments)

    def _check(self) -> None:
        self.steps += 1
        if self.steps > self.limits.steps:
            raise TurnLimit(f"{self.limits.steps} steps were not enough")
        if time.monotonic() - self.started > self.limits.seconds:
            raise TurnLimit(f"{self.limits.seconds:.0f} seconds were not enough")
        if self.tokens > self.limits.tokens or self.cost_usd > self.limits.cost_usd:
            raise TurnLimit("the budget of one answer is used up")

    def _count(self, reply: ModelReply) -> None:
        self.tokens += (reply.tokens_in or 0) + (reply.tokens_out or 0)
        self.cost_usd += reply.cost_usd or 0.0

    def _add(self, message: Message, reply: ModelReply | None = None) -> None:
        self.messages.append(message)
        self.keep(message, reply)


def needs_click(tool: AnyTool, arguments: Mapping[str, object]) -> NeedsApproval:
    """A card that asks for the person's own click, since this turn has read words that were not theirs."""
    value = json.dumps({"tool": tool.name, "arguments": dict(arguments)}, default=str)[:1900]
    words = f"{tool.name.replace('_', ' ')} {json.dumps(dict(arguments), default=str, ensure_ascii=False)[:300]}"
    button = Button("call_tool", "Do it", value, ButtonStyle.PRIMARY)
    text = f"This answer has read text that is not yours (a log, a file). Shall I: {words}?"
    return NeedsApproval("A person has to click first.", Card("confirm", text=text, buttons=(button,)))


def bounded(text: str, most: int = _MOST_RESULT) -> str:
    """Head and tail of a long result, and how much is left out."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - most} characters left out …\n{text[-half:]}"
