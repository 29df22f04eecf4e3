"""`labhand recipe`: which recipes there are, and what is wrong with one."""

import argparse
from pathlib import Path
from typing import Any

from bot.bootstrap import shelf_reader
from bot.cli.output import print_json, print_rows
from bot.settings import load_settings
from lab.home import Home
from lab.recipe.files import load_recipe


def recipes(arguments: argparse.Namespace) -> int:
    """List every recipe, or check one file; exit status 1 when one can't be read."""
    if arguments.file:
        recipe = load_recipe(Path(arguments.file))
        if arguments.json:
            print_json(recipe.snapshot())
        else:
            print(f"{recipe.name}: good; {len(recipe.settings)} settings, {len(recipe.metrics)} metrics")
        return 0
    settings = load_settings()
    shelf = shelf_reader(settings, Home(settings.home.expanduser()))()
    rows: list[dict[str, Any]] = [
        {"name": r.name, "models": ", ".join(r.models), "datasets": ", ".join(r.datasets), "file": r.source}
        for r in shelf.recipes
    ]
    if arguments.json:
        print_json([*rows, *({"problem": problem} for problem in shelf.problems)])
    else:
        print_rows(rows, "recipes")
        for problem in shelf.problems:
            print(f"  can't be read: {problem}")
    return 1 if shelf.problems else 0
