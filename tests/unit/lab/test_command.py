"""From settings to arguments: whatever a setting holds arrives as it was."""

import argparse
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.command import render_argv
from lab.recipe.files import recipe_from
from lab.recipe.model import Recipe


def recipe(**parts: object) -> Recipe:
    settings = {"name": {"type": "str"}, "lr": {"type": "float"}, "ema": {"type": "bool"}, "n": {"type": "int"}}
    return recipe_from({"name": "r", "command": "python t.py", "settings": settings, **parts}, "r.yaml")


def parsed(argv: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--name")
    parser.add_argument("--lr", type=float)
    parser.add_argument("--n", type=int)
    parser.add_argument("--ema", action="store_true")
    return parser.parse_args(argv[2:])


@given(
    name=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lr=st.floats(allow_nan=False, allow_infinity=False),
    n=st.integers(),
    ema=st.booleans(),
)
def test_every_value_arrives_unchanged(name: str, lr: float, n: int, ema: bool) -> None:
    argv = render_argv(recipe(), {"name": name, "lr": lr, "n": n, "ema": ema})
    found = parsed(argv)
    assert (found.name, found.lr, found.n, found.ema) == (name, lr, n, ema)
    assert shlex.split(shlex.join(argv)) == list(argv)


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("argparse", ["--lr=0.1", "--ema"]),
        ("hf-trainer", ["--lr=0.1", "--ema=true"]),
        ("lightning-cli", ["--lr=0.1", "--ema=true"]),
        ("hydra", ["lr=0.1", "ema=true"]),
    ],
)
def test_each_style_writes_its_own(style: str, shown: list[str]) -> None:
    assert list(render_argv(recipe(style=style), {"lr": 0.1, "ema": True})[2:]) == shown


def test_placeholders_take_their_values_and_are_not_passed_twice() -> None:
    made = render_argv(recipe(command="python {name}.py --rate {lr}"), {"name": "a b", "lr": 0.1})
    assert made == ("python", "a b.py", "--rate", "0.1")


def test_model_and_data_are_passed_when_there_is_a_choice() -> None:
    one = recipe(models=["a"], datasets=["d"])
    two = recipe(models=["a", "b"], datasets=["d"])
    settings = {"model": "a", "dataset": "d", "seed": 3}
    assert render_argv(one, settings)[2:] == ("--seed=3",)
    assert render_argv(two, settings)[2:] == ("--model=a", "--seed=3")


def test_a_checkpoint_is_handed_on() -> None:
    checkpoints = {"dir": "ck", "resume": "--resume"}
    assert render_argv(recipe(checkpoints=checkpoints), {}, "/x/ck/last.npz")[2:] == ("--resume=/x/ck/last.npz",)
    assert render_argv(recipe(), {}, "/x/ck/last.npz")[2:] == ()


def test_what_the_recipe_does_not_know_is_not_passed() -> None:
    assert render_argv(recipe(), {"secret": 1})[2:] == ()
