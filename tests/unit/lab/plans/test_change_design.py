"""What a follow-up makes of a design."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from lab.errors import BadRequest, LabError
from lab.planning.goal import Design, Limits
from lab.planning.matrix import size
from lab.plans.change import DesignChange, change_words, changed_design, goal_of
from lab.recipe.files import recipe_from

TOY = recipe_from(
    {
        "name": "toy",
        "command": "x",
        "models": ["mlp", "cnn", "vit"],
        "datasets": ["digits"],
        "settings": {
            "lr": {"default": 1, "low": 1e-5, "high": 10.0, "scale": "log"},
            "n": {"default": 4, "type": "int"},
            "shift": {"type": "float"},
        },
        "metrics": [{"name": "accuracy", "pattern": "a=(.)"}, {"name": "loss", "pattern": "l=(.)"}],
    },
    "toy.yaml",
)
GRID = Design(factors={"model": ("mlp", "cnn"), "lr": (1.0, 0.1), "seed": (0, 1)}, metrics=("accuracy",))
SEARCH = Design(factors={"model": ("mlp",)}, ranges={"lr": (1e-4, 1e-2)}, strategy="bayesian", trials=7)


def changed(design: Design = GRID, **parts: Any) -> Design:
    return changed_design(TOY, design, DesignChange.model_validate(parts))


NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6, unique=True)


@examples(max_examples=40)
@given(levels=NUMBERS, data=st.data())
def test_what_is_dropped_and_added_is_there_again(levels: list[float], data: st.DataObject) -> None:
    before = Design(factors={"shift": tuple(levels)})
    gone = data.draw(st.lists(st.sampled_from(levels), min_size=1, max_size=len(levels) - 1, unique=True))
    dropped = changed(before, drop={"shift": gone})
    assert set(dropped.factors["shift"]) == set(levels) - set(gone)
    again = changed(dropped, add={"shift": gone})
    assert set(again.factors["shift"]) == set(levels)
    assert len(again.factors["shift"]) == len(levels)


@examples(max_examples=40)
@given(levels=st.lists(st.integers(1, 10**6), min_size=1, max_size=5, unique=True), factor=st.integers(1, 64))
def test_whole_numbers_stay_whole_when_scaled(levels: list[int], factor: int) -> None:
    up = changed(Design(factors={"n": tuple(levels)}), scale={"n": factor})
    assert up.factors["n"] == tuple(level * factor for level in levels)
    assert changed(up, scale={"n": 1 / factor}).factors["n"] == tuple(levels)


def test_levels_are_told_apart_by_value() -> None:
    before = Design(factors={"shift": (1.5, 15.0, -1.0, 1.0)})
    assert changed(before, drop={"shift": ("15",)}).factors["shift"] == (1.5, -1.0, 1.0)
    assert changed(before, drop={"shift": (1,)}).factors["shift"] == (1.5, 15.0, -1.0)


def test_a_default_that_is_whole_is_scaled_as_the_number_it_stands_for() -> None:
    assert changed(Design(factors={}), scale={"lr": 0.1}).factors["lr"] == (0.1,)


def test_levels_come_once_and_seeds_stay_last() -> None:
    after = changed(set={"n": [2, "2", 2.0, 3]})
    assert list(after.factors) == ["model", "lr", "n", "seed"]
    assert after.factors["n"] == (2, 3)


def test_an_empty_drop_takes_a_setting_out() -> None:
    assert "lr" not in changed(drop={"lr": []}).factors
    assert changed(SEARCH, drop={"lr": []}).trials is None


def test_a_search_is_scaled_and_replaced_as_a_range() -> None:
    assert changed(SEARCH, scale={"lr": 10}).ranges == {"lr": (1e-3, 1e-1)}
    after = changed(SEARCH, set={"lr": [0.1]})
    assert (after.ranges, after.trials, after.strategy) == ({}, None, "grid")
    assert change_words(SEARCH, after) == [
        "+ lr: 0.1",
        "- ranges: lr 0.0001 to 0.01",
        "+ strategy: grid",
        "- trials: 7",
    ]


def test_trials_stay_within_the_runs_allowed() -> None:
    assert changed(SEARCH, seeds=3).trials == 7
    assert size(changed(SEARCH, seeds=3, limits={"max_runs": 10})) == 9
    assert changed(ranges={"lr": (0.1, 1.0)}).strategy == "random"


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"drop": {"model": ["CNN", "bert"]}}, "The plan has no model bert"),
        ({"drop": {"n": [4]}}, "The plan has no n 4"),
        ({"drop": {"model": []}}, "A plan needs a model"),
        ({"drop": {"model": ["mlp", "cnn"]}}, "Nothing of model would be left"),
        ({"set": {"lr": []}}, "Which values of lr?"),
        ({"set": {"seed": ["x"]}}, "seed=x is no int"),
        ({"scale": {"shift": 2}}, "shift has no value to scale"),
        ({"scale": {"n": 0.1}}, "would be 0"),
        ({"scale": {"model": 2}}, "can't be scaled"),
        ({"ranges": {"lr": (0.1, 100)}}, "above the recipe's highest"),
        ({"ranges": {"model": (0, 1)}}, "can't be searched"),
        ({"metrics": ["f1"]}, "does not print f1; it prints accuracy and loss"),
        ({"limits": {"max_runs": 3}}, "makes 8 runs, and you allowed 3"),
        ({"seeds": 10**9}, "no more seeds"),
        ({"scale_seeds": 1e308}, "no more seeds"),
        ({"seeds": 0}, "At least one seed"),
    ],
)
def test_a_change_that_can_not_be_is_told(parts: dict[str, Any], told: str) -> None:
    with pytest.raises(LabError) as caught:
        changed(**parts)
    assert told in str(caught.value)


def test_a_range_is_not_extended_by_a_level() -> None:
    with pytest.raises(BadRequest, match="searched over a range"):
        changed(SEARCH, add={"lr": [0.5]})


def test_a_design_as_a_goal_forgets_nothing() -> None:
    design = SEARCH.model_copy(update={"metrics": ("loss",), "limits": Limits(gpu_hours=3)})
    goal = goal_of("again", design)
    assert (goal.n_runs, goal.metrics, goal.limits.gpu_hours, goal.strategy) == (7, ("loss",), 3, "bayesian")
