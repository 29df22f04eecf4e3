"""What is free on machines without a scheduler."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import JobSpec, Node, Resources
from backends.fake import FakeBackend, Shape
from lab.control.capacity import Capacity, free_capacity, largest_memory
from lab.jobs import spec_to_json
from lab.schema import Attempt

GIB = 1 << 30


class Cluster(FakeBackend):
    """A fake whose named hosts do not answer."""

    def __init__(self, *silent: str, schedules: bool = False) -> None:
        super().__init__("c", shape=Shape(hosts=("a", "b"), gpus=2, cpus=4, memory_bytes=8 * GIB), schedules=schedules)
        self._silent = silent

    def inventory(self) -> Sequence[Node]:
        return [replace(node, reachable=node.name not in self._silent) for node in super().inventory()]


def attempt(host: str | None, resources: Resources, backend: str = "c") -> Attempt:
    job = spec_to_json(JobSpec("j", ("x",), resources))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Attempt(run_id=1, number=1, key="k", backend=backend, job=job, job_digest="d", host=host, created_at=at)


def test_what_live_attempts_hold_is_not_free() -> None:
    live = [
        attempt("a", Resources(gpus=1, cpus=2, memory_bytes=GIB)),
        attempt(None, Resources(gpus=1, cpus=1)),
        attempt("a", Resources(cpus=4), backend="another"),
    ]
    assert free_capacity({"c": Cluster()}, live) == {"c": Capacity(cpus=5, memory=15 * GIB, gpus=2)}


def test_a_silent_node_offers_nothing_and_its_jobs_take_nothing_from_the_others() -> None:
    live = [attempt("b", Resources(gpus=2, cpus=4))]
    assert free_capacity({"c": Cluster("b")}, live) == {"c": Capacity(cpus=4, memory=8 * GIB, gpus=2)}


def test_machines_that_nobody_reaches_are_unknown_not_free() -> None:
    assert free_capacity({"c": Cluster("a", "b")}, []) == {"c": None}
    unreachable = Cluster()
    unreachable.faults.unreachable(2)
    assert free_capacity({"c": unreachable}, []) == {"c": None}
    assert largest_memory(unreachable) is None
    assert largest_memory(unreachable) == 8 * GIB


def test_a_scheduler_decides_by_itself() -> None:
    assert free_capacity({"c": Cluster(schedules=True)}, []) == {"c": Capacity(None, None, None)}


NEEDS = st.builds(
    Resources,
    gpus=st.integers(0, 4),
    cpus=st.integers(1, 8),
    memory_bytes=st.none() | st.integers(1, 16),
    nodes=st.integers(1, 3),
)


@settings(max_examples=50)
@given(st.lists(NEEDS, max_size=8), st.none() | st.integers(0, 8))
def test_what_is_taken_never_exceeds_what_there_is(needs: list[Resources], gpus: int | None) -> None:
    free = Capacity(cpus=16, memory=32, gpus=gpus)
    taken = [need for need in needs if free.take(need)]
    assert sum(need.cpus * need.nodes for need in taken) <= 16
    assert gpus is None or sum(need.gpus * need.nodes for need in taken) <= gpus
    for need in taken:
        free.give(need, +1)
    assert free == Capacity(cpus=16, memory=32, gpus=gpus)


@pytest.mark.parametrize(("need", "fits"), [(Resources(cpus=1), True), (Resources(cpus=1, gpus=1), False)])
def test_gpus_that_are_overcommitted_stop_only_those_who_want_one(need: Resources, fits: bool) -> None:
    assert Capacity(cpus=4, memory=None, gpus=-1).take(need) is fits
