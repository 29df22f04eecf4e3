"""From a run to the job of one attempt, and both as JSON."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from backends.base import JobHandle, JobSpec, Resources
from lab.command import render_argv
from lab.planning.goal import Design
from lab.recipe.model import Recipe

Json = Mapping[str, Any]
_HOUR = 3600
_LONGEST_NAME = 60
_SPEC = TypeAdapter(JobSpec)
_HANDLE = TypeAdapter(JobHandle)
_UNSAFE_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def request(recipe: Recipe, design: Design) -> Resources:
    """What each run of a plan asks for: the person's words over the recipe's."""
    needs, rule = design.resources, recipe.resources
    hours = design.limits.hours_per_run or rule.time_limit_hours
    return Resources(
        gpus=needs.gpus if needs.gpus is not None else rule.gpus,
        gpu_type=needs.gpu_type or rule.gpu_type,
        cpus=needs.cpus or rule.cpus,
        memory_bytes=needs.memory or rule.memory,
        time_limit_s=max(1, round(hours * _HOUR)) if hours is not None else None,
        nodes=needs.nodes or rule.nodes,
    )


def effective_settings(settings: Json, remedies: Json) -> dict[str, Any]:
    """The settings of the next attempt: the run's with its remedies on top."""
    return {**settings, **remedies.get("settings", {})}


def effective_resources(resources: Json, remedies: Json) -> Resources:
    """The request of the next attempt: the run's with its remedies on top."""
    return Resources(**{**resources, **remedies.get("resources", {})})


def job_spec(
    recipe: Recipe, name: str, settings: Json, resources: Json, remedies: Json, resume: str | None = None
) -> JobSpec:
    """The complete job of one attempt. `resume` is the path of a checkpoint on the job's machine."""
    checkpoints = recipe.checkpoints
    own_names = (Path(checkpoints.dir).parts[0],) if checkpoints is not None else ()
    signal = checkpoints.signal if checkpoints is not None else None
    return JobSpec(
        name=_UNSAFE_NAME.sub("-", name)[:_LONGEST_NAME],
        argv=render_argv(recipe, effective_settings(settings, remedies), resume),
        resources=effective_resources(resources, remedies),
        env={**recipe.env, **remedies.get("env", {})},
        code_dir=code_dir(recipe),
        own_names=own_names,
        checkpoint_signal=signal or "USR1",
        avoid_hosts=tuple(remedies.get("avoid_hosts", ())),
    )


def code_dir(recipe: Recipe) -> str | None:
    """The directory whose code is run: `code.dir` beside the recipe file, else the recipe file's own directory."""
    if not recipe.source:
        return None
    beside = Path(recipe.source).parent
    own = recipe.code.dir if recipe.code is not None else None
    return str((beside / own).resolve() if own else beside.resolve())


def spec_to_json(spec: JobSpec) -> dict[str, Any]:
    return _SPEC.dump_python(spec, mode="json")


def spec_from_json(data: Json) -> JobSpec:
    """The spec that `spec_to_json` wrote."""
    return _SPEC.validate_python(data)


def handle_to_json(handle: JobHandle) -> dict[str, Any]:
    return _HANDLE.dump_python(handle, mode="json")


def handle_from_json(data: Json) -> JobHandle:
    """The handle that `handle_to_json` wrote."""
    return _HANDLE.validate_python(data)
