"""The message made plain: one form for every dash, digit and bracket, and a page on which words are crossed off."""

import re
import unicodedata

MOST_CHARACTERS = 8000
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_DASHES = str.maketrans(dict.fromkeys("−‐‑‒﹣－", "-"))
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
GONE = "\x00"


def normalise(text: str) -> str:
    """NFKC with plain minus signs, powers of ten as `1e-3`, no mentions, one kind of quote, bullets as commas."""
    text = text[:MOST_CHARACTERS]
    text = re.sub(r"(?<=10)\s*([⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "^" + m[1].translate(_SUPERSCRIPT), text)
    text = unicodedata.normalize("NFKC", text).translate(_DASHES)
    text = text.replace("\x00", " ")
    text = re.sub(r"<[@#!][^<>\s]{1,60}>", " ", text)
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)\s*[x×*·]\s*10\s*(?:\^|\*\*)\s*\(?([-+]?\d{1,3})\)?", r"\1e\2", text)
    text = re.sub(r"(?<![\w.])10\s*(?:\^|\*\*)\s*[({]?([-+]?\d{1,3})[)}]?", r"1e\1", text)
    text = re.sub(r"(\d)[eE]\s*([-+]\d{1,3})(?!\d)", r"\1e\2", text)
    text = re.sub(r"[“”„«»]", '"', re.sub(r"[‘’‚]", "'", text))
    text = text.translate(str.maketrans("，。；：！？（）【】「」", ',.;:!?()[]""'))
    text = re.sub(r"[ \t\r\f\v]*\n[ \t]*(?:[-*•]|\d{1,2}[.)])?[ \t]*", " ; ", text.strip())
    return re.sub(r"[ \t]+", " ", text).strip()


def language_of(text: str) -> str:
    """`zh` when the message has Chinese characters, else `en`."""
    return "zh" if _CHINESE.search(text) else "en"


class Page:
    """The message while it is being read: what has been understood is crossed off and read by nothing else."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.left = text

    @property
    def lower(self) -> str:
        """What is left, in lower case and of the same length."""
        lowered = self.left.lower()
        return lowered if len(lowered) == len(self.left) else "".join(c.lower()[:1] or c for c in self.left)

    def cross_off(self, start: int, end: int) -> None:
        self.left = self.left[:start] + GONE * (end - start) + self.left[end:]

    def original(self, start: int, end: int) -> str:
        return self.text[start:end]
