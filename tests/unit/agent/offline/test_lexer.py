"""Tokens and numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.offline.lexer import count_of, lex
from agent.offline.text import normalise


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E-3", 0.001),
        (".001", 0.001),
        ("10^-3", 0.001),
        ("1×10⁻³", 0.001),
        ("5e−4", 0.0005),
        ("１０", 10),
        ("10k", 10_000),
        ("1M", 1_000_000),
        ("50%", 0.5),
        ("2^5", 32),
        ("1,024", 1024),
        ("three", 3),
        ("half a dozen", 6),
        ("twenty five", 25),
        ("两个", 2),
        ("十二个", 12),
        ("3万", 30_000),
    ],
)
def test_a_number_has_its_value_however_it_is_written(text: str, value: float) -> None:
    token = lex(normalise(text))[0]
    assert token.kind == "number"
    assert token.value == pytest.approx(value)


@pytest.mark.parametrize(
    "name", ["ResNet-50", "CIFAR-10", "gpt2", "ViT-B/16", "llama-7b", "wikitext-103", "7b", "PointNet++"]
)
def test_a_number_in_a_name_belongs_to_the_name(name: str) -> None:
    assert [(token.kind, token.text) for token in lex(name)] == [("word", name)]


@pytest.mark.parametrize(
    ("text", "values"), [("64,128,256", [64, 128, 256]), ("8xA100", [8]), ("0-4", [0, 4]), ("3seeds", [3])]
)
def test_numbers_part_from_what_stands_beside_them(text: str, values: list[int]) -> None:
    assert [token.value for token in lex(text) if token.kind == "number"] == values


@given(st.text(max_size=200))
def test_tokens_stand_in_order_within_the_text(text: str) -> None:
    end = 0
    for token in lex(text):
        assert end <= token.start < token.end <= len(text)
        end = token.end


@pytest.mark.parametrize(
    ("text", "count"),
    [("12", 12), ("a", 1), ("five", 5), ("十二", 12), ("两百五十", 250), ("dozen", 12), ("lots", None)],
)
def test_a_count_is_read_in_either_language(text: str, count: int | None) -> None:
    assert count_of(text) == count
