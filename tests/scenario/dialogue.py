"""A whole Labhand in one test: chat text in, database rows and cards out, machines in virtual time."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sqlmodel import col, select

from agent.offline_model import OfflineModel, vocabulary_of
from agent.tools import all_tools
from agent.turns import Mind
from backends.fake import FakeBackend, Outcome, Shape, VirtualClock
from bot.inbox import InboxWorker, receive
from bot.outbox import OutboxWorker
from bot.surface import Inbound, InboundKind
from bot.terminal import TerminalSurface
from lab.cards import Button, Card
from lab.control.loop import Controller
from lab.policy import Role, Site
from lab.recipe.files import Shelf, recipe_from
from lab.schema import Run
from lab.services import Lab
from lab.store import Store, sqlite_url

RECIPE = {
    "name": "toy",
    "about": "A recipe of the tests.",
    "command": "python train.py",
    "models": ["red", "blue"],
    "datasets": ["toys"],
    "settings": {
        "lr": {"default": 0.01, "low": 1e-5, "high": 1.0, "scale": "log"},
        "batch_size": {"default": 64, "choices": [16, 32, 64, 128, 256, 512, 1024]},
        "seed": {"default": 0, "type": "int"},
    },
    "metrics": [{"name": "accuracy", "pattern": "accuracy=([0-9.]+)"}],
    "resources": {"cpus": 1, "memory": "1GiB", "hours": 0.1},
    "checkpoints": {"dir": "checkpoints", "resume": "--resume"},
    "knobs": {"gradient_checkpointing": "--grad-checkpoint", "micro_batch": "--micro-batch"},
}
OUT_OF_MEMORY = """Traceback (most recent call last):
  File "train.py", line 80, in <module>
    loss.backward()
numpy._core._exceptions._ArrayMemoryError: Unable to allocate 820. MiB for an array with shape (1024, 209920) and \
data type float32
"""


def good(accuracy: float = 0.9, seconds: float = 30.0) -> Outcome:
    return Outcome(runs_s=seconds, log=((seconds / 2, f"accuracy={accuracy}\n"),))


def out_of_memory() -> Outcome:
    return Outcome(runs_s=5.0, exit_code=1, log=((4.0, OUT_OF_MEMORY),))


@dataclass
class House:
    """Everything but the platform, with a clock of its own."""

    root: Path
    site: Site = field(default_factory=Site)
    clock: VirtualClock = field(default_factory=VirtualClock)

    def __post_init__(self) -> None:
        self.backend = FakeBackend("fake", now=self.clock.now, shape=Shape(hosts=("node1", "node2"), cpus=2))
        recipe = recipe_from(RECIPE, str(self.root / "recipe.yaml"))
        store = Store(sqlite_url(self.root / "labhand.db"))
        store.migrate()
        images = self.root / "images"
        images.mkdir(exist_ok=True)
        self.lab = Lab(
            store, {"fake": self.backend}, "fake", lambda: Shelf((recipe,)), images, self.site, clock=self.clock.now
        )
        self.surface = TerminalSurface(lambda _card, _edited: None)
        mind = Mind((OfflineModel(lambda: vocabulary_of(self.lab.shelf())),), all_tools())
        surfaces = {"cli": self.surface}
        self.outbox = OutboxWorker(self.lab, surfaces, "test")
        self.inbox = InboxWorker(self.lab, lambda: mind, surfaces, "test", self.outbox.wake)
        self.controller = Controller(self.lab, "test")
        self._events = itertools.count()

    def says(self, text: str, *, user: str = "ada", thread: str = "t1", role: Role = Role.RESEARCHER) -> list[Card]:
        """What comes back to a message."""
        return self._send(InboundKind.MESSAGE, user, thread, role, text=text)

    def presses(
        self, button: Button, *, user: str = "ada", thread: str = "t1", role: Role = Role.RESEARCHER, text: str = ""
    ) -> list[Card]:
        """What comes back to a click."""
        return self._send(InboundKind.ACTION, user, thread, role, text=text, action=button.action, value=button.value)

    def runs_until(self, done: Callable[[], bool], seconds: float = 3600.0) -> list[Card]:
        """Let virtual time pass, a second a tick, until it is done; returns the cards that came meanwhile."""
        before = set(self.surface.cards)
        for _ in range(round(seconds)):
            self.controller.tick()
            asyncio.run(self._deliver())
            if done():
                break
            self.clock.advance(1.0)
        return [card for key, card in self.surface.cards.items() if key not in before]

    def runs_to_the_end(self) -> list[Card]:
        return self.runs_until(lambda: any(card.kind == "matrix" for card in self.surface.cards.values()))

    def runs(self) -> list[Run]:
        with self.lab.store.read() as tx:
            return list(tx.exec(select(Run).order_by(col(Run.id))).all())

    def _send(self, kind: InboundKind, user: str, thread: str, role: Role, **parts: str) -> list[Card]:
        event = Inbound("cli", f"e{next(self._events)}", kind, thread, user, user, **parts)
        receive(self.lab, event, role)
        before = set(self.surface.cards)
        asyncio.run(self._answer())
        return [card for key, card in self.surface.cards.items() if key not in before]

    async def _answer(self) -> None:
        while await self.inbox.answer_next():
            pass
        await self._deliver()

    async def _deliver(self) -> None:
        while await self.outbox.deliver_due():
            pass


def button(cards: list[Card], action: str) -> Button:
    """The newest button of that action."""
    return next(b for card in reversed(cards) for b in card.buttons if b.action == action)
