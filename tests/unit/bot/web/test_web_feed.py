"""The feed in memory, and the times that the page shows."""

from datetime import UTC, datetime, timedelta

from bot.surface import Inbound, InboundKind
from bot.web.conversation import local_time, when
from bot.web.feed import ASSISTANT, MemoryFeed
from lab.cards import Card

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def event(thread: str, text: str, kind: InboundKind = InboundKind.MESSAGE, value: str = "") -> Inbound:
    return Inbound("web", f"{thread}:{text}", kind, thread, "ada", "ada", text, value=value)


def test_what_was_said_last_comes_first() -> None:
    feed = MemoryFeed()
    feed.wrote(event("one", "first"), START)
    feed.wrote(event("two", "second"), START + timedelta(minutes=1))
    assert [(t.id, t.title) for t in feed.threads()] == [("two", "second"), ("one", "first")]
    feed.said("one", "c1", Card("note", "an answer"), START + timedelta(minutes=2))
    assert [t.id for t in feed.threads()] == ["one", "two"]
    assert [m.author for m in feed.messages("one")] == ["ada", ASSISTANT]


def test_an_edit_stays_in_its_place() -> None:
    feed = MemoryFeed()
    feed.said("one", "c1", Card("progress", progress=0.1), START)
    feed.said("one", "c2", Card("note", "later"), START)
    feed.said("one", "c1", Card("progress", progress=0.9))
    cards = [message.card for message in feed.messages("one")]
    assert [card.kind for card in cards if card] == ["progress", "note"]
    assert cards[0] is not None
    assert cards[0].progress == 0.9
    assert feed.messages("one")[0].at == START


def test_a_click_without_words_is_no_message_and_a_file_keeps_its_name() -> None:
    feed = MemoryFeed()
    feed.wrote(event("one", "", InboundKind.ACTION, "plan:1"))
    assert feed.messages("one") == []
    feed.wrote(event("one", "a log", InboundKind.FILE, "out.log"))
    assert [(m.text, m.file) for m in feed.messages("one")] == [("a log", "out.log")]
    assert feed.threads()[0].title == "out.log"


def test_times_are_told_by_their_distance() -> None:
    now = datetime.now(UTC)
    assert when(now, now) == f"{now.astimezone():%H:%M}"
    then = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    assert when(then, datetime(2026, 9, 1, tzinfo=UTC)) == "2 Mar"
    assert when(then, datetime(2028, 9, 1, tzinfo=UTC)) == "2026-03-02"
    assert local_time(then.replace(tzinfo=None)) == then
