"""What every backend must do, as test classes to subclass.

A subclass gives a fixture `harness` and is collected by pytest:

    class TestMyBackend(BackendContract, ExecutionContract):
        @pytest.fixture
        def harness(self, tmp_path): return MyHarness(tmp_path)

`BackendContract` holds for all; `ExecutionContract` for backends that execute programs (not the fake).
"""

import json
import os
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.base import (
    Backend,
    JobHandle,
    JobSignal,
    JobSpec,
    JobState,
    LogChunk,
    Observation,
    Resources,
    spec_digest,
)
from backends.errors import FileUnavailable, HandleUnknown, JobRejected, ResourcesUnavailable


@dataclass(frozen=True)
class Behaviour:
    """What a test job does, in this order: prints, writes files, waits, ends.

    `lines` are printed with a newline each. `on_checkpoint` is printed when the checkpoint signal (USR1) comes.
    `stubborn`: it ignores the request to end. `ends_by` is a signal name (`SIGSEGV`); else it exits with `exit_code`.
    """

    lines: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    waits_s: float = 0.0
    exit_code: int = 0
    ends_by: str | None = None
    on_checkpoint: str | None = None
    stubborn: bool = False


class BackendHarness(Protocol):
    """How the suite drives one backend. A grace between TERM and KILL of about a second keeps the suite quick."""

    @property
    def backend(self) -> Backend: ...

    def reopen(self) -> Backend:
        """Another object for the same machines, as after a restart of the process that used the first."""
        ...

    def spec(self, behaviour: Behaviour) -> JobSpec:
        """A job that behaves so."""
        ...

    def wait(self, handle: JobHandle, until: Callable[[Observation], bool], timeout_s: float = 20.0) -> Observation:
        """Poll until `until` holds (time passes, real or not). Fails the test after `timeout_s`."""
        ...

    def wait_log(self, handle: JobHandle, text: bytes, timeout_s: float = 20.0) -> LogChunk:
        """Wait until the log holds `text`."""
        ...


LIVES_LONG = Behaviour(lines=("ready",), waits_s=60)


def ended(observation: Observation) -> bool:
    return observation.state.ended


def running(observation: Observation) -> bool:
    return observation.state is JobState.RUNNING


def new_key() -> str:
    return f"key-{uuid.uuid4().hex[:12]}"


def start(harness: BackendHarness, behaviour: Behaviour, key: str | None = None) -> JobHandle:
    return harness.backend.submit(harness.backend.plan(harness.spec(behaviour)), key or new_key())


def finish(harness: BackendHarness, behaviour: Behaviour) -> tuple[JobHandle, Observation]:
    handle = start(harness, behaviour)
    return handle, harness.wait(handle, ended)


class BackendContract:
    """Submission, observation, logs, files, signals and cancellation."""

    def test_capabilities_and_inventory_name_the_backend_and_its_nodes(self, harness: BackendHarness) -> None:
        assert harness.backend.capabilities().name
        assert isinstance(harness.backend, Backend)
        assert all(node.name and node.reachable for node in harness.backend.inventory())

    def test_plan_is_repeatable_and_has_no_side_effect(self, harness: BackendHarness) -> None:
        spec = harness.spec(Behaviour())
        plan = harness.backend.plan(spec)
        assert plan == harness.backend.plan(spec)
        assert plan.spec == spec
        assert plan.digest == spec_digest(plan.backend, spec, plan.script)
        assert harness.backend.find(new_key()) is None
        assert harness.backend.poll([]) == {}

    def test_digest_changes_with_every_field(self, harness: BackendHarness) -> None:
        spec = harness.spec(Behaviour())
        changed = [
            replace(spec, name="another"),
            replace(spec, argv=(*spec.argv, "more")),
            replace(spec, env={**spec.env, "MORE": "1"}),
            replace(spec, own_names=("checkpoints",)),
            replace(spec, checkpoint_signal="USR2"),
            replace(spec, avoid_hosts=("some-other-host",)),
            replace(spec, priority=spec.priority + 1),
            replace(spec, comment="another"),
            replace(spec, code_dir="/"),
            replace(spec, resources=replace(spec.resources, memory_bytes=123 << 20)),
            replace(spec, resources=replace(spec.resources, time_limit_s=59)),
        ]
        digests = {harness.backend.plan(one).digest for one in (spec, *changed)}
        assert len(digests) == len(changed) + 1

    def test_a_changed_plan_is_refused(self, harness: BackendHarness) -> None:
        plan = harness.backend.plan(harness.spec(Behaviour()))
        key = new_key()
        with pytest.raises(JobRejected):
            harness.backend.submit(replace(plan, script=plan.script + "# more\n"), key)
        assert harness.backend.find(key) is None

    @pytest.mark.parametrize(
        "resources",
        [Resources(memory_bytes=1 << 60), Resources(cpus=100_000), Resources(gpus=10_000)],
        ids=["memory", "cpus", "gpus"],
    )
    def test_what_never_fits_is_rejected_with_a_next_step(self, harness: BackendHarness, resources: Resources) -> None:
        with pytest.raises(ResourcesUnavailable) as caught:
            harness.backend.plan(replace(harness.spec(Behaviour()), resources=resources))
        assert caught.value.next_step

    @pytest.mark.parametrize(
        "wrong",
        [
            {"argv": ()},
            {"argv": ("a\0b",)},
            {"env": {"A-B": "1"}},
            {"own_names": ("../up",)},
            {"checkpoint_signal": "X"},
        ],
        ids=str,
    )
    def test_a_faulty_spec_is_rejected_with_a_next_step(
        self, harness: BackendHarness, wrong: dict[str, object]
    ) -> None:
        with pytest.raises(JobRejected) as caught:
            harness.backend.plan(replace(harness.spec(Behaviour()), **wrong))  # pyright: ignore[reportArgumentType]
        assert caught.value.next_step

    def test_submit_again_returns_the_same_job(self, harness: BackendHarness) -> None:
        key = new_key()
        first = start(harness, Behaviour(lines=("once",)), key)
        again = start(harness, Behaviour(lines=("twice",)), key)
        assert again == first
        harness.wait(first, ended)
        assert start(harness, Behaviour(lines=("thrice",)), key) == first
        assert harness.backend.logs(first, 0, 1000).data == b"once\n"

    def test_submit_from_many_threads_starts_one_job(self, harness: BackendHarness) -> None:
        key = new_key()
        plan = harness.backend.plan(harness.spec(Behaviour(lines=("once",))))
        handles: list[JobHandle] = []
        backends = [harness.backend, *(harness.reopen() for _ in range(5))]
        threads = [
            threading.Thread(target=lambda backend=backend: handles.append(backend.submit(plan, key)))
            for backend in backends
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert handles == [handles[0]] * len(backends)
        harness.wait(handles[0], ended)
        assert harness.backend.logs(handles[0], 0, 1000).data == b"once\n"

    def test_another_process_finds_the_job(self, harness: BackendHarness) -> None:
        handle = start(harness, LIVES_LONG)
        other = harness.reopen()
        assert other.find(handle.key) == handle
        harness.wait_log(handle, b"ready")
        other.cancel(handle)
        assert harness.wait(handle, ended).state is JobState.CANCELLED
        assert other.find(handle.key) == handle

    def test_find_knows_that_there_is_none(self, harness: BackendHarness) -> None:
        start(harness, Behaviour())
        assert harness.backend.find(new_key()) is None

    def test_poll_tells_each_of_many_jobs(self, harness: BackendHarness) -> None:
        wanted = {0: JobState.COMPLETED, 3: JobState.FAILED, 4: JobState.FAILED}
        jobs = {code: start(harness, Behaviour(exit_code=code)) for code in wanted}
        alive = start(harness, LIVES_LONG)
        for handle in jobs.values():
            harness.wait(handle, ended)
        harness.wait(alive, running)
        seen = harness.backend.poll([*jobs.values(), alive])
        assert {key: seen[key].state for key in seen} == {
            **{jobs[code].key: state for code, state in wanted.items()},
            alive.key: JobState.RUNNING,
        }
        harness.backend.cancel(alive)

    def test_a_running_job_has_no_end(self, harness: BackendHarness) -> None:
        handle = start(harness, LIVES_LONG)
        harness.wait_log(handle, b"ready")
        seen = harness.wait(handle, running)
        assert (seen.exit_code, seen.signal, seen.ended_at) == (None, None, None)
        assert seen.started_at is not None
        harness.backend.cancel(handle)

    @pytest.mark.parametrize("code", [0, 3, 127, 137])
    def test_exit_codes_arrive(self, harness: BackendHarness, code: int) -> None:
        _, seen = finish(harness, Behaviour(exit_code=code))
        assert (seen.exit_code, seen.signal) == (code, None)
        assert seen.state is (JobState.COMPLETED if code == 0 else JobState.FAILED)
        assert seen.started_at is not None
        assert seen.ended_at is not None
        assert timedelta(0) <= seen.ended_at - seen.started_at < timedelta(seconds=30)

    @pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT"])
    def test_death_by_a_signal_is_told_from_an_exit_code(self, harness: BackendHarness, name: str) -> None:
        _, seen = finish(harness, Behaviour(ends_by=name))
        assert (seen.state, seen.exit_code, seen.signal) == (JobState.FAILED, None, name)

    def test_a_job_that_is_not_there_did_not_fail(self, harness: BackendHarness) -> None:
        there = start(harness, Behaviour())
        gone = replace(there, key=new_key(), ref="1", directory="/nowhere")
        state = harness.backend.poll([gone])[gone.key].state
        assert state in (JobState.LOST, JobState.UNKNOWN)
        with pytest.raises(HandleUnknown):
            harness.backend.logs(gone, 0, 10)
        with pytest.raises(HandleUnknown):
            harness.backend.cancel(gone)

    def test_the_log_is_read_by_byte_cursor(self, harness: BackendHarness) -> None:
        handle, _ = finish(harness, Behaviour(lines=("first", "zwölf", "last")))
        whole = "first\nzwölf\nlast\n".encode()
        size = len(whole)
        logs = harness.backend.logs
        assert logs(handle, 0, 1000) == LogChunk(whole, 0, size, size)
        assert logs(handle, 0, 4) == LogChunk(whole[:4], 0, 4, size)
        assert logs(handle, 4, 1000) == LogChunk(whole[4:], 4, size, size)
        assert logs(handle, -5, 1000) == LogChunk(b"last\n", size - 5, size, size)
        assert logs(handle, -5, 2) == LogChunk(b"la", size - 5, size - 3, size)
        assert logs(handle, -1000, 3) == LogChunk(b"fir", 0, 3, size)
        assert logs(handle, size, 10) == LogChunk(b"", size, size, size)
        assert logs(handle, size + 100, 10) == LogChunk(b"", size, size, size)

    def test_the_log_grows_while_the_job_runs(self, harness: BackendHarness) -> None:
        handle = start(harness, LIVES_LONG)
        chunk = harness.wait_log(handle, b"ready\n")
        assert harness.backend.logs(handle, chunk.next_cursor, 100).data == b""
        harness.backend.cancel(handle)

    def test_checkpoint_reaches_the_command_which_goes_on(self, harness: BackendHarness) -> None:
        handle = start(harness, replace(LIVES_LONG, on_checkpoint="saved"))
        harness.wait_log(handle, b"ready\n")
        harness.backend.signal(handle, JobSignal.CHECKPOINT)
        harness.wait_log(handle, b"saved\n")
        assert harness.backend.poll([handle])[handle.key].state is JobState.RUNNING
        harness.backend.cancel(handle)

    @pytest.mark.parametrize(("signal", "name"), [(JobSignal.TERMINATE, "SIGTERM"), (JobSignal.KILL, "SIGKILL")])
    def test_signals_end_the_command(self, harness: BackendHarness, signal: JobSignal, name: str) -> None:
        handle = start(harness, LIVES_LONG)
        harness.wait_log(handle, b"ready\n")
        harness.backend.signal(handle, signal)
        seen = harness.wait(handle, ended)
        assert (seen.state, seen.signal) == (JobState.FAILED, name)

    def test_signals_leave_an_ended_job_alone(self, harness: BackendHarness) -> None:
        handle, before = finish(harness, Behaviour(exit_code=3))
        for signal in JobSignal:
            harness.backend.signal(handle, signal)
        assert replace(harness.backend.poll([handle])[handle.key], seen_at=before.seen_at) == before

    @pytest.mark.parametrize("stubborn", [False, True])
    def test_cancel_ends_the_job_and_is_idempotent(self, harness: BackendHarness, stubborn: bool) -> None:
        handle = start(harness, replace(LIVES_LONG, stubborn=stubborn))
        harness.wait_log(handle, b"ready\n")
        asked = datetime.now(UTC)
        harness.backend.cancel(handle)
        harness.backend.cancel(handle)
        assert datetime.now(UTC) - asked < timedelta(seconds=2)
        first = harness.wait(handle, ended)
        assert first.state is JobState.CANCELLED
        harness.backend.cancel(handle)
        assert harness.backend.poll([handle])[handle.key].state is JobState.CANCELLED

    def test_an_ended_job_keeps_its_end(self, harness: BackendHarness) -> None:
        handle, before = finish(harness, Behaviour())
        harness.backend.cancel(handle)
        after = harness.backend.poll([handle])[handle.key]
        assert replace(after, seen_at=before.seen_at) == before

    def test_files_are_the_jobs_own(self, harness: BackendHarness) -> None:
        written = {"a.json": "{}", "deep/er/b.json": "[1]", "c.txt": "text"}
        handle, _ = finish(harness, Behaviour(files=written))
        names = {pattern: {file.path for file in harness.backend.files(handle, pattern)} for pattern in _PATTERNS}
        assert names == {
            "*.json": {"a.json"},
            "**/*.json": {"a.json", "deep/er/b.json"},
            "deep/*/b.json": {"deep/er/b.json"},
            "**": set(written),
            "[a-b].json": {"a.json"},
            "nothing*": set(),
        }
        sizes = {file.path: file.size for file in harness.backend.files(handle, "**")}
        assert sizes == {path: len(text) for path, text in written.items()}

    def test_files_are_read_in_slices(self, harness: BackendHarness) -> None:
        handle, _ = finish(harness, Behaviour(files={"deep/a.txt": "0123456789"}))
        read = harness.backend.read_file
        assert read(handle, "deep/a.txt", 0, 100) == b"0123456789"
        assert read(handle, "deep/a.txt", 3, 4) == b"3456"
        assert read(handle, "deep/a.txt", -3, 100) == b"789"

    @pytest.mark.parametrize("path", ["missing", "", ".", "..", "../job.sh", "deep/../../job.sh", "/etc/passwd", "a/b"])
    def test_files_outside_are_not_read(self, harness: BackendHarness, path: str) -> None:
        handle, _ = finish(harness, Behaviour(files={"a": "x", "deep/a.txt": "y"}))
        with pytest.raises(FileUnavailable):
            harness.backend.read_file(handle, path, 0, 100)


_PATTERNS = ("*.json", "**/*.json", "deep/*/b.json", "**", "[a-b].json", "nothing*")
_TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=20)
_HOSTILE = (
    "",
    " ",
    "'",
    '"',
    "\\",
    "a'b\"c",
    "$(touch hacked)",
    "`touch hacked`",
    "${HOME}",
    "a\nb\n",
    "-n",
    "--",
    "*",
    "~",
    "!!",
    "ü 漢字 \u0081\u0088",
    "; exit 9",
    "&",
    "=x",
    "\t\r",
)


class ExecutionContract:
    """Arguments and environment of programs that are really executed."""

    def echo(self, harness: BackendHarness, argv: tuple[str, ...], env: dict[str, str]) -> dict[str, object]:
        """Run a Python program that prints its arguments, environment and directory."""
        code = "import json,os,sys; print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), os.listdir()]))"
        spec = JobSpec("echo", ("python3", "-c", code, *argv), Resources(time_limit_s=60), env)
        handle = harness.backend.submit(harness.backend.plan(spec), new_key())
        seen = harness.wait(handle, ended)
        log = harness.backend.logs(handle, 0, 1 << 20).data
        assert seen.exit_code == 0, log
        got_argv, got_env, directory, names = json.loads(log)
        return {"argv": got_argv, "env": got_env, "directory": directory, "names": names, "handle": handle}

    def test_hostile_arguments_arrive_unchanged(self, harness: BackendHarness) -> None:
        told = self.echo(harness, _HOSTILE, {})
        assert told["argv"] == list(_HOSTILE)
        assert told["names"] == []

    @settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(argv=st.lists(_TEXT, max_size=4), value=_TEXT)
    def test_any_argument_and_value_arrives_unchanged(
        self, harness: BackendHarness, argv: list[str], value: str
    ) -> None:
        told = self.echo(harness, tuple(argv), {"VALUE": value})
        assert told["argv"] == argv
        assert told["env"]["VALUE"] == value  # pyright: ignore[reportIndexIssue]

    def test_the_environment_is_clean(self, harness: BackendHarness, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PLANTED_TOKEN", "the-secret-value")
        told = self.echo(harness, (), {"GIVEN": "1"})
        env, handle = told["env"], told["handle"]
        assert isinstance(env, dict)
        assert isinstance(handle, JobHandle)
        assert "the-secret-value" not in json.dumps(env)
        assert not {"PLANTED_TOKEN", "PYTEST_CURRENT_TEST", "SSH_AUTH_SOCK"} & set(env)
        assert env["GIVEN"] == "1"
        assert (env["LANG"], env["PYTHONUNBUFFERED"], env["LABHAND_KEY"]) == ("C.UTF-8", "1", handle.key)
        assert env["LABHAND_ATTEMPT_DIR"] == handle.directory
        assert env["HOME"] != os.environ.get("HOME")
        assert env["TMPDIR"].startswith(handle.directory)
        assert told["directory"] == handle.work_dir
