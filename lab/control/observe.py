"""Looking at the jobs that live: one poll a backend, new log bytes read into metrics, ends handed to `settle`."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backends.base import Backend, JobHandle, JobState, Observation
from backends.errors import BackendError, HandleUnknown
from lab import queue
from lab.control.settle import settle
from lab.ids import id_of
from lab.jobs import handle_from_json
from lab.metrics import MetricPoint, MetricReader, ReadState
from lab.plans.load import plan_of, recipe_of
from lab.recipe.model import Recipe
from lab.schema import Attempt, Metric
from lab.services import Lab
from lab.states import AttemptState

_LOG = logging.getLogger(__name__)
_PIECE = 1 << 20
_MOST_PIECES = 8
"""Log read of one attempt in one tick, in MiB: a log that grows faster is caught up with later."""


@dataclass(frozen=True)
class Watched:
    """A live attempt as it was when the tick began."""

    attempt_id: int
    run_id: int
    handle: JobHandle
    cursor: int
    reading: Mapping[str, Any] | None
    recipe: Recipe
    stop_requested: bool


@dataclass(frozen=True)
class Reading:
    """What was newly read of a log."""

    before: int
    cursor: int
    state: ReadState
    points: tuple[MetricPoint, ...]


def observe(lab: Lab) -> int:
    """Poll every backend with live attempts; returns how many attempts ended."""
    ended = 0
    for name, watched in _watched(lab).items():
        backend = lab.backend(name)
        _stop_requested(backend, watched)
        try:
            seen = backend.poll([one.handle for one in watched])
        except BackendError as error:
            _LOG.warning("%s did not answer: %s", name, error)
            continue
        for one in watched:
            observation = seen.get(one.handle.key)
            if observation is not None and observation.state is not JobState.UNKNOWN:
                ended += _look(lab, backend, one, observation)
    return ended


def _watched(lab: Lab) -> dict[str, list[Watched]]:
    found: dict[str, list[Watched]] = {}
    recipes: dict[int, Recipe] = {}
    with lab.store.read() as tx:
        for run, attempt in queue.live_attempts(tx):
            if attempt.handle is None or attempt.backend not in lab.backends:
                continue
            if run.plan_id not in recipes:
                recipes[run.plan_id] = recipe_of(plan_of(tx, run.plan_id))
            one = Watched(
                id_of(attempt),
                id_of(run),
                handle_from_json(attempt.handle),
                attempt.log_cursor,
                attempt.reading,
                recipes[run.plan_id],
                run.stop_requested is not None,
            )
            found.setdefault(attempt.backend, []).append(one)
    return found


def _stop_requested(backend: Backend, watched: Sequence[Watched]) -> None:
    for one in watched:
        if one.stop_requested:
            try:
                backend.cancel(one.handle)
            except BackendError as error:
                _LOG.warning("%s can't be stopped yet: %s", one.handle.key, error)


def _look(lab: Lab, backend: Backend, one: Watched, seen: Observation) -> bool:
    """Keep what one job did since the last look; returns whether it has ended and is settled."""
    try:
        reading = read_log(backend, one, whole=seen.state.ended)
        _keep(lab, one, seen, reading)
        if seen.state.ended:
            settle(lab, backend, one.attempt_id, one.handle, one.recipe, seen)
            return True
    except HandleUnknown as error:
        gone = replace(seen, state=JobState.LOST, reason=f"its directory is gone: {error}")
        settle(lab, backend, one.attempt_id, one.handle, one.recipe, gone)
        return True
    except BackendError as error:
        _LOG.warning("%s could not be read: %s", one.handle.key, error)
    return False


def read_log(backend: Backend, one: Watched, *, whole: bool) -> Reading:
    """New bytes of the log as metric points; to its end, and with its last line, when `whole`."""
    reader, state = MetricReader(one.recipe), ReadState.from_json(one.reading)
    cursor, points = one.cursor, list[MetricPoint]()
    pieces = 0
    while whole or pieces < _MOST_PIECES:
        chunk = backend.logs(one.handle, cursor, _PIECE)
        if not chunk.data:
            break
        state, more = reader.read(state, chunk.data)
        points += more
        cursor = chunk.next_cursor
        pieces += 1
    if whole:
        state, more = reader.finish(state)
        points += more
    return Reading(one.cursor, cursor, state, tuple(points))


def _keep(lab: Lab, one: Watched, seen: Observation, reading: Reading) -> None:
    now = lab.clock()
    with lab.store.write() as tx:
        attempt = tx.get(Attempt, one.attempt_id)
        if attempt is None or attempt.log_cursor != reading.before or attempt.reading != one.reading:
            return
        attempt.log_cursor, attempt.reading = reading.cursor, reading.state.to_json()
        attempt.host = seen.host or attempt.host
        attempt.started_at = seen.started_at or attempt.started_at
        attempt.job_state = seen.state.value
        if seen.state is JobState.RUNNING and attempt.state == AttemptState.SUBMITTED:
            queue.seen_running(tx, attempt, at=now)
        tx.add(attempt)
        tx.add_all(_rows(one.attempt_id, reading.points, now))


def _rows(attempt_id: int, points: Sequence[MetricPoint], at: datetime) -> list[Metric]:
    return [
        Metric(attempt_id=attempt_id, name=p.name, step=p.step, value=p.value, special=p.special, seen_at=at)
        for p in points
    ]
