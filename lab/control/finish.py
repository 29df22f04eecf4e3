"""When a plan has ended: its comparison matrix goes into the thread, once."""

import logging

from sqlmodel import col, select

from lab import outbox
from lab.cards import Card, Tone
from lab.errors import LabError
from lab.ids import id_of
from lab.schema import Outbox, Plan
from lab.services import Lab
from lab.states import PlanState
from lab.views.results import results_card

_LOG = logging.getLogger(__name__)


def results_key(plan: Plan) -> str:
    """The outbox's key of a plan's results; a plan that was reopened and ended again says them again."""
    ended = plan.ended_at.timestamp() if plan.ended_at is not None else 0
    return f"plan:{plan.id}:results:{ended:.0f}"


def post_results(lab: Lab) -> int:
    """Post the matrix of each plan that is done and has not said so; returns how many."""
    with lab.store.read() as tx:
        done = tx.exec(
            select(Plan)
            .where(Plan.state == PlanState.DONE, col(Plan.thread_id).is_not(None))
            .order_by(col(Plan.ended_at).desc())
            .limit(50)
        ).all()
        said = {
            key
            for plan in done
            if (key := results_key(plan))
            and tx.exec(select(Outbox.id).where(Outbox.thread_id == plan.thread_id, Outbox.dedupe_key == key)).first()
            is not None
        }
    waiting = [plan for plan in done if results_key(plan) not in said]
    for plan in waiting:
        _post(lab, plan)
    return len(waiting)


def _post(lab: Lab, plan: Plan) -> None:
    try:
        card = results_card(lab, id_of(plan))
    except LabError as error:
        card = Card("matrix", f"Plan {plan.id} is done", str(error), Tone.WARNING)
    except Exception:  # noqa: BLE001 - boundary: a picture that can't be drawn must not hold back the words
        _LOG.exception("the matrix of plan %s could not be drawn", plan.id)
        card = Card("matrix", f"Plan {plan.id} is done", "Its picture could not be drawn; see the log.", Tone.WARNING)
    with lab.store.write() as tx:
        thread_id = plan.thread_id
        if thread_id is not None:
            outbox.say(tx, thread_id, card, dedupe_key=results_key(plan), at=lab.clock())
