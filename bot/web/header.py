"""The bar above a conversation: its title, who is writing, light or dark."""

from collections.abc import Iterable
from urllib.parse import urlencode

from nicegui import events, ui

from bot.web.parts import marked


class Header:
    """`theme` is what the person chose (light or dark), or `None` to follow the system."""

    def __init__(self, drawer: ui.left_drawer, theme: str | None) -> None:
        dark = ui.dark_mode(value={"dark": True, "light": False}.get(theme or ""))
        with ui.header().classes("lh-bar"):
            menu = (
                ui.button(icon="menu", color=None)
                .props('flat round dense aria-label="Conversations"')
                .classes("lh-plain")
            )
            menu.on("click", js_handler=f"() => runMethod({drawer.id}, 'toggle', [])")
            self._title = marked(ui.label("").classes("lh-bar-title"), testid="thread-title")
            self.people = ui.element("div").classes("lh-people")
            change = (
                ui.button(icon="contrast", color=None)
                .props('flat round dense aria-label="Light or dark"')
                .classes("lh-plain")
            )

            def chosen(event: events.GenericEventArguments) -> None:
                dark.value = event.args

            marked(change, testid="theme").on("click", chosen, js_handler="() => labhand.theme(emit)")

    def show_title(self, title: str) -> None:
        """The name of the thread."""
        self._title.text = title
        ui.page_title(f"{title} · Labhand" if title else "Labhand")


def show_person(person: str) -> None:
    """Who is writing, where that can't be changed."""
    with ui.element("div").classes("lh-person"):
        ui.icon("account_circle")
        marked(ui.label(person), testid="user")


def persona_switch(person: str, names: Iterable[str], thread: str) -> None:
    """A menu to act as somebody else, to try approvals with two people."""

    def go(name: str) -> None:
        if name.strip():
            ui.navigate.to(f"/?{urlencode({'thread': thread, 'as': name.strip()})}")

    button = ui.button(person, icon="account_circle", color=None).props("flat no-caps dense icon-right=expand_more")
    marked(button.classes("lh-plain lh-person"), testid="user").props["aria-label"] = f"Acting as {person}. Change"
    with button, ui.menu().props("auto-close=false"), ui.element("div").classes("lh-menu"):
        ui.label("Act as").classes("lh-footer")
        for name in sorted(set(names) | {person}):
            item = ui.item(name, on_click=lambda _event, name=name: go(name))
            marked(item, testid="persona")
        other = ui.input(placeholder="Another name").props('dense outlined aria-label="Another name" maxlength=40')
        marked(other, testid="persona-name").on(
            "keydown", lambda event: go(str(event.args)), js_handler="(e) => e.key === 'Enter' && emit(e.target.value)"
        )
