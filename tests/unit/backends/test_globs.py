import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.globs import glob_regex


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.json", "a.json", True),
        ("*.json", "deep/a.json", False),
        ("**/*.json", "a.json", True),
        ("**/*.json", "deep/er/a.json", True),
        ("deep/**", "deep/er/a.json", True),
        ("deep/**", "other/a.json", False),
        ("checkpoint-?", "checkpoint-1", True),
        ("checkpoint-?", "checkpoint-10", False),
        ("a?b", "a/b", False),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("[!a]b", "/b", False),
        ("[0-9].txt", "5.txt", True),
        ("[9-0].txt", "5.txt", True),
        ("[.txt", "[.txt", True),
        ("[].txt", "[].txt", True),
        ("[^].x", "^.x", True),
        ("a.b", "axb", False),
        ("*", "line\nbreak", True),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    assert bool(glob_regex(pattern).fullmatch(path)) is matches


@given(st.text(alphabet="ab*?[]!-/^\\.$(", max_size=12), st.text(max_size=8))
def test_every_pattern_compiles(pattern: str, path: str) -> None:
    glob_regex(pattern).fullmatch(path)


@given(st.text(alphabet="abc./-_ü", max_size=12))
def test_a_plain_pattern_matches_itself_alone(path: str) -> None:
    assert glob_regex(path).fullmatch(path)
    assert not glob_regex(path).fullmatch(path + "x")
