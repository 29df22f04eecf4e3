"""The message made plain: one form for every dash, digit, power and bracket."""

import re
import unicodedata

MOST_CHARACTERS = 8000
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_DASHES = str.maketrans(dict.fromkeys("−‐‑‒﹣－", "-"))
_PLAIN = str.maketrans("，。；：！？（）【】「」『』《》“”„«»‘’‚", ",.;:!?()[]" + '"' * 11 + "'" * 3)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_POWER_OF_TEN = re.compile(
    r"(?<![A-Za-z0-9_.])(\d{1,9}(?:\.\d{1,9})?)\s?[xX×*·]\s?10\s?(?:\^|\*\*)\s?[({]?([-+]?\d{1,3})[)}]?"
)
_POWER = re.compile(r"(?<![A-Za-z0-9_.])(10|2)\s?(?:\^|\*\*)\s?[({]?([-+]?\d{1,2})[)}]?(?!\d)")
_BROKEN_EXPONENT = re.compile(r"(?<=\d)[eE]\s?([-+])\s?(?=\d)")


def normalise(text: str) -> str:
    """NFKC with plain minus signs, powers as numbers, no mentions, one kind of quote, bullets behind ` ; `."""
    text = re.sub(r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})", lambda m: "^" + m[1].translate(_SUPERSCRIPT), text[:MOST_CHARACTERS])
    text = unicodedata.normalize("NFKC", text)[:MOST_CHARACTERS].translate(_DASHES).replace("\x00", " ")
    text = re.sub(r"<(?:[@#!]|https?:)[^<>\s]{1,200}>", " ", text)
    text = _POWER_OF_TEN.sub(r"\1e\2", text)
    text = _POWER.sub(_power, text)
    text = _BROKEN_EXPONENT.sub(r"e\1", text).translate(_PLAIN)
    text = re.sub(r"\n(?:[ \t]*(?:[-*•·]|\d{1,2}[.)])(?=\s))?", " ; ", text.replace("\r", "\n"))
    text = re.sub(r"^\s*[-*•]\s+", "", text)
    text = re.sub(r"([\"'`])([^\s\"'`,]{1,40})\1", r"\2", text)
    text = re.sub(r"(?<![A-Za-z0-9_.])(\d{2,4}) ?[x×*] ?\1(?![A-Za-z0-9_.])", r"\1px", text)
    return " ".join(text.split())


def _power(match: re.Match[str]) -> str:
    return f"1e{match[2]}" if match[1] == "10" else f"{2.0 ** int(match[2]):.10g}"


def language_of(text: str) -> str:
    """`zh` when the message has Chinese characters, else `en`."""
    return "zh" if _CHINESE.search(text) else "en"
