"""Bringing MLflow up to date with the database. MLflow may be down for as long as it likes."""

from collections.abc import Sequence
from pathlib import Path

from sqlmodel import Session, col, select

from backends.errors import BackendError
from lab.control.finish import results_key
from lab.errors import LabError
from lab.ids import id_of
from lab.plans.load import attempts_of, plan_of, runs_of
from lab.results.tables import to_csv, to_markdown
from lab.schema import Attempt, Metric, Outbox, Plan, Project, Run, User
from lab.services import Lab
from lab.states import PLAN_ENDED, RUN_ENDED
from lab.tracking import MetricRow, PlanView, RunView, Tracker
from lab.views.logs import log_tail
from lab.views.results import matrix_of

_MOST_POINTS = 5000
_LOG_LINES = 200


def track(lab: Lab, tracker: Tracker) -> int:
    """Sync every plan that has moved since it was last told; returns how many. Raises `TrackerUnavailable`."""
    with lab.store.read() as tx:
        query = select(Plan.id).where(col(Plan.started_at).is_not(None), col(Plan.tracked_at).is_(None))
        waiting = [plan_id for plan_id in tx.exec(query).all() if plan_id is not None]
    for plan_id in waiting:
        sync_plan(lab, tracker, plan_id)
    return len(waiting)


def sync_plan(lab: Lab, tracker: Tracker, plan_id: int) -> None:
    """Tell MLflow how a plan stands. One that has ended is told once, with its matrix. Raises `TrackerUnavailable`."""
    with lab.store.read() as tx:
        plan = plan_of(tx, plan_id)
        final = plan.state in PLAN_ENDED and all(run.state in RUN_ENDED for run in runs_of(tx, plan_id))
        ready = final and _is_posted(tx, plan)
        view = plan_view(lab, tx, plan, final=final)
    tracked = tracker.sync(view)
    with lab.store.write() as tx:
        plan = tx.get_one(Plan, plan_id)
        if ready:
            plan.tracked_at = lab.clock()
            tx.add(plan)
        for run_id, mlflow_id in tracked.runs.items():
            attempts = attempts_of(tx, run_id)
            if attempts and attempts[-1].tracking_id != mlflow_id:
                attempts[-1].tracking_id = mlflow_id
                tx.add(attempts[-1])


def plan_view(lab: Lab, tx: Session, plan: Plan, *, final: bool) -> PlanView:
    """The plan as MLflow is told it."""
    project = tx.get_one(Project, plan.project_id)
    owner = tx.get_one(User, plan.owner_id)
    runs = tuple(_run_view(lab, tx, plan, run) for run in runs_of(tx, id_of(plan)))
    return PlanView(
        plan_id=id_of(plan),
        project=project.name,
        goal=plan.goal,
        state=plan.state,
        created_at=plan.created_at,
        owner=owner.name,
        ended_at=plan.ended_at,
        recipe=plan.recipe,
        runs=runs,
        files=_files(lab, plan) if final else (),
    )


def _is_posted(tx: Session, plan: Plan) -> bool:
    if plan.thread_id is None or plan.state != "done":
        return True
    query = select(Outbox.id).where(Outbox.thread_id == plan.thread_id, Outbox.dedupe_key == results_key(plan))
    return tx.exec(query).first() is not None


def _run_view(lab: Lab, tx: Session, plan: Plan, run: Run) -> RunView:
    attempts = attempts_of(tx, id_of(run))
    last = attempts[-1] if attempts else None
    certain = run.state in RUN_ENDED
    return RunView(
        run_id=id_of(run),
        name=f"plan {plan.id} run {run.id}",
        settings=run.settings,
        state=run.state,
        created_at=run.created_at,
        certain=certain,
        used=last.settings if last is not None else None,
        attempts=len(attempts),
        started_at=run.started_at,
        ended_at=run.ended_at,
        host=last.host if last is not None else None,
        diagnosis=_diagnosis(attempts),
        reason=run.reason,
        metrics=_metrics(tx, last) if last is not None and certain else (),
        log_tail=_log(lab, run) if certain and attempts else None,
    )


def _diagnosis(attempts: Sequence[Attempt]) -> str | None:
    return next((a.diagnosis["category"] for a in reversed(attempts) if a.diagnosis is not None), None)


def _metrics(tx: Session, attempt: Attempt) -> tuple[MetricRow, ...]:
    query = select(Metric).where(Metric.attempt_id == id_of(attempt)).order_by(col(Metric.id)).limit(_MOST_POINTS)
    return tuple(MetricRow(m.name, m.step, m.value, m.seen_at, m.special) for m in tx.exec(query).all())


def _log(lab: Lab, run: Run) -> str | None:
    try:
        return log_tail(lab, id_of(run), _LOG_LINES)[0]
    except (LabError, BackendError):
        return None


def _files(lab: Lab, plan: Plan) -> tuple[Path, ...]:
    """The matrix as picture and tables, where it could be made."""
    try:
        matrix = matrix_of(lab, id_of(plan))
    except LabError:
        return ()
    files = [lab.images / f"plan-{plan.id}-{matrix.metric}.png"]
    for suffix, text in ((".csv", to_csv(matrix)), (".md", to_markdown(matrix))):
        path = lab.images / f"plan-{plan.id}-{matrix.metric}{suffix}"
        path.write_text(text, encoding="utf-8")
        files.append(path)
    return tuple(path for path in files if path.exists())
