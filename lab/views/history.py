"""Who did what, and what earlier runs have shown."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from lab import audit
from lab.cards import Card, Table
from lab.plans.load import metrics_of
from lab.recipe.model import plain
from lab.schema import Knowledge, Plan, Run
from lab.services import Lab
from lab.states import RunState
from lab.words import plural, settings_words

_MOST_ROWS = 12
_MOST_READ = 5000


def audit_card(lab: Lab, subject: str | None, actor: str | None, limit: int = 20) -> Card:
    """The newest audit rows about a plan, a run or a person."""
    with lab.store.read() as tx:
        rows = audit.show(tx, subject=subject, actor=actor, limit=max(1, min(limit, 100)))
    cells = tuple((f"{r.at:%Y-%m-%d %H:%M:%S}", r.actor, r.action, r.subject, r.why[:80]) for r in rows)
    table = Table(("when", "who", "what", "on", "why"), cells) if cells else None
    return Card("audit", "Audit trail", "" if cells else "There is no such entry.", table=table)


def knowledge_card(lab: Lab, question: str, model: str | None = None, dataset: str | None = None) -> Card:
    """Runs of the models, datasets and settings that the question names, best first, and the repairs that held."""
    with lab.store.read() as tx:
        runs = _mentioned(tx, question, model, dataset)
        repairs = tx.exec(select(Knowledge).where(col(Knowledge.successes) > 0)).all()
    lines = [
        f"- {k.recipe}, {settings_words({n: v for n, v in k.context.items() if v is not None})}: {k.category} was "
        f"mended by {k.change['words']} ({k.successes} of {k.tries} times)"
        for k in repairs
        if plain(k.recipe) in plain(question) or any(plain(v) in plain(question) for v in k.context.values() if v)
    ]
    if not runs and not lines:
        return Card("knowledge", "Nobody has tried that here yet", "No run of this lab matches the question.")
    rows = tuple(_row(plan, run) for plan, run in runs[:_MOST_ROWS])
    table = Table(("run", "plan", "settings", "state", "result"), rows) if rows else None
    return Card("knowledge", f"{plural(len(runs), 'run')} of this lab match", "\n".join(lines), table=table)


def _mentioned(tx: Session, question: str, model: str | None, dataset: str | None) -> Sequence[tuple[Plan, Run]]:
    query = (
        select(Plan, Run)
        .join(Run, col(Run.plan_id) == col(Plan.id))
        .where(col(Run.state).in_([RunState.SUCCEEDED.value, RunState.FAILED.value]))
        .order_by(col(Run.id).desc())
        .limit(_MOST_READ)
    )
    asked = plain(question)
    found = [(plan, run) for plan, run in tx.exec(query).all() if _matches(plan, run, asked, model, dataset)]
    return sorted(found, key=lambda pair: _first_result(pair[1]), reverse=True)


def _matches(plan: Plan, run: Run, asked: str, model: str | None, dataset: str | None) -> bool:
    own_model, own_data = plain(run.settings.get("model", "")), plain(run.settings.get("dataset", plan.recipe))
    if model is not None and plain(model) != own_model:
        return False
    if dataset is not None and plain(dataset) not in (own_data, plain(plan.recipe)):
        return False
    if model is not None or dataset is not None:
        return True
    names = [name for name in (own_model, own_data, plain(plan.recipe)) if name]
    return any(name in asked for name in names)


def _first_result(run: Run) -> float:
    values = [value for value in metrics_of(run).values() if value is not None]
    return values[0] if values else float("-inf")


def _row(plan: Plan, run: Run) -> tuple[str, str, str, str, str]:
    result = ", ".join(f"{name} {value:.4g}" for name, value in metrics_of(run).items() if value is not None)
    return (str(run.id), str(plan.id), settings_words(run.settings), run.state, result)
