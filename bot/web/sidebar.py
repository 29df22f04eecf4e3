"""The list of conversations."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from urllib.parse import urlencode

from nicegui import ui

from bot.web.conversation import when
from bot.web.feed import ThreadSummary
from bot.web.parts import marked
from bot.web.script import PLAIN_CLICK


class Sidebar:
    """`go` opens a thread in this tab, or a new one for `None`. `person` is kept in the links of a persona."""

    def __init__(self, go: Callable[[str | None], Awaitable[None]], person: str | None) -> None:
        self._go = go
        self._person = person
        self._drawn: object = None
        with ui.left_drawer(value=False, top_corner=True, bottom_corner=True) as self.drawer:
            self.drawer.props("show-if-above width=280 breakpoint=820")
            self.drawer.classes("lh-side").props('role=navigation aria-label="Conversations"')
            with ui.element("div").classes("lh-brand"):
                ui.element("div").classes("lh-logo").props("aria-hidden=true")
                ui.label("Labhand")
            new = ui.button("New conversation", icon="edit_square", color=None, on_click=lambda: self._follow(None))
            marked(new.props("unelevated no-caps align=left").classes("lh-new"), testid="new-thread")
            self._list = marked(ui.element("div").classes("lh-threads"), testid="thread-list")

    def show(self, threads: Sequence[ThreadSummary], current: str, unread: Collection[str]) -> None:
        """Draw the list if it has changed."""
        lines = [(thread, thread.id == current, thread.id in unread, when(thread.at)) for thread in threads]
        if lines == self._drawn:
            return
        self._drawn = lines
        self._list.clear()
        with self._list:
            for thread, here, new, at in lines:
                self._line(thread, here, new, at)

    def _line(self, thread: ThreadSummary, here: bool, new: bool, at: str) -> None:
        query = {"thread": thread.id, **({"as": self._person} if self._person else {})}
        line = marked(ui.element("a").classes("lh-thread"), testid="thread")
        line.props["href"] = f"/?{urlencode(query)}"
        if here:
            line.classes("lh-current").props["aria-current"] = "page"
        line.on("click", lambda: self._follow(thread.id), js_handler=PLAIN_CLICK)
        with line:
            ui.label(thread.title).classes("lh-thread-title").props["title"] = thread.title
            if new:
                marked(ui.element("span").classes("lh-dot"), testid="unread").props('role=img aria-label="unread"')
            ui.label(at).classes("lh-time")

    async def _follow(self, thread: str | None) -> None:
        ui.run_javascript(f"innerWidth < 820 && runMethod({self.drawer.id}, 'hide', [])")
        await self._go(thread)
