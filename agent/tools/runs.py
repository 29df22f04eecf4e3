"""Tools around single runs."""

from collections.abc import Mapping

from agent.tool import Answer, AnyTool, Arguments, Outcome, Tool, ToolContext
from lab import audit
from lab.cards import Card
from lab.errors import NotFound, NotPermitted
from lab.plans.again import retry_run
from lab.plans.load import plan_of, run_of, runs_of
from lab.plans.steps import cancel_run
from lab.policy import Effect, Role
from lab.recipe.model import Setting
from lab.states import RunState
from lab.views.logs import diagnosis_card, log_card, log_tail

_PRIORITIES = {"low": -10, "normal": 0, "high": 10, "urgent": 20}


class TheRun(Arguments):
    run: int | None = None


class ShowLog(TheRun):
    lines: int = 40


class RetryRun(TheRun):
    """`set` gives settings other values, `scale` multiplies numeric ones (0.5 halves)."""

    set: Mapping[str, Setting] = {}
    scale: Mapping[str, float] = {}


class SetPriority(TheRun):
    plan: int | None = None
    priority: str | int = "high"


def run_in(context: ToolContext, run: int | None) -> int:
    """The run named, else the one that the thread is about. Raises `NotFound`."""
    found = run if run is not None else context.run_id
    if found is None:
        raise NotFound("Which run?", next_step="Name its number; `queue` and `status` list the runs.")
    return found


def _log(context: ToolContext, arguments: ShowLog) -> Outcome:
    run = run_in(context, arguments.run)
    text, _size = log_tail(context.lab, run, arguments.lines)
    return Answer(text, (log_card(context.lab, run, arguments.lines),), untrusted=True)


def _diagnose(context: ToolContext, arguments: TheRun) -> Outcome:
    card = diagnosis_card(context.lab, run_in(context, arguments.run))
    return Answer(f"{card.title}\n{card.text}\n{card.code}", (card,), untrusted=True)


def _retry(context: ToolContext, arguments: RetryRun) -> Outcome:
    run = run_in(context, arguments.run)
    card = retry_run(context.lab, context.actor, run, arguments.set, arguments.scale)
    return Answer(f"{card.title} {card.text}", (card,))


def _cancel(context: ToolContext, arguments: TheRun) -> Outcome:
    card = cancel_run(context.lab, context.actor, run_in(context, arguments.run))
    return Answer(card.title, (card,))


def _priority(context: ToolContext, arguments: SetPriority) -> Outcome:
    level = arguments.priority
    value = level if isinstance(level, int) else _PRIORITIES.get(level.casefold(), 10)
    if value > 0 and context.actor.role not in (Role.APPROVER, Role.ADMIN):
        raise NotPermitted("A priority above normal needs an approver.", next_step="Ask one to set it.")
    lab, now = context.lab, context.lab.clock()
    with lab.store.write() as tx:
        if arguments.run is not None or (arguments.plan is None and context.run_id is not None):
            runs = [run_of(tx, run_in(context, arguments.run))]
            subject = f"run:{runs[0].id}"
        else:
            plan_id = arguments.plan if arguments.plan is not None else context.plan_id
            if plan_id is None:
                raise NotFound("Which run or plan?", next_step="Name its number.")
            runs = list(runs_of(tx, plan_of(tx, plan_id).id or 0))
            subject = f"plan:{plan_id}"
        waiting = [run for run in runs if run.state in (RunState.DRAFT, RunState.QUEUED, RunState.AWAITING_APPROVAL)]
        for run in waiting:
            run.priority = value
            tx.add(run)
        audit.record(
            tx,
            actor=context.actor.name,
            action="priority",
            subject=subject,
            at=now,
            source=context.actor.source,
            detail={"priority": value, "runs": len(waiting)},
        )
    text = f"{len(waiting)} waiting runs of {subject.replace(':', ' ')} now have priority {value}."
    return Answer(text, (Card("priority", text=text),))


TOOLS: tuple[AnyTool, ...] = (
    Tool("show_log", "Show the end of a run's log.", ShowLog, Effect.READ, _log),
    Tool("diagnose_run", "Say why a run failed and what helps.", TheRun, Effect.READ, _diagnose),
    Tool("retry_run", "Run a failed run again, as it was or with other settings.", RetryRun, Effect.SPEND, _retry),
    Tool("cancel_run", "Cancel one run.", TheRun, Effect.DESTROY, _cancel),
    Tool("set_priority", "Move a run or plan up or down in the queue.", SetPriority, Effect.WRITE, _priority),
)
