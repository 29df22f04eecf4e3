"""From settings to arguments: whatever a setting holds arrives as it was."""

import argparse
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.digits.options import parse
from lab.command import render_argv
from lab.errors import BadSetting
from lab.recipe.files import load_recipe, recipe_from
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


DIGITS = load_recipe(Path(__file__).parents[3] / "examples" / "digits" / "recipe.yaml")


def values_of(name: str) -> st.SearchStrategy[Any]:
    """Whatever the recipe's rule for a setting allows."""
    rule = DIGITS.settings[name]
    if rule.choices is not None:
        return st.sampled_from(rule.choices)
    low, high = rule.low or 0, rule.high
    return {
        "bool": st.booleans(),
        "int": st.integers(round(low), round(high or 0)),
        "float": st.floats(low, high, exclude_min=not low, exclude_max=True),
        "str": st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    }[rule.kind]


@given(settings=st.fixed_dictionaries({}, optional={name: values_of(name) for name in DIGITS.settings}))
def test_the_real_script_reads_what_the_real_recipe_writes(settings: dict[str, Any]) -> None:
    settings["micro_batch"] = min(settings.get("micro_batch", 1), settings.get("batch_size", 64))
    found = vars(parse(render_argv(DIGITS, settings, "ck/last.npz")[3:]))
    assert {name: found[name] for name in settings} == settings
    assert found["resume"] == "ck/last.npz"


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("flag", [None, "--no-shuffle"])
def test_a_switch_arrives_whichever_way_the_script_has_it(default: bool, value: bool, flag: str | None) -> None:
    rule = {"default": default, **({"flag": flag} if flag else {})}
    argv = render_argv(recipe(settings={"shuffle": rule}), {"shuffle": value})[2:]
    parser = argparse.ArgumentParser()
    if flag:
        parser.add_argument(flag, dest="shuffle", action="store_false")
    else:
        parser.add_argument("--shuffle", action=argparse.BooleanOptionalAction, default=default)
    assert parser.parse_args(argv).shuffle is value


def hydra_value(text: str) -> str:
    """Text read by Hydra's rules: `\\'` is a quote, and backslashes are halved only before a quote or the end."""
    if not text.startswith("'"):
        assert re.fullmatch(r"[A-Za-z_/][\w\-./]*", text, re.ASCII)
        return text
    body = text[1:]
    found = ""
    while True:
        match = re.match(r"((?:[^'\\]|\\+(?!['\\]))*)(\\*)'", body, re.DOTALL)
        assert match is not None
        found += match[1] + "\\" * (len(match[2]) // 2)
        body = body[match.end() :]
        if len(match[2]) % 2 == 0:
            assert body == ""
            return found
        found += "'"


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text("ab'\"\\ \n.0,="))
def test_hydra_reads_text_back_as_it_was(text: str) -> None:
    if "${" in text:
        with pytest.raises(BadSetting):
            render_argv(recipe(style="hydra"), {"name": text})
        return
    (argument,) = render_argv(recipe(style="hydra"), {"name": text})[2:]
    assert hydra_value(argument.removeprefix("name=")) == text


@pytest.mark.parametrize("text", ["true", "NULL", "1e-5", "12", ".5", "nan", ""])
def test_text_that_hydra_would_take_for_a_value_is_quoted(text: str) -> None:
    assert render_argv(recipe(style="hydra"), {"name": text})[2:] == (f"name='{text}'",)


def test_a_value_is_never_read_as_a_placeholder() -> None:
    made = render_argv(recipe(command="python {name} {lr} ${lr}"), {"name": "{lr}", "lr": 0.1})
    assert made == ("python", "{lr}", "0.1", "${lr}")


def test_a_placeholder_without_a_value_is_told() -> None:
    with pytest.raises(BadSetting, match=r"needs a lr. Name one"):
        render_argv(recipe(command="python t.py {lr}"), {})
