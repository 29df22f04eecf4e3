"""Running something once more: a failed run in place, or with other settings as a small plan of its own."""

from collections.abc import Mapping

from sqlmodel import Session, select

from lab import audit
from lab.cards import Card, Tone
from lab.errors import BadSetting, Conflict, NotPermitted
from lab.ids import id_of
from lab.planning.estimate import Estimate
from lab.planning.levels import convert_level
from lab.planning.matrix import settings_digest
from lab.plans.load import plan_of, recipe_of, run_of, runs_of
from lab.policy import Effect, PlanSize, Ruling, may, may_start
from lab.recipe.model import Recipe, Setting
from lab.schema import Approval, Plan, Run
from lab.services import Actor, Lab
from lab.states import PlanState, RunState
from lab.transitions import move_plan, move_run
from lab.words import number

_AGAIN = (RunState.FAILED, RunState.CANCELLED, RunState.LOST)


def retry_run(
    lab: Lab,
    actor: Actor,
    run_id: int,
    settings: Mapping[str, Setting] | None = None,
    scale: Mapping[str, float] | None = None,
) -> Card:
    """Queue a run that has ended badly once more; a person's retry may use one try beyond the automatic budget.

    With other settings the run becomes a new cell of the same plan. Raises `Conflict`, `NotPermitted`, `BadSetting`.
    """
    with lab.store.write() as tx:
        run = run_of(tx, run_id)
        plan = plan_of(tx, run.plan_id)
        _check_allowed(lab, tx, actor, plan)
        changed = _changed(recipe_of(plan), run, settings or {}, scale or {})
        if not changed:
            return _same_again(lab, tx, actor, plan, run)
        again = _new_cell(lab, tx, plan, run, changed)
        why = f"run {run_id} once more with " + ", ".join(f"{k}={number(v)}" for k, v in changed.items())
        _reopen(lab, tx, actor, plan)
        move_run(tx, again, RunState.QUEUED, actor=actor.name, why=why, at=lab.clock(), source=actor.source)
        return Card("retry", f"Run {again.id} is queued", f"It is {why}.", Tone.GOOD)


def _check_allowed(lab: Lab, tx: Session, actor: Actor, plan: Plan) -> None:
    """Once more is the same question as the first time: only within a plan that was let start, and not beyond it."""
    decision = may(actor.role, Effect.SPEND)
    if decision.ruling is Ruling.ALLOW:
        decision = may(actor.role, Effect.DESTROY, owner=plan.owner_id == actor.user_id)
    if decision.ruling is not Ruling.ALLOW:
        raise NotPermitted(decision.reason.capitalize(), next_step=decision.remedy)
    if plan.started_at is None:
        raise Conflict(
            f"Plan {plan.id} was never started: it is {plan.state}.", next_step="Start it, or draw up another."
        )
    found = Estimate(**plan.estimate)
    runs = len(runs_of(tx, id_of(plan)))
    hours = found.gpu_hours_high / found.runs if found.gpu_hours_high is not None and found.runs else None
    more = may_start(actor.role, PlanSize(runs + 1, found.gpus, hours), lab.site)
    was_approved = tx.exec(select(Approval.id).where(Approval.plan_id == plan.id, Approval.state == "granted")).first()
    if more.ruling is Ruling.DENY or (more.ruling is Ruling.ASK and was_approved is None):
        raise NotPermitted(f"It can't be run once more: {more.reason}", next_step=more.remedy)


def _same_again(lab: Lab, tx: Session, actor: Actor, plan: Plan, run: Run) -> Card:
    if run.state not in _AGAIN:
        raise Conflict(
            f"Run {run.id} is {run.state}.", next_step="Only a run that has ended badly is retried as it was."
        )
    run.stop_requested = None
    run.not_before = None
    if run.retries >= run.max_retries:
        run.max_retries = run.retries + 1
    _reopen(lab, tx, actor, plan)
    move_run(tx, run, RunState.QUEUED, actor=actor.name, why="retried by hand", at=lab.clock(), source=actor.source)
    return Card("retry", f"Run {run.id} is queued again", "With the settings of its last try.", Tone.GOOD)


def _reopen(lab: Lab, tx: Session, actor: Actor, plan: Plan) -> None:
    if plan.state != PlanState.ACTIVE:
        why = "a run is tried once more"
        move_plan(tx, plan, PlanState.ACTIVE, actor=actor.name, why=why, at=lab.clock(), source=actor.source)
        audit.record(tx, actor=actor.name, action="plan.reopen", subject=f"plan:{plan.id}", at=lab.clock(), why=why)


def _new_cell(lab: Lab, tx: Session, plan: Plan, run: Run, changed: Mapping[str, Setting]) -> Run:
    settings = {**run.settings, **changed}
    again = Run(
        plan_id=run.plan_id,
        position=max(other.position for other in runs_of(tx, run.plan_id)) + 1,
        settings=settings,
        settings_digest=settings_digest(plan.recipe, settings),
        remedies={},
        resources=run.resources,
        state=RunState.DRAFT.value,
        max_retries=lab.site.max_retries,
        created_at=lab.clock(),
    )
    tx.add(again)
    tx.flush()
    return again


def _changed(
    recipe: Recipe, run: Run, settings: Mapping[str, Setting], scale: Mapping[str, float]
) -> dict[str, Setting]:
    wanted: dict[str, Setting] = dict(settings)
    for name, factor in scale.items():
        value = run.settings.get(recipe.setting_name(name) or name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadSetting(f"Run {run.id} has no number {name} to scale.")
        wanted[name] = round(value * factor) if isinstance(value, int) else value * factor
    found: dict[str, Setting] = {}
    for name, value in wanted.items():
        own = recipe.setting_name(name)
        if own is None:
            raise BadSetting(f"The recipe {recipe.name} has no setting {name}.")
        rule = recipe.settings.get(own)
        level = convert_level(own, rule, value) if rule is not None else None
        if level is not None and (level.problem or level.value is None):
            raise BadSetting(level.problem)
        found[own] = level.value if level is not None and level.value is not None else value
    return {name: value for name, value in found.items() if run.settings.get(name) != value}
