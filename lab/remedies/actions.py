"""The actions that Labhand carries out itself, each a pure function from the situation to a change.

An action returns `None` when it does not fit: the knob is missing, it is on already, or it would alter what the plan
compares. Action names are those of a diagnosis.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.recipe.model import Recipe
from lab.remedies.change import REQUEUE, Change
from lab.remedies.knobs import Knobs, largest_divisor
from lab.words import number, size

HALVE = "halve-micro-batch-double-accumulation"
CHECKPOINT = "enable-gradient-checkpointing"
_HEADROOM = 0.5
"""A single allocation is aimed at no more than this share of the limit: the step holds several such arrays."""


@dataclass(frozen=True)
class Situation:
    """A failed attempt as a remedy sees it. `settings` are those it ran with; `varied` the plan's factors.

    `tried_bytes` is the allocation that failed and `limit_bytes` the memory there was; `None` when not read.
    `most_memory` is the largest request that any machine of the backend could hold.
    """

    recipe: Recipe
    knobs: Knobs | None
    settings: Mapping[str, Any]
    varied: frozenset[str] = frozenset()
    tried_bytes: int | None = None
    limit_bytes: int | None = None
    memory_bytes: int | None = None
    most_memory: int | None = None
    time_limit_s: int | None = None
    host: str | None = None
    has_checkpoint: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])


Action = Callable[[Situation], Change | None]


def smaller_micro_batch(now: Situation) -> Change | None:
    """Halve the micro-batch (as often as the failed allocation asks for) and make up for it by accumulation.

    The new size is the largest that divides the effective batch and is at most half of the old one.
    """
    batch = now.knobs.batch(now.settings) if now.knobs else None
    if now.knobs is None or batch is None or batch.micro < 2:
        return None
    micro = largest_divisor(batch.effective, batch.micro // 2)
    while _too_big(now, micro / batch.micro) and micro > 1:
        micro = largest_divisor(batch.effective, micro // 2)
    settings = now.knobs.with_micro_batch(now.settings, micro)
    if settings is None or not _may_set(now, settings):
        return None
    words = f"micro-batch {batch.micro} → {micro} with {batch.effective // micro} accumulation steps"
    return Change(
        HALVE,
        f"{words} (effective batch stays {batch.effective})",
        settings=settings,
        effect=_predicted(now, micro / batch.micro),
    )


def gradient_checkpointing(now: Situation) -> Change | None:
    """Recompute activations in the backward pass: less memory, about a third more time."""
    settings = now.knobs.switch(now.settings, "gradient_checkpointing") if now.knobs else None
    if not settings or not _may_set(now, settings):
        return None
    return Change(
        CHECKPOINT,
        "gradient checkpointing on",
        settings=settings,
        effect="activations are recomputed: less memory, about a third more time a step",
    )


def more_memory(now: Situation) -> Change | None:
    """Ask for half as much memory again, within what a machine of the backend has."""
    if now.memory_bytes is None:
        return None
    wanted = now.memory_bytes * 3 // 2
    if now.most_memory is not None and wanted > now.most_memory:
        return None
    words = f"memory {size(now.memory_bytes)} → {size(wanted)}"
    return Change("increase-host-memory", words, resources={"memory_bytes": wanted}, resume=now.has_checkpoint)


def lower_learning_rate(now: Situation) -> Change | None:
    """A tenth of the learning rate, unless the learning rate is what the plan compares."""
    name = now.knobs.name_of("lr") if now.knobs else None
    value = now.settings.get(name) if name else None
    if name is None or isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    lower = float(f"{value / 10:.4g}")
    if not _may_set(now, {name: lower}):
        return None
    return Change("lower-learning-rate", f"{name} {number(value)} → {number(lower)}", settings={name: lower})


def clip_gradients(now: Situation) -> Change | None:
    """Clip the gradient norm at 1, where the script can and does not yet."""
    name = now.knobs.name_of("clip_grad_norm") if now.knobs else None
    if name is None or now.settings.get(name) or not _may_set(now, {name: 1.0}):
        return None
    return Change("clip-gradients", f"{name} = 1", settings={name: 1.0})


def longer_walltime(now: Situation) -> Change | None:
    """Twice the time limit, going on from the last checkpoint where there is one."""
    if now.time_limit_s is None:
        return None
    words = f"time limit doubled to {now.time_limit_s * 2 / 3600:.3g} h"
    limit = {"time_limit_s": now.time_limit_s * 2}
    return Change("increase-walltime", words, resources=limit, resume=now.has_checkpoint)


def other_node(now: Situation) -> Change | None:
    """Stay away from the machine that failed."""
    if now.host is None:
        return None
    return Change("exclude-node", f"not on {now.host}", avoid_hosts=(now.host,), resume=now.has_checkpoint)


def requeue(now: Situation) -> Change:
    """Once more as it was, from the last checkpoint where there is one."""
    return Change(REQUEUE, "once more as it was", resume=now.has_checkpoint)


def resume_from_last_good(now: Situation) -> Change | None:
    if not now.has_checkpoint:
        return None
    return Change("resume-from-last-good-checkpoint", "go on from the last good checkpoint", resume=True)


def _variable(action: str, name: str, value: str) -> Action:
    def set_variable(now: Situation) -> Change | None:
        if now.env.get(name) == value:
            return None
        return Change(action, f"{name}={value}", env={name: value}, resume=now.has_checkpoint)

    return set_variable


def _allocator(action: str, option: str) -> Action:
    """One more option of PyTorch's allocator beside those that are set, e.g. `a:1,b:2`.

    https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf
    """

    def set_option(now: Situation) -> Change | None:
        key = option.split(":")[0]
        old = [part for part in now.env.get("PYTORCH_CUDA_ALLOC_CONF", "").split(",") if part.strip()]
        kept = [part for part in old if part.split(":")[0].strip() != key]
        return _variable(action, "PYTORCH_CUDA_ALLOC_CONF", ",".join([*kept, option]))(now)

    return set_option


ACTIONS: Mapping[str, Action] = {
    HALVE: smaller_micro_batch,
    CHECKPOINT: gradient_checkpointing,
    "increase-host-memory": more_memory,
    "lower-learning-rate": lower_learning_rate,
    "clip-gradients": clip_gradients,
    "increase-walltime": longer_walltime,
    "exclude-node": other_node,
    "pick-free-gpu": other_node,
    REQUEUE: requeue,
    "resume-from-last-good-checkpoint": resume_from_last_good,
    "set-expandable-segments": _allocator("set-expandable-segments", "expandable_segments:True"),
    "set-max-split-size": _allocator("set-max-split-size", "max_split_size_mb:128"),
    "disable-preallocation": _variable("disable-preallocation", "XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
    "disable-nccl-p2p": _variable("disable-nccl-p2p", "NCCL_P2P_DISABLE", "1"),
    "set-tokenizers-parallelism-false": _variable(
        "set-tokenizers-parallelism-false", "TOKENIZERS_PARALLELISM", "false"
    ),
    "set-offline-mode": _variable("set-offline-mode", "HF_HUB_OFFLINE", "1"),
}


def _may_set(now: Situation, settings: Mapping[str, Any]) -> bool:
    """Whether the change touches nothing that the plan compares and stays within the recipe's rules."""
    return not now.varied & settings.keys() and now.knobs is not None and now.knobs.allows(settings)


def _too_big(now: Situation, share: float) -> bool:
    if now.tried_bytes is None or now.limit_bytes is None:
        return False
    return now.tried_bytes * share > now.limit_bytes * _HEADROOM


def _predicted(now: Situation, share: float) -> str:
    if now.tried_bytes is None:
        return ""
    return f"the allocation that failed shrinks from {size(now.tried_bytes)} to about {size(now.tried_bytes * share)}"
