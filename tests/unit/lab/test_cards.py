"""Cards come back from the outbox as they went in."""

import json

from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from lab.cards import Button, ButtonStyle, Card, Field, Image, Table, Tone, card_from_json, card_to_json

TEXT = st.text(max_size=20)
BUTTONS = st.builds(Button, TEXT, TEXT, TEXT, st.sampled_from(ButtonStyle), st.none() | TEXT)
TABLES = st.builds(
    Table, st.lists(TEXT, max_size=3).map(tuple), st.lists(st.lists(TEXT, max_size=3).map(tuple), max_size=3).map(tuple)
)
CARDS = st.builds(
    Card,
    kind=TEXT,
    title=TEXT,
    tone=st.sampled_from(Tone),
    fields=st.lists(st.builds(Field, TEXT, TEXT), max_size=3).map(tuple),
    table=st.none() | TABLES,
    images=st.lists(st.builds(Image, TEXT, TEXT), max_size=2).map(tuple),
    buttons=st.lists(BUTTONS, max_size=3).map(tuple),
    progress=st.none() | st.floats(0, 1),
)


@examples(max_examples=25)
@given(CARDS)
def test_a_card_survives_json(card: Card) -> None:
    assert card_from_json(json.loads(json.dumps(card_to_json(card)))) == card


def test_an_older_row_with_less_and_a_newer_one_with_more_are_read() -> None:
    assert card_from_json({"kind": "plan"}) == Card("plan")
    assert card_from_json({"kind": "plan", "title": "t", "sound": "bell"}) == Card("plan", "t")
