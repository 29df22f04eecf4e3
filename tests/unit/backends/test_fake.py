from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import JobHandle, JobSignal, JobSpec, JobState, Resources
from backends.errors import BackendUnreachable, ResourcesUnavailable, SubmissionUncertain
from backends.fake import FakeBackend, Outcome, Shape, VirtualClock

PLAIN = Resources()


class Stage:
    """A fake backend with its clock."""

    def __init__(self, schedules: bool = False, gpus: int = 8, hosts: tuple[str, ...] = ("n1", "n2")) -> None:
        self.clock = VirtualClock()
        self.backend = FakeBackend(now=self.clock.now, shape=Shape(hosts=hosts, gpus=gpus), schedules=schedules)
        self.machine = self.backend.machine
        self.faults = self.backend.faults

    def submit(self, key: str, resources: Resources = PLAIN, avoid: tuple[str, ...] = ()) -> JobHandle:
        spec = JobSpec("name", ("train", key), resources, avoid_hosts=avoid)
        return self.backend.submit(self.backend.plan(spec), key)

    def state(self, handle: JobHandle) -> JobState:
        return self.backend.poll([handle])[handle.key].state


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_scripted_job_lives_its_life_in_virtual_time(stage: Stage) -> None:
    outcome = Outcome(
        runs_s=60, exit_code=1, log=((0, "epoch 1\n"), (30, "epoch 2\n")), files=((40, "ckpt", b"12"),), pending_s=10
    )
    stage.machine.script(outcome, key="a")
    handle = stage.submit("a")
    begun = stage.clock.now()
    assert stage.state(handle) is JobState.PENDING
    stage.clock.advance(11)
    assert stage.state(handle) is JobState.RUNNING
    assert stage.backend.logs(handle, 0, 100).data == b"epoch 1\n"
    stage.clock.advance(40)
    assert stage.backend.logs(handle, 0, 100).data == b"epoch 1\nepoch 2\n"
    assert [file.path for file in stage.backend.files(handle, "*")] == ["ckpt"]
    stage.clock.advance(1000)
    seen = stage.backend.poll([handle])["a"]
    assert (seen.state, seen.exit_code) == (JobState.FAILED, 1)
    assert (seen.started_at, seen.ended_at) == (begun + timedelta(seconds=10), begun + timedelta(seconds=70))


def test_keys_go_before_rules_and_later_rules_before_earlier(stage: Stage) -> None:
    stage.machine.script(Outcome(exit_code=1))
    stage.machine.script(Outcome(exit_code=2), when=lambda spec: spec.argv[0] == "train")
    stage.machine.script(Outcome(exit_code=3), when=lambda spec: "b" in spec.argv)
    stage.machine.script(Outcome(exit_code=4), key="c")
    handles = [stage.submit(key) for key in "abc"]
    assert [stage.backend.poll([handle])[handle.key].exit_code for handle in handles] == [2, 3, 4]


def test_the_time_limit_ends_a_job(stage: Stage) -> None:
    stage.machine.script(Outcome(runs_s=None, stubborn=True))
    handle = stage.submit("a", Resources(time_limit_s=60))
    stage.clock.advance(65)
    assert stage.state(handle) is JobState.RUNNING
    stage.clock.advance(5)
    seen = stage.backend.poll([handle])["a"]
    assert (seen.state, seen.signal) == (JobState.TIMEOUT, "SIGKILL")
    assert b"labhand: time limit exceeded (60 s), job ended" in stage.backend.logs(handle, 0, 100).data


def test_nothing_is_printed_after_the_end(stage: Stage) -> None:
    stage.machine.script(Outcome(runs_s=None, log=((0, "one"), (50, "two")), files=((50, "late", b""),)))
    handle = stage.submit("a")
    stage.backend.signal(handle, JobSignal.KILL)
    stage.clock.advance(100)
    assert stage.backend.logs(handle, 0, 100).data == b"one"
    assert stage.backend.files(handle, "*") == []


def test_a_checkpoint_signal_without_a_handler_ends_the_job(stage: Stage) -> None:
    stage.machine.script(Outcome(runs_s=None))
    handle = stage.submit("a")
    stage.backend.signal(handle, JobSignal.CHECKPOINT)
    assert stage.backend.poll([handle])["a"].signal == "SIGUSR1"


def test_unreachable_calls_do_nothing(stage: Stage) -> None:
    stage.faults.unreachable(3)
    for call in (lambda: stage.submit("a"), lambda: stage.backend.find("a"), stage.backend.inventory):
        with pytest.raises(BackendUnreachable):
            call()
    assert stage.backend.find("a") is None
    assert not stage.machine.starts


@pytest.mark.parametrize("started", [False, True])
def test_a_lost_submission_is_found_or_not(stage: Stage, started: bool) -> None:
    stage.faults.lose_next_submission(started=started)
    with pytest.raises(SubmissionUncertain):
        stage.submit("a")
    assert (stage.backend.find("a") is not None) is started
    stage.submit("a")
    assert stage.machine.starts == {"a": 1}
    stage.machine.check_started_once()


def test_lost_answers_follow_work_that_was_done(stage: Stage) -> None:
    stage.machine.script(Outcome(runs_s=None))
    stage.faults.lose_answers(1)
    with pytest.raises(SubmissionUncertain):
        stage.submit("a")
    handle = stage.submit("a")
    stage.faults.lose_answers(1)
    with pytest.raises(BackendUnreachable):
        stage.backend.cancel(handle)
    assert stage.state(handle) is JobState.CANCELLED


def test_one_job_may_be_unknown_while_others_are_told(stage: Stage) -> None:
    handles = [stage.submit("a"), stage.submit("b")]
    stage.faults.silence("a", 1)
    assert [seen.state for seen in stage.backend.poll(handles).values()] == [JobState.UNKNOWN, JobState.COMPLETED]
    assert stage.state(handles[0]) is JobState.COMPLETED


def test_a_second_start_is_noticed(stage: Stage) -> None:
    stage.submit("a")
    stage.machine.forget("a")
    assert stage.backend.find("a") is None
    stage.submit("a")
    with pytest.raises(AssertionError, match="'a': 2"):
        stage.machine.check_started_once()


def test_preemption_and_a_requeue_by_the_machine(stage: Stage) -> None:
    stage.machine.script(Outcome(runs_s=100, log=((0, "begin\n"),)))
    gone, back = stage.submit("gone"), stage.submit("back")
    stage.clock.advance(50)
    stage.machine.preempt("gone")
    stage.machine.preempt("back", requeue=True)
    assert stage.state(gone) is JobState.PREEMPTED
    assert stage.state(back) is JobState.PENDING
    stage.clock.advance(121)
    seen = stage.backend.poll([back])["back"]
    assert (seen.state, seen.restarts) == (JobState.RUNNING, 1)
    assert stage.backend.logs(back, 0, 100).data == b"begin\nbegin\n"
    stage.machine.check_started_once()
    stage.clock.advance(100)
    assert stage.state(back) is JobState.COMPLETED


def test_a_node_that_fails_takes_its_jobs_and_gets_no_new_ones(stage: Stage) -> None:
    stage.machine.script(Outcome(runs_s=None))
    first = stage.submit("a")
    stage.machine.fail_node("n1")
    assert stage.state(first) is JobState.NODE_FAIL
    assert [node.reachable for node in stage.backend.inventory()] == [False, True]
    assert stage.backend.poll([stage.submit("b")])["b"].host == "n2"
    stage.machine.restore_node("n1")
    assert stage.backend.poll([stage.submit("c")])["c"].host == "n1"
    assert stage.backend.poll([stage.submit("d", avoid=("n1",))])["d"].host == "n2"
    stage.machine.lose("d")
    assert stage.state(stage.submit("d")) is JobState.LOST


def test_what_never_fits_is_rejected(stage: Stage) -> None:
    for resources in (Resources(gpus=9), Resources(gpus=1, gpu_type="A100"), Resources(nodes=3), Resources(cpus=99)):
        with pytest.raises(ResourcesUnavailable):
            stage.submit("a", resources)
    stage.submit("a", Resources(gpus=8, gpu_type="h200"))


def test_a_scheduler_makes_jobs_wait_for_gpus() -> None:
    stage = Stage(schedules=True, gpus=4, hosts=("n1",))
    stage.machine.script(Outcome(runs_s=10))
    handles = [stage.submit(key, Resources(gpus=2)) for key in "abc"]
    states = [seen.state for seen in stage.backend.poll(handles).values()]
    assert states == [JobState.RUNNING, JobState.RUNNING, JobState.PENDING]
    stage.backend.cancel(handles[0])
    assert stage.state(handles[2]) is JobState.RUNNING
    assert stage.backend.capabilities().schedules


@given(
    jobs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50)), max_size=12),
    steps=st.lists(st.integers(1, 40), max_size=6),
)
def test_a_scheduler_never_gives_out_more_than_it_has_and_ends_everything(
    jobs: list[tuple[int, int]], steps: list[int]
) -> None:
    stage = Stage(schedules=True, gpus=4, hosts=("n1",))
    handles: list[JobHandle] = []
    for index, (gpus, runs_s) in enumerate(jobs):
        stage.machine.script(Outcome(runs_s=runs_s), key=str(index))
        handles.append(stage.submit(str(index), Resources(gpus=gpus)))
    for step in (*steps, 1000):
        seen = stage.backend.poll(handles)
        running = [gpus for (gpus, _), handle in zip(jobs, handles, strict=True) if seen[handle.key].state == "running"]
        assert sum(running) <= 4
        stage.clock.advance(step)
    ends = stage.backend.poll(handles).values()
    assert all(one.state is JobState.COMPLETED for one in ends)
    for (_, runs_s), one in zip(jobs, ends, strict=True):
        assert one.started_at is not None
        assert one.ended_at == one.started_at + timedelta(seconds=runs_s)
    stage.machine.check_started_once()


def test_time_does_not_go_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        VirtualClock().advance(-1)
