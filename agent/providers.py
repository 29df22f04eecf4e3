"""Language models through litellm, the only module that knows it. litellm is slow to import: it is loaded on first use.

The offline mind is served as litellm's custom provider `offline`, so that `offline/rules` is a model like any other.
"""

import asyncio
import importlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agent.errors import ModelError, ModelNonsense, ModelTimeout, ModelUnavailable
from agent.model import Message, ModelReply, ToolRequest, ToolSignature, assistant_message
from agent.offline_model import OfflineModel

OFFLINE = "offline/rules"


@dataclass(frozen=True)
class ModelChoice:
    """Which model answers, where it is reached and how long it may take. `name` is litellm's, `provider/model`."""

    name: str
    api_base: str | None = None
    api_key: str | None = None
    timeout_s: float = 60.0


class LitellmModel:
    """A model through litellm: exactly one try a call, since the loop decides what comes after an error."""

    def __init__(self, choice: ModelChoice, offline: OfflineModel) -> None:
        self._choice = choice
        self._offline = offline

    @property
    def name(self) -> str:
        return self._choice.name

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSignature]) -> ModelReply:
        """One completion. Raises `ModelUnavailable`, `ModelTimeout` or `ModelNonsense`."""
        litellm = await asyncio.to_thread(load_litellm, self._offline, self._choice.name)
        try:
            answer = await litellm.acompletion(
                model=self._choice.name,
                messages=list(messages),
                tools=list(tools),
                api_base=self._choice.api_base,
                api_key=self._choice.api_key,
                timeout=self._choice.timeout_s,
                num_retries=0,
                max_retries=0,
            )
        except litellm.exceptions.Timeout as error:
            raise ModelTimeout(f"{self.name} took longer than {self._choice.timeout_s:.0f} s") from error
        except Exception as error:
            if isinstance(error, ModelError):
                raise
            raise ModelUnavailable(f"{self.name} did not answer ({type(error).__name__})") from error
        return read_completion(answer, self.name)


def read_completion(answer: Any, name: str) -> ModelReply:
    """A completion object as our value. Raises `ModelNonsense` when it holds no message."""
    choices = getattr(answer, "choices", None)
    message = getattr(choices[0], "message", None) if choices else None
    if message is None:
        raise ModelNonsense(f"{name} sent no message")
    usage = getattr(answer, "usage", None)
    hidden: Mapping[str, Any] = getattr(answer, "_hidden_params", None) or {}
    requests = tuple(_request(call, place) for place, call in enumerate(getattr(message, "tool_calls", None) or ()))
    return ModelReply(
        text=str(getattr(message, "content", None) or ""),
        requests=requests,
        model=name,
        tokens_in=getattr(usage, "prompt_tokens", None),
        tokens_out=getattr(usage, "completion_tokens", None),
        cost_usd=hidden.get("response_cost"),
    )


def load_litellm(offline: OfflineModel, model: str) -> Any:
    """Import litellm quietly (no look-ups of its own, no `.env`) and register the offline provider, once."""
    hosted = not model.startswith("offline/")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP" if hosted else "LITELLM_OFFLINE_MODE", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    if not any(entry["provider"] == "offline" for entry in litellm.custom_provider_map):
        litellm.custom_provider_map = [
            *litellm.custom_provider_map,
            {"provider": "offline", "custom_handler": _offline_handler(litellm, offline)},
        ]
    return litellm


def _offline_handler(litellm: Any, offline: OfflineModel) -> Any:
    def complete(messages: Sequence[Message], optional_params: Mapping[str, Any]) -> Any:
        reply = offline.respond(messages, optional_params.get("tools") or [])
        message = assistant_message(reply)
        choice = {"index": 0, "finish_reason": "tool_calls" if reply.requests else "stop", "message": message}
        return litellm.ModelResponse(choices=[choice], model=OFFLINE)

    class Rules(litellm.CustomLLM):  # type: ignore[misc, name-defined]
        def completion(self, *_args: Any, messages: Any, optional_params: Any, **_rest: Any) -> Any:
            return complete(messages, optional_params)

        async def acompletion(self, *_args: Any, messages: Any, optional_params: Any, **_rest: Any) -> Any:
            return complete(messages, optional_params)

    return Rules()


def _request(call: Any, place: int) -> ToolRequest:
    function = getattr(call, "function", None)
    name = str(getattr(function, "name", None) or "")
    text = str(getattr(function, "arguments", None) or "{}")
    try:
        arguments: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise ModelNonsense(f"the arguments of {name or 'a tool'} are no JSON: {error}") from error
    if not name or not isinstance(arguments, dict):
        raise ModelNonsense("a tool request has no name or no arguments")
    found = cast("dict[str, Any]", arguments)
    return ToolRequest(str(getattr(call, "id", None) or f"call-{place}"), name, found)
