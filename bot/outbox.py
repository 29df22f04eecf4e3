"""Delivering what the lab says: outbox rows leave for their platforms at least once, in order within a thread."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta

from bot.surface import ChatSurface, Refused, SurfaceError, TryLater
from lab import outbox
from lab.cards import card_from_json
from lab.outbox import Delivery
from lab.services import Lab

_LOG = logging.getLogger(__name__)
_LEASE_S = 60.0
_AT_ONCE = 20
_BACK_OFF_S = (1, 5, 30, 120)


class OutboxWorker:
    """Claims rows of the surfaces that are connected here (of one `thread` only, where given), and sends them."""

    def __init__(self, lab: Lab, surfaces: Mapping[str, ChatSurface], owner: str, thread: str | None = None) -> None:
        self._lab = lab
        self._thread = thread
        self._surfaces = surfaces
        self._owner = owner
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """There may be something to send."""
        self._wake.set()

    async def run(self, pause_s: float = 0.25) -> None:
        """Deliver until cancelled."""
        while True:
            delivered = await self.deliver_due()
            if not delivered:
                try:
                    await asyncio.wait_for(self._wake.wait(), pause_s)
                except TimeoutError:
                    pass
                self._wake.clear()

    async def deliver_due(self) -> int:
        """Send what is due now; returns how many rows were dealt with."""
        count = 0
        for name, surface in self._surfaces.items():
            for delivery in await asyncio.to_thread(self._claim, name):
                await self._deliver(surface, delivery)
                count += 1
        return count

    def _claim(self, surface: str) -> list[Delivery]:
        now = self._lab.clock()
        with self._lab.store.write() as tx:
            return outbox.claim(
                tx, surface=surface, owner=self._owner, now=now, lease_s=_LEASE_S, limit=_AT_ONCE, thread=self._thread
            )

    async def _deliver(self, surface: ChatSurface, delivery: Delivery) -> None:
        card = card_from_json(delivery.card)
        try:
            if delivery.message_id is not None and surface.limits.edits:
                await surface.edit(delivery.thread, delivery.message_id, card)
                message_id = delivery.message_id
            else:
                message_id = await surface.send(delivery.thread, card)
        except Refused as error:
            _LOG.error("%s refused a %s card for ever: %s", surface.name, card.kind, error)
            await asyncio.to_thread(self._delivered, delivery, "")
        except SurfaceError as error:
            wait = error.retry_after_s if isinstance(error, TryLater) else _BACK_OFF_S[min(delivery.tries, 3)]
            await asyncio.to_thread(self._failed, delivery, str(error), wait)
        except Exception as error:  # noqa: BLE001 - boundary: one message; the row stays and is tried again
            _LOG.exception("%s could not show a %s card", surface.name, card.kind)
            await asyncio.to_thread(self._failed, delivery, repr(error), _BACK_OFF_S[min(delivery.tries, 3)])
        else:
            await asyncio.to_thread(self._delivered, delivery, message_id)

    def _delivered(self, delivery: Delivery, message_id: str) -> None:
        with self._lab.store.write() as tx:
            outbox.delivered(tx, delivery.id, self._owner, message_id, self._lab.clock())

    def _failed(self, delivery: Delivery, error: str, wait_s: float) -> None:
        at = self._lab.clock() + timedelta(seconds=wait_s)
        with self._lab.store.write() as tx:
            outbox.failed(tx, delivery.id, self._owner, error, at)
