"""Which change comes next for a failed attempt: what held before in a like case first, then the diagnosis's order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.remedies.actions import ACTIONS, Situation, requeue
from lab.remedies.change import Change, change_digest

_MODEL_MEMORY = ("halve-micro-batch-double-accumulation", "enable-gradient-checkpointing")


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
    if verdict.retry == "no":
        return Choice(None, "a person has to act first", _possible(verdict.actions, now, tried))
    offered = _possible(_ranked(verdict, now, proven), now, tried)
    if verdict.retry == "as-is":
        offered = _as_is(requeue(now), offered)
    if not offered:
        return Choice(None, "no change that Labhand can make by itself is left", ())
    return Choice(offered[0], _reason(offered[0], proven), offered[1:])


def _as_is(repeat: Change, offered: tuple[Change, ...]) -> tuple[Change, ...]:
    return (repeat, *(change for change in offered if change.action != "requeue"))


def _ranked(verdict: Verdict, now: Situation, proven: Sequence[Proven]) -> list[str]:
    actions = list(verdict.actions)
    if verdict.category == "host-oom" and now.recipe.resources.gpus == 0:
        # Without a GPU the model itself lives in host memory, so what shrinks a model helps there.
        actions = [*_MODEL_MEMORY, *(a for a in actions if a not in _MODEL_MEMORY)]
    held = sorted((p for p in proven if p.successes), key=lambda p: (-p.successes / p.tries, -p.successes))
    hopeless = {p.action for p in proven if p.tries >= 2 and not p.successes}
    first = [p.action for p in held]
    return [a for a in dict.fromkeys([*first, *actions]) if a not in hopeless]


def _possible(actions: Sequence[str], now: Situation, tried: frozenset[str]) -> tuple[Change, ...]:
    made = (ACTIONS[action](now) for action in actions if action in ACTIONS)
    return tuple(change for change in made if change is not None and change_digest(change) not in tried)


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
