"""Numbers in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.words import duration, hours_words, listing, number, plural, settings_words, size


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (duration(None), "?"),
        (duration(42.4), "42 s"),
        (duration(120), "2.0 min"),
        (duration(3600 * 5), "5.0 h"),
        (duration(86_400 * 3), "3.0 d"),
        (size(None), "?"),
        (size(768 * 2**20), "768 MiB"),
        (size(3 * 2**29), "1.5 GiB"),
        (size(2**41), "2.0 TiB"),
        (hours_words(None), "?"),
        (hours_words(0.254), "0.25"),
        (hours_words(1234.5), "1,234"),
        (number(1e-05), "1e-05"),
        (number(0.1 + 0.2), "0.3"),
        (number(0.1234567), "0.1234567"),
        (number(True), "on"),
        (listing([]), ""),
        (listing(["a"]), "a"),
        (listing(["a", "b", "c"]), "a, b and c"),
        (plural(1, "retry"), "1 retry"),
        (plural(3, "retry"), "3 retries"),
        (plural(0, "batch"), "0 batches"),
        (plural(2, "day"), "2 days"),
        (settings_words({"model": "cnn", "lr": 0.01, "ema": False}), "model=cnn lr=0.01 ema=off"),
    ],
)
def test_words(said: str, words: str) -> None:
    assert said == words


@given(st.integers() | st.floats(-1e300, 1e300))
def test_a_number_is_said_to_ten_digits(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, rel=1e-9)
