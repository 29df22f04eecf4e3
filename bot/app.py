"""One process: the doors, the mind and the control loop together."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence

from bot.bootstrap import House
from bot.inbox import InboxWorker, receive
from bot.outbox import OutboxWorker
from bot.surface import ChatSurface, Inbound
from lab.control.loop import Controller
from lab.policy import Role

_LOG = logging.getLogger(__name__)
_ANSWERING = 4
"""Messages answered at the same time."""


class App:
    """Runs the workers over a house. `surfaces` are started and closed with it; `thread` is the only one to show."""

    def __init__(self, house: House, surfaces: Sequence[ChatSurface], thread: str | None = None) -> None:
        self.house = house
        self.surfaces: Mapping[str, ChatSurface] = {surface.name: surface for surface in surfaces}
        mind = house.mind()
        self.outbox = OutboxWorker(house.lab, self.surfaces, house.owner, thread)
        self.inboxes = [
            InboxWorker(house.lab, lambda: mind, self.surfaces, f"{house.owner}:{place}", self.outbox.wake)
            for place in range(_ANSWERING)
        ]
        self.controller = Controller(house.lab, house.owner, tracker=house.tracker())

    async def receive(self, event: Inbound) -> None:
        """Keep an event; returns once it is durable."""
        role = Role(self.house.settings.role) if event.surface in ("cli", "web") else Role.RESEARCHER
        if await asyncio.to_thread(receive, self.house.lab, event, role) is not None:
            for worker in self.inboxes:
                worker.wake()

    @contextlib.asynccontextmanager
    async def running(self, *, track: bool = True) -> AsyncIterator[None]:
        """Everything at work until the block ends; MLflow too when `track`. The home's lock must be held."""
        await asyncio.to_thread(self.controller.take_over)
        for surface in self.surfaces.values():
            await surface.start(self.receive)
        tasks = [asyncio.create_task(self._ticks()), asyncio.create_task(self.outbox.run())]
        tasks += [asyncio.create_task(worker.run()) for worker in self.inboxes]
        if track:
            tasks.append(asyncio.create_task(self._tracking()))
        watch = asyncio.create_task(_first_failure(tasks))
        try:
            yield
        finally:
            watch.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, watch, return_exceptions=True)
            for surface in self.surfaces.values():
                await surface.close()

    async def _ticks(self) -> None:
        while True:
            try:
                changed = await asyncio.to_thread(self.controller.tick)
            except Exception:  # noqa: BLE001 - boundary: a tick; the next one finds the same rows again
                _LOG.exception("a tick failed")
                changed = False
            if changed:
                self.outbox.wake()
            await asyncio.sleep(0.05 if changed else self.house.settings.tick_seconds)

    async def _tracking(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self.controller.track)
            except Exception:  # noqa: BLE001 - boundary: tracking mirrors the database and is tried again
                _LOG.exception("MLflow could not be brought up to date")
            await asyncio.sleep(self.house.settings.tick_seconds * 2)


async def _first_failure(tasks: Sequence[asyncio.Task[None]]) -> None:
    done, _pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("a worker ended", exc_info=task.exception())
