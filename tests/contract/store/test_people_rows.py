"""Users, projects and threads are made once, however many meet them first."""

from concurrent.futures import ThreadPoolExecutor

from sqlmodel import select

from lab import people
from lab.ids import id_of
from lab.schema import Project, Thread, User
from lab.store import Store
from tests.support.labrows import NOW


def test_first_sight_by_many_at_once_makes_one_row(store: Store) -> None:
    def meet(_: int) -> tuple[int, int]:
        with store.write() as tx:
            user = people.user_for(tx, surface="t", external_id="u1", name="Ada", role="viewer", at=NOW)
            thread = people.thread_for(tx, surface="t", external_id="c1", channel="general", at=NOW)
            return id_of(user), id_of(thread)

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(meet, range(12))) == {(1, 1)}
    with store.read() as tx:
        assert [len(tx.exec(select(table)).all()) for table in (User, Thread, Project)] == [1, 1, 1]  # type: ignore[call-overload]
        assert tx.exec(select(Project.name)).one() == "lab"


def test_a_person_keeps_their_role_and_goes_by_their_newest_name(store: Store) -> None:
    for name, role in (("Ada", "approver"), ("Ada L.", "viewer"), ("", "viewer")):
        with store.write() as tx:
            people.user_for(tx, surface="t", external_id="u1", name=name, role=role, at=NOW)
    with store.read() as tx:
        user = tx.exec(select(User)).one()
    assert (user.name, user.role) == ("Ada L.", "approver")


def test_the_same_id_on_two_surfaces_is_two_people(store: Store) -> None:
    with store.write() as tx:
        ids = {people.user_for(tx, surface=s, external_id="u", name="n", role="viewer", at=NOW).id for s in ("a", "b")}
    assert len(ids) == 2
