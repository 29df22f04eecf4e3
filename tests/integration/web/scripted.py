"""A Labhand of a few lines behind the real page: what it says is scripted, what it shows is not."""

import asyncio
from pathlib import Path

from bot.surface import Inbound, InboundKind
from bot.web.feed import MemoryFeed
from bot.web.surface import WebSurface
from lab.cards import Button, ButtonStyle, Card, Field, Image, Table, Tone

TOKEN = "a-token-of-the-test"
HOSTILE = """**bold** and batch_size_1 and a < b && c

<script>window.fired = 1</script> <img src=x onerror="window.fired = 1"> <svg onload="window.fired = 1"></svg>

[press](javascript:window.fired=1) [good](https://example.org/page) ![p](https://example.org/leak.png)

<iframe srcdoc="<script>parent.fired=1</script>"></iframe><style>body{display:none}</style>
`<b>in code</b>` <a href="javascript:window.fired=1" onclick="window.fired=1">raw</a> {{ constructor }}"""


def plan_card() -> Card:
    return Card(
        kind="plan",
        title="Plan 1: 4 runs with digits",
        text="- One seed a cell: small differences can't be told from noise. Say “3 seeds” for **intervals**.",
        fields=(
            Field("model", "mlp, cnn"),
            Field("lr", "0.1, 0.01"),
            Field("each run", "1 CPU, 1 GiB"),
            Field("estimate", "about 1 min on 2 cores (0.5 to 2 min)"),
        ),
        table=Table(
            ("model", "lr"), (("mlp", "0.1"), ("mlp", "0.01"), ("cnn", "0.1"), ("cnn", "0.01")), "lr", "all 4 cells"
        ),
        code="python -m examples.digits.train --model mlp --lr 0.1 --batch-size 64 --seed 0",
        buttons=(
            Button("run_plan", "Run 4 runs", "plan:1:abc", ButtonStyle.PRIMARY),
            Button("change_plan", "Change", "plan:1:abc", ask="What should be different?"),
            Button("cancel_plan", "Cancel", "plan:1:abc"),
        ),
        footer="Estimate from the recipe. Nothing has been started.",
    )


def progress_card(done: int) -> Card:
    return Card(
        kind="progress",
        title=f"Plan 1: {done} of 4 runs done",
        fields=(Field("running", str(min(2, 4 - done))), Field("waiting", str(max(0, 2 - done)))),
        buttons=() if done == 4 else (Button("cancel_plan", "Stop", "plan:1", ButtonStyle.DANGER),),
        progress=done / 4,
    )


def repair_card() -> Card:
    return Card(
        kind="repair",
        title="Run 3 failed and is tried again (1 of 3)",
        text="The machine's memory ran out while allocating 820 MiB.\n\nChanged: micro-batch 512 → 256, two steps of "
        "accumulation — the effective batch stays 512.",
        tone=Tone.WARNING,
        fields=(Field("cause", "host-oom"), Field("exit code", "1")),
        code="line 42: numpy._core._exceptions._ArrayMemoryError: Unable to allocate 820. MiB\n"
        "- --micro-batch 512\n+ --micro-batch 256",
        buttons=(Button("show_log", "Show log", "run:3"),),
        footer="effective batch unchanged",
    )


def matrix_card(picture: Path) -> Card:
    return Card(
        kind="matrix",
        title="Plan 1: cnn with lr 0.01 is best, 0.981 accuracy",
        text="**cnn** beats **mlp** at both learning rates. 4 of 4 runs ran through.",
        tone=Tone.GOOD,
        table=Table(("model", "lr", "accuracy"), (("cnn", "0.01", "0.981"), ("mlp", "0.1", "0.962")), "lrr"),
        images=(Image(str(picture), "accuracy of mlp and cnn at two learning rates"),),
        buttons=(Button("again", "Run again with 3 seeds", "plan:1"),),
    )


class Scripted:
    """Answers a message with a plan, Run with progress and a matrix, and `hostile` with `HOSTILE`."""

    def __init__(self, images: Path, picture: Path, *, pause_s: float = 0.15, personas: bool = False) -> None:
        self.feed = MemoryFeed()
        self.events: list[Inbound] = []
        self.picture = picture
        self.pause_s = pause_s
        self.broken = False
        self.web = WebSurface(self.feed, port=0, token=TOKEN, user="ada", images_root=images, personas=personas)
        self._said = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, event: Inbound) -> None:
        if self.broken:
            raise OSError("the disk is full")
        self.events.append(event)
        self.feed.wrote(event)
        task = asyncio.create_task(self._answer(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def say(self, thread: str, card: Card) -> str:
        self._said += 1
        key = f"card:{self._said}"
        self.feed.said(thread, key, card)
        await self.web.send(thread, card)
        return key

    async def edit(self, thread: str, key: str, card: Card) -> None:
        self.feed.said(thread, key, card)
        await self.web.edit(thread, key, card)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.web.close()

    async def _answer(self, event: Inbound) -> None:
        await self.web.working(event.thread, "reading your message…")
        await asyncio.sleep(self.pause_s)
        if event.action == "run_plan":
            await self._run(event.thread)
        elif event.kind is InboundKind.ACTION:
            await self.say(event.thread, Card("note", f"{event.actor} pressed {event.action}", event.text))
        elif event.kind is InboundKind.FILE:
            await self.say(event.thread, Card("diagnosis", f"Read {event.value}: {len(event.text)} characters"))
        elif event.text == "hostile":
            card = Card(
                "note", HOSTILE[:60], HOSTILE, fields=(Field("<b>x</b>", "<img src=x onerror=window.fired=1>"),)
            )
            await self.say(event.thread, card)
        else:
            await self.say(event.thread, plan_card())
        await self.web.working(event.thread, "")

    async def _run(self, thread: str) -> None:
        key = await self.say(thread, progress_card(0))
        for done in range(1, 5):
            await asyncio.sleep(self.pause_s)
            await self.edit(thread, key, progress_card(done))
            if done == 2:
                await self.say(thread, repair_card())
        await self.say(thread, matrix_card(self.picture))
