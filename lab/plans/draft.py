"""Drawing up a plan: nothing runs, but everything that would be run is fixed and checked."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from sqlmodel import Session

from backends.base import JobPlan
from backends.errors import BackendError, JobRejected
from lab import audit
from lab.errors import BadRequest
from lab.ids import id_of
from lab.jobs import job_spec, request
from lab.knowledge import known_remedies
from lab.people import default_project
from lab.planning.estimate import Estimate, estimate
from lab.planning.goal import Design, Goal
from lab.planning.matrix import cells, settings_digest
from lab.planning.resolve import Resolved, resolve
from lab.plans.approvals import void_approvals
from lab.plans.load import past_runs, plan_of, recipe_of, runs_of
from lab.recipe.model import Recipe
from lab.schema import Plan, Run, Thread
from lab.services import Actor, Lab
from lab.states import PlanState, RunState
from lab.transitions import move_plan, move_run


@dataclass(frozen=True)
class Drawn:
    """A design worked out in full, not yet stored: one entry of `remedies` a cell, from what the lab has learned."""

    recipe: Recipe
    design: Design
    cells: tuple[dict[str, Any], ...]
    remedies: tuple[dict[str, Any], ...]
    estimate: Estimate
    job: JobPlan | None
    problems: tuple[str, ...] = ()


def draw(lab: Lab, tx: Session, recipe: Recipe, design: Design) -> Drawn:
    """Work a design out: its cells, its estimate, and whether the machines could run it. Raises `BadRequest`."""
    settings = tuple(cells(recipe, design))
    resources = asdict(request(recipe, design))
    remedies = tuple(known_remedies(tx, recipe, cell, resources, frozenset(_varied(design))) for cell in settings)
    found = estimate(recipe, settings, past_runs(tx, recipe.name), design.resources)
    problems: list[str] = []
    job = _try_job(lab, recipe, settings[0], resources, remedies[0], problems)
    return Drawn(recipe, design, settings, remedies, found, job, tuple(problems))


def draft(lab: Lab, actor: Actor, thread_id: int | None, goal: Goal) -> tuple[Resolved, int | None]:
    """Understand a goal and store its plan as a draft. The plan's id is `None` when questions are open."""
    resolved = resolve(goal, lab.shelf())
    if resolved.recipe is None or resolved.design is None:
        return resolved, None
    with lab.store.write() as tx:
        drawn = draw(lab, tx, resolved.recipe, resolved.design)
        plan = store_plan(lab, tx, actor, thread_id, goal.goal, drawn)
        return resolved, plan.id


def store_plan(lab: Lab, tx: Session, actor: Actor, thread_id: int | None, goal: str, drawn: Drawn) -> Plan:
    """Keep a drawn plan and its runs as drafts. Raises `BadRequest` when the machines could never run it."""
    if drawn.problems:
        raise BadRequest(drawn.problems[0])
    now = lab.clock()
    thread = tx.get(Thread, thread_id) if thread_id is not None else None
    plan = Plan(
        project_id=thread.project_id if thread else id_of(default_project(tx, now)),
        thread_id=thread_id,
        owner_id=actor.user_id,
        goal=goal,
        recipe=drawn.recipe.name,
        recipe_snapshot=drawn.recipe.snapshot(),
        strategy=drawn.design.strategy,
        design=drawn.design.to_json(),
        estimate=drawn.estimate.to_json(),
        digest=plan_digest(drawn),
        backend=lab.default_backend,
        created_at=now,
    )
    tx.add(plan)
    tx.flush()
    resources = asdict(request(drawn.recipe, drawn.design))
    for position, (cell, remedies) in enumerate(zip(drawn.cells, drawn.remedies, strict=True)):
        tx.add(_run(lab, plan, position, cell, remedies, resources))
    if thread is not None:
        thread.plan_id = plan.id
        tx.add(thread)
    detail = {"goal": goal, "digest": plan.digest, "runs": len(drawn.cells)}
    audit.record(
        tx, actor=actor.name, action="plan.draft", subject=f"plan:{plan.id}", at=now, source=actor.source, detail=detail
    )
    tx.flush()
    return plan


def redraw(lab: Lab, actor: Actor, plan_id: int, design: Design, note: str) -> int:
    """A new draft with another design: in place of one that has not started, beside one that has."""
    with lab.store.write() as tx:
        old = plan_of(tx, plan_id)
        open_draft = old.state in (PlanState.DRAFT, PlanState.AWAITING_APPROVAL)
        drawn = draw(lab, tx, recipe_of(old), design)
        goal = f"{old.goal}; {note}" if note else old.goal
        plan = store_plan(lab, tx, actor, old.thread_id, goal, drawn)
        if open_draft:
            _replace(lab, tx, actor, old, plan)
        return id_of(plan)


def _replace(lab: Lab, tx: Session, actor: Actor, old: Plan, new: Plan) -> None:
    """Take a draft out of the way of the one that replaces it; an approval asked for it is void."""
    why, now = f"replaced by plan {new.id}", lab.clock()
    new.replaces_id = old.id
    tx.add(new)
    void_approvals(tx, id_of(old), now)
    for run in runs_of(tx, id_of(old)):
        move_run(tx, run, RunState.CANCELLED, actor=actor.name, why=why, at=now, source=actor.source)
    move_plan(tx, old, PlanState.REPLACED, actor=actor.name, why=why, at=now, source=actor.source)


def plan_digest(drawn: Drawn) -> str:
    """SHA-256 over all that decides what would be run; an approval and the Run button are bound to it."""
    whole = {
        "recipe": drawn.recipe.snapshot(),
        "design": drawn.design.to_json(),
        "cells": drawn.cells,
        "remedies": drawn.remedies,
        "job": drawn.job.digest if drawn.job else None,
    }
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()


def _run(
    lab: Lab, plan: Plan, position: int, cell: dict[str, Any], remedies: dict[str, Any], resources: dict[str, Any]
) -> Run:
    return Run(
        plan_id=id_of(plan),
        position=position,
        settings=cell,
        settings_digest=settings_digest(plan.recipe, cell),
        remedies=remedies,
        resources=resources,
        state=RunState.DRAFT.value,
        max_retries=lab.site.max_retries,
        created_at=lab.clock(),
    )


def _try_job(
    lab: Lab,
    recipe: Recipe,
    cell: dict[str, Any],
    resources: dict[str, Any],
    remedies: dict[str, Any],
    problems: list[str],
) -> JobPlan | None:
    problems += _not_yet(recipe)
    backend = lab.backend(lab.default_backend)
    try:
        return backend.plan(job_spec(recipe, recipe.name, cell, resources, remedies))
    except JobRejected as error:
        problems.append(f"{error} {error.next_step or ''}".strip())
    except BackendError:
        return None
    return None


def _varied(design: Design) -> list[str]:
    return [*(name for name, levels in design.factors.items() if len(levels) > 1), *design.ranges]


def _not_yet(recipe: Recipe) -> list[str]:
    """What the recipe asks for and nothing here does yet: told, rather than run without."""
    asked = {
        "a container": recipe.container is not None,
        "code from a repository": recipe.code is not None and recipe.code.git is not None,
    }
    return [
        f"The recipe {recipe.name} asks for {what}, which this Labhand can't give yet. Take it out to run without."
        for what, wanted in asked.items()
        if wanted
    ]
