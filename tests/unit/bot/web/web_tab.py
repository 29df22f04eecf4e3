"""A tab without a browser: NiceGUI's simulated user on the real page."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nicegui import ui
from nicegui.testing import User, user_simulation

from bot.surface import Inbound
from bot.web.feed import MemoryFeed
from bot.web.hub import Hub
from bot.web.server import register_page
from lab.cards import Card


@dataclass
class Desk:
    """The hub behind the page, and the person in front of it."""

    user: User
    hub: Hub
    feed: MemoryFeed
    events: list[Inbound] = field(default_factory=list)
    fails: bool = False

    @property
    def tab(self) -> Any:
        """The one tab that is open."""
        (tab,) = self.hub.tabs
        return tab

    async def receive(self, event: Inbound) -> None:
        if self.fails:
            raise OSError("the disk is full")
        self.events.append(event)
        self.feed.wrote(event)

    async def says(self, card: Card, key: str = "c1", thread: str | None = None) -> None:
        """Labhand says a card, or edits the one of that key."""
        thread = thread or self.tab.thread
        known = any(message.key == key for message in self.feed.messages(thread))
        self.feed.said(thread, key, card)
        await (self.hub.moved(thread) if known else self.hub.said(thread))

    def all(self, testid: str) -> list[Any]:
        """The elements of a test id, in the order in which they stand."""
        client = self.user.client
        assert client is not None
        return [e for e in client.layout.descendants() if e.props.get("data-testid") == testid]

    def one(self, testid: str) -> Any:
        found = self.all(testid)
        assert len(found) == 1, f"{len(found)} elements are {testid}"
        return found[0]

    def texts(self) -> list[str]:
        """Every label and Markdown source on the page."""
        client = self.user.client
        assert client is not None
        found = []
        for element in client.layout.descendants():
            if isinstance(element, ui.label):
                found.append(element.text)
            elif isinstance(element, ui.markdown):
                found.append(element.content)
        return found

    async def clicks(self, element: Any) -> None:
        await self.triggers(element, "click")

    async def triggers(self, element: Any, event: str, args: Any = None) -> None:
        from nicegui.testing.user_interaction import UserInteraction

        UserInteraction(self.user, {element}, None).trigger(event, args)
        await self.settles()

    async def settles(self, done: Callable[[], bool] | None = None) -> None:
        """Let what was started end, or wait until it is so."""
        for _ in range(200):
            await asyncio.sleep(0.01)
            if done is None or done():
                break
        if done is None:
            await asyncio.sleep(0.1)
        else:
            assert done()


@contextlib.asynccontextmanager
async def desk(
    images: Path, *, path: str = "/", personas: bool = False, feed: MemoryFeed | None = None
) -> AsyncGenerator[Desk]:
    """A desk with the page open at `path`."""
    async with user_simulation() as user:
        known = feed or MemoryFeed()
        hub = Hub(known, _unset, "ada", images, ("compare mlp and cnn",), personas)
        place = Desk(user, hub, known)
        hub.receive = place.receive
        register_page(hub)
        await user.open(path)
        yield place


async def _unset(_event: Inbound) -> None:
    raise AssertionError("nothing receives yet")
