"""Which change comes next for a failed attempt: what held before in a like case first, then the diagnosis's order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.remedies.actions import ACTIONS, CHECKPOINT, HALVE, Situation, requeue
from lab.remedies.change import Change, change_digest

EXCLUDE = "exclude-node"
_RETRIES = ("as-is", "with-change", "other-node")
_MODEL_MEMORY = (HALVE, CHECKPOINT)
_MOSTLY = 0.5
_HOPELESS_TRIES = 2


@dataclass(frozen=True)
class Verdict:
    """The part of a diagnosis that decides: see `lab.diagnosis`."""

    category: str
    retry: str
    actions: tuple[str, ...]
    needs_human: bool


@dataclass(frozen=True)
class Proven:
    """An action that was tried in a like context before: how often, and how often it held."""

    action: str
    tries: int
    successes: int


@dataclass(frozen=True)
class Choice:
    """The change to make, or why there is none. `others` are what a person may choose instead."""

    change: Change | None
    why: str
    others: tuple[Change, ...] = ()


def choose(
    verdict: Verdict, now: Situation, tried: frozenset[str] = frozenset(), proven: Sequence[Proven] = ()
) -> Choice:
    """The next change for this run. `tried` are the digests of changes made to it already."""
    if verdict.retry not in _RETRIES or verdict.needs_human:
        return Choice(None, "a person has to act first", _possible(verdict.actions, now, tried))
    offered = _possible(_ranked(verdict, now, proven), now, tried)
    if verdict.retry == "as-is":
        offered = (requeue(now), *(change for change in offered if not change.is_retry_as_is))
    if verdict.retry == "with-change":
        offered = tuple(change for change in offered if not change.is_retry_as_is)
    if verdict.retry == "other-node":
        offered = _elsewhere(offered, now, tried)
    if not offered:
        return Choice(None, "no change that Labhand can make by itself is left", ())
    return Choice(offered[0], _reason(offered[0], proven), offered[1:])


def _elsewhere(offered: tuple[Change, ...], now: Situation, tried: frozenset[str]) -> tuple[Change, ...]:
    """What leaves the machine goes first; the same machine once more is no answer, unless nobody knows which it was."""
    if now.host is None:
        return offered
    changes = (*offered, *_possible((EXCLUDE,), now, tried))
    away = tuple(change for change in changes if change.avoid_hosts)[:1]
    return (*away, *(change for change in offered if not change.avoid_hosts and not change.is_retry_as_is))


def _ranked(verdict: Verdict, now: Situation, proven: Sequence[Proven]) -> list[str]:
    """The diagnosis's own actions: those that mostly held before first, those that never held last."""
    actions = list(verdict.actions)
    if verdict.category == "host-oom" and now.recipe.resources.gpus == 0:
        # Without a GPU the model itself lives in host memory, so what shrinks a model helps there.
        actions = [*_MODEL_MEMORY, *(a for a in actions if a not in _MODEL_MEMORY)]
    record = {p.action: p for p in proven if p.tries > 0}

    def rank(action: str) -> tuple[float, int]:
        found = record.get(action)
        if found is None:
            return (0.0, 0)
        share = found.successes / found.tries
        if share >= _MOSTLY:
            return (-share, -found.successes)
        return (1.0, 0) if found.tries >= _HOPELESS_TRIES and not found.successes else (0.0, 0)

    return sorted(dict.fromkeys(actions), key=rank)


def _possible(actions: Sequence[str], now: Situation, tried: frozenset[str]) -> tuple[Change, ...]:
    """What fits now, each change once, without those that were tried."""
    made = (ACTIONS[action](now) for action in actions if action in ACTIONS)
    known = {change_digest(change): change for change in reversed([c for c in made if c is not None])}
    return tuple(change for digest, change in reversed(known.items()) if digest not in tried)


def _reason(change: Change, proven: Sequence[Proven]) -> str:
    before = next((p for p in proven if p.action == change.action and p.successes), None)
    if before is None:
        return "first in the order that costs least speed"
    return f"it held {before.successes} of {before.tries} times in like cases"


def verdict_from(diagnosis: Mapping[str, Any]) -> Verdict:
    """The deciding part of a stored diagnosis."""
    return Verdict(
        category=diagnosis["category"],
        retry=diagnosis["retry"],
        actions=tuple(diagnosis["actions"]),
        needs_human=diagnosis["needs_human"],
    )
