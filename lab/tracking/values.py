"""What the tracking is told: a plan and its runs as frozen values, read from the database by the caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

Setting = str | int | float | bool


@dataclass(frozen=True)
class MetricRow:
    """One number of an attempt. `special` is `nan`, `inf` or `-inf` where `value` is `None`."""

    name: str
    step: int
    value: float | None
    at: datetime
    special: str | None = None

    @property
    def number(self) -> float:
        return self.value if self.value is not None else float(self.special or "nan")


@dataclass(frozen=True)
class RunView:
    """A run with its last attempt. `state` is a `RunState`, times are aware.

    `settings` are the run's own and `used` those of its last attempt, remedies included. `certain` says that no further
    attempt will follow: only then are settings and `metrics`, which MLflow never forgets, written down.
    """

    run_id: int
    name: str
    settings: Mapping[str, Setting]
    state: str
    created_at: datetime
    certain: bool = False
    used: Mapping[str, Setting] | None = None
    attempts: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    host: str | None = None
    diagnosis: str | None = None
    reason: str | None = None
    commit: str | None = None
    metrics: tuple[MetricRow, ...] = ()
    log_tail: str | None = None

    @property
    def final_settings(self) -> Mapping[str, Setting]:
        return self.used if self.used is not None else self.settings

    @property
    def changed(self) -> dict[str, list[Setting | None]]:
        """What remedies changed: each setting's value before and after."""
        names = dict.fromkeys([*self.settings, *self.final_settings])
        pairs = {name: [self.settings.get(name), self.final_settings.get(name)] for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@dataclass(frozen=True)
class PlanView:
    """A plan and its runs. `note` is Markdown for MLflow's description; `files` go to the plan's artifacts."""

    plan_id: int
    project: str
    goal: str
    owner: str
    state: str
    created_at: datetime
    runs: tuple[RunView, ...] = ()
    ended_at: datetime | None = None
    recipe: str | None = None
    note: str = ""
    commit: str | None = None
    files: tuple[Path, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
