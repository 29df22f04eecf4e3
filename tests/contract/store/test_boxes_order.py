"""Cards and events in order, whatever is stuck, leased or lost beside them."""

import pytest

from lab import inbox, leases, outbox
from lab.cards import Card
from lab.errors import LeaseLost
from lab.outbox import Delivery
from lab.schema import Inbox, Outbox
from lab.store import Store
from tests.support.labrows import later, thread_of, user_of


def say(store: Store, thread: str, *texts: str, edit: str | None = None) -> None:
    with store.write() as tx:
        thread_id = thread_of(tx, thread)
        for text in texts:
            outbox.say(tx, thread_id, Card("c", text=text), dedupe_key=text, at=later(0), edit_key=edit)


def due(store: Store, at: float = 0, owner: str = "w", limit: int = 10) -> list[Delivery]:
    with store.write() as tx:
        return outbox.claim(tx, surface="t", owner=owner, now=later(at), lease_s=30, limit=limit)


def deliver(store: Store, delivery: Delivery, message_id: str = "m", owner: str = "w") -> None:
    with store.write() as tx:
        outbox.delivered(tx, delivery.id, owner, message_id, later(0))


def texts(found: list[Delivery]) -> list[str]:
    return [delivery.card["text"] for delivery in found]


def test_a_card_in_hand_is_not_overtaken_and_its_edits_leave_with_it(store: Store) -> None:
    say(store, "1", "p0", edit="p")
    say(store, "1", "plain")
    say(store, "1", "p1", "p2", edit="p")
    first = due(store)
    assert texts(first) == ["p2"]
    assert due(store, owner="v") == []
    with store.write() as tx:
        outbox.failed(tx, first[0].id, "w", "away\x00", later(10))
    assert due(store, at=5) == []
    again = due(store, at=11)
    assert [(one.card["text"], one.tries) for one in again] == [("p2", 1)]
    deliver(store, again[0], "message-1")
    assert texts(due(store)) == ["plain"]


def test_what_a_crash_left_in_hand_leaves_again_with_its_newest_form(store: Store) -> None:
    say(store, "1", "p0", "p1", edit="p")
    assert texts(due(store)) == ["p1"]
    say(store, "1", "p2", edit="p")
    assert due(store, at=29, owner="v") == []
    taken = due(store, at=31, owner="v")
    assert texts(taken) == ["p2"]
    with pytest.raises(LeaseLost), store.write() as tx:
        outbox.delivered(tx, taken[0].id, "w", "m", later(32))


def test_a_stuck_thread_with_a_long_backlog_holds_up_no_other(store: Store) -> None:
    say(store, "stuck", *(f"s{number}" for number in range(60)))
    say(store, "fine", "hello")
    stuck = due(store, limit=1)
    with store.write() as tx:
        outbox.failed(tx, stuck[0].id, "w", "gone", later(3600))
    assert texts(due(store, limit=1)) == ["hello"]


def test_a_refused_message_does_not_hide_the_one_to_edit(store: Store) -> None:
    for number, message_id in enumerate(["message-1", ""]):
        say(store, "1", f"p{number}", edit="p")
        deliver(store, due(store)[0], message_id)
    say(store, "1", "p2", edit="p")
    assert due(store)[0].message_id == "message-1"


def test_a_card_is_said_once_in_a_thread_and_may_be_said_in_another(store: Store) -> None:
    say(store, "1", "a", "a")
    say(store, "2", "a")
    assert texts(due(store)) == ["a", "a"]
    assert due(store, at=0, owner="v") == []


def receive(store: Store, thread: str, *events: str) -> list[int | None]:
    with store.write() as tx:
        place = {"thread_id": thread_of(tx, thread), "user_id": user_of(tx)}
        return [
            inbox.receive(tx, surface="t", event_id=event, kind="message", payload={"n": 1}, at=later(0), **place)
            for event in events
        ]


def take(store: Store, at: float = 0, owner: str = "w") -> inbox.Event | None:
    with store.write() as tx:
        return inbox.claim_next(tx, owner=owner, now=later(at), lease_s=30)


def test_threads_are_answered_side_by_side_and_each_in_order(store: Store) -> None:
    receive(store, "1", "a1", "a2")
    receive(store, "2", "b1")
    found = [take(store, owner=owner) for owner in "uvw"]
    assert [event and event.event_id for event in found] == ["a1", "b1", None]


def test_a_heartbeat_keeps_an_event_and_a_late_one_is_refused(store: Store) -> None:
    receive(store, "1", "a")
    event = take(store)
    assert event is not None
    with store.write() as tx:
        inbox.heartbeat(tx, event.id, owner="w", now=later(25), lease_s=30)
    assert take(store, at=50, owner="v") is None
    assert take(store, at=56, owner="v") is not None
    for act in (
        lambda tx: inbox.heartbeat(tx, event.id, owner="w", now=later(57), lease_s=30),
        lambda tx: inbox.finish(tx, event.id, "w", "answered", later(57)),
    ):
        with pytest.raises(LeaseLost), store.write() as tx:
            act(tx)


def test_leases_of_others_end_and_ones_own_stay(store: Store) -> None:
    say(store, "1", "a")
    say(store, "2", "b")
    receive(store, "3", "e")
    due(store, owner="old", limit=1)
    take(store, owner="old:2")
    due(store, owner="new:1", limit=1)
    with store.write() as tx:
        leases.expire_others(tx, "new", later(1))
        assert [leases.is_free(tx.get_one(Outbox, row), later(1)) for row in (1, 2)] == [True, False]
        assert leases.is_free(tx.get_one(Inbox, 1), later(1))
