"""Levels by a rule, and the cells that a design makes."""

import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from lab.errors import BadRequest
from lab.planning.estimate import PastRun, estimate, estimate_words
from lab.planning.goal import Design, Goal, Needs
from lab.planning.levels import convert_level, range_problem
from lab.planning.matrix import cells, settings_digest, size, within
from lab.planning.resolve import resolve
from lab.recipe.files import Shelf, recipe_from
from lab.recipe.model import Recipe, SettingRule


def recipe(name: str = "r", **parts: Any) -> Recipe:
    return recipe_from({"name": name, "command": "x", **parts}, f"{name}.yaml")


def resolved(shelf: tuple[Recipe, ...], **parts: Any) -> Any:
    return resolve(Goal.model_validate(parts), Shelf(shelf))


@pytest.mark.parametrize(
    ("rule", "level", "value"),
    [
        ({"type": "int"}, "64", 64),
        ({"type": "int"}, 2**53 + 1, 2**53 + 1),
        ({"type": "int"}, "9007199254740993", 9007199254740993),
        ({"type": "int"}, 2.0, 2),
        ({"type": "float"}, "1e-3", 0.001),
        ({"type": "bool"}, 1.0, True),
        ({"type": "bool"}, " 关 ", False),
        ({"choices": [-1, 1]}, 1, 1),
        ({"choices": [1.5, 15.0]}, 15, 15.0),
        ({"choices": ["16", "32"]}, 16, "16"),
        ({"choices": ["none", 0.1]}, "0.1", 0.1),
        ({"choices": ["true", "false"]}, True, "true"),
        ({"choices": ["策略 A", "B"]}, "策略a", "策略 A"),
    ],
)
def test_a_level_becomes_the_rules_own_value(rule: dict[str, Any], level: Any, value: Any) -> None:
    found = convert_level("x", SettingRule(**rule), level)
    assert (found.value, type(found.value), found.problem) == (value, type(value), "")


@pytest.mark.parametrize(
    ("rule", "level"),
    [
        ({"type": "int"}, True),
        ({"type": "float"}, False),
        ({"type": "int"}, 2.5),
        ({"type": "float"}, "nan"),
        ({"type": "float"}, math.inf),
        ({"type": "int"}, math.nan),
        ({"type": "float"}, 10**400),
        ({"type": "float", "low": 0.0}, -1),
        ({"type": "str"}, "a\x00b"),
        ({"choices": [0.1, 0.01]}, 0.001),
        ({"type": "bool"}, 2),
    ],
)
def test_a_level_that_is_none_is_told(rule: dict[str, Any], level: Any) -> None:
    found = convert_level("x", SettingRule(**rule), level)
    assert found.value is None
    assert found.problem.startswith("x=")


FLOATS = st.floats(1e-12, 1e12)


@given(
    kind=st.sampled_from(["int", "float"]),
    scale=st.sampled_from(["linear", "log"]),
    ends=st.tuples(FLOATS, FLOATS),
    share=st.floats(0, 1, exclude_max=True),
)
def test_a_point_lies_inside_its_range(kind: Any, scale: Any, ends: tuple[float, float], share: float) -> None:
    low, high = sorted(ends)
    rule = SettingRule(type=kind, scale=scale)
    assume(not range_problem("x", rule, low, high))
    value = within(rule, low, high, share)
    assert isinstance(value, int if kind == "int" else float)
    assert low <= value <= high


def test_a_search_over_choices_tries_only_those_and_none_twice() -> None:
    shelf = (recipe(settings={"batch_size": {"choices": [16, 32, 64, 128]}}),)
    found = resolved(shelf, ranges={"batch_size": (20, 500)})
    assert [cell["batch_size"] for cell in cells(shelf[0], found.design)] == [64, 32, 128]
    assert size(found.design) == 3


@pytest.mark.parametrize(
    ("rule", "low", "high", "told"),
    [
        ({"type": "float"}, 1.0, math.nan, "needs two numbers"),
        ({"type": "float"}, 2.0, 1.0, "is empty"),
        ({"type": "float", "scale": "log"}, 0.0, 1.0, "starts above 0"),
        ({"type": "int"}, 1.2, 1.8, "no whole number"),
        ({"choices": [1, 2]}, 3, 4, "offers no x"),
        ({"type": "float", "low": 0.5}, 0.1, 1.0, "below the recipe's lowest"),
        ({"type": "str"}, 0.1, 1.0, "is no number"),
    ],
)
def test_a_range_that_can_not_be_searched_is_told(rule: dict[str, Any], low: float, high: float, told: str) -> None:
    assert told in range_problem("x", SettingRule(**rule), low, high)


def test_a_missing_end_of_a_range_is_the_recipes_own_or_asked_for() -> None:
    bounded = recipe(settings={"lr": {"low": 1e-5, "high": 1.0}})
    assert resolved((bounded,), ranges={"lr": (None, 0.1)}).design.ranges == {"lr": (1e-5, 0.1)}
    open_end = recipe(settings={"lr": {"low": 1e-5}})
    assert resolved((open_end,), ranges={"lr": (1e-3, None)}).questions == (
        "From where to where should lr be searched?",
    )


@examples(max_examples=30)
@given(st.lists(st.lists(st.integers(), min_size=1, max_size=4, unique=True), min_size=1, max_size=5))
def test_the_matrix_is_the_product_of_its_levels(levels: list[list[int]]) -> None:
    factors = {f"f{place}": tuple(values) for place, values in enumerate(levels)}
    made = cells(recipe(), Design(factors=factors))
    assert len(made) == size(Design(factors=factors)) == math.prod(len(values) for values in levels)
    assert len({settings_digest("r", cell) for cell in made}) == len(made)


def test_a_huge_matrix_is_refused_before_it_is_made() -> None:
    design = Design(factors={f"f{n}": tuple(range(100)) for n in range(20)})
    with pytest.raises(BadRequest, match="one plan holds at most"):
        cells(recipe(), design)


def test_levels_of_two_names_for_one_setting_are_joined_once() -> None:
    shelf = (recipe(settings={"lr": {"type": "float", "aliases": ["学习率"]}}),)
    found = resolved(shelf, factors={"lr": [0.1, "0.10"], "学习率": [0.2, 0.1]})
    assert found.design.factors == {"lr": (0.1, 0.2)}


@pytest.mark.parametrize(
    ("factors", "question"),
    [
        ({"lr": []}, "Which values of lr?"),
        ({"seed": [1.5]}, "seed=1.5 is no int"),
        ({"seed": [-1]}, "seed=-1 is below"),
        ({"model": ["vit"], "lr": [1]}, "No recipe of this lab covers vit."),
    ],
)
def test_what_makes_no_sense_becomes_a_question(factors: dict[str, Any], question: str) -> None:
    found = resolved((recipe(settings={"lr": {"type": "float"}}, models=["mlp"]),), factors=factors)
    assert found.design is None
    assert found.questions[0].startswith(question)


def test_two_recipes_with_the_same_model_are_told_apart_or_asked_about() -> None:
    one = recipe("one", models=["mlp"], datasets=["digits"])
    two = recipe("two", models=["MLP"], datasets=["letters"], settings={"ema": {"default": False}})
    assert resolved((one, two), factors={"model": ["mlp"], "dataset": ["letters"]}).recipe is two
    assert resolved((one, two), factors={"model": ["mlp"], "ema": [True]}).recipe is two
    assert resolved((one, two), goal="try one", factors={"model": ["mlp"]}).recipe is one
    unsettled = resolved((one, two), factors={"model": ["mlp"]})
    assert unsettled.questions[0].startswith("one and two could all do it. Which one is it about?")
    assert unsettled.nearest == ("one", "two")


def test_a_recipes_name_is_heard_as_a_word_only() -> None:
    shelf = (recipe("gan"), recipe("other"))
    assert resolved(shelf, goal="an organ study").recipe is None
    assert resolved(shelf, goal="用GAN试试").recipe is shelf[0]


def test_a_recipe_without_models_takes_any_when_it_has_the_argument() -> None:
    assert resolved((recipe(settings={"model": {}}),), factors={"model": ["GPT-2"]}).design.factors == {
        "model": ("GPT-2",)
    }
    assert "covers GPT-2" in resolved((recipe(),), factors={"model": ["GPT-2"]}).questions[0]


def test_seeds_and_limits_share_the_runs() -> None:
    shelf = (recipe(settings={"lr": {"low": 0.1, "high": 1.0}, "bs": {"type": "int"}}),)
    search = resolved(shelf, factors={"seed": [0, 1, 2]}, ranges={"lr": (0.1, 1.0)}, limits={"max_runs": 20})
    assert (search.design.trials, size(search.design)) == (6, 18)
    grid = resolved(shelf, factors={"bs": [1, 2, 3]}, limits={"max_runs": 2})
    assert grid.questions == (
        "That makes 3 runs, and you allowed 2 at most. Which levels or seeds should be left out?",
    )


def test_an_estimate_rests_on_like_runs_scaled_by_their_length() -> None:
    found = recipe(resources={"gpus": 2, "hours": 1.0, "nodes": 2})
    past = [PastRun({"model": "a", "epochs": 2}, 3600.0), PastRun({"model": "b", "epochs": 2}, 60.0)]
    made = estimate(found, [{"model": "a", "epochs": 4}] * 25, past, Needs())
    assert made.gpu_hours == pytest.approx(25 * 2 * 4)
    assert estimate_words(made) == "25 runs x 4 GPUs, about 200 GPU-hours (133 to 300)"
    assert estimate(found, [{}], (), Needs(gpus=0)).gpu_hours == 0
    assert estimate(recipe(), [{}], (), Needs()).gpu_hours is None
