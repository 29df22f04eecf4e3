"""Repairs keep the effective batch, touch nothing that is compared, and are refused rather than guessed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from lab.recipe.files import recipe_from
from lab.recipe.model import Recipe
from lab.remedies.actions import ACTIONS, Situation, lower_learning_rate, more_memory, smaller_micro_batch
from lab.remedies.change import change_digest, change_from, diff_lines, overlay
from lab.remedies.choose import Proven, Verdict, choose
from lab.remedies.knobs import knobs_for

FORMS = {
    "micro": {"micro_batch": "--micro"},
    "both": {"micro_batch": "--micro", "accumulation": "--accum"},
    "accumulation": {"accumulation": "--accum"},
}
MEMORY = Verdict("host-oom", "with-change", ("increase-host-memory",), needs_human=False)


def recipe(knobs: dict[str, str], **resources: Any) -> Recipe:
    settings = {"batch_size": {"default": 64}, "lr": {"default": 0.01, "low": 1e-5, "high": 1.0}}
    return recipe_from({"name": "r", "command": "x", "settings": settings, "knobs": knobs, "resources": resources}, "r")


def situation(knobs: dict[str, str], settings: dict[str, Any], **parts: Any) -> Situation:
    found = recipe(knobs)
    return Situation(found, knobs_for(found), settings, **parts)


@examples(max_examples=60)
@given(
    form=st.sampled_from(sorted(FORMS)),
    batch=st.integers(1, 4096),
    tried=st.none() | st.integers(1, 2**40),
    limit=st.none() | st.integers(1, 2**36),
)
def test_no_chain_of_repairs_changes_the_effective_batch(
    form: str, batch: int, tried: int | None, limit: int | None
) -> None:
    settings: dict[str, Any] = {"batch_size": batch}
    knobs = knobs_for(recipe(FORMS[form]))
    assert knobs is not None
    before = knobs.batch(settings)
    assert before is not None
    for _ in range(14):
        now = situation(FORMS[form], settings, tried_bytes=tried, limit_bytes=limit)
        change = smaller_micro_batch(now)
        if change is None:
            break
        settings = {**settings, **change.settings}
        after = knobs.batch(settings)
        assert after is not None
        assert after.effective == before.effective
        assert after.micro >= 1


def test_what_the_plan_compares_is_left_alone() -> None:
    assert lower_learning_rate(situation({}, {"lr": 0.1}, varied=frozenset({"lr"}))) is None
    on = situation({"gradient_checkpointing": "--gc"}, {}, varied=frozenset({"gradient_checkpointing"}))
    assert ACTIONS["enable-gradient-checkpointing"](on) is None
    micro = situation(FORMS["micro"], {"batch_size": 64, "micro_batch": 32}, varied=frozenset({"micro_batch"}))
    assert smaller_micro_batch(micro) is None


def test_without_its_knob_a_repair_is_refused() -> None:
    now = situation({}, {"batch_size": 64})
    assert [name for name, action in ACTIONS.items() if "batch" in name and action(now) is not None] == []


def test_a_large_allocation_is_halved_as_often_as_it_needs() -> None:
    now = situation(FORMS["micro"], {"batch_size": 1024}, tried_bytes=4 << 30, limit_bytes=1 << 30)
    change = smaller_micro_batch(now)
    assert change is not None
    assert change.settings == {"micro_batch": 128}
    assert "effective batch stays 1024" in change.words


def test_memory_is_asked_for_within_what_there_is() -> None:
    assert more_memory(situation({}, {}, memory_bytes=8 << 30, most_memory=10 << 30)) is None
    grown = more_memory(situation({}, {}, memory_bytes=8 << 30, most_memory=16 << 30))
    assert grown is not None
    assert grown.resources == {"memory_bytes": 12 << 30}


def test_on_a_machine_without_gpu_the_model_is_made_smaller_first() -> None:
    now = situation({**FORMS["micro"], "gradient_checkpointing": "--gc"}, {"batch_size": 64}, memory_bytes=1 << 30)
    choice = choose(MEMORY, now)
    assert choice.change is not None
    assert choice.change.action == "halve-micro-batch-double-accumulation"
    assert [c.action for c in choice.others] == ["enable-gradient-checkpointing", "increase-host-memory"]


def test_no_change_is_made_twice() -> None:
    now = situation(FORMS["micro"], {"batch_size": 64}, memory_bytes=1 << 30)
    first = choose(MEMORY, now).change
    assert first is not None
    second = choose(MEMORY, now, frozenset({change_digest(first)})).change
    assert second is not None
    assert second.action == "increase-host-memory"


def test_what_held_before_goes_first_and_what_never_held_goes_last() -> None:
    now = situation({**FORMS["micro"], "gradient_checkpointing": "--gc"}, {"batch_size": 64})
    proven = [Proven("enable-gradient-checkpointing", 2, 2), Proven("halve-micro-batch-double-accumulation", 3, 0)]
    choice = choose(MEMORY, now, proven=proven)
    assert choice.change is not None
    assert choice.change.action == "enable-gradient-checkpointing"
    assert [c.action for c in choice.others] == ["halve-micro-batch-double-accumulation"]
    assert "2 of 2" in choice.why


def test_a_fault_of_the_code_is_never_retried() -> None:
    verdict = Verdict("code-error", "no", ("patch-code",), needs_human=True)
    assert choose(verdict, situation(FORMS["micro"], {"batch_size": 64})).change is None


def test_a_passing_fault_is_tried_again_as_it_was() -> None:
    verdict = Verdict("network-fabric", "as-is", ("requeue", "exclude-node"), needs_human=False)
    choice = choose(verdict, situation({}, {}, host="n1"))
    assert choice.change is not None
    assert choice.change.is_retry_as_is
    assert [c.action for c in choice.others] == ["exclude-node"]


def test_overlays_add_up_and_survive_json() -> None:
    now = situation(FORMS["micro"], {"batch_size": 64})
    change = smaller_micro_batch(now)
    assert change is not None
    assert change_from(change.to_json()) == change
    once = overlay({}, change)
    assert once["settings"] == {"micro_batch": 32}
    assert once["words"] == [change.words]
    assert diff_lines({"micro_batch": 64}, change) == ["- micro_batch = 64", "+ micro_batch = 32"]


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_batch_of_one_can_not_be_made_smaller(form: str) -> None:
    assert smaller_micro_batch(situation(FORMS[form], {"batch_size": 1})) is None


MEMORY_ACTIONS = ("halve-micro-batch-double-accumulation", "enable-gradient-checkpointing")


@examples(max_examples=60)
@given(
    form=st.sampled_from(sorted(FORMS)),
    batch=st.integers(1, 2048),
    lr=st.sampled_from([1e-5, 0.01, 1.0]),
    order=st.lists(st.sampled_from([*ACTIONS]), max_size=12),
)
def test_no_sequence_of_any_remedies_changes_the_effective_batch_or_repeats_one(
    form: str, batch: int, lr: float, order: list[str]
) -> None:
    knobs = {**FORMS[form], "gradient_checkpointing": "--gc", "max_grad_norm": "--clip"}
    adapter = knobs_for(recipe(knobs))
    assert adapter is not None
    settings: dict[str, Any] = {"batch_size": batch, "lr": lr}
    tried: set[str] = set()
    for action in order:
        now = situation(knobs, settings, memory_bytes=1 << 30, host="n1", time_limit_s=60)
        change = choose(Verdict("x", "with-change", (action,), False), now, frozenset(tried)).change
        if change is None:
            continue
        assert change_digest(change) not in tried
        tried.add(change_digest(change))
        settings = {**settings, **change.settings}
        found = adapter.batch(settings)
        assert found is not None
        assert found.effective == batch
        assert settings["batch_size"] == batch or form == "accumulation"


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_batch_size_that_is_compared_is_shown_as_it_is(form: str) -> None:
    now = situation(FORMS[form], {"batch_size": 64}, varied=frozenset({"batch_size"}))
    change = smaller_micro_batch(now)
    assert (change is None) == (form == "accumulation")
    assert change is None or "batch_size" not in change.settings


def test_a_micro_batch_divides_even_where_half_does_not() -> None:
    change = smaller_micro_batch(situation(FORMS["both"], {"batch_size": 15}))
    assert change is not None
    assert change.settings == {"micro_batch": 5, "accumulation": 3}


def renamed(**rules: Any) -> Recipe:
    """A recipe whose settings are called otherwise than its knobs."""
    settings = {
        "bs": {"default": 64, "aliases": ["batch_size"]},
        "gc": {"default": False, "flag": "--recompute"},
        "alpha": {"default": 0.1, "low": 1e-3, "aliases": ["learning_rate"]},
        "chunk": {"type": "int", "low": 16},
        **rules,
    }
    knobs = {"micro_batch": "--chunk", "gradient_checkpointing": "--recompute"}
    return recipe_from({"name": "r", "command": "x", "settings": settings, "knobs": knobs}, "r")


def test_a_knob_is_the_setting_with_its_argument() -> None:
    found = renamed()
    settings = {"bs": 64, "gc": False, "alpha": 0.1}
    now = Situation(found, knobs_for(found), settings)
    changes = [ACTIONS[action](now) for action in (*MEMORY_ACTIONS, "lower-learning-rate")]
    assert [change.settings for change in changes if change] == [{"chunk": 32}, {"gc": True}, {"alpha": 0.01}]
    compared = Situation(found, knobs_for(found), settings, frozenset({"chunk", "gc", "alpha"}))
    assert [ACTIONS[action](compared) for action in (*MEMORY_ACTIONS, "lower-learning-rate")] == [None, None, None]


def test_a_change_stays_within_the_recipes_rules() -> None:
    found = renamed(alpha={"choices": [0.1, 0.02], "aliases": ["lr"]})
    now = Situation(found, knobs_for(found), {"bs": 16, "alpha": 0.1})
    assert smaller_micro_batch(now) is None
    assert lower_learning_rate(now) is None


@pytest.mark.parametrize("value", [True, 0, 0.0, -0.1, float("nan"), None, "0.1"])
def test_a_learning_rate_that_is_no_positive_number_is_left_alone(value: object) -> None:
    assert lower_learning_rate(situation({}, {"lr": value})) is None


def test_options_of_the_allocator_are_kept() -> None:
    env = {"PYTORCH_CUDA_ALLOC_CONF": "backend:native,expandable_segments:False"}
    change = ACTIONS["set-expandable-segments"](situation({}, {}, env=env))
    assert change is not None
    assert change.env == {"PYTORCH_CUDA_ALLOC_CONF": "backend:native,expandable_segments:True"}
    assert ACTIONS["set-expandable-segments"](situation({}, {}, env=change.env)) is None


def test_a_repeat_from_a_checkpoint_is_no_change_and_may_come_again() -> None:
    verdict = Verdict("external-network", "as-is", ("requeue",), needs_human=False)
    now = situation({}, {}, has_checkpoint=True)
    first = choose(verdict, now).change
    assert first is not None
    assert first.resume
    assert first.is_retry_as_is
    assert overlay({"words": ["a"], "learned_from": 3}, first) == {
        **{"settings": {}, "env": {}, "resources": {}, "avoid_hosts": [], "categories": []},
        **{"words": ["a"], "learned_from": 3},
    }
    assert choose(verdict, now, frozenset({change_digest(first)})).change == first


def test_a_change_is_known_again_under_another_name() -> None:
    now = situation({}, {}, host="n1")
    away = [ACTIONS[name](now) for name in ("exclude-node", "pick-free-gpu")]
    assert len({change_digest(change) for change in away if change}) == 1
    later = ACTIONS["exclude-node"](situation({}, {}, host="n1", has_checkpoint=True))
    assert later is not None
    verdict = Verdict("node-failure", "other-node", ("exclude-node", "pick-free-gpu"), needs_human=False)
    assert choose(verdict, now, frozenset({change_digest(later)})).change is None


@pytest.mark.parametrize("actions", [("requeue", "exclude-node"), ("requeue",), ("report-hardware",)])
def test_another_machine_means_another_machine(actions: tuple[str, ...]) -> None:
    verdict = Verdict("gpu-hardware-fault", "other-node", actions, needs_human=False)
    change = choose(verdict, situation({}, {}, host="n1")).change
    assert change is not None
    assert change.avoid_hosts == ("n1",)


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict("x", "with-change", ("requeue",), needs_human=False),
        Verdict("x", "with-change", ("requeue",), needs_human=True),
        Verdict("x", "perhaps", ("requeue",), needs_human=False),
    ],
)
def test_nothing_is_retried_where_a_change_or_a_person_is_needed(verdict: Verdict) -> None:
    assert choose(verdict, situation({}, {})).change is None


def test_an_action_that_the_diagnosis_does_not_offer_is_not_made_up() -> None:
    proven = [Proven("lower-learning-rate", 5, 5), Proven("halve-micro-batch-double-accumulation", 4, 1)]
    choice = choose(MEMORY, situation(FORMS["micro"], {"batch_size": 8, "lr": 0.1}), proven=proven)
    assert choice.change is not None
    assert choice.change.action == "halve-micro-batch-double-accumulation"
    assert choice.others == ()


def test_the_diff_says_sizes_and_times() -> None:
    change = more_memory(situation({}, {}, memory_bytes=8 << 30, has_checkpoint=True))
    assert change is not None
    assert diff_lines({}, change) == ["+ memory = 12 GiB", "+ go on from the last checkpoint"]
