"""What a picture says in words: title, subtitle and the notes that explain its marks."""

from collections.abc import Sequence

from lab.results.picture.sheet import Words
from lab.results.values import Cell, Level, Matrix
from lab.results.words import factor_word, joined, level_word


def words_for(matrix: Matrix, *, outlined: bool, clipped: bool = False) -> Words:
    """The words of a picture. `outlined`: ties are drawn as such; `clipped`: the colours leave out extremes."""
    title = matrix.title or f"{factor_word(matrix.metric)} by {joined([factor_word(f) for f in matrix.factors])}"
    direction = "higher" if matrix.goal == "maximize" else "lower"
    shown = f"{factor_word(matrix.metric)} ({direction} is better)"
    if matrix.seeds > 1:
        shown += f", mean ± sd over {matrix.seeds} seeds"
    fixed = [f"{factor_word(n)} {level_word(levels[0])}" for n, levels in matrix.factors.items() if len(levels) == 1]
    runs = f"{matrix.runs} run" if matrix.runs == 1 else f"{matrix.runs} runs"
    subtitle = " · ".join([shown, runs, *(fixed if len(fixed) < len(matrix.factors) else [])])
    notes = [_marks(matrix, outlined=outlined), *_repairs(matrix), *_rest(matrix)]
    if clipped:
        notes.append("colours end before the worst values")
    return Words(title, subtitle, tuple(note for note in notes if note))


def _marks(matrix: Matrix, *, outlined: bool) -> str:
    best = f"★ best of each {joined([factor_word(name) for name in matrix.contexts])}" if matrix.contexts else "★ best"
    parts = [best] if matrix.bests else []
    if matrix.ties:
        total = sum(cell.mean is not None for cell in matrix.cells) - len(matrix.bests)
        tied = "not distinguishable from it (95%)"
        parts.append(f"outlined: {tied}" if outlined else f"{len(matrix.ties)} of {total} others {tied}")
    return " · ".join(parts)


def _repairs(matrix: Matrix) -> list[str]:
    repairs = sorted({(r.remedies, r.after or "") for cell in matrix.cells for r in cell.repairs})
    if not repairs:
        return []
    told = [f"{joined(remedies)}{_after(after)}" for remedies, after in repairs]
    return [f"† ran with {'; '.join(told)}"]


def _after(word: str) -> str:
    known = {"diverged": " after diverging", "hung": " after hanging"}
    if word.startswith("out of "):
        return f" after running {word}"
    return known.get(word, f" after: {word}" if word else "")


def _rest(matrix: Matrix) -> list[str]:
    notes: list[str] = []
    fewer = any(0 < cell.n < matrix.seeds for cell in matrix.cells)
    if fewer and matrix.seeds > 1:
        notes.append("n: fewer runs than seeds gave a number")
    if matrix.pending:
        notes.append(f"empty: still to come ({matrix.pending} run{'s' if matrix.pending > 1 else ''})")
    return [" · ".join(notes)] if notes else []


def panel_title(names: Sequence[str], levels: Sequence[Level]) -> str:
    """`optimizer adam · dropout 0.1`."""
    return " · ".join(f"{factor_word(name)} {level_word(level)}" for name, level in zip(names, levels, strict=True))


def failure_words(cell: Cell) -> str:
    """Why a cell has no number: the most frequent reason."""
    words = [failure.word for failure in cell.failures]
    return max(words, key=words.count) if words else ""
