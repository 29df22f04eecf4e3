"""Losses that are NaN, infinite or exploded at the end of the log, whatever the exit says."""

import math
from itertools import accumulate

from lab.diagnosis.case import Case, Finding
from lab.diagnosis.progress import Mark
from lab.diagnosis.root import Findings
from lab.diagnosis.ruling import Ruling
from lab.diagnosis.signature import Verdict

_EXPLODED = 1e3
_LARGE = 50.0
_JUMP = 2.5
_ABOVE_START = 1.5
_GO_BACK = ("lower-learning-rate", "clip-gradients", "resume-from-last-good-checkpoint", "inspect-data")


def judge_losses(case: Case, found: Findings) -> Ruling | None:
    """The line at which the numbers left their range, if they stayed there."""
    clues = [one for one in found.open if one.signature.id == "nan-metric"]
    if clues and _still_bad(case, clues[-1]):
        words = f"The metrics became NaN or infinite at line {case.lines[clues[0].index].number} and stayed so."
        return Ruling("numerical-divergence", clues[0].index, Verdict(), words, 0.9, signature="nan-metric")
    for series in case.progress.loss_series:
        finite = [mark for mark in series if mark.loss is not None and math.isfinite(mark.loss)]
        jump = _plateau(finite)
        if jump is not None:
            text = f"The loss jumped to {jump.loss:g} and never came back."
            return Ruling("numerical-divergence", jump.index, Verdict(actions=_GO_BACK), text, 0.7)
        explosion = _explosion(finite)
        if explosion is not None:
            text = f"The loss exploded to {finite[-1].loss:g}."
            return Ruling("numerical-divergence", explosion.index, Verdict(), text, 0.75)
    return None


def _still_bad(case: Case, last: Finding) -> bool:
    """Whether the last loss that was printed is one of the bad ones."""
    losses = case.progress.losses
    if not losses or last.index >= losses[-1].index:
        return True
    return losses[-1].loss is not None and not math.isfinite(losses[-1].loss)


def _plateau(series: list[Mark]) -> Mark | None:
    """Where the loss jumped to well above everything before, its first value too, and stayed there to the end."""
    losses = [mark.loss or 0.0 for mark in series]
    if len(losses) < 4 or min(losses) <= 0:
        return None
    least_before = list(accumulate(losses, min))
    least_after = list(accumulate(reversed(losses), min))[::-1]
    for place in range(2, len(losses) - 1):
        before, after = least_before[place - 1], least_after[place]
        if after > _JUMP * before and after > _ABOVE_START * losses[0] and after - before > 1.0:
            return series[place] if losses[place] > 2 * losses[place - 1] else None
    return None


def _explosion(series: list[Mark]) -> Mark | None:
    """Where the loss first was far above its least, if it ended a thousand times above it."""
    sizes = [abs(mark.loss or 0.0) for mark in series]
    if len(sizes) < 3:
        return None
    least = max(min(sizes), 1e-3)
    if sizes[-1] <= _EXPLODED * least or sizes[-1] <= _LARGE:
        return None
    return next(mark for mark, size in zip(series, sizes, strict=True) if size > 10 * least and size > 20)
