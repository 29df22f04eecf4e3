"""A research goal as it was understood, and the design that answers it. Both are frozen and stored as JSON."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lab.recipe.model import Setting, Size

Strategy = Literal["grid", "bayesian", "adaptive", "random"]


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Limits(Value):
    """What the person will not go beyond. Hours are GPU-hours in total, or hours on the clock where so named."""

    gpu_hours: float | None = Field(default=None, ge=0)
    deadline_hours: float | None = Field(default=None, gt=0)
    max_runs: int | None = Field(default=None, ge=1)
    hours_per_run: float | None = Field(default=None, gt=0)
    target: float | None = None


class Needs(Value):
    """What each run should run on, where the person said so."""

    gpus: int | None = Field(default=None, ge=0)
    gpu_type: str | None = None
    nodes: int | None = Field(default=None, ge=1)
    cpus: int | None = Field(default=None, ge=1)
    memory: Size = None


class Goal(Value):
    """The arguments of `plan_experiment`: what a person asked for, names as they wrote them.

    An end of a range that they did not name is `None`; the recipe's own bound then stands in.
    """

    goal: str = ""
    recipe: str | None = None
    factors: Mapping[str, tuple[Setting, ...]] = Field(default_factory=dict)
    ranges: Mapping[str, tuple[float | None, float | None]] = Field(default_factory=dict)
    n_runs: int | None = Field(default=None, ge=1)
    strategy: Strategy | None = None
    metrics: tuple[str, ...] = ()
    resources: Needs = Needs()
    limits: Limits = Limits()


class Design(Value):
    """What will be run: the recipe's own names, every level valid, one run a cell (or a trial of a search)."""

    factors: Mapping[str, tuple[Setting, ...]]
    ranges: Mapping[str, tuple[float, float]] = Field(default_factory=dict)
    strategy: Strategy = "grid"
    trials: int | None = Field(default=None, ge=1)
    metrics: tuple[str, ...] = ()
    resources: Needs = Needs()
    limits: Limits = Limits()

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")
