"""`labhand doctor`: every part checked, with the next step for what is wrong."""

import argparse
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from backends.errors import BackendError
from bot.bootstrap import House, build
from bot.cli.output import print_json
from bot.settings import Settings, load_settings
from lab import audit
from lab.errors import HomeLocked, LabError
from lab.words import size

Grade = Literal["ok", "warn", "fail"]
_PARTS = {
    "litellm": "language models",
    "mlflow": "tracking",
    "nicegui": "the chat page",
    "matplotlib": "pictures",
    "slack_bolt": "Slack",
    "discord": "Discord",
    "paramiko": "SSH nodes",
    "psycopg": "PostgreSQL",
}
_LOW_DISK = 1 << 30


@dataclass(frozen=True)
class Check:
    """One line of the report; `next_step` is empty when all is well."""

    name: str
    grade: Grade
    found: str
    next_step: str = ""


def doctor(arguments: argparse.Namespace) -> int:
    """Print the report; exit status 1 when something fails."""
    checks = list(_checks())
    if arguments.json:
        worst = "fail" if any(c.grade == "fail" for c in checks) else "ok"
        print_json({"grade": worst, "checks": [asdict(check) for check in checks]})
    else:
        from rich.console import Console

        console = Console()
        for check in checks:
            colour = {"ok": "green", "warn": "yellow", "fail": "red"}[check.grade]
            console.print(f"[{colour}]{check.grade:>4}[/]  {check.name}: ", end="")
            console.print(check.found, markup=False, highlight=False)
            if check.next_step:
                console.print(f"      → {check.next_step}", markup=False, highlight=False)
    return 1 if any(check.grade == "fail" for check in checks) else 0


def _checks() -> Iterator[Check]:
    settings = load_settings()
    yield Check("python", "ok", sys.version.split()[0])
    yield from _dependencies()
    yield from _model(settings)
    try:
        house = build(settings)
    except LabError as error:
        yield Check("home", "fail", Exception.__str__(error), error.next_step or "")
        return
    for check in (_home, _lock, _database, _recipes):
        yield from check(house)
    yield from _machines(house)


def _dependencies() -> Iterator[Check]:
    for module, use in _PARTS.items():
        if importlib.util.find_spec(module) is None:
            yield Check(module, "fail", f"missing; needed for {use}", f"Install it: pip install {module}")
    yield Check("packages", "ok", f"{len(_PARTS)} looked for")


def _model(settings: Settings) -> Iterator[Check]:
    if settings.model is None:
        yield Check("model", "ok", "none configured; the offline mind answers")
    elif settings.model_api_key is None and settings.model_api_base is None:
        yield Check("model", "warn", f"{settings.model} without a key", "Set LABHAND_MODEL_API_KEY.")
    else:
        yield Check("model", "ok", settings.model)


def _home(house: House) -> Iterator[Check]:
    root: Path = house.home.root
    free = shutil.disk_usage(root).free
    if free < _LOW_DISK:
        yield Check("disk", "warn", f"{size(free)} free at {root}", "Free some space; runs and pictures need it.")
    else:
        yield Check("disk", "ok", f"{size(free)} free at {root}")
    mode = os.stat(root).st_mode & 0o077
    if mode:
        yield Check("home", "warn", f"{root} can be read by others", f"chmod 700 {root}")
    else:
        yield Check("home", "ok", str(root))


def _lock(house: House) -> Iterator[Check]:
    try:
        with house.home.lock("labhand doctor"):
            yield Check("labhand up", "ok", "not running; the queue moves only while it is")
    except HomeLocked as error:
        yield Check("labhand up", "ok", Exception.__str__(error))


def _database(house: House) -> Iterator[Check]:
    try:
        with house.lab.store.read() as tx:
            found = audit.verify(tx)
    except LabError as error:
        yield Check("database", "fail", Exception.__str__(error), error.next_step or "")
        return
    yield Check("database", "ok", house.lab.store.engine.dialect.name)
    if found.first_broken is None and not found.problem:
        yield Check("audit", "ok", f"{found.count} rows, the chain holds")
    else:
        yield Check("audit", "fail", f"row {found.first_broken}: {found.problem}", "Somebody edited the database.")


def _recipes(house: House) -> Iterator[Check]:
    shelf = house.lab.shelf()
    names = ", ".join(recipe.name for recipe in shelf.recipes)
    yield Check("recipes", "ok" if shelf.recipes else "warn", names or "none", "" if names else "See docs/RECIPES.md.")
    for problem in shelf.problems:
        yield Check("recipe", "warn", problem, "Mend the file; `labhand recipe FILE` checks it.")


def _machines(house: House) -> Iterator[Check]:
    for name, backend in house.lab.backends.items():
        try:
            nodes = backend.inventory()
        except BackendError as error:
            yield Check(name, "fail", str(error), error.next_step or "")
            continue
        for node in nodes:
            gpus = f", {len(node.gpus)} GPUs" if node.gpus else ", no GPU"
            yield Check(name, "ok", f"{node.name}: {node.cpus} CPUs, {size(node.memory_total)}{gpus}")
