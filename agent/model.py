"""The port to language models: messages and tool signatures in, words and tool requests out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = dict[str, Any]
"""One message in the chat-completions form: `role`, `content`, and `tool_calls` or `tool_call_id`."""

ToolSignature = dict[str, Any]
"""One tool in the chat-completions form: `{"type": "function", "function": {name, description, parameters}}`."""


@dataclass(frozen=True)
class ToolRequest:
    """A call that the model asks for. `arguments` is what it sent, unchecked."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class ModelReply:
    """One answer of a model. Tokens and cost (US dollars) are `None` when the model does not say."""

    text: str = ""
    requests: tuple[ToolRequest, ...] = ()
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Model(Protocol):
    """A language model, or what stands in for one. Raises `ModelError` and nothing else."""

    @property
    def name(self) -> str: ...

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSignature]) -> ModelReply: ...


def assistant_message(reply: ModelReply) -> Message:
    """The reply as a message to go on from."""
    message: Message = {"role": "assistant", "content": reply.text}
    if reply.requests:
        message["tool_calls"] = [
            {
                "id": request.id,
                "type": "function",
                "function": {"name": request.name, "arguments": json.dumps(dict(request.arguments))},
            }
            for request in reply.requests
        ]
    return message
