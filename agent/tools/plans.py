"""Tools around plans."""

from collections.abc import Mapping

from agent.tool import Answer, AnyTool, Arguments, Failed, Outcome, Tool, ToolContext
from lab.cards import Card
from lab.control.capacity import free_capacity
from lab.errors import NotFound
from lab.planning.goal import Goal, Limits, Needs, Strategy
from lab.plans.cards import plan_card, question_card
from lab.plans.change import DesignChange, change_words, changed_design
from lab.plans.draft import draft, redraw
from lab.plans.load import design_of, plan_of, recipe_of, runs_of
from lab.plans.steps import cancel_plan, start_plan
from lab.policy import Effect
from lab.recipe.model import Setting
from lab.services import Lab
from lab.words import listing


class PlanExperiment(Arguments):
    """Factors are settings with the levels to compare; ranges are searched with a number of trials."""

    goal: str = ""
    recipe: str | None = None
    factors: Mapping[str, tuple[Setting, ...]] = {}
    ranges: Mapping[str, tuple[float, float]] = {}
    n_runs: int | None = None
    strategy: Strategy | None = None
    metrics: tuple[str, ...] = ()
    resources: Needs = Needs()
    limits: Limits = Limits()


class ChangePlan(DesignChange, Arguments):
    plan: int | None = None


class ThePlan(Arguments):
    plan: int | None = None


def plan_in(context: ToolContext, plan: int | None) -> int:
    """The plan named, else the one that the thread is about. Raises `NotFound`."""
    found = plan if plan is not None else context.plan_id
    if found is None:
        raise NotFound("Which plan?", next_step="Name its number; `status` lists the plans.")
    return found


def show_plan(lab: Lab, plan_id: int, notes: tuple[str, ...] = ()) -> Card:
    """The plan's card as it is now."""
    free = free_capacity({name: b for name, b in lab.backends.items()}, [])
    with lab.store.read() as tx:
        plan, runs = plan_of(tx, plan_id), runs_of(tx, plan_id)
        capacity = free.get(plan.backend)
        cpus = runs[0].resources.get("cpus", 1) if runs else 1
        parallel = max(1, capacity.cpus // cpus) if capacity is not None and capacity.cpus else None
        return plan_card(plan, runs, notes, parallel)


def _plan(context: ToolContext, arguments: PlanExperiment) -> Outcome:
    goal = Goal.model_validate({**arguments.model_dump(), "goal": context.text or arguments.goal})
    resolved, plan_id = draft(context.lab, context.actor, context.thread_id, goal)
    if plan_id is None:
        return Answer(" ".join(resolved.questions), (question_card(resolved, context.understood),))
    card = show_plan(context.lab, plan_id, resolved.notes)
    return Answer(f"Plan {plan_id} is drawn up: {card.title}. It waits for Run.", (card,))


def _change(context: ToolContext, arguments: ChangePlan) -> Outcome:
    plan_id = plan_in(context, arguments.plan)
    with context.lab.store.read() as tx:
        plan = plan_of(tx, plan_id)
        recipe, before, started = recipe_of(plan), design_of(plan), plan.started_at is not None
    after = changed_design(recipe, before, arguments)
    lines = change_words(before, after)
    if not lines:
        return Failed(f"That would change nothing in plan {plan_id}.")
    new = redraw(context.lab, context.actor, plan_id, after, context.text)
    what = f"Plan {new} is plan {plan_id} once more with" if started else f"Plan {new} replaces plan {plan_id}:"
    return Answer(what, (show_plan(context.lab, new, (f"{what} {listing(lines)}",)),))


def _run(context: ToolContext, arguments: ThePlan) -> Outcome:
    card = start_plan(context.lab, context.actor, plan_in(context, arguments.plan))
    return Answer(card.title, (card,))


def _cancel(context: ToolContext, arguments: ThePlan) -> Outcome:
    card = cancel_plan(context.lab, context.actor, plan_in(context, arguments.plan))
    return Answer(card.title, (card,))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "plan_experiment",
        "Draw up an experiment: which settings to compare, on what.",
        PlanExperiment,
        Effect.WRITE,
        _plan,
    ),
    Tool("change_plan", "Change a plan that has not started.", ChangePlan, Effect.WRITE, _change),
    Tool("run_plan", "Start a plan that was drawn up.", ThePlan, Effect.SPEND, _run),
    Tool("cancel_plan", "Cancel a plan and all its runs.", ThePlan, Effect.DESTROY, _cancel),
)
