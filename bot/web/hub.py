"""What the open tabs have in common: the feed, who is told of what, and what each person has not seen yet."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bot.surface import Inbound, InboundKind, Receiver
from bot.web.feed import ThreadFeed
from lab.cards import Button

_LOG = logging.getLogger(__name__)
NAME = "web"


class OpenTab(Protocol):
    """A tab as the hub sees it."""

    @property
    def thread(self) -> str: ...

    @property
    def person(self) -> str: ...

    async def refresh(self) -> None: ...

    async def refresh_list(self) -> None: ...

    def show_working(self, note: str) -> None: ...


@dataclass
class Hub:
    """One for each surface. `user` is who the person is; with `personas` a tab may act as somebody else."""

    feed: ThreadFeed
    receive: Receiver
    user: str
    images: Path
    suggestions: Sequence[str] = ()
    personas: bool = False
    tabs: set[OpenTab] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)
    people: dict[str, set[str]] = field(default_factory=dict)
    """For each person who has had a tab, the threads in which something new was said meanwhile."""

    def person_of(self, asked: str | None) -> str:
        """Who a tab acts as."""
        name = " ".join((asked or "").split())
        allowed = self.personas and name.isprintable() and 0 < len(name) <= 40
        return name if allowed else self.user

    def joined(self, tab: OpenTab) -> None:
        """A tab was opened."""
        self.tabs.add(tab)
        self.people.setdefault(tab.person, set())

    def unread(self, person: str) -> set[str]:
        """Threads in which something was said since the person last looked, as long as this process lives."""
        return self.people.setdefault(person, set())

    async def said(self, thread: str) -> None:
        """Something new was said in a thread."""
        watching = {tab.person for tab in self.tabs if tab.thread == thread}
        for person, unread in self.people.items():
            if person not in watching:
                unread.add(thread)
        await self.moved(thread)
        await self._each([tab.refresh_list() for tab in self.tabs if tab.thread != thread])

    async def moved(self, thread: str) -> None:
        """A thread shows something else than before."""
        await self._each([tab.refresh() for tab in self.tabs if tab.thread == thread])

    def working(self, thread: str, note: str) -> None:
        """Show or clear the sign that an answer is on its way."""
        if note:
            self.notes[thread] = note
        else:
            self.notes.pop(thread, None)
        for tab in self.tabs:
            if tab.thread == thread:
                tab.show_working(note)

    async def write(self, tab: OpenTab, text: str) -> None:
        """Hand in what a person wrote; returns once it is durable."""
        await self._hand_in(tab, InboundKind.MESSAGE, text)

    async def send_file(self, tab: OpenTab, name: str, text: str) -> None:
        """Hand in a file's text; its name travels as the event's value."""
        await self._hand_in(tab, InboundKind.FILE, text, value=name)

    async def press(self, tab: OpenTab, button: Button, answer: str) -> None:
        """Hand in a click, with the answer to what the button asked."""
        await self._hand_in(tab, InboundKind.ACTION, answer, button.action, button.value)

    async def _hand_in(self, tab: OpenTab, kind: InboundKind, text: str, action: str = "", value: str = "") -> None:
        thread, person, event_id = tab.thread, tab.person, uuid.uuid4().hex
        await self.receive(Inbound(NAME, event_id, kind, thread, person, person, text, None, action, value))
        await (self.said(thread) if text else self.moved(thread))

    async def _each(self, refreshes: Sequence[Awaitable[None]]) -> None:
        for error in await asyncio.gather(*refreshes, return_exceptions=True):
            if isinstance(error, Exception):
                _LOG.error("a tab of the local page could not be drawn", exc_info=error)
