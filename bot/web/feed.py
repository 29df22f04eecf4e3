"""What the page shows, behind a small port, so that the page knows no tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lab.cards import Card


@dataclass(frozen=True)
class ThreadSummary:
    """One line of the list of conversations; `id` is the surface's own name of the thread."""

    id: str
    title: str
    at: datetime


@dataclass(frozen=True)
class Message:
    """Something said. `key` stays the same while a message is edited in place; a person's words have no card."""

    key: str
    author: str
    at: datetime
    text: str = ""
    card: Card | None = None


class ThreadFeed(Protocol):
    """Threads and their messages, oldest message first. Called from worker threads."""

    def threads(self) -> Sequence[ThreadSummary]: ...

    def messages(self, thread: str) -> Sequence[Message]: ...
