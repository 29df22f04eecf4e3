"""What the page shows, behind a small port, so that the page knows no tables."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from bot.surface import Inbound, InboundKind
from lab.cards import Card

ASSISTANT = "labhand"
"""The author of a card."""


@dataclass(frozen=True)
class ThreadSummary:
    """One line of the list of conversations; `id` is the surface's own name of the thread.

    `at` is when something was last said there, or when it began where the feed can't tell.
    """

    id: str
    title: str
    at: datetime


@dataclass(frozen=True)
class Message:
    """Something said. `key` stays the same while a message is edited in place; a person's words have no card.

    `file` is the name of the file that the person sent, with its text in `text`.
    """

    key: str
    author: str
    at: datetime
    text: str = ""
    card: Card | None = None
    file: str = ""


class ThreadFeed(Protocol):
    """Threads, the newest first, and their messages, the oldest first. Called from worker threads.

    A card must be in the feed before the surface's `send` or `edit` is called for it: the page shows what the feed
    holds, so that it shows the same after a restart.
    """

    def threads(self) -> Sequence[ThreadSummary]: ...

    def messages(self, thread: str) -> Sequence[Message]: ...


class MemoryFeed:
    """A feed that lives as long as its process."""

    def __init__(self) -> None:
        self._threads: dict[str, list[Message]] = {}
        self._titles: dict[str, str] = {}
        self._lock = threading.Lock()

    def threads(self) -> Sequence[ThreadSummary]:
        """The thread in which something was said last comes first."""
        with self._lock:
            found = [ThreadSummary(name, self._titles[name], said[-1].at) for name, said in self._threads.items()]
        return sorted(found, key=lambda summary: summary.at, reverse=True)

    def messages(self, thread: str) -> Sequence[Message]:
        with self._lock:
            return list(self._threads.get(thread, ()))

    def wrote(self, event: Inbound, at: datetime | None = None) -> None:
        """Keep what a person wrote or sent; of a click only the words that it was asked for."""
        if event.text:
            file = event.value if event.kind is InboundKind.FILE else ""
            title = file or event.text
            self._add(
                event.thread, Message(event.event_id, event.actor_name, _moment(at), event.text, None, file), title
            )

    def said(self, thread: str, key: str, card: Card, at: datetime | None = None) -> None:
        """Keep a card; one that was said under the same key before is replaced where it stands."""
        with self._lock:
            before = self._threads.get(thread, [])
            for place, message in enumerate(before):
                if message.key == key:
                    before[place] = replace(message, card=card)
                    return
        self._add(thread, Message(key, ASSISTANT, _moment(at), card=card), card.title)

    def _add(self, thread: str, message: Message, title: str) -> None:
        with self._lock:
            self._threads.setdefault(thread, []).append(message)
            self._titles.setdefault(thread, title[:80] or "New conversation")


def _moment(at: datetime | None) -> datetime:
    return datetime.now(UTC) if at is None else at
