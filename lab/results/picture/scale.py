"""Colours for numbers: one scale for all panels, bright is good, one outlier does not flatten the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from lab.results.values import Matrix

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

REACH = 4.0
"""The scale ends at this many times the median's distance from the best."""


@dataclass(frozen=True)
class Scale:
    low: float
    high: float
    clipped: bool
    maximize: bool
    name: str

    def colours(self) -> "Colormap":
        from matplotlib import colormaps

        return colormaps[self.name if self.maximize else f"{self.name}_r"]

    def at(self, number: float) -> tuple[float, float, float, float]:
        """Red, green, blue, alpha of a number."""
        share = (number - self.low) / (self.high - self.low)
        red, green, blue, alpha = self.colours()(min(1.0, max(0.0, share)))
        return float(red), float(green), float(blue), float(alpha)


def scale_for(matrix: Matrix, name: str) -> Scale:
    """The scale over all means."""
    maximize = matrix.goal == "maximize"
    means = [cell.mean for cell in matrix.cells if cell.mean is not None]
    low, high, clipped = _range(means, maximize=maximize)
    if low == high:
        pad = abs(low) * 0.05 or 0.5
        low, high = low - pad, high + pad
    return Scale(low, high, clipped, maximize, name)


def _range(means: Sequence[float], *, maximize: bool) -> tuple[float, float, bool]:
    if not means:
        return 0.0, 1.0, False
    low, high = min(means), max(means)
    best, worst = (high, low) if maximize else (low, high)
    reach = REACH * abs(median(means) - best)
    if reach == 0 or abs(worst - best) <= reach * 1.25:
        return low, high, False
    return (best - reach, best, True) if maximize else (best, best + reach, True)


def is_bright(colour: tuple[float, float, float, float]) -> bool:
    """Whether dark text reads better on it: relative luminance (WCAG 2.2) above that of equal contrast, 0.179."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179
