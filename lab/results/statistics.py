"""Intervals and comparisons of a few runs. A `Compare` takes the best cell and the others and judges each.

Formulae: Student's t interval; Welch's unequal variances t-test (Welch 1947) with the Satterthwaite degrees of freedom;
the paired t-test where two cells share seeds; Holm's step-down correction (Holm 1979) over all cells compared.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from lab.results.values import Against, Cell, Verdict

LEVEL = 0.05
"""Of cells that are as good as the best, at most this share of studies calls any of them worse."""

Compare = Callable[[Cell, Sequence[Cell]], list[Verdict]]


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def interval(numbers: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """The t interval of a mean, in the unit of `numbers`; `None` below two of them."""
    if len(numbers) < 2:
        return None
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

    half = float(stdtrit(len(numbers) - 1, 0.5 + confidence / 2)) * stdev(numbers) / math.sqrt(len(numbers))
    mean = fmean(numbers)
    return Interval(mean - half, mean + half)


def compare_by_t(best: Cell, others: Sequence[Cell]) -> list[Verdict]:
    """Each cell against the best, two-sided: paired over two or more shared seeds, else Welch; Holm-corrected."""
    tests = [_paired(best, other) or _welch(best.numbers, other.numbers) for other in others]
    corrected = iter(holm([test.p_value for test in tests if test is not None]))
    verdicts: list[Verdict] = []
    for other, test in zip(others, tests, strict=True):
        if test is None:
            verdicts.append(Verdict(Against.UNKNOWN, difference=_difference(best, other)))
            continue
        p_value = next(corrected)
        against = Against.WORSE if p_value < LEVEL else Against.TIE
        verdicts.append(Verdict(against, test.method, _difference(best, other), p_value))
    return verdicts


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for their number, in the order given."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    corrected = [1.0] * len(p_values)
    running = 0.0
    for rank, at in enumerate(order):
        running = max(running, min(1.0, p_values[at] * (len(p_values) - rank)))
        corrected[at] = running
    return corrected


@dataclass(frozen=True)
class _Test:
    method: str
    p_value: float


def _difference(best: Cell, other: Cell) -> float | None:
    return best.mean - other.mean if best.mean is not None and other.mean is not None else None


def _paired(best: Cell, other: Cell) -> _Test | None:
    """`None` where fewer than two seeds are shared, or the differences have no spread to judge by."""
    theirs = _by_seed(other)
    differences = [value - theirs[seed] for seed, value in _by_seed(best).items() if seed in theirs]
    if len(differences) < 2:
        return None
    if not any(differences):
        return _Test("paired t", 1.0)
    spread = stdev(differences) / math.sqrt(len(differences))
    if spread <= abs(fmean(differences)) * 1e-9:
        return None
    return _Test("paired t", _two_sided(len(differences) - 1, fmean(differences) / spread))


def _welch(a: Sequence[float], b: Sequence[float]) -> _Test | None:
    if len(a) < 2 or len(b) < 2:
        return None
    va, vb = stdev(a) ** 2 / len(a), stdev(b) ** 2 / len(b)
    difference = fmean(a) - fmean(b)
    if va + vb == 0:
        return _Test("Welch t", 1.0 if difference == 0 else 0.0)
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return _Test("Welch t", _two_sided(freedom, difference / math.sqrt(va + vb)))


def _two_sided(freedom: float, t: float) -> float:
    from scipy.special import stdtr  # pyright: ignore[reportMissingTypeStubs]

    return 2 * float(stdtr(freedom, -abs(t)))


def _by_seed(cell: Cell) -> dict[object, float]:
    return {value.seed: value.value for value in cell.values if value.seed is not None}
