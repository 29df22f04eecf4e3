"""The offline mind as a model: the same loop and the same tools with no language model reachable."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.model import Message, ModelReply, ToolRequest, ToolSignature
from agent.offline import Interpretation, RecipeWords, ThreadContext, Vocabulary, interpret
from lab.recipe.files import Shelf

CONTEXT_MARK = "Thread context: "
_LATER = {
    "en": "I understood that you want {what}, but I can't do that yet.",
    "zh": "我明白您想要{what}，但这个功能还没有。",
}
_HEARD = {"en": "I understood:", "zh": "我的理解："}


class OfflineModel:
    """Reads the person's last message by rules. After a tool has answered it has nothing to add."""

    def __init__(self, vocabulary: Callable[[], Vocabulary]) -> None:
        self._vocabulary = vocabulary

    @property
    def name(self) -> str:
        return "offline"

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSignature]) -> ModelReply:
        return self.respond(messages, tools)

    def respond(self, messages: Sequence[Message], tools: Sequence[ToolSignature]) -> ModelReply:
        """The reply to the last message, at once."""
        if not messages or messages[-1].get("role") != "user":
            return ModelReply(model=self.name)
        found = interpret(str(messages[-1].get("content", "")), self._vocabulary(), thread_context(messages))
        if found.questions:
            return ModelReply(question_text(found), model=self.name)
        offered = {tool["function"]["name"] for tool in tools}
        if found.call.tool not in offered:
            what = found.call.tool.replace("_", " ")
            return ModelReply(_LATER[_language(found)].format(what=what), model=self.name)
        request = ToolRequest(f"call-{len(messages)}", found.call.tool, found.call.arguments)
        return ModelReply(requests=(request,), model=self.name)


def thread_context(messages: Sequence[Message]) -> ThreadContext:
    """What the thread is about, from the newest system message that says so."""
    for message in reversed(messages):
        content = str(message.get("content", ""))
        if message.get("role") == "system" and content.startswith(CONTEXT_MARK):
            data: Mapping[str, Any] = json.loads(content.removeprefix(CONTEXT_MARK))
            return ThreadContext(plan=data.get("plan"), run=data.get("run"))
    return ThreadContext()


def question_text(found: Interpretation) -> str:
    """What was understood, then what is asked."""
    lines = [f"**{question}**" for question in found.questions]
    if found.understood:
        lines = [_HEARD[_language(found)], *(f"- {line}" for line in found.understood), "", *lines]
    return "\n".join(lines)


def vocabulary_of(shelf: Shelf) -> Vocabulary:
    """The words of the lab's recipes."""
    return Vocabulary(
        tuple(
            RecipeWords(
                name=recipe.name,
                aliases=recipe.aliases,
                models=recipe.models,
                datasets=recipe.datasets,
                settings=tuple(name for own, rule in recipe.settings.items() for name in (own, *rule.aliases)),
                metrics=tuple(name for metric in recipe.metrics for name in (metric.name, *metric.aliases)),
                on_off=tuple(own for own, rule in recipe.settings.items() if rule.kind == "bool"),
            )
            for recipe in shelf.recipes
        )
    )


def _language(found: Interpretation) -> str:
    return "zh" if found.language == "zh" else "en"
