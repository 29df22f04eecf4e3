"""The matrix as text: a table for cards, monospace for the terminal, CSV and Markdown for files."""

import csv
import io
import unicodedata
from collections.abc import Sequence

from lab.cards import Table
from lab.results.arrange import Arrangement, Panel, arrange, cell_at
from lab.results.values import Cell, Level, Matrix
from lab.results.words import Numbers, counted, factor_word, level_word, numbers_for

WIDE = 8
"""Levels that a grid has side by side; beyond them, or with more than two factors, each cell gets a line of its own."""
_HERE = Panel(0, 0, (), ())


def matrix_table(matrix: Matrix) -> Table:
    """Two factors as a grid, otherwise a line for each cell. The caption explains the marks that occur."""
    numbers = numbers_for(matrix)
    plan = arrange(matrix)
    if plan.rows and plan.columns and not plan.across and len(matrix.factors[plan.columns]) <= WIDE:
        return _grid(matrix, plan, numbers)
    return _list(matrix, numbers)


def _grid(matrix: Matrix, plan: Arrangement, numbers: Numbers) -> Table:
    rows_of, columns_of = plan.rows or "", plan.columns or ""
    columns = matrix.factors[columns_of]
    head = (f"{factor_word(rows_of)} \\ {factor_word(columns_of)}", *(level_word(level) for level in columns))
    rows = tuple(
        (level_word(row), *(cell_text(cell_at(matrix, plan, _HERE, row, column), numbers) for column in columns))
        for row in matrix.factors[rows_of]
    )
    return Table(head, rows, "l" + "r" * len(columns), _caption(matrix))


def _list(matrix: Matrix, numbers: Numbers) -> Table:
    shown = [name for name, levels in matrix.factors.items() if len(levels) > 1] or list(matrix.factors)
    rows = tuple(
        (*(level_word(matrix.named(cell)[name]) for name in shown), cell_text(cell, numbers), str(cell.n))
        for cell in matrix.cells
    )
    head = (*(factor_word(name) for name in shown), factor_word(matrix.metric), "n")
    return Table(head, rows, "l" * len(shown) + "rr", _caption(matrix))


def cell_text(cell: Cell | None, numbers: Numbers) -> str:
    """`0.978 ± 0.003 *`, `out of memory`, `…` while pending, `–` where nothing was asked for."""
    if cell is None or not (cell.values or cell.failures or cell.pending):
        return "–"
    if cell.mean is None:
        return "…" if cell.pending else "✗ " + _why(cell)
    return " ".join((numbers.cell(cell), *marks(cell)))


def marks(cell: Cell) -> tuple[str, ...]:
    """`*` the best, `~` not distinguishable from it, `+` ran after a repair, `(2 of 3)` where runs failed or wait."""
    found: list[str] = []
    if cell.verdict.against == "best":
        found.append("*")
    if cell.tied:
        found.append("~")
    if cell.repairs:
        found.append("+")
    total = cell.n + len(cell.failures) + cell.pending
    if total > cell.n:
        found.append(f"({cell.n} of {total})")
    return tuple(found)


def _why(cell: Cell) -> str:
    words = {failure.word for failure in cell.failures}
    return words.pop() if len(words) == 1 else counted(failure.word for failure in cell.failures)


def _caption(matrix: Matrix) -> str:
    marked = {mark for cell in matrix.cells for mark in marks(cell)}
    legend = [f"{factor_word(matrix.metric)}, mean ± sd" if matrix.seeds > 1 else factor_word(matrix.metric)]
    for mark, words in (("*", "best"), ("~", "not distinguishable from the best"), ("+", "ran after a repair")):
        if mark in marked:
            legend.append(f"{mark} {words}")
    return "; ".join(legend)


def matrix_text(matrix: Matrix) -> str:
    """The table in monospace, numbers aligned to the right."""
    table = matrix_table(matrix)
    lines = [table.columns, *table.rows]
    widths = [max(_width(line[at]) for line in lines) for at in range(len(table.columns))]
    texts = [
        "  ".join(_padded(cell, w, a) for cell, w, a in zip(line, widths, table.align, strict=True)) for line in lines
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([texts[0].rstrip(), rule, *(text.rstrip() for text in texts[1:]), table.caption])


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _padded(text: str, width: int, align: str) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if align == "r" else text + blanks


def to_markdown(matrix: Matrix) -> str:
    """The table as a Markdown pipe table, `|` in levels escaped."""
    table = matrix_table(matrix)
    rule = ["---:" if align == "r" else "---" for align in table.align]
    lines = [_pipes(table.columns), _pipes(rule, escape=False), *(_pipes(row) for row in table.rows)]
    return "\n".join([*lines, "", table.caption.replace("*", "\\*").replace("~", "\\~")]) + "\n"


def _pipes(cells: Sequence[str], *, escape: bool = True) -> str:
    if escape:
        cells = [_escaped(cell) for cell in cells]
    return "| " + " | ".join(cells) + " |"


def _escaped(text: str) -> str:
    for sign in "\\|*~_`<":
        text = text.replace(sign, "\\" + sign)
    return text.replace("\n", " ")


def to_csv(matrix: Matrix) -> str:
    """One line for each cell: levels, n, mean, sd, 95% bounds, comparison with the best, what failed, each value."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["n", "mean", "sd", "low", "high", "against_best", "p_value", "failed", "reason", "pending", "repaired"]
    writer.writerow([*matrix.factors, *head, "seconds", "values"])
    for cell in matrix.cells:
        writer.writerow([*(_csv_level(level) for level in cell.levels), *_csv_cell(cell)])
    return out.getvalue()


def _csv_level(level: Level) -> str:
    text = str(level).lower() if isinstance(level, bool) else str(level)
    return "'" + text if isinstance(level, str) and text[:1] in ("=", "+", "-", "@") else text


def _csv_cell(cell: Cell) -> list[object]:
    bounds = (cell.mean, cell.sd, cell.low, cell.high)
    repaired = "; ".join(sorted({" and ".join(repair.remedies) for repair in cell.repairs}))
    values = "; ".join(
        f"{value.seed}: {value.value!r}" if value.seed is not None else repr(value.value) for value in cell.values
    )
    tested = (cell.verdict.against.value, cell.verdict.p_value)
    failed = (len(cell.failures), counted(failure.word for failure in cell.failures))
    return [cell.n, *bounds, *tested, *failed, cell.pending, repaired, cell.seconds, values]
