"""Text that can be drawn: which fonts are there, how wide a text is, and what stands in for signs that no font has."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.backends.backend_agg import RendererAgg

BASE = "DejaVu Sans"
CJK = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "Microsoft YaHei",
    "SimHei",
    "Droid Sans Fallback",
    "Noto Sans CJK JP",
    "IPAexGothic",
    "Arial Unicode MS",
)


@lru_cache(maxsize=1)
def families() -> tuple[str, ...]:
    """The font families to draw with: matplotlib's own, then an installed one with Chinese signs where there is one."""
    from matplotlib.font_manager import fontManager

    files = {font.name: font.fname for font in fontManager.ttflist}
    found = next((name for name in CJK if name in files and Path(files[name]).is_file()), None)
    return (BASE, found) if found else (BASE,)


@lru_cache(maxsize=4)
def _signs(names: tuple[str, ...]) -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known: set[int] = set()
    for name in names:
        font = get_font(findfont(FontProperties(family=name), fallback_to_default=True))
        known.update(font.get_charmap())
    return frozenset(known)


def drawable(text: str, names: tuple[str, ...] | None = None) -> str:
    """The text, with signs that none of the fonts has in Latin letters (学习率 as Xue Xi Lu), never as boxes."""
    known = _signs(names or families())
    text = " ".join(text.split())
    if all(ord(sign) in known for sign in text):
        return text
    from anyascii import anyascii

    latin = (sign if ord(sign) in known else f" {anyascii(sign) or '?'} " for sign in text)
    return " ".join("".join(latin).split())


@lru_cache(maxsize=4096)
def width(text: str, size: float, bold: bool = False) -> float:
    """Width of one line in inches at `size` points."""
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family=list(families()), size=size, weight="bold" if bold else "normal")
    return float(_renderer().get_text_width_height_descent(text, font, False)[0]) / 72


@lru_cache(maxsize=1)
def _renderer() -> "RendererAgg":
    from matplotlib.backends.backend_agg import RendererAgg

    return RendererAgg(8, 8, 72)


def shortened(text: str, size: float, limit: float, bold: bool = False) -> str:
    """The text, cut with an ellipsis where it is wider than `limit` inches."""
    if width(text, size, bold) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width(text[:middle].rstrip() + "…", size, bold) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"


def wrapped(text: str, size: float, limit: float, lines: int, bold: bool = False) -> tuple[str, ...]:
    """The text in at most `lines` lines of `limit` inches, broken at blanks, `-`, `_`, `/`, else anywhere."""
    done: list[str] = []
    line = ""
    for word in _words(text):
        if line and width((line + word).rstrip(), size, bold) > limit:
            done.append(line)
            line = ""
        line += word
    done.append(line)
    if len(done) > lines:
        done = [*done[: lines - 1], "".join(done[lines - 1 :])]
    return tuple(shortened(one.strip(), size, limit, bold) for one in done if one.strip())


def balanced(text: str, size: float, limit: float, lines: int, bold: bool = False) -> tuple[str, ...]:
    """As `wrapped`, with lines of about one length rather than a last word alone."""
    best = wrapped(text, size, limit, lines, bold)
    for share in (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55):
        tried = wrapped(text, size, limit * share, lines, bold)
        if len(tried) > len(best) or any(line.endswith("…") for line in tried):
            break
        best = tried
    return best


def _words(text: str) -> list[str]:
    words: list[str] = []
    word = ""
    for sign in text:
        word += sign
        if sign in " -_/" or ord(sign) >= 0x2E80:
            words.append(word)
            word = ""
    return [*words, word] if word else words
