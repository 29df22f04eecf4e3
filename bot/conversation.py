"""Holding a conversation from the command line, beside a running `labhand up` or with the control loop in-process."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from sqlmodel import Session, col, select

from bot.app import App
from bot.bootstrap import House
from bot.outbox import OutboxWorker
from bot.surface import Inbound, InboundKind
from bot.terminal import TerminalSurface
from lab.cards import Button, Card
from lab.control.finish import results_key
from lab.errors import HomeLocked
from lab.ids import id_of
from lab.schema import Inbox, Outbox, Plan, Thread
from lab.states import PLAN_ENDED, PlanState

_PRESSED_BY_YES = ("run_plan",)
_PAUSE_S = 0.05
_TAKE_OVER_S = 1.0


@dataclass
class Conversation:
    """A thread of the surface `cli`, driven by code."""

    house: House
    surface: TerminalSurface
    thread: str
    user: str
    send: Callable[[Inbound], object]

    async def say(self, text: str) -> None:
        """Write a message and wait until it is answered and the answer has been shown."""
        await self._hand_over(InboundKind.MESSAGE, text=text)

    async def press(self, button: Button, text: str = "") -> None:
        """Press a button and wait until its answer has been shown."""
        await self._hand_over(InboundKind.ACTION, text=text, action=button.action, value=button.value)

    async def wait_for_plan(self, plan_id: int) -> None:
        """Wait until the plan has ended and its results have been shown."""
        while not await asyncio.to_thread(self._plan_is_over, plan_id):
            await asyncio.sleep(_PAUSE_S * 4)

    def is_started(self, plan_id: int) -> bool:
        """Whether the plan is at work, has been, or waits for an approver: a draft is not worth waiting for."""
        with self.house.lab.store.read() as tx:
            plan = tx.get(Plan, plan_id)
            return plan is not None and plan.state != PlanState.DRAFT

    def newest_plan(self) -> int | None:
        """The plan that the thread is about."""
        with self.house.lab.store.read() as tx:
            thread = self._thread(tx)
            return thread.plan_id if thread is not None else None

    def pressable(self) -> list[Button]:
        """The buttons of the newest cards that `--yes` presses: those of the plan that the thread is about."""
        plan_id = self.newest_plan()
        if plan_id is None:
            return []
        with self.house.lab.store.read() as tx:
            plan = tx.get(Plan, plan_id)
            draft = plan is not None and plan.state == PlanState.DRAFT
        cards = list(self.surface.cards.values()) if draft else []
        found = [b for card in reversed(cards) for b in card.buttons if b.action in _PRESSED_BY_YES]
        return [b for b in found if b.value.startswith(f"plan:{plan_id}:")][:1]

    async def _hand_over(self, kind: InboundKind, text: str = "", action: str = "", value: str = "") -> None:
        event = Inbound("cli", uuid.uuid4().hex, kind, self.thread, self.user, self.user, text, None, action, value)
        found = self.send(event)
        if asyncio.iscoroutine(found):
            await found
        while not await asyncio.to_thread(self._is_answered, event.event_id):
            await asyncio.sleep(_PAUSE_S)

    def _is_answered(self, event_id: str) -> bool:
        with self.house.lab.store.read() as tx:
            row = tx.exec(select(Inbox).where(Inbox.surface == "cli", Inbox.event_id == event_id)).first()
            if row is None or row.handled_at is None:
                return False
            key = f"inbox:{id_of(row)}:%"
            query = select(Outbox.id).where(col(Outbox.dedupe_key).like(key), col(Outbox.delivered_at).is_(None))
            return tx.exec(query).first() is None

    def _plan_is_over(self, plan_id: int) -> bool:
        with self.house.lab.store.read() as tx:
            plan = tx.get(Plan, plan_id)
            if plan is None or PlanState(plan.state) not in PLAN_ENDED:
                return False
            waiting = tx.exec(
                select(Outbox.id).where(Outbox.thread_id == plan.thread_id, col(Outbox.delivered_at).is_(None))
            ).first()
            posted = tx.exec(
                select(Outbox.id).where(Outbox.thread_id == plan.thread_id, Outbox.dedupe_key == results_key(plan))
            ).first()
            return waiting is None and (posted is not None or plan.started_at is None or plan.state != PlanState.DONE)

    def _thread(self, tx: Session) -> Thread | None:
        query = select(Thread).where(Thread.surface == "cli", Thread.external_id == self.thread)
        return tx.exec(query).first()


@contextlib.asynccontextmanager
async def conversation(
    house: House,
    show: Callable[[Card, bool], None],
    *,
    thread: str | None = None,
    user: str | None = None,
    track: bool = True,
) -> AsyncIterator[tuple[Conversation, bool]]:
    """A conversation, and whether this process moves the queue itself (False when `labhand up` does)."""
    surface = TerminalSurface(show)
    name = thread or new_thread()
    app = App(house, [surface], name)
    talk = Conversation(house, surface, name, user or house.settings.user, app.receive)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(house.home.lock("labhand ask"))
            alone = True
        except HomeLocked:
            alone = False
        if alone:
            async with app.running(track=track):
                yield talk, True
        else:
            worker = OutboxWorker(house.lab, {"cli": surface}, house.owner, name)
            task = asyncio.create_task(_beside(worker, house, app, track=track))
            try:
                yield talk, False
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


async def _beside(worker: OutboxWorker, house: House, app: App, *, track: bool) -> None:
    """Show what the holder of the home says; when it is gone, take its place."""
    showing = asyncio.create_task(worker.run())
    try:
        while True:
            await asyncio.sleep(_TAKE_OVER_S)
            with contextlib.suppress(HomeLocked), house.home.lock("labhand ask"):
                showing.cancel()
                async with app.running(track=track):
                    await asyncio.Event().wait()
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)


def new_thread() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:6]}"
