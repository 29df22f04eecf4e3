"""What a recipe file may say, and what a mistake in one is told as."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.errors import BadRecipe
from lab.recipe.files import Shelf, load_recipe, load_shelf, recipe_from
from lab.recipe.model import Recipe
from lab.recipe.values import parse_size, plain

DIGITS = Path(__file__).parents[4] / "examples" / "digits" / "recipe.yaml"


def recipe(**parts: Any) -> Recipe:
    return recipe_from({"name": "r", "command": "python t.py", **parts}, "r.yaml")


def written(folder: Path, text: str, name: str = "recipe.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_reads_and_survives_its_snapshot() -> None:
    digits = load_recipe(DIGITS)
    assert recipe_from(digits.snapshot(), digits.source) == digits
    assert digits.setting_name("学习率") == "lr"
    assert digits.setting_name("Gradient Clipping") == "clip_grad_norm"
    assert digits.setting_name("MODEL") == "model"
    metric = digits.metric("准确率")
    assert metric is not None
    assert metric.name == "accuracy"
    assert digits.primary_metric == metric


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ({}, "str"),
        ({"default": True}, "bool"),
        ({"default": 4}, "int"),
        ({"default": 1, "low": 0.5}, "float"),
        ({"default": 1, "scale": "log"}, "float"),
        ({"choices": [16, 32], "scale": "log"}, "int"),
        ({"choices": [1, 2.5]}, "float"),
        ({"choices": ["none", 0.1]}, "str"),
        ({"low": 0}, "float"),
        ({"default": "8", "type": "int"}, "int"),
    ],
)
def test_the_kind_of_a_setting_is_read_off_its_values(rule: dict[str, Any], kind: str) -> None:
    assert recipe(settings={"x": rule}).settings["x"].kind == kind


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"stile": "hydra"}, "`stile` is no key of a recipe. Did you mean `style`?"),
        ({"settings": {"lr": {"defualt": 1}}}, "`settings.lr.defualt` is no key of a recipe. Did you mean `default`?"),
        ({"metrics": [{"name": "a", "patern": "(x)"}]}, "Did you mean `pattern`?"),
        ({"settings": {"lr": 0.1}}, "`settings.lr` must be a mapping"),
        ({"settings": {"lr": {"low": 2, "high": 1}}}, "low 2 is above high 1"),
        ({"settings": {"lr": {"low": 0, "scale": "log"}}}, "above 0"),
        ({"settings": {"lr": {"default": 2.0, "high": 1.0}}}, "lr=2 is above the recipe's highest, 1"),
        ({"settings": {"lr": {"default": float("nan")}}}, "settings.lr.default"),
        ({"settings": {"a": {"choices": []}}}, "must offer something"),
        ({"settings": {"a": {"choices": [False, "A"]}}}, "put quotes around such words"),
        ({"settings": {"a": {"default": "C", "choices": ["A", "B"]}}}, "it offers A and B"),
        ({"settings": {"lr": {"aliases": ["rate"]}, "Rate": {}}}, "two settings answer to 'rate'"),
        ({"settings": {"learning rate": {}}}, "can't be the name of a setting"),
        ({"models": ["ResNet-18", "resnet18"]}, "'resnet18' is listed twice"),
        ({"metrics": [{"name": "a", "pattern": "a=(.*"}]}, "no regular expression"),
        ({"metrics": [{"name": "a", "pattern": "a=.*"}]}, "needs one group"),
        ({"metrics": [{"name": "a", "pattern": "(a)"}, {"name": "A", "pattern": "(b)"}]}, "two metrics answer to 'a'"),
        ({"resources": {"memory": "lots"}}, "write it like 512MiB"),
        ({"resources": {"gpus": -1}}, "greater than or equal to 0"),
        ({"checkpoints": {"dir": "/data"}}, "inside the run's own work directory"),
        ({"checkpoints": {"dir": "."}}, "inside the run's own work directory"),
        ({"checkpoints": {"signal": "HELLO"}}, "no signal"),
        ({"command": "python 'train.py"}, "can't be split"),
        ({"command": "python t.py {width}"}, "asks for {width}, which is no setting"),
        ({"command": " "}, "must not be empty"),
    ],
)
def test_a_mistake_is_told_with_its_place(parts: dict[str, Any], told: str) -> None:
    with pytest.raises(BadRecipe) as caught:
        recipe(**parts)
    assert told in str(caught.value)


def test_yaml_numbers_and_single_names_mean_what_they_look_like(tmp_path: Path) -> None:
    text = """
name: small
command: python t.py
models: mlp
datasets: [2048]
settings: {lr: {default: 1e-3, choices: [1e-3, 1e-4, .5E-2]}}
env: {THREADS: 1}
"""
    found = load_recipe(written(tmp_path, text))
    assert (found.models, found.datasets, dict(found.env)) == (("mlp",), ("2048",), {"THREADS": "1"})
    assert found.settings["lr"].kind == "float"
    assert found.settings["lr"].choices == (0.001, 0.0001, 0.005)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: [", "line 1"),
        ("- a\n- b\n", "is a mapping with at least `name` and `command`"),
        ("", "is a mapping"),
        ("name: r\ncommand: x\nname: s\n", "line 3: the key 'name' is there twice"),
        ("name: r\n", "`command` is missing"),
        ("name: !!python/object:os.system x\n", "line 1"),
    ],
)
def test_broken_yaml_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadRecipe) as caught:
        load_recipe(written(tmp_path, text))
    assert told in str(caught.value)


def test_a_broken_recipe_hides_no_good_one_and_overlapping_folders_count_once(tmp_path: Path) -> None:
    written(tmp_path / "a", "name: good\ncommand: x\naliases: [fine]\n")
    written(tmp_path / "b", "name: bad\n")
    written(tmp_path / "c", "name: GOOD\ncommand: x\n")
    written(tmp_path / "d", "name: other\ncommand: x\naliases: [fine]\n")
    written(tmp_path / "d", "not a recipe", "notes.txt")
    shelf = load_shelf([tmp_path, tmp_path / "a", tmp_path / "missing"])
    assert [r.name for r in shelf.recipes] == ["good", "other"]
    assert [problem.split(": ", 1)[1].split(" by")[0] for problem in shelf.problems] == [
        "`command` is missing. See docs/RECIPES.md for each key.",
        "the name 'GOOD' is taken",
        "the alias 'fine' is taken",
    ]
    found = shelf.by_name("Fine")
    assert found is not None
    assert found.name == "good"


def test_the_nearest_recipes_are_found_whatever_the_case() -> None:
    shelf = Shelf((recipe(models=["wav2vec"]), recipe_from({"name": "vision", "command": "x", "models": ["ViT"]}, "v")))
    assert shelf.nearest(["VIT"])[0].name == "vision"
    assert Shelf(()).nearest(["VIT"]) == ()


@pytest.mark.parametrize(
    ("text", "size"),
    [("1GiB", 2**30), ("1.5 gib", 3 * 2**29), ("512 MB", 512 * 10**6), ("16G", 2**34), ("7b", 7), (5, 5), (None, None)],
)
def test_sizes(text: object, size: int | None) -> None:
    assert parse_size(text) == size


@given(st.integers(1, 2**20), st.sampled_from([("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)]))
def test_a_written_size_is_read_back(count: int, unit: tuple[str, int]) -> None:
    assert parse_size(f"{count}{unit[0]}") == count << unit[1]


@given(st.text() | st.booleans() | st.integers(max_value=0) | st.floats() | st.just("9" * 400 + "TiB") | st.just("5ib"))
def test_anything_else_is_no_size(value: object) -> None:
    try:
        assert (parse_size(value) or 1) > 0
    except ValueError as error:
        assert "is no size" in str(error)  # noqa: PT017 - either answer is right, another error is not


@given(st.text())
def test_a_name_is_compared_without_case_width_and_marks(text: str) -> None:
    assert plain(f" {text}-_. ") == plain(text)
    assert plain("ＬＲ") == plain("lr")
