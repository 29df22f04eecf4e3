"""How numbers, levels, factors and failures are written in tables, pictures and sentences."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from lab.results.values import Cell, Level, Matrix, RunResult

BIG = 1e5
SMALL = 1e-3
_STATES = {
    "cancelled": "cancelled",
    "lost": "lost",
    "denied": "denied",
    "expired": "no approval",
}
_CATEGORIES = {
    "gpu-oom-capacity": "out of memory",
    "gpu-oom-fragmentation": "out of memory",
    "gpu-memory-contention": "GPU shared",
    "host-oom": "out of memory",
    "shm-exhausted": "shm full",
    "fd-exhausted": "too many files",
    "disk-full": "disk full",
    "numerical-divergence": "diverged",
    "gpu-hardware-fault": "GPU fault",
    "walltime": "out of time",
    "node-failure": "node failed",
    "user-cancelled": "cancelled",
    "hang": "hung",
    "data-missing": "data missing",
    "data-invalid": "bad data",
    "config-error": "bad setting",
    "missing-dependency": "package missing",
    "cause-not-in-log": "cause unknown",
}


def reason_word(run: RunResult, metric: str) -> str:
    """Why a run gave no number, in a word or two that fit into a cell."""
    if run.category and run.category != "no-failure":
        return _CATEGORIES.get(run.category, run.category.replace("-", " "))
    if run.state == "succeeded":
        return "diverged" if metric in run.metrics or metric in run.best else "no result"
    return _STATES.get(run.state) or (run.reason or "failed")


def level_word(level: Level | None) -> str:
    """A level as people write it: `1e-4`, `0.01`, `on`, `off`, `cnn`."""
    if level is None:
        return "–"
    if isinstance(level, bool):
        return "on" if level else "off"
    if not isinstance(level, float):
        return str(level)
    if not level or SMALL <= abs(level) < BIG:
        return f"{level:.10g}"
    if not math.isfinite(level):
        return str(level)
    mantissa, exponent = f"{level:.6e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def factor_word(name: str) -> str:
    """A factor's name with blanks: `batch size`."""
    return name.replace("_", " ").strip()


def cell_words(levels: dict[str, Level]) -> str:
    """A cell's levels in a phrase: `cnn at lr 0.01 and batch size 64`. Words stand alone, numbers with their factor."""
    names = [str(level) for level in levels.values() if isinstance(level, str)]
    rest = [f"{factor_word(name)} {level_word(level)}" for name, level in levels.items() if not isinstance(level, str)]
    if names and rest:
        return f"{' '.join(names)} at {joined(rest)}"
    return " ".join(names) or joined(rest) or "this setting"


def joined(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


@dataclass(frozen=True)
class Numbers:
    """Writes the numbers of one matrix with as many decimals as their spread over seeds bears."""

    decimals: int

    def one(self, number: float) -> str:
        if number == 0 or 0.5 * 10**-self.decimals <= abs(number) < BIG:
            return f"{number:.{self.decimals}f}"
        return compact(number)

    def spread(self, number: float) -> str:
        """A standard deviation; one too small for the decimals is `<0.001`, not 0."""
        if 0 < number < 0.5 * 10**-self.decimals:
            return f"<{10**-self.decimals:.{self.decimals}f}"
        return f"{number:.{self.decimals}f}" if number < BIG else compact(number)

    def cell(self, cell: Cell) -> str:
        """Mean and standard deviation: `0.978 ± 0.003`; empty without a number."""
        if cell.mean is None:
            return ""
        return self.one(cell.mean) + (f" ± {self.spread(cell.sd)}" if cell.sd is not None else "")


def numbers_for(matrix: Matrix) -> Numbers:
    """At least three digits of the largest number, at most four decimals (seven where all numbers are tiny)."""
    signed = [cell.mean for cell in matrix.cells if cell.mean is not None and abs(cell.mean) < BIG]
    spreads = [cell.sd for cell in matrix.cells if cell.sd]
    top = max(map(abs, signed), default=1.0) or 1.0
    least = max(0, 2 - math.floor(math.log10(top)))
    least = min(least, 3) if top >= SMALL else min(least, 7)
    apart = max(signed, default=0.0) - min(signed, default=0.0)
    step = median(spreads) if spreads else apart / 20
    wanted = -math.floor(math.log10(step)) if step > 0 else least
    return Numbers(max(least, min(wanted, 4)))


def compact(number: float) -> str:
    """`1.2e6`: for numbers that would not fit."""
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def counted(words: Iterable[str]) -> str:
    """`2 out of memory, 1 diverged`: the most frequent first."""
    tally: dict[str, int] = {}
    for word in words:
        tally[word] = tally.get(word, 0) + 1
    return ", ".join(f"{n} {word}" for word, n in sorted(tally.items(), key=lambda item: -item[1]))
