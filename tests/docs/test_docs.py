"""The docs are true: what they name exists, and what exists is named."""

import argparse
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent.tools import all_tools
from bot.cli.arguments import build_parser
from bot.settings import PREFIX, Settings, setting_lines
from lab.recipe import model as recipe_model

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def first_cells(text: str) -> set[str]:
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    assert first_cells(page("docs/SETTINGS.md")) == {name for name, _default, _about in setting_lines()}


def test_the_example_environment_names_every_setting() -> None:
    named = set(re.findall(rf"^#({PREFIX}[A-Z_]+)=", page(".env.example"), re.MULTILINE))
    assert named == {PREFIX + name.upper() for name in Settings.model_fields}


def test_settings_say_what_the_table_says() -> None:
    table = page("docs/SETTINGS.md")
    for name, _default, about in setting_lines():
        row = next(line for line in table.splitlines() if line.startswith(f"| `{name}`"))
        assert about in row


def commands() -> dict[str, argparse.ArgumentParser]:
    for action in build_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    raise AssertionError("the parser has no commands")


def test_every_command_and_option_is_documented() -> None:
    text = page("docs/COMMANDS.md")
    assert first_cells(text) == set(commands())
    for name, parser in commands().items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        options = {o for action in parser._actions for o in action.option_strings[:1]} - {"-h"}
        assert options == set(re.findall(r"`(--[a-z-]+)`", row))


def test_every_tool_is_documented_with_its_effect() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", page("docs/TOOLS.md"), re.MULTILINE))
    assert rows == {name: tool.effect.value for name, tool in all_tools().items()}


@pytest.mark.parametrize(
    "part", [p for p in vars(recipe_model).values() if isinstance(p, type) and issubclass(p, recipe_model.Part)]
)
def test_every_recipe_key_is_documented(part: type[BaseModel]) -> None:
    text = page("docs/RECIPES.md")
    assert [key for key in part.model_fields if f"`{key}`" not in text and key != "source"] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_to_a_file_holds(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    broken = [t for t in targets if "://" not in t and not (path.parent / t).exists()]
    assert broken == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_path_and_command_in_backticks_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    files = re.findall(r"`((?:bot|agent|lab|backends|docs|tests|scripts|examples|prompts)/[\w./-]+)`", text)
    assert [name for name in files if not (ROOT / name.rstrip("/")).exists()] == []
    called = set(re.findall(r"labhand ([a-z]+)", text)) - {"is", "and"}
    assert called - set(commands()) == set()


def test_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", page("Makefile"), re.MULTILINE))
    assert set(re.findall(r"make ([a-z]+)\b", page("README.md"))) <= targets
