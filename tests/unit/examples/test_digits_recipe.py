"""The recipe speaks of the script as it is, and its memory limit parts the cells that fit from those that don't."""

import re
from pathlib import Path

import pytest

from examples.digits.options import parse
from lab.recipe.files import load_recipe
from lab.recipe.model import Recipe
from tests.unit.examples.digits_run import ROOT, run, values


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return load_recipe(ROOT / "examples" / "digits" / "recipe.yaml")


def test_each_setting_is_an_argument_with_the_same_default(recipe: Recipe) -> None:
    defaults = vars(parse([]))
    for name, rule in recipe.settings.items():
        assert name in defaults
        if name != "micro_batch":
            assert rule.default == defaults[name], name
        for choice in rule.choices or ():
            assert vars(parse([f"--{name.replace('_', '-')}", str(choice)]))[name] == choice
    for model in recipe.models:
        assert parse(["--model", model, "--dataset", recipe.datasets[0]]).model == model


def test_each_knob_is_an_argument(recipe: Recipe) -> None:
    known = {f"--{name.replace('_', '-')}" for name in vars(parse([]))}
    assert set(recipe.knobs.values()) <= known
    assert recipe.checkpoints is not None
    assert recipe.checkpoints.resume in known


def test_each_pattern_finds_its_number_in_a_real_run(recipe: Recipe, tmp_path: Path) -> None:
    _, out, _ = run(tmp_path, "--epochs", "2")
    for metric in recipe.metrics:
        found = re.findall(metric.pattern, out)
        assert found, metric.name
        float(found[-1])
    assert recipe.step_pattern is not None
    assert re.findall(recipe.step_pattern, out)[-1] == "40"
    assert recipe.checkpoints is not None
    assert len(list((tmp_path / recipe.checkpoints.dir).glob(recipe.checkpoints.pattern))) == 2


def test_the_largest_cnn_batch_really_runs_out_of_memory(recipe: Recipe, tmp_path: Path) -> None:
    limit = recipe.resources.memory
    code, _, err = run(tmp_path, "--model", "cnn", "--batch-size", "1024", "--epochs", "1", data_limit=limit)
    assert code == 1
    assert re.fullmatch(
        r"numpy\._core\._exceptions\._ArrayMemoryError: Unable to allocate [\d.]+ MiB "
        r"for an array with shape \(\d+, 331776\) and data type float32",
        err.splitlines()[-1],
    )


@pytest.mark.parametrize("way", [["--grad-checkpoint"], ["--micro-batch", "512"]])
def test_and_fits_by_recomputing_or_by_one_halving(recipe: Recipe, tmp_path: Path, way: list[str]) -> None:
    settings = ["--model", "cnn", "--batch-size", "1024", "--epochs", "1", *way]
    code, out, err = run(tmp_path, *settings, data_limit=recipe.resources.memory)
    assert (code, err) == (0, "")
    assert values("effective_batch", out) == [1024]
    assert values("step", out) == [2]
