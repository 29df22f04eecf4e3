"""The commands that only look. They read the database beside a running `labhand up`."""

import argparse
import json
from typing import Any

from sqlmodel import col, select

from bot.bootstrap import build
from bot.cli.output import print_card, print_json, print_rows
from bot.settings import load_settings
from lab import audit
from lab.plans.load import attempts_of, metrics_of, run_of
from lab.schema import Plan, Run
from lab.services import Lab
from lab.states import RunState
from lab.views.logs import log_tail
from lab.views.machines import machines_card
from lab.views.status import run_card
from lab.views.usage import quota_card


def runs(arguments: argparse.Namespace) -> int:
    query = select(Run).order_by(col(Run.id))
    if arguments.plan is not None:
        query = query.where(Run.plan_id == arguments.plan)
    with _lab().store.read() as tx:
        rows = [run_row(run) for run in tx.exec(query).all()]
    return _rows(arguments, rows, "runs")


def queue(arguments: argparse.Namespace) -> int:
    states = [RunState.SUBMITTING.value, RunState.RUNNING.value, RunState.QUEUED.value]
    query = (
        select(Run)
        .where(col(Run.state).in_(states))
        .order_by(col(Run.started_at), col(Run.priority).desc(), col(Run.queued_at), col(Run.position))
    )
    with _lab().store.read() as tx:
        found = sorted(tx.exec(query).all(), key=lambda run: run.state == RunState.QUEUED)
        rows = [run_row(run) for run in found]
    return _rows(arguments, rows, "queue")


def show(arguments: argparse.Namespace) -> int:
    lab = _lab()
    with lab.store.read() as tx:
        run = run_of(tx, arguments.id)
        if arguments.json:
            attempts = [a.model_dump(exclude={"reading", "job"}) for a in attempts_of(tx, arguments.id)]
            print_json({**run_row(run), "attempt_rows": attempts})
        else:
            print_card(run_card(tx, run, lab.clock()))
    return 0


def logs(arguments: argparse.Namespace) -> int:
    text, size = log_tail(_lab(), arguments.id, arguments.lines)
    if arguments.json:
        print_json({"run": arguments.id, "bytes": size, "lines": text.splitlines()})
    else:
        print(text)
    return 0


def nodes(arguments: argparse.Namespace) -> int:
    lab = _lab()
    if not arguments.json:
        print_card(machines_card(lab))
        return 0
    from dataclasses import asdict

    print_json([{"backend": name, **asdict(node)} for name, b in lab.backends.items() for node in b.inventory()])
    return 0


def quota(arguments: argparse.Namespace) -> int:
    card = quota_card(_lab())
    if arguments.json:
        columns = card.table.columns if card.table else ()
        print_json([dict(zip(columns, row, strict=True)) for row in (card.table.rows if card.table else ())])
    else:
        print_card(card)
    return 0


def audit_trail(arguments: argparse.Namespace) -> int:
    with _lab().store.read() as tx:
        if arguments.what == "verify":
            return _verified(arguments, audit.verify(tx))
        rows = [row.model_dump() for row in audit.show(tx, limit=arguments.limit)]
    if not arguments.json:
        rows = [{**row, "detail": json.dumps(row["detail"])[:60], "hash": row["hash"][:12]} for row in rows]
        rows = [{k: v for k, v in row.items() if k != "previous_hash"} for row in rows]
    return _rows(arguments, rows, "audit")


def run_row(run: Run) -> dict[str, Any]:
    """A run as the contracts print it."""
    return {
        "id": run.id,
        "plan": run.plan_id,
        "state": run.state,
        "settings": {**run.settings, **run.remedies.get("settings", {})},
        "metrics": metrics_of(run),
        "attempts": run.retries + 1 if run.started_at is not None else 0,
        "reason": run.reason,
        "remedies": list(run.remedies.get("words", [])),
    }


def _verified(arguments: argparse.Namespace, found: audit.Verification) -> int:
    good = found.first_broken is None and not found.problem
    if arguments.json:
        print_json({"ok": good, "count": found.count, "first_broken": found.first_broken, "problem": found.problem})
    else:
        print(f"{found.count} rows, the chain holds" if good else f"row {found.first_broken}: {found.problem}")
    return 0 if good else 1


def _rows(arguments: argparse.Namespace, rows: list[dict[str, Any]], title: str) -> int:
    if arguments.json:
        print_json(rows)
    else:
        print_rows(rows, title)
    return 0


def _lab() -> Lab:
    return build(load_settings()).lab


def plans_open(lab: Lab) -> list[int]:
    """The ids of plans that have started and not ended."""
    with lab.store.read() as tx:
        return [p for p in tx.exec(select(Plan.id).where(Plan.state == "active")).all() if p is not None]
