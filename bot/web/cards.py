"""Cards as NiceGUI elements. Words of models and logs go through `ui.label` and `ui.markdown` only, never as HTML."""

from collections.abc import Callable
from pathlib import Path

from nicegui import ui

from bot.web import markup
from bot.web.buttons import ButtonRow, Pressed
from bot.web.parts import marked, picture
from lab.cards import Card, Field, Image, Table, Tone

PictureUrl = Callable[[str], str | None]
_ICONS = {Tone.GOOD: "check_circle", Tone.WARNING: "warning_amber", Tone.BAD: "error_outline"}
_MEANS = {Tone.GOOD: "good news", Tone.WARNING: "needs attention", Tone.BAD: "a problem"}


class CardView:
    """One card on the page. An edit redraws only the parts of it that have changed, in place."""

    def __init__(self, card: Card, pressed: Pressed, picture_url: PictureUrl) -> None:
        self._picture_url = picture_url
        self._pressed = pressed
        self._drawn: dict[str, object] = {}
        self._bar: ui.linear_progress | None = None
        self._percent: ui.label | None = None
        self.buttons: ButtonRow | None = None
        self._box = marked(ui.element("article").classes("lh-card"), testid="card")
        with self._box:
            names = ("head", "progress", "text", "fields", "pictures", "table", "code", "buttons", "footer")
            self._places = {name: ui.element("div").classes(f"lh-part lh-part-{name}") for name in names}
        self.show(card)

    def show(self, card: Card) -> None:
        """Draw the card, or what is new in it."""
        self._box.classes(remove=" ".join(f"lh-{tone}" for tone in Tone), add=f"lh-{card.tone.value}")
        marked(self._box, kind=card.kind)
        self._box.props["aria-label"] = card.title or card.kind
        pictures = tuple((image, self._picture_url(image.path)) for image in card.images)
        self._part("head", (card.title, card.tone), lambda: _head(card))
        self._progress(card.progress)
        self._part("text", card.text, lambda: _text(card.text))
        self._part("fields", card.fields, lambda: _fields(card.fields))
        self._part("pictures", pictures, lambda: _pictures(pictures))
        self._part("table", card.table, lambda: _table(card.table))
        self._part("code", card.code, lambda: _code(card.code))
        self._part("buttons", card.buttons, lambda: self._buttons(card))
        self._part("footer", card.footer, lambda: _footer(card.footer))

    def _part(self, name: str, value: object, draw: Callable[[], None]) -> None:
        if name in self._drawn and self._drawn[name] == value:
            return
        self._drawn[name] = value
        place = self._places[name]
        place.clear()
        with place:
            draw()

    def _progress(self, progress: float | None) -> None:
        if progress is None:
            self._part("progress", None, lambda: None)
            self._bar = self._percent = None
            return
        done = min(max(progress, 0.0), 1.0)
        if self._bar is None or self._percent is None:
            with self._places["progress"]:
                self._bar = ui.linear_progress(value=done, show_value=False).props("rounded size=8px")
                self._percent = ui.label().classes("lh-percent")
            marked(self._bar, testid="progress")
        self._drawn["progress"] = done
        self._bar.value = round(done, 4)
        self._bar.props["aria-label"] = "progress"
        self._percent.text = f"{done:.0%}"

    def _buttons(self, card: Card) -> None:
        self.buttons = ButtonRow(card, self._pressed) if card.buttons else None


def _head(card: Card) -> None:
    if not card.title:
        return
    if card.tone in _ICONS:
        icon = ui.icon(_ICONS[card.tone]).classes("lh-tone")
        icon.props["role"], icon.props["aria-label"] = "img", _MEANS[card.tone]
    marked(ui.label(card.title).classes("lh-title"), testid="card-title").props('role=heading aria-level="3"')


def _text(text: str) -> None:
    if text:
        # `sanitize` as a property asks the browser to clean what has been cleaned here once more
        ui.markdown(text, extras=markup.EXTRAS, sanitize=markup.harmless).classes("lh-text").props("sanitize")


def _fields(fields: tuple[Field, ...]) -> None:
    if not fields:
        return
    with ui.element("dl").classes("lh-fields"):
        for field in fields:
            with ui.element("dt"):
                ui.label(field.name)
            with ui.element("dd"):
                ui.label(field.value)


def _pictures(pictures: tuple[tuple[Image, str | None], ...]) -> None:
    for image, url in pictures:
        if url is None:
            ui.label(f"The picture {Path(image.path).name} is no longer there. {image.alt}").classes("lh-footer")
        else:
            picture(url, image.alt)


def _table(table: Table | None) -> None:
    if table is None:
        return
    sides = {"r": "right", "c": "center"}
    columns = [
        {"name": str(i), "label": name, "field": str(i), "align": sides.get(table.align[i : i + 1], "left")}
        for i, name in enumerate(table.columns)
    ]
    rows = [{"id": n, **{str(i): cell for i, cell in enumerate(row)}} for n, row in enumerate(table.rows)]
    grid = ui.table(columns=columns, rows=rows, row_key="id").props("dense flat wrap-cells hide-pagination")
    marked(grid.props(":rows-per-page-options='[0]'").classes("lh-table"), testid="table")
    if table.caption:
        ui.label(table.caption).classes("lh-footer")


def _code(code: str) -> None:
    if not code:
        return
    with ui.element("div").classes("lh-codebox"):
        block = marked(ui.label(code).classes("lh-code"), testid="code").props("tabindex=0")
        copy = (
            ui.button(icon="content_copy", color=None)
            .props('flat dense round size=sm aria-label="Copy"')
            .classes("lh-copy")
        )
        copy.on("click", js_handler=f"() => labhand.copy({block.id})")


def _footer(footer: str) -> None:
    if footer:
        ui.label(footer).classes("lh-footer")
