"""Making the HTML of Markdown harmless: what is not plain formatting is shown as the words it was written in.

This is the first of three walls; the browser's own sanitiser and the page's content policy stand behind it.
"""

import html
from html.parser import HTMLParser
from urllib.parse import urlsplit

EXTRAS = ["fenced-code-blocks", "tables", "code-friendly", "cuddled-lists", "break-on-newline"]
"""Extensions of markdown2. `code-friendly` keeps the underscores of names like `batch_size`."""
TAGS = frozenset(
    "p br hr em strong code pre ul ol li a h1 h2 h3 h4 h5 h6 blockquote table thead tbody tr th td div span".split()
)
SCHEMES = frozenset({"http", "https", "mailto"})
_EMPTY = frozenset({"br", "hr"})


def harmless(markup: str) -> str:
    """HTML of `TAGS` only, without attributes but a link's address of `SCHEMES`; all else is escaped."""
    cleaner = _Cleaner()
    try:
        cleaner.feed(markup)
        cleaner.close()
    except AssertionError:  # how `html.parser` refuses a broken declaration such as `<![if`
        return html.escape(markup, quote=False)
    return cleaner.result()


def link_of(address: str | None) -> str | None:
    """The address if a browser may follow it, else `None`."""
    try:
        scheme = urlsplit((address or "").strip()).scheme.lower()
    except ValueError:
        return None
    return address if scheme in SCHEMES else None


class _Cleaner(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._open: list[str] = []

    def result(self) -> str:
        return "".join(self._parts) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self._words(self.get_starttag_text() or f"<{tag}>")
            return
        href = link_of(dict(attrs).get("href")) if tag == "a" else None
        self._parts.append(f'<a href="{html.escape(href)}">' if href else f"<{tag}>")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in TAGS and tag not in _EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            if tag not in _EMPTY:
                self._words(f"</{tag}>")
            return
        while (top := self._open.pop()) != tag:
            self._parts.append(f"</{top}>")
        self._parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._words(data)

    def handle_comment(self, data: str) -> None:
        self._words(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self._words(f"<!{decl}>")

    def unknown_decl(self, data: str) -> None:
        self._words(f"<![{data}]>")

    def handle_pi(self, data: str) -> None:
        self._words(f"<?{data}>")

    def _words(self, text: str) -> None:
        self._parts.append(html.escape(text, quote=False))
