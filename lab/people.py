"""Users, projects and threads, made on first sight."""

from datetime import datetime

from sqlmodel import Session, select

from lab.ids import id_of
from lab.schema import Project, Thread, User

DEFAULT_PROJECT = "lab"


def default_project(tx: Session, at: datetime) -> Project:
    """The project of everyone who was not given another."""
    row = tx.exec(select(Project).where(Project.name == DEFAULT_PROJECT)).first()
    if row is None:
        row = Project(name=DEFAULT_PROJECT, created_at=at)
        tx.add(row)
        tx.flush()
    return row


def user_for(tx: Session, *, surface: str, external_id: str, name: str, role: str, at: datetime) -> User:
    """The person as this surface knows them, by the name they have there now; a new one gets `role`."""
    row = tx.exec(select(User).where(User.surface == surface, User.external_id == external_id)).first()
    if row is None:
        row = User(surface=surface, external_id=external_id, name=name, role=str(role), created_at=at)
        tx.add(row)
        tx.flush()
    elif name and row.name != name:
        row.name = name
        tx.add(row)
    return row


def thread_for(tx: Session, *, surface: str, external_id: str, at: datetime, channel: str | None = None) -> Thread:
    """The thread as this surface knows it."""
    row = tx.exec(select(Thread).where(Thread.surface == surface, Thread.external_id == external_id)).first()
    if row is None:
        project = default_project(tx, at)
        row = Thread(
            surface=surface, external_id=external_id, channel=channel, project_id=id_of(project), created_at=at
        )
        tx.add(row)
        tx.flush()
    return row
