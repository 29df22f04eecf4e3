"""One message each, as software prints it, and the category that it means: `messages.txt` holds `category|message`."""

from pathlib import Path

import pytest

from lab.diagnosis import Hints, diagnose
from lab.diagnosis.taxonomy import CATEGORIES

ROWS = [row.split("|", 1) for row in (Path(__file__).parent / "messages.txt").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(("category", "message"), ROWS, ids=[f"{i}-{row[0]}" for i, row in enumerate(ROWS, 1)])
def test_a_message_alone_is_enough(category: str, message: str) -> None:
    assert category in CATEGORIES
    text = message.replace("\\n", "\n").replace("\\t", "\t")
    found = diagnose(f"loading\nstarting\n{text}\n".encode(), Hints(130 if category == "user-cancelled" else 1))
    assert found.category == category, found
