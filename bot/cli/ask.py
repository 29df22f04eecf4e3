"""`labhand ask`: one message, its answer, and with `--wait` all that comes of it."""

import argparse
import asyncio
from typing import Any

from rich.console import Console

from bot.bootstrap import House, build
from bot.cli.look import run_row
from bot.cli.output import print_json
from bot.console import show_card
from bot.conversation import Conversation, conversation
from bot.settings import load_settings
from lab.cards import Card, card_to_json
from lab.plans.load import attempts_of, plan_of, runs_of


def ask(arguments: argparse.Namespace) -> int:
    """Say something and show what comes back; exit status 1 when a run of the awaited plan failed."""
    house = build(load_settings())
    return asyncio.run(_ask(house, arguments))


async def _ask(house: House, arguments: argparse.Namespace) -> int:
    shown: list[Card] = []
    console = Console()

    def show(card: Card, edited: bool) -> None:
        shown.append(card)
        if not arguments.json and not edited:
            show_card(console, card)
        elif not arguments.json and card.kind == "progress":
            console.print(card.title, style="dim")

    opened = conversation(house, show, thread=arguments.thread, user=arguments.user, track=arguments.wait)
    async with opened as (talk, alone):
        await talk.say(arguments.text)
        if arguments.yes:
            for button in await asyncio.to_thread(talk.pressable):
                await talk.press(button)
        plan_id = await asyncio.to_thread(talk.newest_plan)
        if arguments.wait and plan_id is not None and await asyncio.to_thread(talk.is_started, plan_id):
            await talk.wait_for_plan(plan_id)
        answer = await asyncio.to_thread(_answer, house, talk, plan_id)
    if arguments.json:
        print_json(answer)
    else:
        _say_what_next(console, house, talk, answer, alone=alone, waited=arguments.wait)
    failed = any(run["state"] in ("failed", "lost") for run in answer["runs"])
    return 1 if arguments.wait and failed else 0


def _answer(house: House, talk: Conversation, plan_id: int | None) -> dict[str, Any]:
    cards = list(talk.surface.cards.values())
    runs: list[dict[str, Any]] = []
    plan: dict[str, Any] | None = None
    if plan_id is not None:
        with house.lab.store.read() as tx:
            row = plan_of(tx, plan_id)
            plan = {
                "id": row.id,
                "state": row.state,
                "goal": row.goal,
                "recipe": row.recipe,
                "design": row.design,
                "estimate": row.estimate,
            }
            for run in runs_of(tx, plan_id):
                runs.append({**run_row(run), "attempts": len(attempts_of(tx, run.id or 0))})
    images = [image.path for card in cards for image in card.images]
    return {
        "thread": talk.thread,
        "replies": [card_to_json(card) for card in cards],
        "plan": plan,
        "runs": runs,
        "images": images,
    }


def _say_what_next(
    console: Console, house: House, talk: Conversation, answer: dict[str, Any], *, alone: bool, waited: bool
) -> None:
    console.print(f"Go on with: labhand ask --thread {talk.thread} “…”", style="dim")
    running = answer["plan"] is not None and answer["plan"]["state"] == "active"
    if running and alone and not waited:
        console.print("The queue moves while `labhand up` (or `ask --wait`) runs.", style="yellow")
