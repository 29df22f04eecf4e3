"""The messages of one thread, drawn once and edited where they stand."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from nicegui import ui

from bot.web.buttons import Pressed
from bot.web.cards import CardView, PictureUrl
from bot.web.feed import Message
from bot.web.parts import marked

_PAGE = 60
"""Messages drawn at first, and more with each click on “Earlier messages”."""
_FOLD_CHARACTERS, _FOLD_LINES = 900, 12
_MOST_CHARACTERS = 20_000


class Conversation:
    """The middle of the page. `show` is given the whole thread and draws what is new or has changed."""

    def __init__(self, person: str, pressed: Pressed, picture_url: PictureUrl) -> None:
        self._person = person
        self._pressed = pressed
        self._picture_url = picture_url
        self._messages: Sequence[Message] = ()
        self._drawn: dict[str, tuple[Message, CardView | None]] = {}
        self._first = 0
        self._box = (
            ui.element("section").classes("lh-feed").props('role=log aria-live=polite aria-label="Conversation"')
        )
        marked(self._box, testid="feed")

    def reset(self) -> None:
        """Forget the thread: another is shown next."""
        self._messages, self._drawn, self._first = (), {}, 0
        self._box.clear()

    def show_empty(self, draw: Callable[[], None]) -> None:
        """What stands where nothing was said yet."""
        self.reset()
        with self._box:
            draw()

    def show(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Draw the thread; returns the messages that were not there before."""
        if not self._drawn:
            self._box.clear()
            self._first = max(0, len(messages) - _PAGE)
            self._earlier()
        known = {message.key for message in self._messages}
        self._messages = messages
        new = [message for message in messages if message.key not in known]
        if new:
            self._release()
        for message in messages[self._first :]:
            self._one(message)
        return new

    def _earlier(self) -> None:
        if self._first > 0:
            with self._box:
                more = ui.button("Earlier messages", color=None, on_click=self._show_earlier).props("flat no-caps")
                marked(more.classes("lh-plain lh-earlier"), testid="earlier")

    def _show_earlier(self) -> None:
        first = max(0, self._first - _PAGE)
        self._box.clear()
        self._drawn, self._first = {}, first
        self._earlier()
        for message in self._messages[first:]:
            self._one(message)

    def _one(self, message: Message) -> None:
        before = self._drawn.get(message.key)
        if before is not None:
            if before[0] != message and before[1] is not None and message.card is not None:
                before[1].show(message.card)
                self._drawn[message.key] = (message, before[1])
            return
        with self._box:
            view = self._card(message) if message.card is not None else self._words(message)
        self._drawn[message.key] = (message, view)

    def _card(self, message: Message) -> CardView | None:
        if message.card is None:
            return None
        with ui.element("div").classes("lh-message"):
            _byline("Labhand", message.at)
            return CardView(message.card, self._pressed, self._picture_url)

    def _words(self, message: Message) -> None:
        mine = message.author == self._person
        with ui.element("div").classes("lh-message lh-mine" if mine else "lh-message lh-theirs"):
            _byline("" if mine else message.author, message.at)
            bubble = marked(ui.element("div").classes("lh-bubble"), testid="mine" if mine else "theirs")
            with bubble:
                if message.file:
                    with ui.element("div").classes("lh-file"):
                        ui.icon("description")
                        ui.label(message.file)
                _folded(message.text, bool(message.file))

    def _release(self) -> None:
        for _message, view in self._drawn.values():
            if view is not None and view.buttons is not None:
                view.buttons.release()


def _folded(text: str, file: bool) -> None:
    lines = text.splitlines()
    if len(text) <= _FOLD_CHARACTERS and len(lines) <= _FOLD_LINES:
        ui.label(text).classes("lh-log" if file else "")
        return
    short = "\n".join(lines[:_FOLD_LINES])[:_FOLD_CHARACTERS].rstrip() + " …"
    label = ui.label(short).classes("lh-log" if file else "")

    def unfold() -> None:
        label.text = _within_reason(text)
        more.delete()

    more = ui.button(f"Show all ({len(lines):,} lines)", color=None, on_click=unfold).props(
        "flat dense no-caps size=sm"
    )
    marked(more.classes("lh-plain"), testid="unfold")


def _within_reason(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are not shown …]\n{text[-half:]}"


def _byline(author: str, at: datetime) -> None:
    local = local_time(at)
    with ui.element("div").classes("lh-byline"):
        if author:
            ui.label(author).classes("lh-author")
        clock = ui.element("time").classes("lh-time")
        clock.props["datetime"], clock.props["title"] = local.isoformat(), f"{local:%A %d %B %Y, %H:%M:%S}"
        with clock:
            ui.label(when(at))


def local_time(at: datetime) -> datetime:
    """In this machine's zone, which is the browser's too; a time without a zone is UTC."""
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).astimezone()


def when(at: datetime, now: datetime | None = None) -> str:
    """The hour for today, else the day."""
    local, today = local_time(at), local_time(now or datetime.now(UTC))
    if local.date() == today.date():
        return f"{local:%H:%M}"
    if local.year == today.year:
        return f"{local.day} {local:%b}"
    return f"{local:%Y-%m-%d}"
