"""Handling what people write: events become inbox rows before they are acknowledged, and are answered once."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from agent.actions import Click, press
from agent.tool import ToolContext
from agent.turns import Mind, answer
from bot.surface import ChatSurface, Inbound, InboundKind, SurfaceError
from lab import inbox, outbox
from lab.cards import Card, Tone
from lab.ids import id_of
from lab.inbox import Event
from lab.people import thread_for, user_for
from lab.policy import Role
from lab.schema import Thread, User
from lab.services import Actor, Lab

_LOG = logging.getLogger(__name__)
_LEASE_S = 180.0


def receive(lab: Lab, event: Inbound, role: Role) -> int | None:
    """Keep an event; `None` when it was kept before. Once this returns, the event can't be lost."""
    now = lab.clock()
    with lab.store.write() as tx:
        user = user_for(tx, surface=event.surface, external_id=event.actor, name=event.actor_name, role=role, at=now)
        thread = thread_for(tx, surface=event.surface, external_id=event.thread, channel=event.channel, at=now)
        if not thread.title and event.text:
            thread.title = event.text[:80]
            tx.add(thread)
        return inbox.receive(
            tx,
            surface=event.surface,
            event_id=event.event_id,
            thread_id=id_of(thread),
            user_id=id_of(user),
            kind=event.kind.value,
            payload=asdict(event),
            at=now,
        )


class InboxWorker:
    """Claims events and answers them, several threads at a time, one event of a thread after the other."""

    def __init__(
        self,
        lab: Lab,
        mind: Callable[[], Mind],
        surfaces: Mapping[str, ChatSurface],
        owner: str,
        said: Callable[[], None],
    ) -> None:
        self._lab = lab
        self._mind = mind
        self._surfaces = surfaces
        self._owner = owner
        self._said = said
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """There may be something to answer."""
        self._wake.set()

    async def run(self, pause_s: float = 0.25) -> None:
        """Answer until cancelled."""
        while True:
            if not await self.answer_next():
                try:
                    await asyncio.wait_for(self._wake.wait(), pause_s)
                except TimeoutError:
                    pass
                self._wake.clear()

    async def answer_next(self) -> bool:
        """Answer one event; returns whether there was one."""
        event = await asyncio.to_thread(self._claim)
        if event is None:
            return False
        thread, actor = await asyncio.to_thread(self._who, event)
        try:
            await self._working(event.surface, thread.external_id, "thinking…")
            cards = await self._cards(event, actor, thread)
            outcome = "answered"
        except Exception as error:  # noqa: BLE001 - boundary: one surface event; told in the thread, never lost
            _LOG.exception("event %s could not be answered", event.id)
            cards, outcome = (_defect_card(event.id),), f"failed: {type(error).__name__}"
        await asyncio.to_thread(self._finish, event, thread, cards, outcome)
        await self._working(event.surface, thread.external_id, "")
        self._said()
        return True

    async def _cards(self, event: Event, actor: Actor, thread: Thread) -> tuple[Card, ...]:
        payload: Mapping[str, Any] = event.payload
        if event.given_up:
            return (_defect_card(event.id),)
        text = str(payload.get("text", ""))
        if event.kind == InboundKind.ACTION and payload["action"] != "change_plan":
            click = Click(payload["action"], payload["value"], text)
            context = ToolContext(self._lab, actor, id_of(thread), thread.plan_id, thread.run_id)
            return await asyncio.to_thread(press, context, click, self._mind().tools)
        if event.kind == InboundKind.ACTION:
            await asyncio.to_thread(self._turn_to, thread, Click(payload["action"], payload["value"]).subject)
        return await answer(self._mind(), self._lab, actor, id_of(thread), event.id, text)

    def _claim(self) -> Event | None:
        with self._lab.store.write() as tx:
            return inbox.claim_next(tx, owner=self._owner, now=self._lab.clock(), lease_s=_LEASE_S)

    def _who(self, event: Event) -> tuple[Thread, Actor]:
        with self._lab.store.read() as tx:
            thread, user = tx.get_one(Thread, event.thread_id), tx.get_one(User, event.user_id)
            source = f"{event.surface}:{event.event_id}"
            return thread, Actor(id_of(user), user.name, Role(user.role), source)

    def _turn_to(self, thread: Thread, plan_id: int) -> None:
        with self._lab.store.write() as tx:
            row = tx.get_one(Thread, thread.id)
            row.plan_id = plan_id
            tx.add(row)

    def _finish(self, event: Event, thread: Thread, cards: tuple[Card, ...], outcome: str) -> None:
        now = self._lab.clock()
        with self._lab.store.write() as tx:
            for place, card in enumerate(cards):
                outbox.say(tx, id_of(thread), card, dedupe_key=f"inbox:{event.id}:{place}", at=now)
            inbox.finish(tx, event.id, self._owner, outcome, now)

    async def _working(self, surface: str, thread: str, note: str) -> None:
        found = self._surfaces.get(surface)
        if found is not None:
            try:
                await found.working(thread, note)
            except SurfaceError as error:
                _LOG.info("%s shows no status: %s", surface, error)


def _defect_card(event_id: int) -> Card:
    text = f"Something went wrong on my side (event {event_id}); it is in Labhand's log. Nothing was started."
    return Card("error", text=text, tone=Tone.BAD)
