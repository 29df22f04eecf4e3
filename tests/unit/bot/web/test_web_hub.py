"""Who is told of what, and what each person has not seen."""

from pathlib import Path

import pytest

from bot.surface import Inbound, InboundKind, Receiver
from bot.web.feed import MemoryFeed
from bot.web.hub import Hub
from lab.cards import Button


class Tab:
    """A tab that counts how often it is drawn."""

    def __init__(self, thread: str, person: str) -> None:
        self.thread, self.person = thread, person
        self.drawn = self.listed = 0
        self.note = ""
        self.broken = False

    async def refresh(self) -> None:
        self.drawn += 1
        if self.broken:
            raise RuntimeError("the browser is gone")

    async def refresh_list(self) -> None:
        self.listed += 1

    def show_working(self, note: str) -> None:
        self.note = note


async def _nowhere(_event: Inbound) -> None:
    return None


def hub_of(*tabs: Tab, personas: bool = False, receive: Receiver = _nowhere) -> Hub:
    hub = Hub(MemoryFeed(), receive, "ada", Path("/nowhere"), personas=personas)
    for tab in tabs:
        hub.joined(tab)
    return hub


async def test_a_thread_that_nobody_looks_at_is_unread() -> None:
    here, there, other = Tab("one", "ada"), Tab("two", "ada"), Tab("two", "bob")
    hub = hub_of(here, there, other)
    await hub.said("one")
    assert hub.unread("ada") == set()
    assert hub.unread("bob") == {"one"}
    assert (here.drawn, there.drawn, other.drawn) == (1, 0, 0)
    assert (here.listed, there.listed, other.listed) == (0, 1, 1)


async def test_an_edit_draws_its_thread_and_makes_nothing_unread() -> None:
    here, there = Tab("one", "ada"), Tab("two", "bob")
    hub = hub_of(here, there)
    await hub.moved("one")
    assert (here.drawn, there.drawn, there.listed) == (1, 0, 0)
    assert hub.unread("bob") == set()


async def test_one_broken_tab_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    broken, sound = Tab("one", "ada"), Tab("one", "bob")
    broken.broken = True
    await hub_of(broken, sound).said("one")
    assert sound.drawn == 1
    assert "could not be drawn" in caplog.text


async def test_the_sign_of_work_is_kept_for_tabs_that_come_later() -> None:
    here, there = Tab("one", "ada"), Tab("two", "ada")
    hub = hub_of(here, there)
    hub.working("one", "thinking…")
    assert (here.note, there.note, hub.notes) == ("thinking…", "", {"one": "thinking…"})
    hub.working("one", "")
    hub.working("two", "")
    assert (here.note, hub.notes) == ("", {})


async def test_events_carry_who_and_what() -> None:
    events: list[Inbound] = []

    async def keep(event: Inbound) -> None:
        events.append(event)

    tab = Tab("one", "bob")
    hub = hub_of(tab, receive=keep)
    await hub.write(tab, "hello")
    await hub.send_file(tab, "out.log", "lines")
    await hub.press(tab, Button("run_plan", "Run", "plan:1:abc"), "")
    assert [(e.kind, e.actor, e.thread, e.text, e.action, e.value) for e in events] == [
        (InboundKind.MESSAGE, "bob", "one", "hello", "", ""),
        (InboundKind.FILE, "bob", "one", "lines", "", "out.log"),
        (InboundKind.ACTION, "bob", "one", "", "run_plan", "plan:1:abc"),
    ]
    assert len({event.event_id for event in events}) == 3
    assert {event.surface for event in events} == {"web"}


@pytest.mark.parametrize(
    ("asked", "acts"),
    [
        ("bob", "bob"),
        (" bo  b ", "bo b"),
        (None, "ada"),
        ("", "ada"),
        ("x" * 41, "ada"),
        ("a\x00b", "ada"),
        ("贝", "贝"),
    ],
)
def test_a_persona_is_a_short_printable_name(asked: str | None, acts: str) -> None:
    assert hub_of(personas=True).person_of(asked) == acts
    assert hub_of(personas=False).person_of(asked) == "ada"
