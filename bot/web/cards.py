"""Cards as NiceGUI elements. Words of models and logs go through `ui.label` and `ui.markdown` only, never as HTML."""

from collections.abc import Callable
from pathlib import Path

from nicegui import ui

from lab.cards import Button, ButtonStyle, Card, Table, Tone

Pressed = Callable[[Button, str], None]
_EDGE = {Tone.NEUTRAL: "#64748b", Tone.GOOD: "#16a34a", Tone.WARNING: "#d97706", Tone.BAD: "#dc2626"}


def render_card(card: Card, pressed: Pressed, image_url: Callable[[str], str | None]) -> None:
    """Draw one card into the current container."""
    box = ui.column().classes("lh-card w-full gap-2").style(f"--edge: {_EDGE[card.tone]}")
    with box.props(f'data-testid="card" data-kind="{card.kind}"'):
        if card.title:
            ui.label(card.title).classes("lh-title").props('data-testid="card-title"')
        if card.progress is not None:
            bar = ui.linear_progress(value=round(card.progress, 3), show_value=False).props('rounded size="8px"')
            bar.props(f'data-testid="progress" aria-label="{card.progress:.0%} done"')
        if card.text:
            ui.markdown(_plain_markdown(card.text)).classes("lh-text")
        if card.fields:
            _fields(card)
        for image in card.images:
            _image(image.path, image.alt, image_url)
        if card.table is not None:
            _table(card.table)
        if card.code:
            ui.label(card.code).classes("lh-code").props('data-testid="code"')
        if card.buttons:
            _buttons(card, pressed)
        if card.footer:
            ui.label(card.footer).classes("lh-footer")


def _plain_markdown(text: str) -> str:
    """Markdown in which a tag stays words: what a log wrote is shown, not obeyed."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _fields(card: Card) -> None:
    with ui.element("dl").classes("lh-fields"):
        for field in card.fields:
            with ui.element("dt"):
                ui.label(field.name)
            with ui.element("dd"):
                ui.label(field.value)


def _table(table: Table) -> None:
    sides = {"r": "right", "c": "center"}
    columns = [
        {"name": str(i), "label": name, "field": str(i), "align": sides.get(table.align[i : i + 1], "left")}
        for i, name in enumerate(table.columns)
    ]
    rows = [{"id": n, **{str(i): cell for i, cell in enumerate(row)}} for n, row in enumerate(table.rows)]
    grid = ui.table(columns=columns, rows=rows, row_key="id").props("dense flat wrap-cells hide-pagination")
    grid.props(":rows-per-page-options='[0]'").classes("lh-table w-full")
    if table.caption:
        ui.label(table.caption).classes("lh-footer")


def _image(path: str, alt: str, image_url: Callable[[str], str | None]) -> None:
    url = image_url(path)
    if url is None:
        ui.label(f"(the picture {Path(path).name} is no longer there)").classes("lh-footer")
        return
    with ui.dialog().props("maximized") as large, ui.element("div").classes("lh-lightbox").on("click", large.close):
        ui.element("img").props(f'src="{url}"')
    picture = ui.element("img").classes("lh-image").on("click", large.open)
    picture.props["src"], picture.props["alt"], picture.props["data-testid"] = url, alt, "image"


def _buttons(card: Card, pressed: Pressed) -> None:
    with ui.row().classes("gap-2"):
        for button in card.buttons:
            _button(button, pressed)


def _button(button: Button, pressed: Pressed) -> None:
    looks = {ButtonStyle.PRIMARY: "unelevated color=primary", ButtonStyle.DANGER: "outline color=negative"}
    element = ui.button(button.label).props(looks.get(button.style, "outline color=grey-7"))
    element.props(f'no-caps data-testid="button-{button.action}"')

    def go(text: str = "") -> None:
        element.props("loading disable")
        ui.timer(8.0, lambda: element.props(remove="loading disable"), once=True)
        pressed(button, text)

    if button.ask is None:
        element.on_click(lambda: go())
        return
    with ui.dialog() as asked, ui.card().classes("w-96"):
        ui.label(button.ask).classes("lh-title")
        answer = ui.input().classes("w-full").props('autofocus data-testid="ask-input"')

        def send() -> None:
            asked.close()
            go(str(answer.value or ""))

        answer.on("keydown.enter", send)
        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=asked.close).props("flat no-caps color=grey-7")
            ui.button(button.label, on_click=send).props('unelevated no-caps data-testid="ask-send"')
    element.on_click(asked.open)
