"""Bringing MLflow up to date with a plan: found again by tag, changed only where something changed."""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from lab.tracking.client import check_reachable, open_client, unavailable
from lab.tracking.errors import TrackerUnavailable
from lab.tracking.limits import (
    EXPERIMENT_LIMIT,
    LOG_LIMIT,
    METRICS_AT_ONCE,
    NOTE_LIMIT,
    PARAM_LIMIT,
    PARAMS_AT_ONCE,
    TAG_LIMIT,
    batches,
    cut,
    safe_name,
)
from lab.tracking.values import PlanView, RunView

LAB, PLAN, RUN, SYNCED = "labhand.lab", "labhand.plan", "labhand.run", "labhand.synced"
PARENT = "mlflow.parentRunId"
_RUN_STATUS = {
    "running": "RUNNING",
    "succeeded": "FINISHED",
    "failed": "FAILED",
    "lost": "FAILED",
    "cancelled": "KILLED",
    "denied": "KILLED",
    "expired": "KILLED",
}
_PLAN_STATUS = {
    "active": "RUNNING",
    "done": "FINISHED",
    "cancelled": "KILLED",
    "denied": "KILLED",
    "expired": "KILLED",
    "replaced": "KILLED",
}
_ENDED = frozenset({"FINISHED", "FAILED", "KILLED"})


@dataclass(frozen=True)
class Tracked:
    """MLflow's ids: of the experiment, of the plan's run and of each lab run that has one there."""

    experiment_id: str
    plan: str | None
    runs: Mapping[int, str]


@dataclass(frozen=True)
class _Known:
    """An MLflow run as the search found it. `deleted` ones stay as the person left them."""

    id: str
    status: str
    deleted: bool
    tags: Mapping[str, str]
    params: Mapping[str, str]


class Tracker:
    """Projects plans into one MLflow store. MLflow is imported with the first `sync`; calls of threads queue up.

    `artifact_root` is where a local store keeps artifacts; `None` leaves that to the tracking server. `lab` tells the
    runs of this lab's home from those of another one on the same server.
    """

    def __init__(self, tracking_uri: str, artifact_root: Path | None = None, lab: str = "") -> None:
        self.tracking_uri = tracking_uri
        self._artifact_root = artifact_root
        self._lab = lab
        self._client: Any = None
        self._lock = threading.Lock()

    def sync(self, plan: PlanView) -> Tracked:
        """Make MLflow say what `plan` says. Repeating it changes nothing; after a crash it goes on where it stopped.

        Raises `TrackerUnavailable`; sync again later.
        """
        with self._lock:
            if self._client is None:
                self._client = open_client(self.tracking_uri)
            with unavailable(self.tracking_uri):
                check_reachable(self.tracking_uri)
                return _Sync(self._client, plan, self._lab, self._artifact_root).all()


def local_tracker(directory: Path, lab: str = "") -> Tracker:
    """The tracker of MLflow's own default local store, `mlflow.db` with `artifacts/`, in that directory.

    It is made where it is missing. Raises `TrackerUnavailable` when the directory can't be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrackerUnavailable(
            f"{directory} can't be made: {error.strerror}.", next_step="Check the home's permissions and free space."
        ) from error
    return Tracker(f"sqlite:///{(directory / 'mlflow.db').resolve()}", directory / "artifacts", lab)


class _Sync:
    """One sync of one plan."""

    def __init__(self, client: Any, plan: PlanView, lab: str, artifact_root: Path | None) -> None:
        self._client = client
        self._plan = plan
        self._lab = lab
        self._artifact_root = artifact_root

    def all(self) -> Tracked:
        experiment = self._experiment()
        parent, children = self._known(experiment)
        if parent is None:
            tags = {**self._identity(), "mlflow.runName": cut(self._plan.goal, NOTE_LIMIT)}
            parent = self._created(experiment, tags, self._plan.created_at)
        ids: dict[int, str] = {}
        for run in self._plan.runs:
            child = children.get(str(run.run_id))
            if child is None:
                tags = {**self._identity(), RUN: str(run.run_id), PARENT: parent.id, "mlflow.runName": run.name}
                child = self._created(experiment, tags, run.started_at or run.created_at)
            ids[run.run_id] = child.id
            self._bring(child, _digest(run), partial(self._write_run, child, run))
        self._bring(parent, self._plan_digest(), partial(self._write_plan, parent))
        return Tracked(experiment, parent.id, ids)

    def _identity(self) -> dict[str, str]:
        return {
            LAB: self._lab,
            PLAN: str(self._plan.plan_id),
            "mlflow.user": self._plan.owner,
            "mlflow.source.name": self._plan.recipe or "labhand",
            "mlflow.source.type": "JOB",
        }

    def _experiment(self) -> str:
        from mlflow.exceptions import MlflowException

        name = cut(self._plan.project, EXPERIMENT_LIMIT)
        found = self._client.get_experiment_by_name(name)
        if found is None:
            root = self._artifact_root
            place = (root / hashlib.sha256(name.encode()).hexdigest()[:12]).resolve().as_uri() if root else None
            try:
                return str(self._client.create_experiment(name, artifact_location=place))
            except MlflowException:
                found = self._client.get_experiment_by_name(name)
                if found is None:
                    raise
        if found.lifecycle_stage != "active":
            raise TrackerUnavailable(
                f"MLflow's experiment {name!r} was deleted there.",
                next_step=f"Restore it: mlflow experiments restore --experiment-id {found.experiment_id}",
            )
        return str(found.experiment_id)

    def _known(self, experiment: str) -> tuple[_Known | None, dict[str, _Known]]:
        """The plan's own MLflow run and those of its runs, by the lab's tags; the oldest where there are several."""
        parent: _Known | None = None
        children: dict[str, _Known] = {}
        token: str | None = None
        where = f"tags.`{PLAN}` = '{self._plan.plan_id}'"
        while True:
            page = self._client.search_runs(
                [experiment], where, run_view_type=3, max_results=1000, order_by=["attributes.start_time ASC"],
                page_token=token,
            )  # fmt: skip
            for run in page:
                if run.data.tags.get(LAB, "") != self._lab:
                    continue
                if RUN in run.data.tags:
                    children.setdefault(run.data.tags[RUN], _known(run))
                else:
                    parent = parent or _known(run)
            token = page.token
            if not token:
                return parent, children

    def _created(self, experiment: str, tags: Mapping[str, str], start: datetime) -> _Known:
        """A new MLflow run, which is scheduled until it is known to run."""
        tags = {name: cut(value, TAG_LIMIT) for name, value in tags.items()}
        made = self._client.create_run(experiment, start_time=_millis(start), tags=tags)
        self._client.update_run(made.info.run_id, status="SCHEDULED")
        return _Known(made.info.run_id, "SCHEDULED", False, tags, {})

    def _bring(self, known: _Known, digest: str, write: Any) -> None:
        """Write where the digest says that something changed. It is written last, so a crash repeats the write."""
        if known.deleted or known.tags.get(SYNCED) == digest:
            return
        write()
        self._client.set_tag(known.id, SYNCED, digest)

    def _write_run(self, known: _Known, run: RunView) -> None:
        tags = _run_tags(run)
        if run.certain:
            tags |= self._params(known, run)
            self._metrics(known, run)
        self._tags(known, tags)
        if run.log_tail:
            name = f"log/attempt-{max(run.attempts, 1)}.txt"
            self._client.log_text(known.id, run.log_tail[-LOG_LIMIT:], name)
        self._status(known, _RUN_STATUS.get(run.state, "SCHEDULED"), run.ended_at)

    def _write_plan(self, known: _Known) -> None:
        plan = self._plan
        told = {"labhand.state": plan.state, "mlflow.note.content": plan.note or plan.goal}
        self._tags(known, {**told, "mlflow.source.git.commit": plan.commit, **plan.tags})
        for file in plan.files:
            self._client.log_artifact(known.id, str(file), "results")
        self._status(known, _plan_status(plan), plan.ended_at)

    def _params(self, known: _Known, run: RunView) -> dict[str, str]:
        """The settings as parameters. MLflow's never change: what differs from one written before becomes a tag."""
        from mlflow.entities import Param

        wanted = {safe_name(name): cut(_text(value), PARAM_LIMIT) for name, value in run.final_settings.items()}
        fresh = [Param(name, value) for name, value in wanted.items() if name not in known.params]
        for batch in batches(fresh, PARAMS_AT_ONCE):
            self._client.log_batch(known.id, params=batch)
        other = {name: value for name, value in wanted.items() if known.params.get(name, value) != value}
        return {safe_name(f"labhand.setting.{name}"): value for name, value in other.items()}

    def _metrics(self, known: _Known, run: RunView) -> None:
        from mlflow.entities import Metric

        rows = [Metric(safe_name(row.name), row.number, _millis(row.at), row.step) for row in run.metrics]
        for batch in batches(rows, METRICS_AT_ONCE):
            self._client.log_batch(known.id, metrics=batch)

    def _tags(self, known: _Known, tags: Mapping[str, str | None]) -> None:
        from mlflow.entities import RunTag

        wanted = {safe_name(name): cut(value or "", TAG_LIMIT) for name, value in tags.items() if value is not None}
        wanted |= {name: "" for name, value in tags.items() if value is None and known.tags.get(name)}
        rows = [RunTag(name, value) for name, value in wanted.items() if known.tags.get(name) != value]
        for batch in batches(rows, PARAMS_AT_ONCE):
            self._client.log_batch(known.id, tags=batch)

    def _status(self, known: _Known, status: str, ended: datetime | None) -> None:
        if status in _ENDED:
            self._client.set_terminated(known.id, status, _millis(ended) if ended else None)
        elif status != known.status:
            self._client.update_run(known.id, status=status)

    def _plan_digest(self) -> str:
        plan = self._plan
        files = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in plan.files]
        told = [plan.state, plan.note, plan.commit, plan.ended_at, files, sorted(plan.tags.items()), _plan_status(plan)]
        return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()[:16]


def _known(run: Any) -> _Known:
    deleted = run.info.lifecycle_stage != "active"
    return _Known(run.info.run_id, run.info.status, deleted, dict(run.data.tags), dict(run.data.params))


def _run_tags(run: RunView) -> dict[str, str | None]:
    return {
        "labhand.state": run.state,
        "labhand.attempts": str(run.attempts),
        "labhand.host": run.host,
        "labhand.diagnosis": run.diagnosis,
        "labhand.reason": run.reason,
        "labhand.started": run.started_at.isoformat() if run.started_at else None,
        "labhand.preempted": "true" if run.state == "preempted" else None,
        "labhand.changed": json.dumps(run.changed, ensure_ascii=False) if run.changed else None,
        "mlflow.source.git.commit": run.commit,
        "mlflow.note.content": _note(run),
    }


def _note(run: RunView) -> str | None:
    parts = [f"{name}: {_text(before)} → {_text(after)}" for name, (before, after) in run.changed.items()]
    changed = f"Changed before it ran: {', '.join(parts)}." if parts else ""
    return " ".join(part for part in (changed, run.reason or "") if part) or None


def _text(value: object) -> str:
    return "unset" if value is None else str(value)


def _plan_status(plan: PlanView) -> str:
    status = _PLAN_STATUS.get(plan.state, "SCHEDULED")
    nothing = bool(plan.runs) and all(run.state != "succeeded" for run in plan.runs)
    return "FAILED" if status == "FINISHED" and nothing else status


def _digest(run: RunView) -> str:
    return hashlib.sha256(repr((run, sorted(run.changed))).encode()).hexdigest()[:16]


def _millis(time: datetime) -> int:
    return int(time.timestamp() * 1000)
