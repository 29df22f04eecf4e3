"""The life of a run and of a plan: which states there are and which steps between them."""

from enum import StrEnum
from types import MappingProxyType

from lab.errors import IllegalTransition


class RunState(StrEnum):
    DRAFT = "draft"
    AWAITING_APPROVAL = "awaiting_approval"
    QUEUED = "queued"
    SUBMITTING = "submitting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PREEMPTED = "preempted"
    CANCELLED = "cancelled"
    LOST = "lost"
    DENIED = "denied"
    EXPIRED = "expired"


class PlanState(StrEnum):
    DRAFT = "draft"
    AWAITING_APPROVAL = "awaiting_approval"
    ACTIVE = "active"
    DONE = "done"
    CANCELLED = "cancelled"
    DENIED = "denied"
    EXPIRED = "expired"
    REPLACED = "replaced"


class AttemptState(StrEnum):
    """`PREPARED` has its key written and nothing submitted; `SUBMITTED` has a handle."""

    PREPARED = "prepared"
    SUBMITTED = "submitted"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PREEMPTED = "preempted"
    CANCELLED = "cancelled"
    LOST = "lost"


RUN_STEPS: MappingProxyType[RunState, frozenset[RunState]] = MappingProxyType(
    {
        RunState.DRAFT: frozenset({RunState.AWAITING_APPROVAL, RunState.QUEUED, RunState.CANCELLED}),
        RunState.AWAITING_APPROVAL: frozenset(
            {RunState.QUEUED, RunState.DENIED, RunState.EXPIRED, RunState.CANCELLED, RunState.DRAFT}
        ),
        RunState.QUEUED: frozenset({RunState.SUBMITTING, RunState.CANCELLED, RunState.FAILED}),
        RunState.SUBMITTING: frozenset({RunState.RUNNING, RunState.QUEUED, RunState.CANCELLED, RunState.FAILED}),
        RunState.RUNNING: frozenset(
            {RunState.SUCCEEDED, RunState.FAILED, RunState.PREEMPTED, RunState.CANCELLED, RunState.LOST}
        ),
        RunState.FAILED: frozenset({RunState.QUEUED}),
        RunState.PREEMPTED: frozenset({RunState.QUEUED, RunState.CANCELLED}),
        RunState.LOST: frozenset({RunState.QUEUED, RunState.RUNNING, RunState.SUCCEEDED, RunState.FAILED}),
        RunState.CANCELLED: frozenset({RunState.QUEUED}),
        RunState.SUCCEEDED: frozenset[RunState](),
        RunState.DENIED: frozenset[RunState](),
        RunState.EXPIRED: frozenset[RunState](),
    }
)

RUN_ENDED = frozenset(
    {
        RunState.SUCCEEDED,
        RunState.FAILED,
        RunState.CANCELLED,
        RunState.LOST,
        RunState.DENIED,
        RunState.EXPIRED,
    }
)
PLAN_ENDED = frozenset({PlanState.DONE, PlanState.CANCELLED, PlanState.DENIED, PlanState.EXPIRED, PlanState.REPLACED})
ATTEMPT_LIVE = frozenset({AttemptState.PREPARED, AttemptState.SUBMITTED, AttemptState.RUNNING})


def check_step(before: RunState, after: RunState) -> None:
    """Raises `IllegalTransition` when a run can't go from `before` to `after`."""
    if after not in RUN_STEPS[before]:
        raise IllegalTransition(f"A run that is {before} can't become {after}.")
