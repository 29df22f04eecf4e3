"""Tools that only look."""

from agent.tool import Answer, AnyTool, Arguments, Outcome, Tool, ToolContext
from agent.tools.plans import plan_in
from agent.tools.runs import TheRun, run_in
from lab.cards import Card
from lab.policy import Effect
from lab.views.history import audit_card, knowledge_card
from lab.views.machines import machines_card
from lab.views.results import results_card
from lab.views.status import queue_card, status_card, waiting_card
from lab.views.usage import quota_card


class ShowStatus(Arguments):
    plan: int | None = None
    run: int | None = None


class ShowGpus(Arguments):
    gpu_type: str | None = None


class CompareResults(Arguments):
    plan: int | None = None
    metric: str | None = None


class ShowAudit(Arguments):
    plan: int | None = None
    run: int | None = None
    user: str | None = None
    limit: int = 20


class AskKnowledge(Arguments):
    question: str = ""
    model: str | None = None
    dataset: str | None = None


class Nothing(Arguments):
    pass


def _said(card: Card) -> Answer:
    words = [card.title, card.text, *(f"{f.name}: {f.value}" for f in card.fields)]
    if card.table is not None:
        words += [" | ".join(row) for row in (card.table.columns, *card.table.rows)]
    return Answer("\n".join(word for word in words if word), (card,))


def _status(context: ToolContext, arguments: ShowStatus) -> Outcome:
    plan = arguments.plan if arguments.plan is not None or arguments.run is not None else context.plan_id
    return _said(status_card(context.lab, plan, arguments.run))


def _queue(context: ToolContext, _arguments: Nothing) -> Outcome:
    return _said(queue_card(context.lab))


def _waiting(context: ToolContext, arguments: TheRun) -> Outcome:
    return _said(waiting_card(context.lab, run_in(context, arguments.run)))


def _gpus(context: ToolContext, arguments: ShowGpus) -> Outcome:
    return _said(machines_card(context.lab, arguments.gpu_type))


def _compare(context: ToolContext, arguments: CompareResults) -> Outcome:
    return _said(results_card(context.lab, plan_in(context, arguments.plan), arguments.metric))


def _quota(context: ToolContext, _arguments: Nothing) -> Outcome:
    return _said(quota_card(context.lab, context.actor.user_id))


def _audit(context: ToolContext, arguments: ShowAudit) -> Outcome:
    subject = f"run:{arguments.run}" if arguments.run else f"plan:{arguments.plan}" if arguments.plan else None
    return _said(audit_card(context.lab, subject, arguments.user, arguments.limit))


def _knowledge(context: ToolContext, arguments: AskKnowledge) -> Outcome:
    words = arguments.question or context.text
    return _said(knowledge_card(context.lab, words, arguments.model, arguments.dataset))


TOOLS: tuple[AnyTool, ...] = (
    Tool("show_status", "How plans and runs stand.", ShowStatus, Effect.READ, _status),
    Tool("show_queue", "Who runs and who waits.", Nothing, Effect.READ, _queue),
    Tool("why_waiting", "Why a run has not started.", TheRun, Effect.READ, _waiting),
    Tool("show_gpus", "What the machines have, and who uses it.", ShowGpus, Effect.READ, _gpus),
    Tool("compare_results", "Show a plan's comparison matrix.", CompareResults, Effect.READ, _compare),
    Tool("show_quota", "What has been used this month.", Nothing, Effect.READ, _quota),
    Tool("show_audit", "Who did what, when and why.", ShowAudit, Effect.READ, _audit),
    Tool("ask_knowledge", "What earlier runs of the lab have shown.", AskKnowledge, Effect.READ, _knowledge),
)
