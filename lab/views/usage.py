"""What people and projects have used this month."""

from sqlalchemy import func
from sqlmodel import col, select

from lab.cards import Card, Table
from lab.schema import Usage, User
from lab.services import Lab


def quota_card(lab: Lab, user_id: int | None = None) -> Card:
    """GPU- and CPU-hours of this month, the asking person's first."""
    month = f"{lab.clock():%Y-%m}"
    with lab.store.read() as tx:
        query = (
            select(User.id, User.name, func.sum(Usage.gpu_seconds), func.sum(Usage.cpu_seconds))
            .join(Usage, col(Usage.user_id) == col(User.id))
            .where(Usage.month == month, Usage.kind == "settled")
            .group_by(col(User.id), col(User.name))
        )
        used = [(uid, name, gpu or 0.0, cpu or 0.0) for uid, name, gpu, cpu in tx.exec(query).all()]
    used.sort(key=lambda row: (row[0] != user_id, -row[2], -row[3]))
    mine = next((row for row in used if row[0] == user_id), None)
    text = f"You have used {mine[2] / 3600:.3g} GPU-hours and {mine[3] / 3600:.3g} CPU-hours." if mine else ""
    rows = tuple((name, f"{gpu / 3600:.3g}", f"{cpu / 3600:.3g}") for _id, name, gpu, cpu in used)
    table = Table(("who", "GPU-hours", "CPU-hours"), rows, "lrr") if rows else None
    return Card(
        "quota",
        f"Used in {month}",
        text or "Nothing has been used this month.",
        table=table,
        footer="This lab sets no monthly quota.",
    )
