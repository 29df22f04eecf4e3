"""The first schema"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


_SQLITE_KEEPS = (
    "CREATE TRIGGER audit_keeps_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are kept'); END",
    "CREATE TRIGGER audit_keeps_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are kept'); END",
    # INSERT OR REPLACE removes the row in its way without a DELETE trigger.
    """CREATE TRIGGER audit_keeps_replace BEFORE INSERT ON audit WHEN EXISTS (
        SELECT 1 FROM audit WHERE id = NEW.id OR hash = NEW.hash OR previous_hash = NEW.previous_hash
    ) BEGIN SELECT RAISE(ABORT, 'audit rows are kept'); END""",
)
_POSTGRES_KEEPS = (
    """CREATE FUNCTION audit_keeps() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION USING MESSAGE = 'audit rows are kept', ERRCODE = 'integrity_constraint_violation'; END
    $$ LANGUAGE plpgsql""",
    "CREATE TRIGGER audit_keeps_rows BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_keeps()",
    "CREATE TRIGGER audit_keeps_all BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_keeps()",
)


def _keep_audit() -> None:
    """Rows of the audit trail are never changed or removed, whoever asks."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in _SQLITE_KEEPS if sqlite else _POSTGRES_KEEPS:
        op.execute(statement)


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("previous_hash", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
        sa.UniqueConstraint("hash", name="uq_audit_hash"),
        sa.UniqueConstraint("previous_hash", name="uq_audit_previous_hash"),
    )
    op.create_index("ix_audit_actor", "audit", ["actor"], unique=False)
    op.create_index("ix_audit_at", "audit", ["at"], unique=False)
    op.create_index("ix_audit_subject", "audit", ["subject"], unique=False)

    op.create_table(
        "knowledge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("recipe", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("context", sa.JSON(), nullable=False),
        sa.Column("context_digest", sa.String(), nullable=False),
        sa.Column("change", sa.JSON(), nullable=False),
        sa.Column("change_digest", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("successes", sa.Integer(), nullable=False),
        sa.Column("confirmed_by", sa.String(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("tries >= successes AND successes >= 0", name="ck_knowledge_counts_sound"),
        sa.PrimaryKeyConstraint("id", name="pk_knowledge"),
        sa.UniqueConstraint(
            "recipe",
            "category",
            "context_digest",
            "change_digest",
            name="uq_knowledge_recipe_category_context_digest_change_digest",
        ),
    )
    op.create_index("ix_knowledge_recipe", "knowledge", ["recipe"], unique=False)

    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("name", name="uq_projects_name"),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("surface", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("surface", "external_id", name="uq_users_surface_external_id"),
    )
    op.create_table(
        "threads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("surface", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=True),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.Integer(), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_threads_project_id_projects"),
        sa.PrimaryKeyConstraint("id", name="pk_threads"),
        sa.UniqueConstraint("surface", "external_id", name="uq_threads_surface_external_id"),
    )
    op.create_table(
        "inbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("surface", sa.String(), nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("handled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name="ck_inbox_lease_whole"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_inbox_thread_id_threads"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_inbox_user_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_inbox"),
        sa.UniqueConstraint("surface", "event_id", name="uq_inbox_surface_event_id"),
    )
    op.create_index("ix_inbox_handled_at", "inbox", ["handled_at"], unique=False)
    op.create_index("ix_inbox_thread_id", "inbox", ["thread_id"], unique=False)

    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("dedupe_key", sa.String(), nullable=False),
        sa.Column("edit_key", sa.String(), nullable=True),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.String(), nullable=True),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("message_id", sa.String(), nullable=True),
        sa.CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name="ck_outbox_lease_whole"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_outbox_thread_id_threads"),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("thread_id", "dedupe_key", name="uq_outbox_thread_id_dedupe_key"),
    )
    op.create_index("ix_outbox_delivered_at", "outbox", ["delivered_at"], unique=False)
    op.create_index("ix_outbox_edit_key", "outbox", ["edit_key"], unique=False)
    op.create_index("ix_outbox_thread_id", "outbox", ["thread_id"], unique=False)

    op.create_table(
        "plans",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=True),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("goal", sa.String(), nullable=False),
        sa.Column("recipe", sa.String(), nullable=False),
        sa.Column("recipe_snapshot", sa.JSON(), nullable=False),
        sa.Column("strategy", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("design", sa.JSON(), nullable=False),
        sa.Column("estimate", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("backend", sa.String(), nullable=False),
        sa.Column("replaces_id", sa.Integer(), nullable=True),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tracked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('draft', 'awaiting_approval', 'active', 'done', 'cancelled', 'denied', 'expired', 'replaced')",
            name="ck_plans_state_known",
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_plans_owner_id_users"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_plans_project_id_projects"),
        sa.ForeignKeyConstraint(["replaces_id"], ["plans.id"], name="fk_plans_replaces_id_plans"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_plans_thread_id_threads"),
        sa.PrimaryKeyConstraint("id", name="pk_plans"),
    )
    op.create_index("ix_plans_owner_id", "plans", ["owner_id"], unique=False)
    op.create_index("ix_plans_project_id", "plans", ["project_id"], unique=False)
    op.create_index("ix_plans_state", "plans", ["state"], unique=False)
    op.create_index("ix_plans_thread_id", "plans", ["thread_id"], unique=False)

    op.create_table(
        "approvals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("requested_by", sa.Integer(), nullable=False),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('asked', 'granted', 'denied', 'expired', 'void')", name="ck_approvals_state_known"
        ),
        sa.CheckConstraint("decided_by IS NULL OR decided_by <> requested_by", name="ck_approvals_never_ones_own"),
        sa.ForeignKeyConstraint(["decided_by"], ["users.id"], name="fk_approvals_decided_by_users"),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name="fk_approvals_plan_id_plans"),
        sa.ForeignKeyConstraint(["requested_by"], ["users.id"], name="fk_approvals_requested_by_users"),
        sa.PrimaryKeyConstraint("id", name="pk_approvals"),
        sa.UniqueConstraint("plan_id", "digest", name="uq_approvals_plan_id_digest"),
    )
    op.create_index("ix_approvals_plan_id", "approvals", ["plan_id"], unique=False)

    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("plan_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("settings_digest", sa.String(), nullable=False),
        sa.Column("remedies", sa.JSON(), nullable=False),
        sa.Column("resources", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("retries", sa.Integer(), nullable=False),
        sa.Column("max_retries", sa.Integer(), nullable=False),
        sa.Column("stop_requested", sa.String(), nullable=True),
        sa.Column("results", sa.JSON(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('draft', 'awaiting_approval', 'queued', 'submitting', 'running', 'succeeded', 'failed', 'preempted', 'cancelled', 'lost', 'denied', 'expired')",
            name="ck_runs_state_known",
        ),
        sa.CheckConstraint("(lease_owner IS NULL) = (lease_until IS NULL)", name="ck_runs_lease_whole"),
        sa.CheckConstraint("state <> 'submitting' OR lease_owner IS NOT NULL", name="ck_runs_submitting_is_leased"),
        sa.CheckConstraint(
            "(state IN ('succeeded', 'failed', 'cancelled', 'lost', 'denied', 'expired')) = (ended_at IS NOT NULL)",
            name="ck_runs_end_dated",
        ),
        sa.CheckConstraint("retries >= 0 AND retries <= max_retries", name="ck_runs_retries_within_budget"),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.id"], name="fk_runs_plan_id_plans"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("plan_id", "position", name="uq_runs_plan_id_position"),
    )
    op.create_index("ix_runs_plan_id", "runs", ["plan_id"], unique=False)
    op.create_index("ix_runs_queue", "runs", ["state", "priority", "queued_at"], unique=False)
    op.create_index("ix_runs_settings_digest", "runs", ["settings_digest"], unique=False)

    op.create_table(
        "transcript",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=False),
        sa.Column("inbox_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_transcript_inbox_id_inbox"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_transcript_thread_id_threads"),
        sa.PrimaryKeyConstraint("id", name="pk_transcript"),
        sa.UniqueConstraint("thread_id", "inbox_id", "position", name="uq_transcript_thread_id_inbox_id_position"),
    )
    op.create_index("ix_transcript_thread_id", "transcript", ["thread_id"], unique=False)

    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("backend", sa.String(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("change", sa.JSON(), nullable=True),
        sa.Column("job", sa.JSON(), nullable=False),
        sa.Column("job_digest", sa.String(), nullable=False),
        sa.Column("handle", sa.JSON(), nullable=True),
        sa.Column("log_cursor", sa.Integer(), nullable=False),
        sa.Column("reading", sa.JSON(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("signal", sa.String(), nullable=True),
        sa.Column("job_state", sa.String(), nullable=True),
        sa.Column("host", sa.String(), nullable=True),
        sa.Column("diagnosis", sa.JSON(), nullable=True),
        sa.Column("tracking_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state = 'prepared' OR handle IS NOT NULL OR ended_at IS NOT NULL", name="ck_attempts_handle_known"
        ),
        sa.CheckConstraint(
            "state IN ('prepared', 'submitted', 'running', 'succeeded', 'failed', 'preempted', 'cancelled', 'lost')",
            name="ck_attempts_state_known",
        ),
        sa.CheckConstraint(
            "(state IN ('prepared', 'submitted', 'running')) = (ended_at IS NULL)", name="ck_attempts_end_dated"
        ),
        sa.CheckConstraint("number >= 1", name="ck_attempts_number_from_one"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_attempts_run_id_runs"),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.UniqueConstraint("key", name="uq_attempts_key"),
        sa.UniqueConstraint("run_id", "number", name="uq_attempts_run_id_number"),
    )
    op.create_index("ix_attempts_run_id", "attempts", ["run_id"], unique=False)
    op.create_index("ix_attempts_state", "attempts", ["state"], unique=False)
    op.create_index(
        "uq_attempts_live",
        "attempts",
        ["run_id"],
        unique=True,
        sqlite_where=sa.text("state IN ('prepared', 'submitted', 'running')"),
        postgresql_where=sa.text("state IN ('prepared', 'submitted', 'running')"),
    )

    op.create_table(
        "metrics",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("special", sa.String(), nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_metrics_attempt_id_attempts"),
        sa.PrimaryKeyConstraint("id", name="pk_metrics"),
    )
    op.create_index("ix_metrics_attempt_name", "metrics", ["attempt_id", "name", "step"], unique=False)

    op.create_table(
        "remedies_tried",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("change", sa.JSON(), nullable=False),
        sa.Column("change_digest", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("outcome IN ('pending', 'held', 'failed')", name="ck_remedies_tried_outcome_known"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_remedies_tried_attempt_id_attempts"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_remedies_tried_run_id_runs"),
        sa.PrimaryKeyConstraint("id", name="pk_remedies_tried"),
        sa.UniqueConstraint("run_id", "change_digest", name="uq_remedies_tried_run_id_change_digest"),
    )
    op.create_index("ix_remedies_tried_run_id", "remedies_tried", ["run_id"], unique=False)

    op.create_table(
        "usage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("month", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("gpu_type", sa.String(), nullable=True),
        sa.Column("gpu_seconds", sa.Float(), nullable=False),
        sa.Column("cpu_seconds", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('reserved', 'settled')", name="ck_usage_kind_known"),
        sa.CheckConstraint("gpu_seconds >= 0 AND cpu_seconds >= 0", name="ck_usage_amounts_sound"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_usage_attempt_id_attempts"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_usage_project_id_projects"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_usage_user_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_usage"),
        sa.UniqueConstraint("attempt_id", "kind", name="uq_usage_attempt_id_kind"),
    )
    op.create_index("ix_usage_attempt_id", "usage", ["attempt_id"], unique=False)
    op.create_index("ix_usage_month", "usage", ["month"], unique=False)
    op.create_index("ix_usage_project_id", "usage", ["project_id"], unique=False)
    op.create_index("ix_usage_user_id", "usage", ["user_id"], unique=False)

    _keep_audit()
