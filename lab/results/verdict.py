"""Which cell won, and whether that is real, in one or two sentences from the matrix's own numbers."""

from collections.abc import Sequence

from lab.results.values import Against, Cell, Level, Matrix
from lab.results.words import cell_words, counted, factor_word, joined, level_word, numbers_for

NAMED = 2
"""Ties that are named; more are counted."""
CONTEXTS = 4
"""Contexts that are told one by one."""


def verdict(matrix: Matrix) -> str:
    """E.g. "cnn at lr 0.01 wins with accuracy 0.978 ± 0.003 over 3 seeds; lr 0.1 is not distinguishable from it"."""
    if not matrix.bests:
        return _nothing(matrix)
    if len(matrix.cells) == 1:
        return (
            f"The {factor_word(matrix.metric)} is {numbers_for(matrix).cell(matrix.cells[0])} {_over(matrix.cells[0])}."
        )
    if matrix.best is not None:
        first = f"{_winner(matrix, matrix.best)}; {_rivals(matrix, matrix.best)}."
    else:
        first = _by_context(matrix)
    notes = _notes(matrix)
    return f"{first} {_sentence('; '.join(notes))}" if notes else first


def _by_context(matrix: Matrix) -> str:
    """Each context's winner, and beside how many cells it stands apart."""
    told: list[str] = []
    for best in matrix.bests[:CONTEXTS]:
        rivals = [cell for cell in matrix.ties if matrix.context(cell) == matrix.context(best)]
        tied = f" ({_cells(len(rivals))} not distinguishable)" if rivals else ""
        where = " ".join(level_word(level) for level in matrix.context(best))
        told.append(f"on {where} {_winner(matrix, best)}{tied}")
    rest = len(matrix.bests) - len(told)
    text = "; ".join(told) + (f"; and {rest} more" if rest > 0 else "") + "."
    return text[0].upper() + text[1:]


def _nothing(matrix: Matrix) -> str:
    failed = counted(failure.word for cell in matrix.cells for failure in cell.failures)
    parts = [f"failed: {failed}"] if failed else []
    if matrix.pending:
        parts.append(f"{_runs(matrix.pending)} still to come")
    told = f" ({'; '.join(parts)})" if parts else ""
    return f"No run has given the {factor_word(matrix.metric)} yet{told}."


def _winner(matrix: Matrix, best: Cell) -> str:
    numbers = numbers_for(matrix)
    name = cell_words(_varied(matrix, matrix.named(best)))
    so_far = "so far " if matrix.pending else ""
    return f"{name} {so_far}wins with {factor_word(matrix.metric)} {numbers.cell(best)} {_over(best)}"


def _over(cell: Cell) -> str:
    return f"over {cell.n} seeds" if cell.n > 1 else "from one run"


def _varied(matrix: Matrix, levels: dict[str, Level]) -> dict[str, Level]:
    varied = {
        name: level
        for name, level in levels.items()
        if len(matrix.factors[name]) > 1 and not (name in matrix.contexts and len(matrix.bests) > 1)
    }
    return varied or levels


def _rivals(matrix: Matrix, best: Cell) -> str:
    others = [cell for cell in matrix.cells if cell.mean is not None and cell is not best]
    if not others:
        return "no other cell has a number to compare it with"
    if all(cell.verdict.against is Against.UNKNOWN for cell in others):
        few = "one run" if best.n == 1 else "so few runs"
        return f"with {few} a cell it can't be told whether that is more than noise"
    ties = matrix.ties
    if not ties:
        untested = sum(cell.verdict.against is Against.UNKNOWN for cell in others)
        told = f" ({_cells(untested)} with too few runs to test)" if untested else ""
        return f"each other cell is worse beyond noise{told}"
    names = [_apart(matrix, best, cell) for cell in ties[:NAMED]]
    if len(ties) > NAMED:
        names = [*names, f"{len(ties) - NAMED} more"]
    return f"{joined(names)} {'is' if len(ties) == 1 else 'are'} not distinguishable from it"


def _apart(matrix: Matrix, best: Cell, other: Cell) -> str:
    """Only the levels in which a cell differs from the best."""
    ours = matrix.named(best)
    return cell_words({name: level for name, level in matrix.named(other).items() if level != ours[name]})


def _notes(matrix: Matrix) -> list[str]:
    notes: list[str] = []
    repaired = [cell for cell in matrix.cells if cell.repairs]
    if repaired:
        changes = sorted({remedy for cell in repaired for repair in cell.repairs for remedy in repair.remedies})
        notes.append(f"{_share(repaired, matrix)} ran only after {joined(changes)}")
    failed = [cell for cell in matrix.cells if cell.failed]
    if failed:
        words = [cell.failures[0].word for cell in failed]
        why = words[0] if len(set(words)) == 1 else counted(words)
        notes.append(f"{_share(failed, matrix)} failed ({why})")
    if matrix.pending:
        notes.append(f"{_runs(matrix.pending)} {'is' if matrix.pending == 1 else 'are'} still to come")
    return notes


def _share(cells: Sequence[Cell], matrix: Matrix) -> str:
    return f"{len(cells)} of {_cells(len(matrix.cells))}"


def _cells(number: int) -> str:
    return f"{number} cell" if number == 1 else f"{number} cells"


def _runs(number: int) -> str:
    return f"{number} run" if number == 1 else f"{number} runs"


def _sentence(text: str) -> str:
    return f"{text}."
