"""Reading a log of any size: blocks cut at line ends, in UTF-8 wherever that can be told, with the lines counted."""

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

BLOCK = 1 << 20
_LONGEST_OPEN_LINE = 1 << 18
_SNIFF = 4096
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole lines (or a piece of a huge one): the number of its first line, its bytes, the line ends in it."""

    first: int
    data: bytes
    ends: int


def blocks(source: bytes | BinaryIO, size: int = BLOCK) -> Iterator[Block]:
    """The log as blocks of about `size` bytes. Memory stays near two blocks, even for a line without an end."""
    number, rest = 1, b""
    for chunk in _in_utf8(io.BytesIO(source) if isinstance(source, bytes) else source, size):
        data = rest + chunk if rest else chunk
        end = data.rfind(b"\n") + 1
        if end == 0 and len(data) < _LONGEST_OPEN_LINE:
            rest = data
            continue
        if end == 0:
            yield Block(number, data, 0)
            rest = b""
            continue
        whole = data[:end] if end < len(data) else data
        rest = data[end:]
        ends = whole.count(b"\n")
        yield Block(number, whole, ends)
        number += ends
    if rest:
        yield Block(number, rest, 0)


def _in_utf8(stream: BinaryIO, size: int) -> Iterator[bytes]:
    first = stream.read(_SNIFF)
    encoding = _wide_encoding(first)
    if encoding is None:
        yield first
        while chunk := stream.read(size):
            yield chunk
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    yield decoder.decode(first).lstrip("\ufeff").encode()
    while chunk := stream.read(size):
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _wide_encoding(first: bytes) -> str | None:
    """The encoding that a byte order mark names, or UTF-16 where every other byte is nought."""
    for mark, encoding in _BOMS:
        if first.startswith(mark):
            return encoding
    even, odd = first[0::2], first[1::2]
    if len(first) < 16:
        return None
    if odd.count(0) > 0.7 * len(odd) and even.count(0) < 0.1 * len(even):
        return "utf-16-le"
    if even.count(0) > 0.7 * len(even) and odd.count(0) < 0.1 * len(odd):
        return "utf-16-be"
    return None
