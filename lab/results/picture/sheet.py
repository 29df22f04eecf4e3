"""A sheet of paper in inches from its top left corner: places of axes and lines of text, sized before it is drawn."""

from dataclasses import dataclass, field
from typing import Any

from lab.results.picture.fonts import balanced, drawable, wrapped
from lab.results.picture.theme import MARGIN, NOTE_SIZE, SUBTITLE_SIZE, TITLE_SIZE, Palette

Axes = Any
"""matplotlib's own axes; its stubs leave most keyword arguments untyped."""
LEADING = 1.32 / 72
"""Inches from line to line for each point of size."""


@dataclass(frozen=True)
class Line:
    text: str
    size: float
    colour: str
    bold: bool = False


@dataclass(frozen=True)
class Frame:
    """The words around the drawing, wrapped to the sheet's width."""

    head: tuple[Line, ...]
    foot: tuple[Line, ...]

    @property
    def top(self) -> float:
        """Inches above the drawing."""
        return MARGIN + height(self.head) + 0.1

    @property
    def bottom(self) -> float:
        """Inches below the drawing."""
        return MARGIN * 0.8 + (height(self.foot) + 0.06 if self.foot else 0.0)


@dataclass(frozen=True)
class Words:
    """What the frame says: the goal, what is shown, and the notes that explain marks."""

    title: str
    subtitle: str
    notes: tuple[str, ...] = field(default=())


def height(lines: tuple[Line, ...]) -> float:
    return sum(line.size * LEADING for line in lines)


def frame(words: Words, width: float, palette: Palette) -> Frame:
    """The frame of a sheet `width` inches wide."""
    inner = width - 2 * MARGIN
    title = balanced(drawable(words.title), TITLE_SIZE, inner, 2, bold=True)
    subtitle = wrapped(drawable(words.subtitle), SUBTITLE_SIZE, inner, 2)
    notes = [line for note in words.notes for line in wrapped(drawable(note), NOTE_SIZE, inner, 2)]
    return Frame(
        (
            *(Line(text, TITLE_SIZE, palette.text, bold=True) for text in title),
            *(Line(text, SUBTITLE_SIZE, palette.muted) for text in subtitle),
        ),
        tuple(Line(text, NOTE_SIZE, palette.muted) for text in notes),
    )


class Sheet:
    """A figure of `width` × `height` inches on which places are given from the top left."""

    def __init__(self, width: float, height: float, palette: Palette) -> None:
        from matplotlib.figure import Figure

        self.width = width
        self.height = height
        self.figure: Any = Figure(figsize=(width, height), facecolor=palette.background)

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes of that size, with nothing on them."""
        place = (left / self.width, 1 - (top + height) / self.height, width / self.width, height / self.height)
        axes = self.figure.add_axes(place)
        axes.set_facecolor("none")
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(length=0)
        return axes

    def text(self, left: float, top: float, line: Line, align: str = "left", middle: bool = False) -> None:
        """One line; `top` is its upper edge, or with `middle` its centre."""
        self.figure.text(
            left / self.width,
            1 - top / self.height,
            line.text,
            size=line.size,
            color=line.colour,
            weight="bold" if line.bold else "normal",
            ha=align,
            va="center" if middle else "top",
            parse_math=False,
        )

    def lines(self, left: float, top: float, lines: tuple[Line, ...], align: str = "left") -> None:
        """Lines below each other."""
        for line in lines:
            self.text(left, top, line, align)
            top += line.size * LEADING

    def surround(self, frame: Frame) -> None:
        """Writes the frame's words above and below."""
        self.lines(MARGIN, MARGIN, frame.head)
        self.lines(MARGIN, self.height - MARGIN * 0.8 - height(frame.foot), frame.foot)
