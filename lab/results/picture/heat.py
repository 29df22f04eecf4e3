"""Two factors or more: annotated heat maps on one colour scale."""

import math
from dataclasses import dataclass, replace

from lab.results.arrange import Arrangement, Panel, arrange, cell_at, panels
from lab.results.picture.fonts import drawable, shortened, width, wrapped
from lab.results.picture.notes import failure_words, panel_title, words_for
from lab.results.picture.scale import Scale, is_bright, scale_for
from lab.results.picture.sheet import LEADING, Axes, Frame, Line, Sheet, frame
from lab.results.picture.theme import CELL_SIZE, LABEL_SIZE, MARGIN, SMALL_SIZE, Palette
from lab.results.values import Cell, Level, Matrix
from lab.results.words import Numbers, factor_word, level_word, numbers_for

MOST_ANNOTATED = 600
"""Cells beyond which numbers are left out: nobody reads them, and text takes the time."""
WIDEST = 9.6
NARROWEST = 4.6
GAP = 0.16
BAR = 0.38


@dataclass(frozen=True)
class _Layout:
    """Sizes in inches; `wide` panels stand side by side."""

    plan: Arrangement
    rows: tuple[Level, ...]
    columns: tuple[Level, ...]
    panels: tuple[Panel, ...]
    wide: int
    cell_width: float
    cell_height: float
    text_size: float
    left: float
    row_lines: tuple[tuple[str, ...], ...]
    column_lines: tuple[tuple[str, ...], ...]
    strip: float

    @property
    def panel_width(self) -> float:
        return self.cell_width * len(self.columns)

    @property
    def panel_height(self) -> float:
        return self.cell_height * len(self.rows)

    @property
    def axis(self) -> float:
        """Height of the column labels and the factor's name below them."""
        lines = max((len(label) for label in self.column_lines), default=1)
        return (lines * LABEL_SIZE + LABEL_SIZE) * LEADING + 0.14

    @property
    def tall(self) -> int:
        return math.ceil(len(self.panels) / self.wide)

    @property
    def width(self) -> float:
        return self.left + self.wide * self.panel_width + (self.wide - 1) * GAP + MARGIN

    @property
    def height(self) -> float:
        """Of all panels with their titles and the labels below the last line."""
        return self.tall * (self.strip + self.panel_height) + (self.tall - 1) * GAP + self.axis


def draw_heat(matrix: Matrix, palette: Palette) -> Sheet:
    """The heat maps of a matrix with at least two factors."""
    annotated = len(matrix.cells) <= MOST_ANNOTATED
    numbers = numbers_for(matrix)
    layout = _layout(matrix, numbers, annotated=annotated)
    scale = scale_for(matrix, palette.colours)
    outlined = 0 < len(matrix.ties) <= max(3, len(matrix.cells) // 3)
    sheet_width = max(layout.width, NARROWEST)
    around = frame(words_for(matrix, outlined=outlined, clipped=scale.clipped), sheet_width, palette)
    layout = replace(layout, left=layout.left + (sheet_width - layout.width) / 2)
    bar = BAR if any(cell.mean is not None for cell in matrix.cells) else 0.1
    sheet = Sheet(sheet_width, around.top + layout.height + bar + around.bottom, palette)
    sheet.surround(around)
    pen = _Pen(matrix, layout, scale, palette, numbers, sheet, annotated=annotated, outlined=outlined)
    for place, panel in enumerate(layout.panels):
        pen.panel(place, panel, around)
    _colour_bar(sheet, scale, matrix, layout, around, palette, numbers)
    return sheet


def _layout(matrix: Matrix, numbers: Numbers, *, annotated: bool) -> _Layout:
    plan = arrange(matrix)
    rows, columns = matrix.factors[plan.rows or ""], matrix.factors[plan.columns or ""]
    shown = tuple(panels(matrix, plan))
    spread = any(cell.sd is not None for cell in matrix.cells)
    size = CELL_SIZE if len(shown) == 1 else CELL_SIZE - 1
    cell_width = max([0.5, *(_needed(cell, numbers, size) for cell in matrix.cells)]) if annotated else 0.16
    cell_height = (0.42 if spread else 0.34) * size / CELL_SIZE if annotated else 0.16
    if annotated and len(shown) == 1:
        cell_width = max(cell_width, min(0.95, 3.4 / len(columns)))
    row_labels = [wrapped(drawable(level_word(row)), LABEL_SIZE, 1.35, 2 if annotated else 1) for row in rows]
    column_labels = _column_labels(columns, cell_width)
    left = MARGIN + 0.24 + max(width(line, LABEL_SIZE) for label in row_labels for line in label) + 0.08
    panel_width = cell_width * len(columns)
    fitting = max(1, int((WIDEST - left - MARGIN + GAP) / (panel_width + GAP)))
    per_line = len({panel.place for panel in shown})
    wide = _side_by_side(per_line, fitting)
    strip = (LABEL_SIZE * LEADING + 0.06) if len(shown) > 1 else 0.0
    return _Layout(
        plan, rows, columns, shown, wide, cell_width, cell_height, size, left, tuple(row_labels), column_labels, strip
    )


def _side_by_side(panels_in_line: int, fitting: int) -> int:
    """As many as fit, in lines as even as can be."""
    if panels_in_line <= fitting:
        return panels_in_line
    lines = math.ceil(panels_in_line / fitting)
    return math.ceil(panels_in_line / lines)


def _column_labels(columns: tuple[Level, ...], cell_width: float) -> tuple[tuple[str, ...], ...]:
    texts = [drawable(level_word(column)) for column in columns]
    every = 1
    if cell_width < 0.3:
        every = max(1, math.ceil(max(width(text, LABEL_SIZE) for text in texts) * 1.3 / cell_width))
    room = cell_width * every - 0.06
    return tuple(wrapped(text, LABEL_SIZE, room, 3) if at % every == 0 else () for at, text in enumerate(texts))


def _needed(cell: Cell, numbers: Numbers, size: float) -> float:
    if cell.mean is None:
        return 0.62 if cell.failures else 0.0
    mean = width(f"★ {numbers.one(cell.mean)}†", size, bold=True)
    spread = width(f"± {numbers.spread(cell.sd)}", SMALL_SIZE) if cell.sd is not None else 0.0
    return max(mean, spread) + 0.12


@dataclass(frozen=True)
class _Pen:
    matrix: Matrix
    layout: _Layout
    scale: Scale
    palette: Palette
    numbers: Numbers
    sheet: Sheet
    annotated: bool
    outlined: bool

    def panel(self, place: int, panel: Panel, around: Frame) -> None:
        """One heat map with its title, its labels where it stands at the edge."""
        layout = self.layout
        line, across = divmod(place, layout.wide)
        left = layout.left + across * (layout.panel_width + GAP)
        top = around.top + line * (layout.strip + layout.panel_height + GAP) + layout.strip
        axes = self.sheet.axes(left, top, layout.panel_width, layout.panel_height)
        axes.set_xlim(0, len(layout.columns))
        axes.set_ylim(len(layout.rows), 0)
        axes.set_xticks([])
        axes.set_yticks([])
        if layout.strip:
            self._title(panel, left, top)
        if across == 0:
            self._row_labels(left, top)
        if place + layout.wide >= len(layout.panels):
            self._column_labels(left, top + layout.panel_height)
        self._cells(axes, panel)

    def _title(self, panel: Panel, left: float, top: float) -> None:
        plan = self.layout.plan
        title = panel_title((*plan.down, *plan.across), (*panel.down, *panel.across))
        text = shortened(drawable(title), LABEL_SIZE, self.layout.panel_width, bold=True)
        self.sheet.text(left, top - self.layout.strip, Line(text, LABEL_SIZE, self.palette.text, bold=True))

    def _row_labels(self, left: float, top: float) -> None:
        layout = self.layout
        for at, label in enumerate(layout.row_lines):
            middle = top + (at + 0.5) * layout.cell_height
            for line, text in enumerate(label):
                shift = (line - (len(label) - 1) / 2) * LABEL_SIZE * LEADING
                word = Line(text, LABEL_SIZE, self.palette.text)
                self.sheet.text(left - 0.07, middle + shift, word, "right", middle=True)
        name = shortened(drawable(factor_word(layout.plan.rows or "")), LABEL_SIZE, layout.panel_height)
        self.sheet.figure.text(
            (left - layout.left + MARGIN + (self.layout.left - self._label_room())) / self.sheet.width,
            1 - (top + layout.panel_height / 2) / self.sheet.height,
            name,
            size=LABEL_SIZE,
            color=self.palette.muted,
            rotation=90,
            ha="center",
            va="center",
            parse_math=False,
        )

    def _label_room(self) -> float:
        widest = max(width(line, LABEL_SIZE) for label in self.layout.row_lines for line in label)
        return widest + 0.08 + 0.14 + MARGIN

    def _column_labels(self, left: float, top: float) -> None:
        layout = self.layout
        for at, label in enumerate(layout.column_lines):
            lines = tuple(Line(text, LABEL_SIZE, self.palette.text) for text in label)
            self.sheet.lines(left + (at + 0.5) * layout.cell_width, top + 0.05, lines, "center")
        deep = max((len(label) for label in layout.column_lines), default=1)
        name = shortened(drawable(factor_word(layout.plan.columns or "")), LABEL_SIZE, layout.panel_width)
        middle = left + layout.panel_width / 2
        self.sheet.text(
            middle, top + 0.07 + deep * LABEL_SIZE * LEADING, Line(name, LABEL_SIZE, self.palette.muted), "center"
        )

    def _cells(self, axes: Axes, panel: Panel) -> None:
        for y, row in enumerate(self.layout.rows):
            for x, column in enumerate(self.layout.columns):
                cell = cell_at(self.matrix, self.layout.plan, panel, row, column)
                if cell is not None:
                    self._cell(axes, x, y, cell)

    def _cell(self, axes: Axes, x: int, y: int, cell: Cell) -> None:
        from matplotlib.patches import Rectangle

        palette = self.palette
        if cell.mean is not None:
            colour = self.scale.at(cell.mean)
            axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=palette.background, linewidth=1.2))
            self._outline(axes, x, y, cell)
            if self.annotated:
                self._number(axes, x, y, cell, "#111418" if is_bright(colour) else "#ffffff")
        elif cell.failures and not cell.pending:
            box = Rectangle((x + 0.02, y + 0.02), 0.96, 0.96, facecolor=palette.failed, hatch="////", linewidth=0)
            box.set_edgecolor(palette.hatch)
            axes.add_patch(box)
            if self.annotated:
                self._reason(axes, x, y, cell)
        else:
            axes.add_patch(
                Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, facecolor="none", edgecolor=palette.line, linewidth=0.8)
            )

    def _outline(self, axes: Axes, x: int, y: int, cell: Cell) -> None:
        from matplotlib.patches import Rectangle

        best = cell.verdict.against == "best"
        if not best and not (cell.tied and self.outlined):
            return
        thick = 2.4 if best else 1.1
        axes.add_patch(
            Rectangle(
                (x, y), 1, 1, facecolor="none", edgecolor=self.palette.accent if best else self.palette.text,
                linewidth=thick, zorder=3 if best else 2, clip_on=False,
            )
        )  # fmt: skip

    def _number(self, axes: Axes, x: int, y: int, cell: Cell, colour: str) -> None:
        best = cell.verdict.against == "best"
        mean = ("★ " if best else "") + self.numbers.one(cell.mean or 0.0) + ("†" if cell.repairs else "")
        second = f"± {self.numbers.spread(cell.sd)}" if cell.sd is not None else ""
        few = f"n={cell.n}" if cell.n < self.matrix.seeds else ""
        second = "  ".join(part for part in (second, few) if part)
        if second and width(second, SMALL_SIZE) > self.layout.cell_width - 0.06 and few:
            second = second.replace("  ", " ").replace("± ", "±")
        size = self.layout.text_size
        self._put(axes, x + 0.5, y + (0.35 if second else 0.5), mean, size, colour, bold=best)
        if second:
            self._put(axes, x + 0.5, y + 0.73, second, SMALL_SIZE, colour)

    def _reason(self, axes: Axes, x: int, y: int, cell: Cell) -> None:
        lines = wrapped(drawable(failure_words(cell)), SMALL_SIZE, self.layout.cell_width - 0.06, 2)
        step = SMALL_SIZE * LEADING / self.layout.cell_height
        for at, text in enumerate(lines):
            middle = y + 0.5 + (at - (len(lines) - 1) / 2) * step
            back: dict[str, object] = {"facecolor": self.palette.failed, "edgecolor": "none", "pad": 0.8}
            self._put(axes, x + 0.5, middle, text, SMALL_SIZE, self.palette.muted, bbox=back)

    def _put(
        self, axes: Axes, x: float, y: float, text: str, size: float, colour: str, *, bold: bool = False,
        bbox: dict[str, object] | None = None,
    ) -> None:  # fmt: skip
        axes.text(
            x, y, text, size=size, color=colour, weight="bold" if bold else "normal", ha="center", va="center_baseline",
            parse_math=False, bbox=bbox, zorder=4,
        )  # fmt: skip


def _colour_bar(
    sheet: Sheet, scale: Scale, matrix: Matrix, layout: _Layout, around: Frame, palette: Palette, numbers: Numbers
) -> None:
    if all(cell.mean is None for cell in matrix.cells):
        return
    all_panels = layout.wide * layout.panel_width + (layout.wide - 1) * GAP
    low, high = numbers.one(scale.low), numbers.one(scale.high)
    low, high = (f"≤ {low}", high) if scale.clipped and scale.maximize else (low, high)
    high = f"≥ {high}" if scale.clipped and not scale.maximize else high
    ends = width(low, LABEL_SIZE) + width(high, LABEL_SIZE) + 0.16
    length = min(2.2, max(1.0, all_panels - ends))
    left = layout.left + max(0.0, (all_panels - length) / 2)
    top = around.top + layout.height + 0.12
    axes = sheet.axes(left, top, length, 0.13)
    axes.imshow([[at / 255 for at in range(256)]], aspect="auto", cmap=scale.colours(), extent=(0, 1, 0, 1))
    axes.set_xticks([])
    axes.set_yticks([])
    sheet.text(left - 0.07, top + 0.065, Line(low, LABEL_SIZE, palette.muted), "right", middle=True)
    sheet.text(left + length + 0.07, top + 0.065, Line(high, LABEL_SIZE, palette.muted), "left", middle=True)
