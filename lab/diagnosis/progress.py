"""Signs of life: training steps, progress bars, losses."""

import math
import re
from dataclasses import dataclass, field

from lab.diagnosis.transcript import Line

_STEP = re.compile(
    r"(?i)(?:\b(?:step|iter(?:ation)?|it|batch|update|global_step|episode|round|num_updates)s?\b[\"']?\s*[:=#]?\s*\[?\s*(\d[\d,]*)"
    r"|\[\s*(\d+)\s*/\s*\d+\s*\]|\bEpoch\(train\)\s*\[\d+\]\[\s*(\d+)/|\b(\d+)/\d+ \[\d+:)"
)
_EPOCH = re.compile(r"(?i)\b(?:epoch|ep)\b[\"']?\s*[:=#]?\s*\[?\s*(\d+(?:\.\d+)?)")
_NUMBER = r"[-+]?(?:\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|nan|inf(?:inity)?)"
_LOSS = re.compile(
    rf"(?i)(?<![\w/-])(?:(?:train|training|lm|mean|avg|average|total|running|batch|step|val|valid|eval|dev|test)[ _/-]?)?(?<!policy )(?<!value )loss(?:[_/]\w+)*"
    rf"[\"']?\s*(?:[:=(|]+\s*|\s+)[\"']?({_NUMBER})(?![\w.])"
)
_WORDS = re.compile(
    r"(?i)error|exception|traceback|fail|assert|warn|resum|load|train_runtime|sav(?:ed|ing)|checkpoint|from step|at step|timeout"
)

_ANEW = 3
"""Steps that start again from a low number (a new epoch, a validation) count when there are several."""


@dataclass(frozen=True)
class Mark:
    """One line of progress: its place, its writer, its step or epoch, and its loss with its name where it tells them."""

    index: int
    stream: str
    step: float | None
    loss: float | None
    name: str = ""


@dataclass(frozen=True)
class Progress:
    """All marks in order."""

    marks: list[Mark] = field(default_factory=list[Mark])

    def goes_on_after(self, index: int, stream: str) -> bool:
        """Whether the same writer (or, unknown, anyone) made progress twice after a line."""
        best: float = -1.0
        later: list[float] = []
        for mark in self.marks:
            if mark.step is None or (stream and mark.stream != stream):
                continue
            if mark.index <= index:
                best = mark.step
            elif mark.step not in (best, *later):
                later.append(mark.step)
        advanced = [step for step in later if step > best]
        known = bool(stream) or best >= 0
        return len(advanced) >= (1 if known else 2) or len(later) >= _ANEW

    @property
    def losses(self) -> list[Mark]:
        """The marks that name a loss."""
        return [mark for mark in self.marks if mark.loss is not None]

    @property
    def loss_series(self) -> list[list[Mark]]:
        """The losses of each name apart: a validation loss says nothing about a jump of the training loss."""
        series: dict[str, list[Mark]] = {}
        for mark in self.losses:
            series.setdefault(mark.name, []).append(mark)
        return list(series.values())

    @property
    def last_index(self) -> int | None:
        """Where progress was last seen."""
        return self.marks[-1].index if self.marks else None


def find_progress(lines: list[Line]) -> Progress:
    """Read the progress of every line that reads like a step, and no more than that."""
    marks: list[Mark] = []
    for index, line in enumerate(lines):
        body = line.body
        if len(body) > 2_000 or _WORDS.search(body):
            continue
        step, epoch, loss = _STEP.search(body), _EPOCH.search(body), _LOSS.search(body)
        if step is None and epoch is None and loss is None:
            continue
        name = loss[0][: loss.start(1) - loss.start()].strip(" :=(|\"'").lower() if loss else ""
        marks.append(Mark(index, line.stream, _step(step, epoch), _number(loss[1]) if loss else None, name))
    return Progress(marks)


def _step(step: re.Match[str] | None, epoch: re.Match[str] | None) -> float | None:
    if step is not None:
        text = next(group for group in step.groups() if group is not None)
        count = float(text.replace(",", ""))
        return count + (float(epoch[1]) * 1e9 if epoch else 0.0)
    return float(epoch[1]) * 1e9 if epoch else None


def _number(text: str) -> float:
    low = text.lower().replace(",", "")
    if "inf" in low:
        return math.inf
    return math.nan if "nan" in low else float(low)
