"""What is stored is what every database can keep."""

import json
import math
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from lab.columns import UtcDateTime, state_in, storable, storable_text
from lab.states import ATTEMPT_LIVE, AttemptState

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_anything_becomes_json_that_comes_back_the_same(value: Any) -> None:
    kept = storable(value)
    text = json.dumps(kept, allow_nan=False)
    assert json.loads(text) == kept
    assert "\\u0000" not in text
    json.dumps(kept, ensure_ascii=False).encode()
    assert storable(kept) == kept


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_plain_text_is_left_as_it_is(text: str) -> None:
    assert storable_text(text) == text


def test_what_is_no_number_is_unknown_and_never_zero() -> None:
    assert storable([math.nan, math.inf, -math.inf, 0.0]) == [None, None, None, 0.0]


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        UtcDateTime().process_bind_param(datetime(2026, 3, 1), sqlite.dialect())


def test_states_are_listed_in_the_order_of_their_life() -> None:
    assert state_in(AttemptState, ATTEMPT_LIVE) == "state IN ('prepared', 'submitted', 'running')"
