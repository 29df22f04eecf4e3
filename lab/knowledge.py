"""What the lab has learned: which change mended which fault in which context."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlmodel import Session, select

from lab.recipe.model import Recipe
from lab.recipe.values import plain
from lab.remedies.change import Change, change_digest, change_from, overlay
from lab.remedies.choose import Proven
from lab.remedies.knobs import knobs_for
from lab.schema import Knowledge

_CONTEXT = ("model", "dataset")
_GPU_MEMORY = ("gpu-oom-capacity", "gpu-oom-fragmentation")
_MEMORY = (*_GPU_MEMORY, "host-oom")
_MEMORY_VARIABLES = ("PYTORCH_CUDA_ALLOC_CONF", "XLA_PYTHON_CLIENT_PREALLOCATE")
_NO_MATTER = frozenset(
    plain(name)
    for name in (
        *("seed", "lr", "learning_rate", "schedule", "lr_schedule", "warmup", "warmup_steps", "warmup_ratio"),
        *(
            "epochs",
            "stop_after_epochs",
            "steps",
            "max_steps",
            "iterations",
            "weight_decay",
            "momentum",
            "label_smoothing",
        ),
        *("augmentation", "clip_grad_norm", "max_grad_norm", "fail_on_nan"),
    )
)
"""Settings that a step's memory does not depend on. Any other has to be equal, or a repair is not carried over."""


def context_of(recipe: Recipe, settings: Mapping[str, Any], resources: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two cases alike: model, data, effective batch, memory, and whatever else a step's memory rests on."""
    knobs = knobs_for(recipe)
    batch = knobs.batch(settings) if knobs else None
    context: dict[str, Any] = {name: settings[name] for name in _CONTEXT if name in settings}
    whole = recipe.setting_name("batch_size") or "batch_size"
    context["effective_batch"] = batch.effective if batch else settings.get(whole)
    context["memory_bytes"] = resources.get("memory_bytes")
    context["gpu_type"] = resources.get("gpu_type")
    context["rest"] = {n: v for n, v in sorted(settings.items()) if _matters(recipe, n) and n not in (*_CONTEXT, whole)}
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
        row for row in rows if row.category in _MEMORY and row.successes * 2 > row.tries and _needs_it_too(row, context)
    ]
    fitting.sort(key=lambda row: (row.context == context, row.successes, row.id or 0), reverse=True)
    for row in fitting:
        change = _carried_over(recipe, change_from(row.change), settings)
        if change is not None and not varied & change.settings.keys():
            return {**overlay({}, change), "learned_from": row.id, "categories": [row.category]}
    return {}


def _carried_over(recipe: Recipe, change: Change, settings: Mapping[str, Any]) -> Change | None:
    """What of the change saves memory, for other settings: a micro-batch must divide this cell's effective batch."""
    knobs = knobs_for(recipe)
    env = {name: value for name, value in change.env.items() if name in _MEMORY_VARIABLES}
    own: dict[str, Any] = {}
    words = [f"{name}={value}" for name, value in env.items()]
    if knobs is not None and (micro := change.settings.get(knobs.micro_name or "")) is not None:
        smaller, batch = knobs.with_micro_batch(settings, micro), knobs.batch(settings)
        if smaller is None or batch is None:
            return None
        own |= smaller
        words.append(f"micro-batch {micro} (effective batch stays {batch.effective})")
    switch = knobs.switch(settings, "gradient_checkpointing") if knobs is not None else None
    if switch and all(change.settings.get(name) is True for name in switch):
        own |= switch
        words.append("gradient checkpointing on")
    return Change(change.action, " and ".join(words), own, env) if own or env else None


def _needs_it_too(row: Knowledge, context: Mapping[str, Any]) -> bool:
    """Whether a cell needs at least as much memory as the case that is known, and has no more. Unknown is no."""
    known = row.context
    if any(known.get(name) != context.get(name) for name in (*_CONTEXT, "gpu_type", "rest")):
        return False
    if not _at_least(context.get("effective_batch"), known.get("effective_batch")):
        return False
    memory, held = context.get("memory_bytes"), known.get("memory_bytes")
    return row.category in _GPU_MEMORY or memory == held or _at_least(held, memory)


def _at_least(value: object, other: object) -> bool:
    return isinstance(value, int | float) and isinstance(other, int | float) and value >= other


def _matters(recipe: Recipe, name: str) -> bool:
    rule = recipe.settings.get(name)
    return not _NO_MATTER & {plain(n) for n in (name, *(rule.aliases if rule is not None else ()))}


def _like(known: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    return all(known.get(name) == context.get(name) for name in (*_CONTEXT, "gpu_type"))


def _digest(context: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(context, sort_keys=True).encode()).hexdigest()
