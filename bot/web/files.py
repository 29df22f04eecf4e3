"""Files on their way in (a log that a person sends) and out (the pictures of cards)."""

import codecs
from collections.abc import AsyncIterable
from pathlib import Path
from urllib.parse import quote

HEAD_BYTES = 500_000
TAIL_BYTES = 1_500_000
"""Of a longer file the end says more: that is where a log fails."""
LARGEST_UPLOAD = 64_000_000
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})
"""Formats that can't carry a script; SVG can."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class NotText(Exception):
    """The file holds no text."""


async def text_of(chunks: AsyncIterable[bytes]) -> str:
    """The text of a file: its first and last lines when it is long, with a line that says how much is left out.

    Raises `NotText`.
    """
    head, tail, size = b"", b"", 0
    async for chunk in chunks:
        size += len(chunk)
        room = HEAD_BYTES - len(head)
        head, rest = head + chunk[:room], chunk[room:]
        tail = (tail + rest)[-TAIL_BYTES:]
    encoding = next((name for mark, name in _BOMS if head.startswith(mark)), "utf-8")
    if encoding != "utf-16" and b"\0" in head[:8192]:
        raise NotText
    if size <= HEAD_BYTES + TAIL_BYTES:
        return (head + tail).decode(encoding, errors="replace")
    start = head.decode(encoding, errors="replace").rpartition("\n")[0] or head.decode(encoding, errors="replace")
    end = tail.decode(_without_mark(head, encoding), errors="replace")
    end = end.partition("\n")[2] or end
    return f"{start}\n[… the middle of {size:,} bytes is left out …]\n{end}"


def _without_mark(head: bytes, encoding: str) -> str:
    if encoding == "utf-16":
        return "utf-16-le" if head.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    return encoding


def picture_url(root: Path, path: str) -> str | None:
    """The page's address of a picture below `root`, new for each version of it; `None` when there is none."""
    file = picture_file(root, path)
    if file is None:
        return None
    name = quote(file.relative_to(root.resolve()).as_posix())
    return f"/images/{name}?v={file.stat().st_mtime_ns}"


def picture_file(root: Path, path: str) -> Path | None:
    """The real file of a picture below `root`, wherever links and `..` lead; `None` for anything else."""
    try:
        file = (root / path).resolve()
        inside = file.is_relative_to(root.resolve()) and file.suffix.lower() in PICTURES and file.is_file()
    except (OSError, ValueError):
        return None
    return file if inside else None
