"""One browser tab: a list of threads, the messages of one, and a box to write in."""

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path

from nicegui import ui

from bot.surface import Inbound, InboundKind, Receiver
from bot.web.cards import render_card
from bot.web.feed import Message, ThreadFeed
from lab.cards import Button

SUGGESTIONS = (
    "compare mlp and cnn on digits with lr 0.1 and 0.01, 2 seeds",
    "what can you do?",
    "queue",
    "比较mlp和cnn在digits上的表现，学习率0.1和0.01",
)


class Tab:
    """A tab of one person. `changed(thread)` is called on the page's own loop whenever a thread has moved."""

    def __init__(
        self, feed: ThreadFeed, receive: Receiver, user: str, image_url: Callable[[str], str | None], thread: str | None
    ) -> None:
        self._feed = feed
        self._receive = receive
        self._user = user
        self._image_url = image_url
        self.thread = thread or f"web-{uuid.uuid4().hex[:12]}"
        self._shown: dict[str, tuple[Message, ui.element]] = {}
        self._note = ""

    async def build(self) -> None:
        """Draw the tab."""
        ui.add_css(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))
        ui.page_title("Labhand")
        dark = ui.dark_mode(value=None)
        with ui.header(elevated=False).classes("items-center q-px-md").props("bordered"):
            ui.button(icon="menu", on_click=lambda: drawer.toggle()).props(
                'flat dense round aria-label="Conversations"'
            )
            ui.label("Labhand").classes("lh-title")
            ui.space()
            ui.label(self._user).classes("lh-footer").props('data-testid="user"')
            ui.button(icon="contrast", on_click=dark.toggle).props('flat dense round aria-label="Light or dark"')
        with ui.left_drawer(bordered=True).classes("gap-1") as drawer:
            new = ui.button("New conversation", icon="add", on_click=lambda: ui.navigate.to("/"))
            new.props('unelevated no-caps data-testid="new-thread"').classes("w-full")
            self._list = ui.column().classes("w-full gap-0 q-mt-sm").props('data-testid="thread-list"')
        self._column = ui.column().classes("lh-feed").props('data-testid="feed" aria-live="polite"')
        self._working = ui.label("").classes("lh-feed lh-working").props('data-testid="working"')
        self._write_box()
        await self.refresh()

    def _write_box(self) -> None:
        with ui.footer().props("bordered"), ui.row().classes("lh-input"):
            box = ui.textarea(placeholder="What would you like to find out?").props(
                'autogrow outlined dense rows=1 autofocus data-testid="message-input" aria-label="Message"'
            )
            box.classes("grow")
            upload = ui.upload(on_upload=self._uploaded, auto_upload=True, max_file_size=2_000_000).classes("hidden")
            attach = ui.button(icon="attach_file", on_click=lambda: upload.run_method("pickFiles"))
            attach.props('flat round aria-label="Attach a log file"')

            async def send() -> None:
                text = str(box.value or "").strip()
                if text:
                    box.value = ""
                    await self.say(text)

            box.on("keydown.enter.exact.prevent", send)
            ui.button(icon="send", on_click=send).props('unelevated round data-testid="send" aria-label="Send"')

    async def say(self, text: str) -> None:
        """Hand the person's words in; they show once they are durable."""
        await self._hand_in(InboundKind.MESSAGE, text=text)
        with self._column:
            ui.run_javascript(f"history.replaceState(null, '', '/?thread={self.thread}')")

    async def _uploaded(self, event: object) -> None:
        content = getattr(event, "file", None) or getattr(event, "content", None)
        data = content.read() if content is not None else b""
        raw = await data if asyncio.iscoroutine(data) else data
        text = bytes(raw).decode("utf-8", errors="replace")
        await self._hand_in(InboundKind.FILE, text=text)

    def pressed(self, button: Button, text: str) -> None:
        """A click on a card."""
        task = self._hand_in(InboundKind.ACTION, text=text, action=button.action, value=button.value)
        _TASKS.add(running := asyncio.create_task(task))
        running.add_done_callback(_TASKS.discard)

    async def _hand_in(self, kind: InboundKind, *, text: str = "", action: str = "", value: str = "") -> None:
        event = Inbound(
            "web", uuid.uuid4().hex, kind, self.thread, self._user, self._user, text, action=action, value=value
        )
        await self._receive(event)
        await self.refresh()

    def working(self, note: str) -> None:
        """Show or clear the sign that an answer is being worked on."""
        self._note = note
        self._working.text = note

    async def refresh(self) -> None:
        """Draw what is new or has changed; the rest stays where it is."""
        messages = await asyncio.to_thread(self._feed.messages, self.thread)
        threads = await asyncio.to_thread(self._feed.threads)
        self._list.clear()
        with self._list:
            for summary in threads:
                entry = (
                    ui.label(summary.title).classes("lh-thread").props('data-testid="thread" role="button" tabindex=0')
                )
                entry.classes("current" if summary.id == self.thread else "")
                entry.on("click", lambda _event, name=summary.id: ui.navigate.to(f"/?thread={name}"))
        if not messages:
            self._show_empty()
            return
        if not self._shown:
            self._column.clear()
        grew = False
        for message in messages:
            grew = self._show(message) or grew
        if grew:
            with self._column:
                ui.run_javascript("window.scrollTo({top: document.body.scrollHeight, behavior: 'smooth'})")

    def _show_empty(self) -> None:
        self._column.clear()
        with self._column, ui.column().classes("lh-empty items-center"):
            ui.label("Tell me what you would like to compare.").classes("text-h6")
            ui.label("I draw up a plan first. Nothing starts before you press Run.")
            for suggestion in SUGGESTIONS:
                chip = ui.button(suggestion, on_click=lambda _event, text=suggestion: self.say(text))
                chip.props('outline rounded no-caps color=grey-7 data-testid="suggestion"')

    def _show(self, message: Message) -> bool:
        before = self._shown.get(message.key)
        if before is not None and before[0] == message:
            return False
        if before is None:
            with self._column:
                place: ui.element = ui.column().classes("w-full gap-0")
        else:
            place = before[1]
            place.clear()
        with place:
            if message.card is None:
                ui.label(message.text[:4000]).classes("lh-mine").props('data-testid="mine"')
            else:
                render_card(message.card, self.pressed, self._image_url)
        self._shown[message.key] = (message, place)
        return before is None


_TASKS: set[asyncio.Task[None]] = set()
"""Clicks being handed in: asyncio itself keeps only weak references to its tasks."""


def image_url(root: Path, path: str) -> str | None:
    """The page's address of a picture below `root`, or `None` when there is no such picture."""
    file = Path(path)
    inside = file.resolve().is_relative_to(root.resolve()) and file.suffix == ".png" and file.is_file()
    return f"/images/{file.name}?v={file.stat().st_mtime_ns}" if inside else None
