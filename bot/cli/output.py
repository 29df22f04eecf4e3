"""How commands print: one JSON value with `--json`, else tables for people."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from lab.cards import Card


def print_json(value: Any) -> None:
    """One JSON value and a newline; times as ISO 8601, unknown numbers as null."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=_plain, allow_nan=False)
    sys.stdout.write("\n")


def print_rows(rows: Sequence[Mapping[str, Any]], title: str) -> None:
    """Rows as a table, or a line that says there are none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not rows:
        console.print(f"{title}: none")
        return
    table = Table(title=title, title_justify="left", header_style="bold", box=None, padding=(0, 2, 0, 0))
    for column in rows[0]:
        table.add_column(column)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    console.print(table)


def print_card(card: Card) -> None:
    from rich.console import Console

    from bot.console import show_card

    show_card(Console(), card)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_cell(item)}" for name, item in value.items())
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} can't be printed as JSON")
