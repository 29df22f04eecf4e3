"""The port of the doors: what a chat platform brings in and what it can show.

A surface knows one platform. It turns the platform's events into `Inbound` values, stores each in the durable inbox
before it acknowledges it, and renders neutral cards within the platform's own limits.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from lab.cards import Card


class SurfaceError(Exception):
    """The platform refused or did not answer; the message stays in the outbox.

    SurfaceError
    ├── TryLater      after `retry_after_s` seconds (429, a dropped connection)
    └── Refused       the platform will never take this message (the thread is gone, no permission)
    """


class TryLater(SurfaceError):
    """The platform asks to wait."""

    def __init__(self, message: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Refused(SurfaceError):
    """The platform will never take this message."""


class InboundKind(StrEnum):
    MESSAGE = "message"
    ACTION = "action"
    FILE = "file"


@dataclass(frozen=True)
class Inbound:
    """One event of a platform. `event_id` is the same however often the platform sends it.

    `actor` is who really wrote or clicked, as the platform verified it. An action carries the button's `action` and
    `value`, and in `text` the answer to the button's `ask`.
    """

    surface: str
    event_id: str
    kind: InboundKind
    thread: str
    actor: str
    actor_name: str
    text: str = ""
    channel: str | None = None
    action: str = ""
    value: str = ""
    language: str | None = None


@dataclass(frozen=True)
class SurfaceLimits:
    """What the platform can show in one message. Lengths in characters; `None` where it sets no limit."""

    text: int | None = None
    buttons: int | None = None
    table_rows: int | None = None
    table_columns: int | None = None
    images: bool = True
    edits: bool = True


Receiver = Callable[[Inbound], Awaitable[None]]


@runtime_checkable
class ChatSurface(Protocol):
    """One platform. `send` and `edit` raise `TryLater` or `Refused`."""

    @property
    def name(self) -> str: ...

    @property
    def limits(self) -> SurfaceLimits: ...

    async def start(self, receive: Receiver) -> None:
        """Connect and hand every event to `receive`, which returns once the event is durable."""
        ...

    async def send(self, thread: str, card: Card) -> str:
        """Post a card with its pictures; returns the platform's id of the message."""
        ...

    async def edit(self, thread: str, message_id: str, card: Card) -> None:
        """Replace a message in place."""
        ...

    async def working(self, thread: str, note: str) -> None:
        """Show that the assistant is at work (a status, a typing sign). Best effort; an empty note clears it."""
        ...

    async def close(self) -> None: ...
