"""What an attempt used of the machines."""

from datetime import datetime

from sqlmodel import Session

from backends.base import Observation
from lab.ids import id_of
from lab.jobs import spec_from_json
from lab.schema import Attempt, Plan, Run, Usage


def record_usage(tx: Session, plan: Plan, run: Run, attempt: Attempt, seen: Observation, at: datetime) -> None:
    """Settle the GPU- and CPU-seconds of an attempt that has ended; nothing when it never started."""
    started, ended = seen.started_at or attempt.started_at, seen.ended_at or at
    if started is None:
        return
    seconds = max(0.0, (ended - started).total_seconds())
    need = spec_from_json(attempt.job).resources
    tx.add(
        Usage(
            attempt_id=id_of(attempt),
            user_id=plan.owner_id,
            project_id=plan.project_id,
            month=f"{ended:%Y-%m}",
            kind="settled",
            gpu_type=need.gpu_type,
            gpu_seconds=seconds * need.gpus * need.nodes,
            cpu_seconds=seconds * need.cpus * need.nodes,
            at=at,
        )
    )
