"""The tables. What must never happen is a constraint here, not a check in code.

Times are UTC, durations seconds, memory bytes. JSON columns hold frozen values written by the module that owns them.
"""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, Index, MetaData, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from lab.columns import JsonColumn, JsonDict, UtcDateTime, one_of, state_in
from lab.states import ATTEMPT_LIVE, RUN_ENDED, AttemptState, PlanState, RunState

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Row(SQLModel):
    metadata = MetaData(naming_convention=NAMING)


def _json(*, nullable: bool = False) -> Any:
    return Field(default=None if nullable else ..., sa_column=Column(JsonColumn, nullable=nullable))


def _time(*, nullable: bool = True, index: bool = False) -> Any:
    return Field(
        default=None if nullable else ...,
        sa_column=Column(UtcDateTime, nullable=nullable, index=index),
    )


class User(Row, table=True):
    """A person as one surface knows them."""

    __tablename__: ClassVar[Any] = "users"
    __table_args__ = (UniqueConstraint("surface", "external_id"),)
    id: int | None = Field(default=None, primary_key=True)
    surface: str
    external_id: str
    name: str
    role: str = "researcher"
    language: str = "en"
    created_at: datetime = _time(nullable=False)


class Project(Row, table=True):
    __tablename__: ClassVar[Any] = "projects"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    created_at: datetime = _time(nullable=False)


class Thread(Row, table=True):
    """A conversation; `plan_id` and `run_id` are what it is about now ("it", "that run")."""

    __tablename__: ClassVar[Any] = "threads"
    __table_args__ = (UniqueConstraint("surface", "external_id"),)
    id: int | None = Field(default=None, primary_key=True)
    surface: str
    external_id: str
    channel: str | None = None
    title: str = ""
    project_id: int = Field(foreign_key="projects.id")
    plan_id: int | None = None
    run_id: int | None = None
    created_at: datetime = _time(nullable=False)


class Plan(Row, table=True):
    """The answer to one research goal. `design` holds factors, ranges, metrics and limits; `estimate` the hours."""

    __tablename__: ClassVar[Any] = "plans"
    __table_args__ = (one_of("state", PlanState),)
    id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="projects.id", index=True)
    thread_id: int | None = Field(default=None, foreign_key="threads.id", index=True)
    owner_id: int = Field(foreign_key="users.id", index=True)
    goal: str
    recipe: str
    recipe_snapshot: JsonDict = _json()
    strategy: str
    state: str = Field(default=PlanState.DRAFT.value, index=True)
    design: JsonDict = _json()
    estimate: JsonDict = _json()
    digest: str
    backend: str
    replaces_id: int | None = Field(default=None, foreign_key="plans.id")
    message: str = ""
    created_at: datetime = _time(nullable=False)
    started_at: datetime | None = _time()
    ended_at: datetime | None = _time()
    tracked_at: datetime | None = _time()


class Run(Row, table=True):
    """One cell of a plan's matrix with one set of settings."""

    __tablename__: ClassVar[Any] = "runs"
    __table_args__ = (
        one_of("state", RunState),
        UniqueConstraint("plan_id", "position"),
        CheckConstraint("retries >= 0 AND retries <= max_retries", name="retries_within_budget"),
        CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name="lease_whole"),
        CheckConstraint("state <> 'submitting' OR lease_owner IS NOT NULL", name="submitting_is_leased"),
        CheckConstraint(f"({state_in(RunState, RUN_ENDED)}) = (ended_at IS NOT NULL)", name="end_dated"),
        Index("ix_runs_queue", "state", "priority", "queued_at"),
    )
    id: int | None = Field(default=None, primary_key=True)
    plan_id: int = Field(foreign_key="plans.id", index=True)
    position: int
    settings: JsonDict = _json()
    settings_digest: str = Field(index=True)
    remedies: JsonDict = _json()
    resources: JsonDict = _json()
    state: str = RunState.DRAFT.value
    reason: str | None = None
    priority: int = 0
    retries: int = 0
    max_retries: int = 3
    stop_requested: str | None = None
    results: JsonDict | None = _json(nullable=True)
    not_before: datetime | None = _time()
    lease_owner: str | None = None
    lease_until: datetime | None = _time()
    created_at: datetime = _time(nullable=False)
    queued_at: datetime | None = _time()
    started_at: datetime | None = _time()
    ended_at: datetime | None = _time()


class Attempt(Row, table=True):
    """One try at a run. Its key is written before anything touches a machine; one attempt of a run lives at a time."""

    __tablename__: ClassVar[Any] = "attempts"
    __table_args__ = (
        one_of("state", AttemptState),
        UniqueConstraint("run_id", "number"),
        Index(
            "uq_attempts_live",
            "run_id",
            unique=True,
            sqlite_where=text(state_in(AttemptState, ATTEMPT_LIVE)),
            postgresql_where=text(state_in(AttemptState, ATTEMPT_LIVE)),
        ),
        CheckConstraint(f"({state_in(AttemptState, ATTEMPT_LIVE)}) = (ended_at IS NULL)", name="end_dated"),
        CheckConstraint("number >= 1", name="number_from_one"),
        CheckConstraint("state = 'prepared' OR handle IS NOT NULL OR ended_at IS NOT NULL", name="handle_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="runs.id", index=True)
    number: int
    key: str = Field(unique=True)
    state: str = Field(default=AttemptState.PREPARED.value, index=True)
    backend: str
    settings: JsonDict = _json()
    change: JsonDict | None = _json(nullable=True)
    job: JsonDict = _json()
    job_digest: str
    handle: JsonDict | None = _json(nullable=True)
    log_cursor: int = 0
    reading: JsonDict | None = _json(nullable=True)
    exit_code: int | None = None
    signal: str | None = None
    job_state: str | None = None
    host: str | None = None
    diagnosis: JsonDict | None = _json(nullable=True)
    tracking_id: str | None = None
    created_at: datetime = _time(nullable=False)
    started_at: datetime | None = _time()
    ended_at: datetime | None = _time()


class Metric(Row, table=True):
    """One number that an attempt printed. `step` counts the lines that carried this metric when the log names none."""

    __tablename__: ClassVar[Any] = "metrics"
    __table_args__ = (Index("ix_metrics_attempt_name", "attempt_id", "name", "step"),)
    id: int | None = Field(default=None, primary_key=True)
    attempt_id: int = Field(foreign_key="attempts.id")
    name: str
    step: int
    value: float | None = None
    special: str | None = None
    seen_at: datetime = _time(nullable=False)


class Approval(Row, table=True):
    """A question to another person, bound to the digest of what was shown."""

    __tablename__: ClassVar[Any] = "approvals"
    __table_args__ = (
        UniqueConstraint("plan_id", "digest"),
        CheckConstraint("state IN ('asked', 'granted', 'denied', 'expired', 'void')", name="state_known"),
        CheckConstraint("decided_by IS NULL OR decided_by <> requested_by", name="never_ones_own"),
    )
    id: int | None = Field(default=None, primary_key=True)
    plan_id: int = Field(foreign_key="plans.id", index=True)
    digest: str
    state: str = "asked"
    requested_by: int = Field(foreign_key="users.id")
    decided_by: int | None = Field(default=None, foreign_key="users.id")
    reason: str = ""
    rule: str = ""
    requested_at: datetime = _time(nullable=False)
    expires_at: datetime = _time(nullable=False)
    decided_at: datetime | None = _time()


class Audit(Row, table=True):
    """Who did what, when and why; each row is chained to the one before by its hash."""

    __tablename__: ClassVar[Any] = "audit"
    id: int | None = Field(default=None, primary_key=True)
    at: datetime = _time(nullable=False, index=True)
    actor: str = Field(index=True)
    action: str
    subject: str = Field(index=True)
    why: str = ""
    source: str = ""
    detail: JsonDict = _json()
    previous_hash: str = Field(unique=True)
    hash: str = Field(unique=True)


class Outbox(Row, table=True):
    """A card on its way to a thread. Rows with one `edit_key` replace each other's message in place."""

    __tablename__: ClassVar[Any] = "outbox"
    __table_args__ = (
        UniqueConstraint("thread_id", "dedupe_key"),
        CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name="lease_whole"),
    )
    id: int | None = Field(default=None, primary_key=True)
    thread_id: int = Field(foreign_key="threads.id", index=True)
    dedupe_key: str
    edit_key: str | None = Field(default=None, index=True)
    card: JsonDict = _json()
    created_at: datetime = _time(nullable=False)
    not_before: datetime | None = _time()
    tries: int = 0
    last_error: str | None = None
    lease_owner: str | None = None
    lease_until: datetime | None = _time()
    delivered_at: datetime | None = _time(index=True)
    message_id: str | None = None


class Inbox(Row, table=True):
    """An event from a platform, kept before it is acknowledged and handled once."""

    __tablename__: ClassVar[Any] = "inbox"
    __table_args__ = (
        UniqueConstraint("surface", "event_id"),
        CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name="lease_whole"),
    )
    id: int | None = Field(default=None, primary_key=True)
    surface: str
    event_id: str
    thread_id: int = Field(foreign_key="threads.id", index=True)
    user_id: int = Field(foreign_key="users.id")
    kind: str
    payload: JsonDict = _json()
    received_at: datetime = _time(nullable=False)
    tries: int = 0
    lease_owner: str | None = None
    lease_until: datetime | None = _time()
    handled_at: datetime | None = _time(index=True)
    outcome: str | None = None


class TranscriptEntry(Row, table=True):
    """One message of a turn as the model sees it (`role` user, assistant or tool)."""

    __tablename__: ClassVar[Any] = "transcript"
    __table_args__ = (UniqueConstraint("thread_id", "inbox_id", "position"),)
    id: int | None = Field(default=None, primary_key=True)
    thread_id: int = Field(foreign_key="threads.id", index=True)
    inbox_id: int = Field(foreign_key="inbox.id")
    position: int
    role: str
    content: JsonDict = _json()
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    created_at: datetime = _time(nullable=False)


class RemedyTried(Row, table=True):
    """A change made to a run after a diagnosis, and whether it held. The same change is never tried twice on a run."""

    __tablename__: ClassVar[Any] = "remedies_tried"
    __table_args__ = (
        UniqueConstraint("run_id", "change_digest"),
        CheckConstraint("outcome IN ('pending', 'held', 'failed')", name="outcome_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="runs.id", index=True)
    attempt_id: int = Field(foreign_key="attempts.id")
    category: str
    action: str
    change: JsonDict = _json()
    change_digest: str
    outcome: str = "pending"
    created_at: datetime = _time(nullable=False)


class Knowledge(Row, table=True):
    """What worked: in this context (recipe and settings that matter) this change mended this category."""

    __tablename__: ClassVar[Any] = "knowledge"
    __table_args__ = (
        UniqueConstraint("recipe", "category", "context_digest", "change_digest"),
        CheckConstraint("tries >= successes AND successes >= 0", name="counts_sound"),
    )
    id: int | None = Field(default=None, primary_key=True)
    recipe: str = Field(index=True)
    category: str
    action: str
    context: JsonDict = _json()
    context_digest: str
    change: JsonDict = _json()
    change_digest: str
    tries: int = 0
    successes: int = 0
    confirmed_by: str | None = None
    updated_at: datetime = _time(nullable=False)


class Usage(Row, table=True):
    """GPU- and CPU-seconds of one attempt, reserved before and settled after."""

    __tablename__: ClassVar[Any] = "usage"
    __table_args__ = (
        UniqueConstraint("attempt_id", "kind"),
        CheckConstraint("kind IN ('reserved', 'settled')", name="kind_known"),
        CheckConstraint("gpu_seconds >= 0 AND cpu_seconds >= 0", name="amounts_sound"),
    )
    id: int | None = Field(default=None, primary_key=True)
    attempt_id: int = Field(foreign_key="attempts.id", index=True)
    user_id: int = Field(foreign_key="users.id", index=True)
    project_id: int = Field(foreign_key="projects.id", index=True)
    month: str = Field(index=True)
    kind: str
    gpu_type: str | None = None
    gpu_seconds: float
    cpu_seconds: float
    at: datetime = _time(nullable=False)
