"""Cards on a terminal, with rich."""

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table as RichTable
from rich.text import Text

from lab.cards import Card, Table, Tone

_COLOURS = {Tone.NEUTRAL: "cyan", Tone.GOOD: "green", Tone.WARNING: "yellow", Tone.BAD: "red"}
_ALIGN = {"l": "left", "r": "right", "c": "center"}


def render_card(card: Card) -> RenderableType:
    """The card as a panel. Text of logs and models is plain text here: no markup of theirs is obeyed."""
    parts: list[RenderableType] = []
    if card.text:
        parts.append(Markdown(card.text))
    if card.progress is not None:
        parts.append(ProgressBar(total=1.0, completed=card.progress, width=40))
    if card.fields:
        parts.append(_fields(card))
    if card.table is not None:
        parts.append(_table(card.table))
    if card.code:
        parts.append(Text(card.code, style="dim"))
    parts += [Text(f"picture: {image.path}", style="bold") for image in card.images]
    if card.buttons:
        parts.append(Text("   ".join(f"[ {button.label} ]" for button in card.buttons), style="magenta"))
    if card.footer:
        parts.append(Text(card.footer, style="dim italic"))
    title = Text(card.title, style="bold") if card.title else None
    return Panel(Group(*parts), title=title, title_align="left", border_style=_COLOURS[card.tone])


def show_card(console: Console, card: Card) -> None:
    console.print(render_card(card))


def _fields(card: Card) -> RichTable:
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for field in card.fields:
        grid.add_row(Text(field.name), Text(field.value))
    return grid


def _table(table: Table) -> RichTable:
    found = RichTable(caption=table.caption or None, header_style="bold", box=None, padding=(0, 2, 0, 0))
    for place, column in enumerate(table.columns):
        align = table.align[place] if place < len(table.align) else "l"
        found.add_column(Text(column), justify=_ALIGN.get(align, "left"))  # type: ignore[arg-type]
    for row in table.rows:
        found.add_row(*(Text(cell) for cell in row))
    return found
