"""Nothing that a log or a model writes becomes anything but words and plain formatting."""

from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nicegui.elements.markdown import prepare_content

from bot.web.markup import EXTRAS, SCHEMES, TAGS, harmless, link_of

PIECES = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "![a](http://e/x.png)",
    "<svg/onload=alert(1)>", "<a href='java\tscript:alert(1)'>", "</div>", "<!--", "-->", "<![CDATA[", "`", "```\n",
    "**", "_", "&lt;", "&#106;avascript:", "<style>", "<iframe srcdoc='<script>'>", "\n\n", "- ",
    "| a | b |\n|--|--|\n",
    "<p onclick=alert(1)>", "[r]: javascript:alert(1)\n", "[r]", "<javascript:alert(1)>", "<http://e.org>", "\x00", '"',
]  # fmt: skip


class Reader(HTMLParser):
    """Every tag and attribute that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def rendered(text: str) -> str:
    return harmless(prepare_content(text, extras=" ".join(EXTRAS)))


def read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


@given(
    st.one_of(st.text(), st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join))
)
@example("<script>")
@example('<a href="JaVaScRiPt:x">')
@example("[x](  data:text/html;base64,AAAA)")
def test_only_plain_formatting_is_left(text: str) -> None:
    seen = read(rendered(text))
    assert set(seen.tags) <= TAGS
    assert {name for name, _value in seen.attributes} <= {"href"}
    for _name, value in seen.attributes:
        assert value is not None
        assert value.strip().split(":")[0].lower() in SCHEMES


@pytest.mark.parametrize("broken", ["<![if <x", "<![x[y", "<![CDATA[ a", "<!DOCTYPE [", "<![-", "<!["])
def test_a_broken_declaration_is_shown_as_it_is_written(broken: str) -> None:
    markup = harmless(f"{broken} > <script>alert(1)</script>")
    assert set(read(markup).tags) <= TAGS
    assert broken in "".join(read(markup).words)


@settings(max_examples=1000)
@given(st.text(alphabet="<>&\"'/abp=! -[]?", max_size=60))
def test_what_is_cleaned_stays_as_it_is(markup: str) -> None:
    once = harmless(markup)
    assert harmless(once) == once


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("expected <class 'int'>, got <module>", "expected <class 'int'>, got <module>"),
        ("a < b && c > d", "a < b && c > d"),
        ("`x < y`", "x < y"),
        ("set batch_size and micro_batch_size", "set batch_size and micro_batch_size"),
        ("```\n<b>log</b> & co\n```", "<b>log</b> & co"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("before <!-- hidden --> after", "before <!-- hidden --> after"),
    ],
)
def test_words_stay_readable(text: str, shown: str) -> None:
    assert "".join(read(rendered(text)).words).strip() == shown


def test_formatting_is_kept() -> None:
    seen = read(rendered("I understood:\n- **mlp** and `cnn`\n- [docs](https://example.org/?a=1&b=2)\n\nline\nnext"))
    assert {"ul", "li", "strong", "code", "a", "br"} <= set(seen.tags)
    assert ("href", "https://example.org/?a=1&b=2") in seen.attributes


def test_a_table_in_markdown_is_a_table() -> None:
    assert {"table", "th", "td"} <= set(read(rendered("| a | b |\n|---|---|\n| 1 | 2 |")).tags)


@pytest.mark.parametrize(
    "address",
    ["javascript:x", " JAVASCRIPT:x", "java\nscript:x", "data:text/html,x", "//e.org", "/x", "", None, "http://["],
)
def test_no_other_address_is_a_link(address: str | None) -> None:
    assert link_of(address) is None
