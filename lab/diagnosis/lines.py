"""From bytes to lines: encodings, colours, overwritten progress bars."""

import re
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BAR = re.compile(r"\d+%\s*[|\[(:]|\b\d+/\d+ \[|\bit/s\b|s/it\b|━|█|\d+(?:\.\d+)?[kMG]B?/s")
_PAIR = re.compile(rb"[\x80-\xff]{2}|[\x81-\x9f][\x40-\x7e]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
_EAST_ASIAN = (("cp932", _KANA, 0.3), ("euc_jp", _KANA, 0.3), ("gb18030", _HAN, 0.6))
"""Encodings to try, and the share of letters in their own script that makes them likely."""
_LONGEST = 8_192


@dataclass(frozen=True, slots=True)
class RawLine:
    """One visible line. Several may share a number where `\\r` parts of one line were not mere progress bars."""

    number: int
    text: str
    after_gap: bool = False


def decode(raw: bytes) -> str:
    """The words of a line whose encoding nobody wrote down: UTF-8, else an East Asian one, else Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if not _PAIR.search(raw):
        return raw.decode("latin-1")
    for encoding, script, least in _EAST_ASIAN:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        high = sum(1 for letter in text if ord(letter) > 127)
        if high and len(script.findall(text)) >= least * high:
            return text
    return raw.decode("latin-1")


def visible_parts(raw: bytes) -> list[str]:
    """What a reader sees of one `\\n`-ended line: every message in it, and of its progress bars only the last."""
    if len(raw) > _LONGEST:
        raw = _shorten(raw)
    text = decode(raw)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    parts = [_CONTROL.sub("", part).rstrip() for part in text.rstrip("\r").split("\r")]
    kept = [part for part in parts if part.strip()]
    if len(kept) < 2:
        return kept or [""]
    last = len(kept) - 1
    return [part for i, part in enumerate(kept) if i == last or not _BAR.search(part)]


def _shorten(raw: bytes) -> bytes:
    """The beginning and the end of an over-long line; the end is what the screen would show."""
    half = _LONGEST // 2
    return raw[:half] + b"\r" + raw[-half:] if b"\r" in raw else raw[:half] + b" ... " + raw[-half:]
