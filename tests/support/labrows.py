"""Rows to start a test of the lab's own tables from."""

from datetime import UTC, datetime, timedelta

from sqlmodel import Session, col, select

from lab import people, queue
from lab.ids import id_of
from lab.queue import Claim, PreparedJob
from lab.schema import Plan, Run
from lab.states import PlanState, RunState
from lab.store import Store
from lab.transitions import move_plan, move_run

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def thread_of(tx: Session, name: str = "1", surface: str = "t") -> int:
    return id_of(people.thread_for(tx, surface=surface, external_id=name, at=NOW))


def user_of(tx: Session, name: str = "ada") -> int:
    return id_of(people.user_for(tx, surface="t", external_id=name, name=name, role="researcher", at=NOW))


def make_plan(store: Store, runs: int, *, queued: bool = True, at: datetime = NOW) -> int:
    """A plan with so many runs, drafted or at work."""
    with store.write() as tx:
        plan = Plan(
            project_id=id_of(people.default_project(tx, NOW)),
            thread_id=thread_of(tx),
            owner_id=user_of(tx),
            goal="which x is best",
            recipe="toy",
            recipe_snapshot={},
            strategy="grid",
            design={"factors": {"x": list(range(runs))}},
            estimate={},
            digest="d",
            backend="fake",
            created_at=at,
        )
        tx.add(plan)
        tx.flush()
        for position in range(runs):
            tx.add(a_run(id_of(plan), position, at))
        tx.flush()
        if queued:
            move_plan(tx, plan, PlanState.ACTIVE, actor="ada", why="go", at=at)
            for run in tx.exec(select(Run).where(Run.plan_id == id_of(plan)).order_by(col(Run.position))).all():
                move_run(tx, run, RunState.QUEUED, actor="ada", why="go", at=at)
        return id_of(plan)


def a_run(plan_id: int, position: int, at: datetime = NOW) -> Run:
    return Run(
        plan_id=plan_id,
        position=position,
        settings={"x": position},
        settings_digest=str(position),
        remedies={},
        resources={"cpus": 1},
        created_at=at,
    )


def prepared(run: Run, number: int) -> PreparedJob:
    """The job of an attempt: nothing that a test reads, but complete."""
    return PreparedJob("fake", {**run.settings, "try": number}, {"argv": ["true"]}, "digest")


def claim_in(tx: Session, owner: str = "w", at: datetime = NOW, lease_s: float = 30) -> Claim | None:
    return queue.claim_next(tx, owner=owner, now=at, lease_s=lease_s, fits=lambda _run: True, prepare=prepared)


def claim(store: Store, owner: str = "w", at: datetime = NOW) -> Claim | None:
    with store.write() as tx:
        return claim_in(tx, owner, at)


def must_claim(store: Store, owner: str = "w", at: datetime = NOW) -> Claim:
    found = claim(store, owner, at)
    assert found is not None
    return found


def runs_in(store: Store) -> list[Run]:
    with store.read() as tx:
        return list(tx.exec(select(Run).order_by(col(Run.id))).all())
