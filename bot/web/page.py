"""One browser tab: a list of threads, the messages of one, and a box to write in."""

import asyncio
import json
import logging
import uuid
from collections.abc import Awaitable, Sequence
from pathlib import Path

from nicegui import events, ui

from bot.web.composer import Composer
from bot.web.conversation import Conversation
from bot.web.feed import Message, ThreadSummary
from bot.web.files import picture_url
from bot.web.header import Header, persona_switch, show_person
from bot.web.hub import Hub
from bot.web.parts import marked
from bot.web.script import SCRIPT
from bot.web.sidebar import Sidebar
from lab.cards import Button

_LOG = logging.getLogger(__name__)


class Tab:
    """A tab of one person. The hub tells it when something has moved."""

    def __init__(self, hub: Hub, thread: str | None = None, person: str | None = None) -> None:
        self._hub = hub
        self._person = hub.person_of(person)
        self._thread = thread or new_thread()
        self._lock = asyncio.Lock()
        self._asked = self._answered = 0

    @property
    def thread(self) -> str:
        return self._thread

    @property
    def person(self) -> str:
        return self._person

    async def build(self, theme: str | None = None) -> None:
        """Draw the tab. Must run within a page's context."""
        ui.add_css(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))
        ui.add_head_html(SCRIPT)
        ui.colors(primary="#5b5bd6", negative="#d64550")
        self._sidebar = Sidebar(self.go, self._persona())
        self._header = Header(self._sidebar.drawer, theme)
        with ui.element("div").classes("lh-main"):
            self._conversation = Conversation(
                self._person, self.press, lambda path: picture_url(self._hub.images, path)
            )
            self._working = marked(ui.element("div").classes("lh-working"), testid="working").props("role=status")
            with self._working:
                ui.element("span").classes("lh-pulse").props("aria-hidden=true")
                self._note = ui.label("")
        self._composer = Composer(self.write, self.send_file)
        ui.on("labhand_back", self._went_back)
        self._hub.joined(self)
        self._people()
        await self.refresh()
        self.show_working(self._hub.notes.get(self._thread, ""))

    async def go(self, thread: str | None, *, push: bool = True) -> None:
        """Open another thread in this tab, or a new one."""
        self._thread = thread or new_thread()
        self._conversation.reset()
        self.show_working(self._hub.notes.get(self._thread, ""))
        self._address(thread, push=push)
        self._people()
        await self.refresh()
        self._composer.focus()

    async def write(self, text: str) -> bool:
        """Hand the person's words in; they show once they are durable. Returns whether they are."""
        self._address(self._thread, push=False)
        return await self._handed_in(self._hub.write(self, text))

    async def send_file(self, name: str, text: str) -> bool:
        """Hand a file's text in. Returns whether it is durable."""
        self._address(self._thread, push=False)
        return await self._handed_in(self._hub.send_file(self, name, text))

    async def press(self, button: Button, answer: str) -> bool:
        """Hand in a click on a card. Returns whether it is durable."""
        return await self._handed_in(self._hub.press(self, button, answer))

    def show_working(self, note: str) -> None:
        """Show or clear the sign that an answer is being worked on."""
        self._note.text = note
        self._working.set_visibility(bool(note))
        if note:
            self._to_end(always=False)

    async def refresh(self) -> None:
        """Draw what is new or has changed. Once this returns, all that the feed held when it was called is shown."""
        self._asked += 1
        mine = self._asked
        async with self._lock:
            if self._answered >= mine:
                return
            mark, thread = self._asked, self._thread
            messages = await asyncio.to_thread(self._hub.feed.messages, thread)
            threads = await asyncio.to_thread(self._hub.feed.threads)
            if thread == self._thread:
                self._draw(messages, threads)
                self._answered = mark

    async def refresh_list(self) -> None:
        """Draw the list of threads only."""
        self._draw_list(await asyncio.to_thread(self._hub.feed.threads))

    def _draw(self, messages: Sequence[Message], threads: Sequence[ThreadSummary]) -> None:
        self._hub.unread(self._person).discard(self._thread)
        self._draw_list(threads)
        if not messages:
            self._conversation.show_empty(self._welcome)
            return
        new = self._conversation.show(messages)
        if new:
            self._to_end(always=len(new) == len(messages) or any(m.author == self._person for m in new))
            self._run("labhand.news()")

    def _draw_list(self, threads: Sequence[ThreadSummary]) -> None:
        self._sidebar.show(threads, self._thread, self._hub.unread(self._person))
        title = next((thread.title for thread in threads if thread.id == self._thread), "")
        with self._working:
            self._header.show_title(title)

    def _welcome(self) -> None:
        with ui.element("div").classes("lh-empty"):
            ui.element("div").classes("lh-logo lh-logo-large").props("aria-hidden=true")
            ui.label("What would you like to find out?").classes("lh-hello").props('role=heading aria-level="2"')
            ui.label("I draw up a plan and an estimate first. Nothing starts before you press Run.")
            with ui.element("div").classes("lh-suggestions"):
                for text in self._hub.suggestions:
                    chip = ui.button(text, color=None, on_click=lambda _event, text=text: self.write(text))
                    marked(chip.props("outline no-caps align=left").classes("lh-plain"), testid="suggestion")

    def _people(self) -> None:
        self._header.people.clear()
        with self._header.people:
            if self._hub.personas:
                persona_switch(self._person, {*self._hub.people, self._hub.user}, self._thread)
            else:
                show_person(self._person)

    async def _handed_in(self, event: Awaitable[None]) -> bool:
        try:
            await event
        except Exception:  # noqa: BLE001 - boundary: a surface event; the person is told and can try again
            _LOG.exception("an event of the local page could not be kept")
            with self._working:
                ui.notify("That could not be saved, so nothing was done. Please try again.", type="negative")
            return False
        return True

    async def _went_back(self, event: events.GenericEventArguments) -> None:
        await self.go(event.args or None, push=False)

    def _persona(self) -> str | None:
        return self._person if self._person != self._hub.user else None

    def _address(self, thread: str | None, *, push: bool) -> None:
        arguments = ", ".join(_quoted(text) for text in (thread, self._persona()))
        self._run(f"labhand.address({arguments}, {'true' if push else 'false'})")

    def _to_end(self, *, always: bool) -> None:
        self._run(f"labhand.toEnd({'true' if always else 'false'})")

    def _run(self, code: str) -> None:
        with self._working:
            ui.run_javascript(code)


def new_thread() -> str:
    """A name that no thread has yet."""
    return f"web-{uuid.uuid4().hex[:12]}"


def _quoted(text: str | None) -> str:
    """A JavaScript literal that also holds within a script element."""
    return json.dumps(text).replace("<", "\\u003c") if text else "null"
