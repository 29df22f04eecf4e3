"""The page's feed from the database: what people wrote is the inbox, what Labhand said is the outbox."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from bot.web.feed import Message, ThreadSummary
from lab.cards import card_from_json
from lab.ids import id_of
from lab.schema import Inbox, Outbox, Thread, User
from lab.services import Lab

_MOST_THREADS = 100
_MOST_MESSAGES = 300


class DatabaseFeed:
    """Threads of one surface, as the rows have them."""

    def __init__(self, lab: Lab, surface: str = "web") -> None:
        self._lab = lab
        self._surface = surface

    def threads(self) -> Sequence[ThreadSummary]:
        """The newest conversations first."""
        query = (
            select(Thread).where(Thread.surface == self._surface).order_by(col(Thread.id).desc()).limit(_MOST_THREADS)
        )
        with self._lab.store.read() as tx:
            return [ThreadSummary(t.external_id, t.title or "New conversation", t.created_at) for t in tx.exec(query)]

    def messages(self, thread: str) -> Sequence[Message]:
        """The newest messages of a thread, in the order in which they were said; of an edited one its last form."""
        with self._lab.store.read() as tx:
            query = select(Thread).where(Thread.surface == self._surface, Thread.external_id == thread)
            row = tx.exec(query).first()
            if row is None:
                return []
            said = [*_written(tx, id_of(row)), *_answered(tx, id_of(row))]
        return sorted(said, key=lambda message: message.at)[-_MOST_MESSAGES:]


def _written(tx: Session, thread_id: int) -> list[Message]:
    query = (
        select(Inbox, User.name)
        .join(User, col(User.id) == col(Inbox.user_id))
        .where(Inbox.thread_id == thread_id)
        .order_by(col(Inbox.id).desc())
        .limit(_MOST_MESSAGES)
    )
    return [
        Message(f"in:{event.id}", name, event.received_at, text)
        for event, name in tx.exec(query).all()
        if (text := _words(event))
    ]


def _words(event: Inbox) -> str:
    """What the person wrote; a click is shown by its answer alone, unless it was asked for words."""
    return str(event.payload.get("text", ""))


def _answered(tx: Session, thread_id: int) -> list[Message]:
    query = (
        select(Outbox).where(Outbox.thread_id == thread_id).order_by(col(Outbox.id).desc()).limit(_MOST_MESSAGES * 4)
    )
    found: dict[str, Message] = {}
    for row in reversed(tx.exec(query).all()):
        key = f"edit:{row.edit_key}" if row.edit_key else f"out:{row.id}"
        first = found.get(key)
        at = first.at if first is not None else row.created_at
        found[key] = Message(key, "labhand", at, card=card_from_json(row.card))
    return list(found.values())
