"""Settling an attempt that has ended: what happened, what is learned, and whether the run goes on with a change."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlmodel import Session, select

from backends.base import Backend, JobFile, JobHandle, JobState, Observation
from backends.errors import BackendError, HandleUnknown
from lab import knowledge, outbox
from lab.control.capacity import largest_memory
from lab.control.cards import failed_card, repaired_card, siblings_card
from lab.control.logstream import open_log
from lab.control.usage import record_usage
from lab.diagnosis import Diagnosis, Hints, diagnose, to_json
from lab.ids import id_of
from lab.jobs import effective_settings, spec_from_json
from lab.metrics import ReadState
from lab.plans.load import design_of, plan_of, runs_of
from lab.recipe.model import Recipe
from lab.remedies.actions import Situation
from lab.remedies.change import Change, change_digest, change_from, overlay
from lab.remedies.choose import Choice, choose, verdict_from
from lab.remedies.knobs import knobs_for
from lab.schema import Attempt, Plan, RemedyTried, Run, Thread
from lab.services import Lab
from lab.states import AttemptState, RunState
from lab.transitions import end_attempt, move_run
from lab.words import plural

_LOG = logging.getLogger(__name__)
_BACK_OFF_S = (1.0, 4.0, 16.0)
_TRANSIENT_BACK_OFF_S = (10.0, 60.0, 300.0)
_MOVED = frozenset({JobState.PREEMPTED})


@dataclass(frozen=True)
class Ended:
    """All that was found out about the end, outside any transaction."""

    seen: Observation
    handle: JobHandle
    diagnosis: Diagnosis | None
    checkpoint: str | None
    most_memory: int | None


def settle(lab: Lab, backend: Backend, attempt_id: int, handle: JobHandle, recipe: Recipe, seen: Observation) -> None:
    """Find out why the attempt ended, then apply it in one transaction, unless somebody has already."""
    with lab.store.read() as tx:
        attempt = tx.get(Attempt, attempt_id)
        if attempt is None or attempt.ended_at is not None:
            return
        bad_numbers = seen.state is JobState.COMPLETED and _ended_without_numbers(attempt)
    ended = Ended(
        seen,
        handle,
        _diagnose(backend, handle, seen) if seen.state is not JobState.COMPLETED or bad_numbers else None,
        _last_checkpoint(backend, handle, recipe),
        largest_memory(backend),
    )
    with lab.store.write() as tx:
        attempt = tx.get(Attempt, attempt_id)
        if attempt is None or attempt.ended_at is not None:
            return
        _apply(lab, tx, attempt, recipe, ended)


def _apply(lab: Lab, tx: Session, attempt: Attempt, recipe: Recipe, ended: Ended) -> None:
    now, seen = lab.clock(), ended.seen
    run = tx.get(Run, attempt.run_id)
    if run is None:
        return
    plan = plan_of(tx, run.plan_id)
    attempt.exit_code, attempt.signal, attempt.job_state = seen.exit_code, seen.signal, seen.state.value
    attempt.started_at = attempt.started_at or seen.started_at
    attempt.diagnosis = to_json(ended.diagnosis) if ended.diagnosis is not None else None
    record_usage(tx, plan, run, attempt, seen, now)
    if run.stop_requested is not None and seen.state is not JobState.COMPLETED:
        end_attempt(tx, attempt, AttemptState.CANCELLED, at=now)
        move_run(tx, run, RunState.CANCELLED, actor="labhand", why=run.stop_requested, at=now)
    elif seen.state is JobState.COMPLETED and ended.diagnosis is None:
        _succeeded(lab, tx, plan, run, attempt, recipe, now)
    elif seen.state in _MOVED:
        end_attempt(tx, attempt, AttemptState.PREEMPTED, at=now)
        run.remedies = {**run.remedies, "resume": ended.checkpoint}
        move_run(tx, run, RunState.PREEMPTED, actor="labhand", why=seen.reason or "preempted", at=now)
        move_run(tx, run, RunState.QUEUED, actor="labhand", why="back in the queue; it costs no retry", at=now)
    else:
        _failed(lab, tx, plan, run, attempt, recipe, ended, now)


def _succeeded(lab: Lab, tx: Session, plan: Plan, run: Run, attempt: Attempt, recipe: Recipe, now: datetime) -> None:
    run.results = _results(attempt)
    end_attempt(tx, attempt, AttemptState.SUCCEEDED, at=now)
    move_run(tx, run, RunState.SUCCEEDED, actor="labhand", why="it ran through", at=now)
    tried = tx.exec(select(RemedyTried).where(RemedyTried.run_id == run.id, RemedyTried.outcome == "pending")).all()
    for remedy in tried:
        remedy.outcome = "held"
        tx.add(remedy)
    learned = _learned(run, tried[-1] if tried else None)
    if learned is not None:
        context = knowledge.context_of(recipe, run.settings, run.resources)
        for category in run.remedies.get("categories", []):
            knowledge.learn(tx, recipe.name, category, context, learned, held=True, at=now)
        _tell_siblings(lab, tx, plan, run, recipe, now)


def _learned(run: Run, last: RemedyTried | None) -> Change | None:
    """All that was changed on the way to success, as one change; nothing when the run needed none."""
    remedies: Mapping[str, Any] = run.remedies
    if last is None or not (remedies.get("settings") or remedies.get("env")):
        return None
    words = "; ".join(remedies.get("words", []))
    return Change(last.action, words, settings=remedies.get("settings", {}), env=remedies.get("env", {}))


def _tell_siblings(lab: Lab, tx: Session, plan: Plan, run: Run, recipe: Recipe, now: datetime) -> None:
    """Start the like cells that still wait with what mended this one, and say so."""
    varied = varied_of(plan)
    told: list[int] = []
    for sibling in runs_of(tx, id_of(plan)):
        if sibling.state != RunState.QUEUED or sibling.remedies.get("words"):
            continue
        found = knowledge.known_remedies(tx, recipe, sibling.settings, sibling.resources, varied)
        if found:
            sibling.remedies = {**sibling.remedies, **found}
            tx.add(sibling)
            told.append(id_of(sibling))
    if told and plan.thread_id is not None:
        card = siblings_card(run, told)
        outbox.say(tx, plan.thread_id, card, dedupe_key=f"run:{run.id}:siblings", at=now)


def _failed(
    lab: Lab, tx: Session, plan: Plan, run: Run, attempt: Attempt, recipe: Recipe, ended: Ended, now: datetime
) -> None:
    lost = ended.seen.state is JobState.LOST
    end_attempt(tx, attempt, AttemptState.LOST if lost else AttemptState.FAILED, at=now)
    _drop_pending(tx, run, recipe, now)
    choice = _choose(tx, plan, run, attempt, recipe, ended)
    diagnosis = attempt.diagnosis or {}
    why = str(diagnosis.get("root_cause") or ended.seen.reason or "it failed")
    move_run(tx, run, RunState.LOST if lost else RunState.FAILED, actor="labhand", why=why, at=now)
    budget_left = run.retries < run.max_retries
    if choice.change is not None and budget_left:
        _retry(lab, tx, plan, run, attempt, choice.change, ended, now)
        card = repaired_card(run, attempt, choice)
    else:
        run.results = {**_results(attempt), "category": diagnosis.get("category")}
        tx.add(run)
        spent = "" if budget_left else f"{plural(run.max_retries, 'retry')} used up"
        card = failed_card(run, attempt, choice, spent)
    if plan.thread_id is not None:
        thread = tx.get_one(Thread, plan.thread_id)
        thread.run_id = run.id
        tx.add(thread)
        outbox.say(tx, plan.thread_id, card, dedupe_key=f"attempt:{attempt.id}:end", at=now)


def _retry(
    lab: Lab, tx: Session, plan: Plan, run: Run, attempt: Attempt, change: Change, ended: Ended, now: datetime
) -> None:
    category = (attempt.diagnosis or {}).get("category", "unknown")
    remedies = overlay(run.remedies, change)
    if not change.is_retry_as_is:
        remedies["categories"] = list(dict.fromkeys([*remedies["categories"], category]))
        tx.add(
            RemedyTried(
                run_id=id_of(run),
                attempt_id=id_of(attempt),
                category=category,
                action=change.action,
                change=change.to_json(),
                change_digest=change_digest(change),
                created_at=now,
            )
        )
    remedies["resume"] = ended.checkpoint if change.resume else None
    run.remedies = remedies
    transient = bool((attempt.diagnosis or {}).get("transient"))
    waits = _TRANSIENT_BACK_OFF_S if transient else _BACK_OFF_S
    run.not_before = now + timedelta(seconds=waits[min(run.retries, len(waits) - 1)])
    run.retries += 1
    move_run(tx, run, RunState.QUEUED, actor="labhand", why=f"retry: {change.words}", at=now)


def _drop_pending(tx: Session, run: Run, recipe: Recipe, now: datetime) -> None:
    """A change made before did not hold: mark it, and count it against what is known."""
    pending = tx.exec(select(RemedyTried).where(RemedyTried.run_id == run.id, RemedyTried.outcome == "pending")).all()
    context = knowledge.context_of(recipe, run.settings, run.resources)
    for remedy in pending:
        remedy.outcome = "failed"
        tx.add(remedy)
        knowledge.learn(tx, recipe.name, remedy.category, context, change_from(remedy.change), held=False, at=now)


def _choose(tx: Session, plan: Plan, run: Run, attempt: Attempt, recipe: Recipe, ended: Ended) -> Choice:
    if ended.diagnosis is None or attempt.diagnosis is None:
        return Choice(None, "nothing is known of the cause")
    verdict = verdict_from(attempt.diagnosis)
    spec = spec_from_json(attempt.job)
    tried = tx.exec(select(RemedyTried.change_digest).where(RemedyTried.run_id == run.id)).all()
    situation = Situation(
        recipe=recipe,
        knobs=knobs_for(recipe),
        settings=effective_settings(run.settings, run.remedies),
        varied=varied_of(plan),
        tried_bytes=_value(ended.diagnosis, "tried"),
        limit_bytes=_value(ended.diagnosis, "total") or spec.resources.memory_bytes,
        memory_bytes=spec.resources.memory_bytes,
        most_memory=ended.most_memory,
        time_limit_s=spec.resources.time_limit_s,
        host=attempt.host,
        has_checkpoint=ended.checkpoint is not None,
        env=spec.env,
    )
    context = knowledge.context_of(recipe, run.settings, run.resources)
    return choose(verdict, situation, frozenset(tried), knowledge.proven(tx, recipe.name, verdict.category, context))


def varied_of(plan: Plan) -> frozenset[str]:
    """The settings that the plan compares: no remedy may alter them."""
    design = design_of(plan)
    return frozenset([*(n for n, levels in design.factors.items() if len(levels) > 1), *design.ranges])


def _diagnose(backend: Backend, handle: JobHandle, seen: Observation) -> Diagnosis | None:
    """What the log says; `None` when the machine no longer knows the job."""
    try:
        with open_log(backend, handle) as log:
            return diagnose(log, Hints(seen.exit_code, seen.signal, _scheduler_word(seen), None))
    except HandleUnknown:
        return None


def _scheduler_word(seen: Observation) -> str | None:
    """The machine's own word where it is more than an exit code."""
    telling = (JobState.TIMEOUT, JobState.OUT_OF_MEMORY, JobState.NODE_FAIL, JobState.PREEMPTED, JobState.CANCELLED)
    return seen.state.value.upper() if seen.state in telling else None


def _value(diagnosis: Diagnosis, name: str) -> int | None:
    value = diagnosis.values.get(name)
    return round(value) if isinstance(value, int | float) else None


def _last_checkpoint(backend: Backend, handle: JobHandle, recipe: Recipe) -> str | None:
    rule = recipe.checkpoints
    if rule is None or rule.resume is None:
        return None
    try:
        files: list[JobFile] = [f for f in backend.files(handle, f"{rule.dir}/{rule.pattern}") if f.size > 0]
    except BackendError as error:
        _LOG.warning("the checkpoints of %s can't be listed: %s", handle.key, error)
        return None
    return f"{handle.work_dir}/{files[-1].path}" if files else None


def _ended_without_numbers(attempt: Attempt) -> bool:
    """Whether every metric's last word was NaN or infinite: a job that ends 0 and says nothing."""
    series = ReadState.from_json(attempt.reading).series.values()
    last = [one.last for one in series if one.last is not None]
    return bool(last) and all(point.special is not None for point in last)


def _results(attempt: Attempt) -> dict[str, Any]:
    series = ReadState.from_json(attempt.reading).series
    last = {name: one.last.value for name, one in series.items() if one.last is not None}
    best = {name: one.best.value for name, one in series.items() if one.best is not None}
    return {"metrics": last, "best": best}
