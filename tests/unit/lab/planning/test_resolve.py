"""A goal against the lab's recipes."""

import pytest

from lab.errors import BadRequest, BadSetting
from lab.planning.goal import Goal, Limits
from lab.planning.matrix import cells, halton, size, within
from lab.planning.resolve import resolve
from lab.plans.change import DesignChange, change_words, changed_design
from lab.recipe.files import Shelf, recipe_from
from lab.recipe.model import Recipe, SettingRule

TOY = recipe_from(
    {
        "name": "toy",
        "aliases": ["play"],
        "command": "python train.py",
        "models": ["mlp", "cnn"],
        "datasets": ["digits"],
        "settings": {
            "lr": {"default": 0.01, "low": 1e-5, "high": 1.0, "scale": "log", "aliases": ["learning rate", "学习率"]},
            "batch_size": {"default": 64, "choices": [32, 64, 128]},
            "ema": {"default": False, "type": "bool"},
            "augmentation": {"default": "none", "choices": ["none", "A", "B"]},
            "epochs": {"default": 4, "low": 1, "high": 50, "type": "int"},
        },
        "metrics": [{"name": "accuracy", "pattern": "acc=([0-9.]+)", "aliases": ["准确率"]}],
    },
    "toy.yaml",
)
OTHER = recipe_from({"name": "speech", "command": "x", "models": ["wav2vec"], "datasets": ["librispeech"]}, "s.yaml")
SHELF = Shelf((TOY, OTHER))


def goal(text: str = "", **parts: object) -> Goal:
    return Goal.model_validate({"goal": text, **parts})


def test_names_become_the_recipes_own() -> None:
    found = resolve(goal(factors={"model": ["MLP", "Cnn"], "Learning-Rate": [0.1], "dataset": ["Digits"]}), SHELF)
    assert found.design is not None
    assert found.design.factors == {"model": ("mlp", "cnn"), "dataset": ("digits",), "lr": (0.1,)}


def test_a_recipe_named_as_data_is_found() -> None:
    found = resolve(goal(factors={"model": ["mlp"], "dataset": ["play"]}), SHELF)
    assert found.recipe == TOY


def test_levels_are_typed_by_their_rule() -> None:
    found = resolve(
        goal(factors={"model": ["mlp"], "ema": ["on", False], "epochs": [2.0], "augmentation": ["a"]}), SHELF
    )
    assert found.design is not None
    assert found.design.factors["ema"] == (True, False)
    assert found.design.factors["epochs"] == (2,)
    assert found.design.factors["augmentation"] == ("A",)


@pytest.mark.parametrize(
    ("factors", "told"),
    [
        ({"model": ["mlp"], "lr": [2.0]}, "above the recipe's highest, 1"),
        ({"model": ["mlp"], "lr": [1e-9]}, "below the recipe's lowest"),
        ({"model": ["mlp"], "batch_size": [100]}, "it offers 32, 64 and 128"),
        ({"model": ["mlp"], "epochs": [2.5]}, "is no int"),
        ({"model": ["mlp"], "ema": ["maybe"]}, "is no bool"),
        ({"model": ["mlp"], "warmup": [10]}, "has no setting warmup"),
        ({"model": ["CLIP"], "dataset": ["MSCOCO"]}, "No recipe of this lab covers CLIP and MSCOCO"),
    ],
)
def test_what_can_not_be_run_is_asked_about(factors: dict[str, list[object]], told: str) -> None:
    found = resolve(goal(factors=factors), SHELF)
    assert found.design is None
    assert told in found.questions[0]


def test_an_empty_shelf_says_what_to_do() -> None:
    assert "no recipe yet" in resolve(goal(factors={"model": ["x"]}), Shelf(())).questions[0]


def test_a_search_takes_its_trials_from_the_limit() -> None:
    found = resolve(goal(factors={"model": ["mlp"]}, ranges={"lr": [1e-4, 1e-1]}, limits=Limits(max_runs=7)), SHELF)
    assert found.design is not None
    points = [cell["lr"] for cell in cells(TOY, found.design)]
    assert len(set(points)) == 7
    assert all(1e-4 <= point <= 1e-1 for point in points)


def test_the_matrix_is_the_product_and_seeds_turn_fastest() -> None:
    found = resolve(goal(factors={"model": ["mlp", "cnn"], "seed": [0, 1], "lr": [0.1, 0.2]}), SHELF)
    assert found.design is not None
    made = cells(TOY, found.design)
    assert size(found.design) == len(made) == 8
    assert [(c["model"], c["lr"], c["seed"]) for c in made[:3]] == [("mlp", 0.1, 0), ("mlp", 0.1, 1), ("mlp", 0.2, 0)]
    assert all(cell["batch_size"] == 64 for cell in made)


def test_a_matrix_beyond_reason_is_refused() -> None:
    found = resolve(goal(factors={"model": ["mlp"], "seed": list(range(2001))}), SHELF)
    assert found.design is not None
    with pytest.raises(BadRequest, match="2001 runs"):
        cells(TOY, found.design)


def test_halton_points_are_spread_and_inside() -> None:
    points = [halton(n, 2) for n in range(1, 65)]
    assert all(0 < point < 1 for point in points)
    assert sorted(int(point * 8) for point in points[:63]).count(3) in (7, 8)
    rule = SettingRule(low=1e-5, high=1e-1, scale="log")
    assert within(rule, 1e-4, 1e-2, 0.5) == pytest.approx(1e-3, rel=1e-3)


def design(**factors: list[object]) -> tuple[Recipe, object]:
    found = resolve(goal(factors={"model": ["mlp", "cnn"], **factors}), SHELF)
    return TOY, found.design


@pytest.mark.parametrize(
    ("change", "factor", "levels"),
    [
        (DesignChange(drop={"model": ("CNN",)}), "model", ("mlp",)),
        (DesignChange(add={"lr": (0.3,)}), "lr", (0.1, 0.2, 0.3)),
        (DesignChange(set={"lr": (0.5,)}), "lr", (0.5,)),
        (DesignChange(scale={"lr": 0.5}), "lr", (0.05, 0.1)),
        (DesignChange(seeds=3), "seed", (0, 1, 2)),
        (DesignChange(add={"ema": ("on",)}), "ema", (False, True)),
    ],
)
def test_a_follow_up_changes_one_thing(change: DesignChange, factor: str, levels: tuple[object, ...]) -> None:
    before = resolve(goal(factors={"model": ["mlp", "cnn"], "lr": [0.1, 0.2]}), SHELF).design
    assert before is not None
    after = changed_design(TOY, before, change)
    assert after.factors[factor] == levels
    assert change_words(before, after)


@pytest.mark.parametrize(
    "change",
    [
        DesignChange(drop={"model": ("mlp", "cnn")}),
        DesignChange(drop={"lr": (0.7,)}),
        DesignChange(set={"lr": (7.0,)}),
        DesignChange(scale={"model": 2.0}),
        DesignChange(add={"model": ("resnet",)}),
        DesignChange(set={"nothing": (1,)}),
        DesignChange(seeds=0),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(change: DesignChange) -> None:
    before = resolve(goal(factors={"model": ["mlp", "cnn"], "lr": [0.1]}), SHELF).design
    assert before is not None
    with pytest.raises((BadSetting, BadRequest)):
        changed_design(TOY, before, change)
