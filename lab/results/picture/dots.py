"""One factor: each level's mean with its 95% interval and the single runs, on one axis."""

from dataclasses import dataclass

from lab.results.arrange import arrange
from lab.results.picture.fonts import drawable, width, wrapped
from lab.results.picture.notes import failure_words, words_for
from lab.results.picture.sheet import LEADING, Axes, Line, Sheet, frame
from lab.results.picture.theme import LABEL_SIZE, MARGIN, SMALL_SIZE, Palette
from lab.results.values import Cell, Matrix
from lab.results.words import Numbers, factor_word, level_word, numbers_for

WIDTH = 5.6
ROW = 0.36
AXIS = 0.5


def draw_dots(matrix: Matrix, palette: Palette) -> Sheet:
    """The dot plot of a matrix with one factor (or none that varies)."""
    numbers = numbers_for(matrix)
    plan = arrange(matrix)
    labels = [_label(matrix, cell, plan.rows) for cell in matrix.cells]
    left = MARGIN + 0.26 + max(width(line, LABEL_SIZE) for label in labels for line in label) + 0.1
    right = MARGIN + max([0.6, *(width(_value(cell, numbers), LABEL_SIZE, bold=True) for cell in matrix.cells)]) + 0.1
    around = frame(words_for(matrix, outlined=False), WIDTH, palette)
    tall = ROW * len(matrix.cells)
    sheet = Sheet(WIDTH, around.top + tall + AXIS + around.bottom, palette)
    sheet.surround(around)
    axes = sheet.axes(left, around.top, WIDTH - left - right, tall)
    pen = _Pen(axes, sheet, palette, numbers)
    _scale(axes, matrix, palette, numbers)
    for at, (cell, label) in enumerate(zip(matrix.cells, labels, strict=True)):
        middle = around.top + (at + 0.5) * ROW
        for line, text in enumerate(label):
            shift = (line - (len(label) - 1) / 2) * LABEL_SIZE * LEADING * 0.9
            sheet.text(left - 0.1, middle + shift, Line(text, LABEL_SIZE, palette.text), "right", middle=True)
        pen.row(at, cell)
        pen.value(cell, WIDTH - MARGIN, middle)
    sheet.text(
        (left + WIDTH - right) / 2,
        around.top + tall + 0.26,
        Line(drawable(factor_word(matrix.metric)), LABEL_SIZE, palette.muted),
        "center",
    )
    if plan.rows:
        sheet.text(MARGIN, around.top - 0.04, Line(drawable(factor_word(plan.rows)), SMALL_SIZE, palette.muted))
    return sheet


def _label(matrix: Matrix, cell: Cell, factor: str | None) -> tuple[str, ...]:
    word = level_word(matrix.named(cell)[factor]) if factor else "all runs"
    return wrapped(drawable(word), LABEL_SIZE, 1.6, 2)


def _value(cell: Cell, numbers: Numbers) -> str:
    best = "★ " if cell.verdict.against == "best" else ""
    return best + numbers.cell(cell) + ("†" if cell.repairs else "")


def _scale(axes: Axes, matrix: Matrix, palette: Palette, numbers: Numbers) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ends = [end for cell in matrix.cells for end in (*cell.numbers, cell.low, cell.high) if end is not None]

    def _tick(number: float, _at: object) -> str:
        return numbers.one(number)

    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    pad = (high - low) * 0.06 or abs(high) * 0.05 or 0.5
    axes.set_xlim(low - pad, high + pad)
    axes.set_ylim(len(matrix.cells) - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(_tick))
    axes.tick_params(axis="x", labelsize=LABEL_SIZE, labelcolor=palette.muted, length=0)
    axes.grid(axis="x", color=palette.line, linewidth=0.7)
    axes.set_axisbelow(True)


@dataclass(frozen=True)
class _Pen:
    axes: Axes
    sheet: Sheet
    palette: Palette
    numbers: Numbers

    def row(self, at: int, cell: Cell) -> None:
        """The interval, the single runs and the mean of one level; a hatched band where all its runs failed."""
        if cell.mean is None:
            if cell.failures and not cell.pending:
                self._failed(at, cell)
            return
        best = cell.verdict.against == "best"
        colour = self.palette.accent if best else self.palette.dot
        if cell.low is not None and cell.high is not None:
            self.axes.plot([cell.low, cell.high], [at, at], color=colour, linewidth=2, solid_capstyle="round", zorder=2)
        if cell.n > 1:
            self.axes.scatter(cell.numbers, [at + 0.24] * cell.n, s=9, color=colour, alpha=0.55, linewidths=0, zorder=2)
        face = self.palette.background if cell.tied else colour
        marker = "*" if best else "o"
        self.axes.scatter(
            [cell.mean], [at], s=150 if best else 42, marker=marker, color=face, edgecolors=colour, linewidths=1.6,
            zorder=3,
        )  # fmt: skip

    def _failed(self, at: int, cell: Cell) -> None:
        low, high = self.axes.get_xlim()
        self.axes.barh(
            at, high - low, 0.62, low, color=self.palette.failed, edgecolor=self.palette.hatch, hatch="////",
            linewidth=0,
        )  # fmt: skip
        self.axes.text(
            (low + high) / 2, at, drawable(failure_words(cell)), size=LABEL_SIZE, color=self.palette.muted, ha="center",
            va="center_baseline", parse_math=False,
            bbox={"facecolor": self.palette.failed, "edgecolor": "none", "pad": 2},
        )  # fmt: skip

    def value(self, cell: Cell, right: float, middle: float) -> None:
        """The number at the right edge."""
        best = cell.verdict.against == "best"
        text = _value(cell, self.numbers) if cell.mean is not None else ("…" if cell.pending else "")
        colour = self.palette.text if cell.mean is not None else self.palette.muted
        self.sheet.text(right, middle, Line(text, LABEL_SIZE, colour, bold=best), "right", middle=True)
