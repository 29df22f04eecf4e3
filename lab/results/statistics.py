"""Intervals and comparisons of a few runs. A `Compare` takes the best cell and the others and judges each.

A cell has two to five runs as a rule: too few to know its own spread. So the spreads of all cells are used together,
each drawn towards their common value as far as they agree (moderated t: Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3:3).
With fewer than three such cells it is the paired t-test over shared seeds, or Welch's (1947). The best was picked for
being the best, so p-values are corrected for all pairs of cells (Bonferroni), not only those with the best.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev, variance
from typing import Any

from lab.results.values import Against, Cell, Verdict

LEVEL = 0.05
"""Where all cells are equally good, at most about this share of studies calls any of them worse."""
_ENDLESS = 1e6

Compare = Callable[[Cell, Sequence[Cell]], list[Verdict]]


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def interval(numbers: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Student's t interval of a mean, in the unit of `numbers`; `None` below two of them."""
    if len(numbers) < 2:
        return None
    half = float(_special().stdtrit(len(numbers) - 1, 0.5 + confidence / 2)) * stdev(numbers) / math.sqrt(len(numbers))
    mean = fmean(numbers)
    return Interval(mean - half, mean + half)


def compare_by_t(best: Cell, others: Sequence[Cell]) -> list[Verdict]:
    """Each cell against the best, two-sided; `UNKNOWN` where a cell or the best has a single run."""
    tested = [best, *(cell for cell in others if cell.n > 1)] if best.n > 1 else []
    pairs = len(tested) * (len(tested) - 1) / 2
    spreads = _moderated(tested) if len(tested) > 2 else {}
    verdicts: list[Verdict] = []
    for other in others:
        difference = best.mean - other.mean if best.mean is not None and other.mean is not None else None
        if best.n < 2 or other.n < 2:
            verdicts.append(Verdict(Against.UNKNOWN, difference=difference))
            continue
        if spreads:
            test = _unequal("moderated t", best.numbers, other.numbers, spreads[id(best)], spreads[id(other)])
        else:
            test = _paired(best, other) or _welch(best.numbers, other.numbers)
        p_value = min(1.0, test.p_value * pairs)
        against = Against.WORSE if p_value < LEVEL else Against.TIE
        verdicts.append(Verdict(against, test.method, difference, p_value))
    return verdicts


@dataclass(frozen=True)
class _Test:
    method: str
    p_value: float


@dataclass(frozen=True)
class _Spread:
    """A variance and the degrees of freedom behind it."""

    variance: float
    freedom: float


def _moderated(cells: Sequence[Cell]) -> dict[int, _Spread]:
    """Each cell's variance by the cell's id, drawn towards the common one; empty where most cells have no spread."""
    own = {id(cell): _Spread(variance(cell.numbers), cell.n - 1) for cell in cells}
    typical = median(spread.variance for spread in own.values())
    if typical <= 0:
        return {}
    floored = {cell: _Spread(max(s.variance, typical * 1e-3), s.freedom) for cell, s in own.items()}
    prior = _prior(list(floored.values()))
    known = sum(spread.freedom for spread in own.values())
    prior = _Spread(prior.variance, min(prior.freedom, known / 2))
    return {
        cell: _Spread(
            (prior.freedom * prior.variance + s.freedom * s.variance) / (prior.freedom + s.freedom),
            min(prior.freedom + s.freedom, known),
        )
        for cell, s in floored.items()
    }


def _prior(spreads: Sequence[_Spread]) -> _Spread:
    """The common variance and how many degrees of freedom it weighs, from the moments of log s² (Smyth 2004, 6.2)."""
    logs = [math.log(s.variance) - float(_special().digamma(s.freedom / 2)) + math.log(s.freedom / 2) for s in spreads]
    mean = fmean(logs)
    expected = fmean(float(_special().polygamma(1, s.freedom / 2)) for s in spreads)
    excess = variance(logs) - expected
    freedom = 2 * _trigamma_inverse(excess) if excess > 0 else _ENDLESS
    if freedom >= _ENDLESS:
        return _Spread(math.exp(mean), _ENDLESS)
    return _Spread(math.exp(mean + float(_special().digamma(freedom / 2)) - math.log(freedom / 2)), freedom)


def _trigamma_inverse(value: float) -> float:
    """x with trigamma(x) = value, by bisection over the logarithm."""
    low, high = math.log(1e-6), math.log(_ENDLESS)
    for _ in range(60):
        middle = (low + high) / 2
        if float(_special().polygamma(1, math.exp(middle))) > value:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


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


def _welch(a: Sequence[float], b: Sequence[float]) -> _Test:
    return _unequal("Welch t", a, b, _Spread(variance(a), len(a) - 1), _Spread(variance(b), len(b) - 1))


def _unequal(method: str, a: Sequence[float], b: Sequence[float], of_a: _Spread, of_b: _Spread) -> _Test:
    """The t-test with two variances; degrees of freedom after Satterthwaite."""
    va, vb = of_a.variance / len(a), of_b.variance / len(b)
    difference = fmean(a) - fmean(b)
    if va + vb == 0:
        return _Test(method, 1.0 if difference == 0 else 0.0)
    freedom = (va + vb) ** 2 / (va**2 / of_a.freedom + vb**2 / of_b.freedom)
    return _Test(method, _two_sided(freedom, difference / math.sqrt(va + vb)))


def _two_sided(freedom: float, t: float) -> float:
    return 2 * float(_special().stdtr(freedom, -abs(t)))


def _special() -> Any:
    """scipy's special functions, which have no types; imported late, since they take a fifth of a second."""
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    return special


def _by_seed(cell: Cell) -> dict[object, float]:
    return {value.seed: value.value for value in cell.values if value.seed is not None}
