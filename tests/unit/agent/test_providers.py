"""litellm behind the port: the offline mind as a custom provider, and answers that can't be read."""

from types import SimpleNamespace

import pytest

from agent.errors import ModelNonsense, ModelUnavailable
from agent.offline import Vocabulary
from agent.offline_model import OfflineModel
from agent.providers import OFFLINE, LitellmModel, ModelChoice, read_completion
from agent.tools import all_tools

SIGNATURES = [tool.signature() for tool in all_tools().values()]


def completion(**message: object) -> SimpleNamespace:
    return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(**message))])


def tool_call(name: str, arguments: str) -> SimpleNamespace:
    return SimpleNamespace(id="x", function=SimpleNamespace(name=name, arguments=arguments))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning")
async def test_the_offline_mind_answers_the_same_through_litellm_as_directly() -> None:
    offline = OfflineModel(lambda: Vocabulary(()))
    served = LitellmModel(ModelChoice(OFFLINE), offline)
    for text in ("cancel run 9 please", "queue", "compare a and b on digits with lr 1e-3 and 1e-4"):
        messages = [{"role": "user", "content": text}]
        direct, through = await offline.reply(messages, SIGNATURES), await served.reply(messages, SIGNATURES)
        assert [(r.name, r.arguments) for r in through.requests] == [(r.name, r.arguments) for r in direct.requests]
        assert through.text == direct.text


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning")
async def test_a_service_that_is_not_there_is_unavailable_not_a_crash() -> None:
    choice = ModelChoice("openai/any", api_base="http://127.0.0.1:9/v1", api_key="none", timeout_s=5)
    with pytest.raises(ModelUnavailable, match="did not answer"):
        await LitellmModel(choice, OfflineModel(lambda: Vocabulary(()))).reply([{"role": "user", "content": "hi"}], [])


@pytest.mark.parametrize(
    "answer",
    [
        SimpleNamespace(choices=[]),
        SimpleNamespace(),
        completion(content=None, tool_calls=[tool_call("run_plan", '{"plan": ')]),
        completion(content=None, tool_calls=[tool_call("run_plan", "[1, 2]")]),
        completion(content=None, tool_calls=[tool_call("", "{}")]),
    ],
    ids=["no choices", "nothing", "half JSON", "a list", "no name"],
)
def test_nonsense_is_named_as_such(answer: object) -> None:
    with pytest.raises(ModelNonsense):
        read_completion(answer, "weak")
