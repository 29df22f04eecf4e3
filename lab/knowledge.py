"""What the lab has learned: which change mended which fault in which context."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlmodel import Session, select

from lab.recipe.model import Recipe
from lab.remedies.change import Change, change_digest, change_from, overlay
from lab.remedies.choose import Proven
from lab.remedies.knobs import knobs_for
from lab.schema import Knowledge

_CONTEXT = ("model", "dataset")
_MEMORY = ("gpu-oom-capacity", "host-oom", "gpu-oom-fragmentation")


def context_of(recipe: Recipe, settings: Mapping[str, Any], resources: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two cases alike: the model, the data, the effective batch and the memory there is."""
    knobs = knobs_for(recipe)
    batch = knobs.batch(settings) if knobs else None
    context: dict[str, Any] = {name: settings[name] for name in _CONTEXT if name in settings}
    context["effective_batch"] = batch.effective if batch else settings.get("batch_size")
    context["memory_bytes"] = resources.get("memory_bytes")
    context["gpu_type"] = resources.get("gpu_type")
    return context


def learn(
    tx: Session, recipe: str, category: str, context: Mapping[str, Any], change: Change, *, held: bool, at: datetime
) -> None:
    """Count one more try of `change` in this context, and whether it held."""
    place, digest = _digest(context), change_digest(change)
    row = tx.exec(
        select(Knowledge).where(
            Knowledge.recipe == recipe,
            Knowledge.category == category,
            Knowledge.context_digest == place,
            Knowledge.change_digest == digest,
        )
    ).first()
    if row is None:
        row = Knowledge(
            recipe=recipe,
            category=category,
            action=change.action,
            context=dict(context),
            context_digest=place,
            change=change.to_json(),
            change_digest=digest,
            updated_at=at,
        )
    row.tries += 1
    row.successes += 1 if held else 0
    row.updated_at = at
    tx.add(row)


def proven(tx: Session, recipe: str, category: str, context: Mapping[str, Any]) -> list[Proven]:
    """How each action fared in like contexts."""
    counts: dict[str, tuple[int, int]] = {}
    for row in tx.exec(select(Knowledge).where(Knowledge.recipe == recipe, Knowledge.category == category)).all():
        if _like(row.context, context):
            tries, successes = counts.get(row.action, (0, 0))
            counts[row.action] = (tries + row.tries, successes + row.successes)
    return [Proven(action, tries, successes) for action, (tries, successes) in counts.items()]


def known_remedies(
    tx: Session,
    recipe: Recipe,
    settings: Mapping[str, Any],
    resources: Mapping[str, Any],
    varied: frozenset[str],
) -> dict[str, Any]:
    """The overlay to start a cell with, from memory faults that like cells had and what mended them; else empty.

    A change is taken over when it held in most tries, for the same model under no more memory and no smaller batch,
    and alters nothing that the plan compares.
    """
    context = context_of(recipe, settings, resources)
    rows = tx.exec(select(Knowledge).where(Knowledge.recipe == recipe.name)).all()
    fitting = [
        row
        for row in rows
        if row.category in _MEMORY and row.successes * 2 > row.tries and _needs_it_too(row.context, context)
    ]
    if not fitting:
        return {}
    best = max(fitting, key=lambda row: (row.context == context, row.successes, row.id or 0))
    change = _carried_over(recipe, change_from(best.change), settings)
    if change is None or varied & (change.settings.keys() - {"batch_size"}):
        return {}
    return {**overlay({}, change), "learned_from": best.id, "categories": [best.category]}


def _carried_over(recipe: Recipe, change: Change, settings: Mapping[str, Any]) -> Change | None:
    """The change for other settings: a micro-batch must divide this cell's own effective batch."""
    knobs = knobs_for(recipe)
    micro = change.settings.get("micro_batch")
    if micro is None or knobs is None:
        return None if "batch_size" in change.settings else change
    own = knobs.with_micro_batch(settings, micro)
    if own is None:
        return None
    batch = knobs.batch({**settings, **own})
    effective = f" (effective batch stays {batch.effective})" if batch else ""
    return Change(change.action, f"micro-batch {micro}{effective}", {**change.settings, **own}, change.env)


def _needs_it_too(known: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    if any(known.get(name) != context.get(name) for name in (*_CONTEXT, "gpu_type")):
        return False
    batch, had = context.get("effective_batch"), known.get("effective_batch")
    memory, held = context.get("memory_bytes"), known.get("memory_bytes")
    larger_batch = batch is None or had is None or batch >= had
    less_memory = memory is None or held is None or memory <= held
    return larger_batch and less_memory


def _like(known: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    return all(known.get(name) == context.get(name) for name in (*_CONTEXT, "gpu_type"))


def _digest(context: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(context, sort_keys=True).encode()).hexdigest()
