"""A run's own words: the end of its log, and what a diagnosis makes of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from backends.base import Backend, JobHandle
from lab.cards import Card, Field, Tone
from lab.control.logstream import open_log
from lab.diagnosis import Hints, diagnose, to_json
from lab.errors import NotFound
from lab.ids import id_of
from lab.jobs import handle_from_json
from lab.plans.load import attempts_of, run_of
from lab.schema import Attempt, Run
from lab.services import Lab
from lab.states import AttemptState
from lab.words import listing, size

_MOST_LINES = 400
_BYTES_A_LINE = 400


def log_tail(lab: Lab, run_id: int, lines: int = 40) -> tuple[str, int]:
    """The last lines of a run's newest attempt, and the log's size in bytes. Raises `NotFound`."""
    _run, _attempt, backend, handle = _newest(lab, run_id)
    lines = max(1, min(lines, _MOST_LINES))
    chunk = backend.logs(handle, -lines * _BYTES_A_LINE, lines * _BYTES_A_LINE)
    text = chunk.data.decode("utf-8", errors="replace")
    return "\n".join(text.splitlines()[-lines:]), chunk.size


def log_card(lab: Lab, run_id: int, lines: int = 40) -> Card:
    """The end of a run's log."""
    text, total = log_tail(lab, run_id, lines)
    return Card(
        "log", f"The end of run {run_id}'s log", code=text or "(it has printed nothing yet)", footer=size(total)
    )


def diagnosis_card(lab: Lab, run_id: int) -> Card:
    """Why a run failed: the stored diagnosis of its newest failed attempt, or a fresh one. Raises `NotFound`."""
    with lab.store.read() as tx:
        run = run_of(tx, run_id)
        attempts = attempts_of(tx, run_id)
    failed = [a for a in attempts if a.diagnosis is not None]
    if failed:
        return _card(run, failed[-1], failed[-1].diagnosis or {})
    run, attempt, backend, handle = _newest(lab, run_id)
    if attempt.state in (AttemptState.SUBMITTED, AttemptState.RUNNING):
        return Card("diagnosis", f"Run {run_id} has not failed", f"It is {run.state}.")
    with open_log(backend, handle) as log:
        found = diagnose(log, Hints(attempt.exit_code, attempt.signal, None, None))
    return _card(run, attempt, to_json(found))


def _card(run: Run, attempt: Attempt, diagnosis: Mapping[str, Any]) -> Card:
    evidence: Mapping[str, Any] | None = diagnosis.get("evidence")
    actions: Sequence[str] = diagnosis.get("actions") or ()
    text = str(diagnosis.get("root_cause", ""))
    if after := "; ".join(run.remedies.get("words", [])):
        text += f"\n\nWhat was changed since: {after}. The run has {run.state} now."
    elif actions and diagnosis.get("category") != "no-failure":
        text += f"\n\nWhat helps: {listing([action.replace('-', ' ') for action in actions[:3]])}."
    return Card(
        "diagnosis",
        f"Run {run.id}, try {attempt.number}: {diagnosis.get('category', 'unknown')}",
        text,
        Tone.WARNING,
        fields=(Field("retry", str(diagnosis.get("retry", "?"))), Field("state now", run.state)),
        code=f"line {evidence['line']}: {evidence['text']}"[:600] if evidence else "",
    )


def _newest(lab: Lab, run_id: int) -> tuple[Run, Attempt, Backend, JobHandle]:
    with lab.store.read() as tx:
        run = run_of(tx, run_id)
        attempts = [a for a in attempts_of(tx, id_of(run)) if a.handle is not None]
    if not attempts or attempts[-1].handle is None:
        raise NotFound(f"Run {run_id} has no log yet: it is {run.state}.")
    return run, attempts[-1], lab.backend(attempts[-1].backend), handle_from_json(attempts[-1].handle)
