"""Cards: what the lab says to people, in a form that no chat platform dictates.

A card is stored as JSON in the outbox and rendered by each surface within its own limits. Text is Markdown of the
plain kind (bold, code, lists, links); whatever came from logs or models is escaped by the surface, not here.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Tone(StrEnum):
    NEUTRAL = "neutral"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


class ButtonStyle(StrEnum):
    PLAIN = "plain"
    PRIMARY = "primary"
    DANGER = "danger"


@dataclass(frozen=True)
class Button:
    """A click that the card offers. `action` names a use case; `value` is what it acts on, e.g. `plan:3:DIGEST`.

    `ask` is the label of a line of text that the platform asks for before it sends the click (a reason, a change).
    """

    action: str
    label: str
    value: str
    style: ButtonStyle = ButtonStyle.PLAIN
    ask: str | None = None


@dataclass(frozen=True)
class Field:
    name: str
    value: str


@dataclass(frozen=True)
class Table:
    """Rows of text; `align` has one of l, r, c a column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Image:
    """A picture file on the bot's machine, with the text that stands for it."""

    path: str
    alt: str


@dataclass(frozen=True)
class Card:
    """One thing said. `kind` tells surfaces and tests what it is (plan, progress, repair, matrix, error, …)."""

    kind: str
    title: str = ""
    text: str = ""
    tone: Tone = Tone.NEUTRAL
    fields: tuple[Field, ...] = ()
    table: Table | None = None
    code: str = ""
    images: tuple[Image, ...] = ()
    buttons: tuple[Button, ...] = ()
    footer: str = ""
    progress: float | None = None


def card_to_json(card: Card) -> dict[str, Any]:
    """The card as plain JSON values."""
    return asdict(card)


def card_from_json(data: Mapping[str, Any]) -> Card:
    """The card that `card_to_json` wrote. Unknown keys are left out, so that older rows stay readable."""
    table = data.get("table")
    return Card(
        kind=data["kind"],
        title=data.get("title", ""),
        text=data.get("text", ""),
        tone=Tone(data.get("tone", "neutral")),
        fields=tuple(Field(f["name"], f["value"]) for f in data.get("fields", ())),
        table=_table_from_json(table) if table else None,
        code=data.get("code", ""),
        images=tuple(Image(i["path"], i["alt"]) for i in data.get("images", ())),
        buttons=tuple(
            Button(b["action"], b["label"], b["value"], ButtonStyle(b.get("style", "plain")), b.get("ask"))
            for b in data.get("buttons", ())
        ),
        footer=data.get("footer", ""),
        progress=data.get("progress"),
    )


def _table_from_json(data: Mapping[str, Any]) -> Table:
    rows = tuple(tuple(str(cell) for cell in row) for row in data["rows"])
    return Table(tuple(data["columns"]), rows, data.get("align", ""), data.get("caption", ""))
