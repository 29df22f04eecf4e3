"""`labhand demo`: the whole story on this machine, with real processes, real failures and real repairs."""

import argparse
import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from sqlmodel import col, select

from bot.bootstrap import House, build
from bot.console import show_card
from bot.conversation import Conversation, conversation
from bot.settings import load_settings
from lab.cards import Card
from lab.plans.load import attempts_of, recipe_of, runs_of
from lab.recipe.model import Recipe
from lab.remedies.knobs import knobs_for
from lab.schema import Plan
from lab.states import PLAN_ENDED, RunState
from lab.store import Store, sqlite_url
from lab.words import duration, plural

MESSAGE = "compare mlp and cnn on digits with lr 0.1 and 0.01, batch size 64, 256 and 1024, 2 seeds"
THREAD = "demo"
_MEMORY = ("host-oom", "gpu-oom-capacity")


@dataclass(frozen=True)
class Outcome:
    """What the demo came to."""

    runs: int
    succeeded: int
    out_of_memory: int
    repaired: int
    spared: int
    batch_kept: bool
    picture: str | None

    @property
    def good(self) -> bool:
        return self.succeeded == self.runs and self.repaired >= 2 and self.batch_kept and self.picture is not None


def demo(_arguments: argparse.Namespace) -> int:
    """Hold the conversation and run the plan; goes on with one that was cut short. Exit status 0 when all is well."""
    console = Console(highlight=False)
    settings = load_settings()
    house = build(settings.model_copy(update={"home": _demo_home(settings.home.expanduser())}))
    console.print(f"The demo's home is {house.home.root}\n", style="dim")
    outcome = asyncio.run(_story(house, console))
    _report(house, console, outcome)
    return 0 if outcome.good else 1


async def _story(house: House, console: Console) -> Outcome:
    started = time.monotonic()

    def show(card: Card, edited: bool) -> None:
        stamp = duration(time.monotonic() - started)
        if card.kind == "progress" and edited:
            states = ", ".join(f"{field.value} {field.name}" for field in card.fields if field.name != "time")
            console.print(f"  {stamp:>6}  {card.title} ({states})", style="dim")
        else:
            show_card(console, card)

    async with conversation(house, show, thread=THREAD) as (talk, _alone):
        plan_id = await asyncio.to_thread(_unfinished, house)
        if plan_id is None:
            plan_id = await _begin(talk, console)
        else:
            console.print(f"Going on with plan {plan_id}, which was cut short.\n", style="bold yellow")
        await talk.wait_for_plan(plan_id)
        await _follow_up(talk, console, plan_id)
        await asyncio.to_thread(house.track_now)
        return await asyncio.to_thread(_outcome, house, talk, plan_id)


async def _begin(talk: Conversation, console: Console) -> int:
    _person(console, MESSAGE)
    await talk.say(MESSAGE)
    plan_id = await asyncio.to_thread(talk.newest_plan)
    if plan_id is None:
        raise RuntimeError("no plan was drawn up for the demo's message")
    for button in await asyncio.to_thread(talk.pressable):
        _person(console, f"[{button.label}]")
        await talk.press(button)
    return plan_id


async def _follow_up(talk: Conversation, console: Console, plan_id: int) -> None:
    with talk.house.lab.store.read() as tx:
        failed = [
            run.id for run in runs_of(tx, plan_id) if any(a.diagnosis is not None for a in attempts_of(tx, run.id or 0))
        ]
    if failed:
        question = f"why did run {failed[0]} fail?"
        _person(console, question)
        await talk.say(question)


def _person(console: Console, text: str) -> None:
    console.print("\n[bold white on blue] you [/] ", end="")
    console.print(text, markup=False, style="bold")


def _outcome(house: House, talk: Conversation, plan_id: int) -> Outcome:
    images = [image.path for card in talk.surface.cards.values() if card.kind == "matrix" for image in card.images]
    with house.lab.store.read() as tx:
        plan = tx.get_one(Plan, plan_id)
        runs = runs_of(tx, plan_id)
        attempts = {run.id: attempts_of(tx, run.id or 0) for run in runs}
        recipe = recipe_of(plan)
    memory = [run for run in runs if any((a.diagnosis or {}).get("category") in _MEMORY for a in attempts[run.id])]
    repaired = [run for run in memory if run.state == RunState.SUCCEEDED]
    kept = all(_same_batch(recipe, attempts[run.id][0].settings, attempts[run.id][-1].settings) for run in repaired)
    return Outcome(
        runs=len(runs),
        succeeded=sum(run.state == RunState.SUCCEEDED for run in runs),
        out_of_memory=len(memory),
        repaired=len(repaired),
        spared=sum(bool(run.remedies.get("words")) for run in runs if run not in memory),
        batch_kept=kept,
        picture=images[-1] if images else None,
    )


def _same_batch(recipe: Recipe, before: dict[str, object], after: dict[str, object]) -> bool:
    knobs = knobs_for(recipe)
    old, new = (knobs.batch(before), knobs.batch(after)) if knobs else (None, None)
    return old is not None and new is not None and old.effective == new.effective


def _report(house: House, console: Console, outcome: Outcome) -> None:
    colour = "green" if outcome.good else "red"
    console.print()
    console.print(f"{outcome.succeeded} of {plural(outcome.runs, 'run')} ran through.", style=f"bold {colour}")
    kept = "unchanged" if outcome.batch_kept else "CHANGED"
    console.print(
        f"{outcome.out_of_memory} really ran out of memory; {outcome.repaired} of them were repaired and finished, "
        f"effective batch {kept}. {plural(outcome.spared, 'like cell')} started with what was learned."
    )
    console.print(f"Comparison matrix: {outcome.picture}", soft_wrap=True)
    console.print(f"The same runs in MLflow: mlflow ui --backend-store-uri {house.tracking_uri}", soft_wrap=True)
    talk = f"LABHAND_HOME={house.home.root} .venv/bin/labhand ask --thread {THREAD}"
    console.print(f"Ask about this demo: {talk} “why did it fail?”", style="dim", soft_wrap=True)
    console.print("Talk to it in a home of your own: make chat", style="dim")


def _demo_home(home: Path) -> Path:
    """The newest demo whose plan has not ended, else a new directory: two demos share nothing."""
    root = home / "demo"
    for place in sorted(root.glob("*/labhand.db"), reverse=True):
        if _is_cut_short(place.parent):
            return place.parent
        break
    return root / time.strftime("%Y%m%d-%H%M%S")


def _is_cut_short(home: Path) -> bool:
    store = Store(sqlite_url(home / "labhand.db"))
    try:
        with store.read() as tx:
            states = tx.exec(select(Plan.state).order_by(col(Plan.id))).all()
        return any(state not in PLAN_ENDED for state in states)
    finally:
        store.close()


def _unfinished(house: House) -> int | None:
    with house.lab.store.read() as tx:
        plan = tx.exec(select(Plan).where(Plan.state == "active").order_by(col(Plan.id))).first()
        return plan.id if plan is not None else None
