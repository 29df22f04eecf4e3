"""Colours and sizes. Widths are in inches of which each shows as 100 pixels, drawn with twice as many."""

from dataclasses import dataclass
from typing import Literal

Theme = Literal["light", "dark"]
PIXELS_PER_INCH = 100
SHARPNESS = 2

MARGIN = 0.16
TITLE_SIZE = 11.5
SUBTITLE_SIZE = 8.5
LABEL_SIZE = 8.5
NOTE_SIZE = 7.5
CELL_SIZE = 9.0
SMALL_SIZE = 7.0


@dataclass(frozen=True)
class Palette:
    """One theme. `accent` marks the best cell: Okabe and Ito's vermillion, told apart with any colour blindness."""

    background: str
    text: str
    muted: str
    line: str
    failed: str
    hatch: str
    dot: str
    accent: str = "#d55e00"
    colours: str = "viridis"


PALETTES: dict[Theme, Palette] = {
    "light": Palette("#ffffff", "#1f2328", "#59636e", "#d1d9e0", "#eef0f2", "#c3cad1", "#3b6ea5"),
    "dark": Palette("#1a1d21", "#e8eaed", "#a3abb4", "#3d444d", "#2b3036", "#4b535c", "#7fb2e5", accent="#ff8a3d"),
}
