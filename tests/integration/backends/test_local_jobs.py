"""Jobs of the local backend against the real machine: limits, process trees, and the death of everything around."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from backends.base import JobHandle, JobSpec, JobState, Observation, Resources
from backends.errors import BackendUnreachable
from backends.jobrecord import parse_process
from backends.local import LocalBackend
from backends.processes import is_alive, read_process
from tests.contract.backends.processes import end_all

MIB = 1 << 20


class Local:
    """A local backend with short words for its use."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.backend = LocalBackend(root, python=Path(sys.executable), grace_s=1)

    def start(self, *argv: str, key: str = "key", code_dir: Path | None = None, **asked: int) -> JobHandle:
        spec = JobSpec(
            "job",
            argv,
            Resources(**asked),  # pyright: ignore[reportArgumentType]
            code_dir=None if code_dir is None else str(code_dir),
            own_names=("checkpoints",),
        )
        return self.backend.submit(self.backend.plan(spec), key)

    def poll(self, handle: JobHandle) -> Observation:
        return self.backend.poll([handle])[handle.key]

    def end(self, handle: JobHandle) -> Observation:
        wait_for(lambda: self.poll(handle).state.ended)
        return self.poll(handle)

    def log(self, handle: JobHandle) -> str:
        return self.backend.logs(handle, 0, MIB).data.decode()

    def pid(self, handle: JobHandle, file: str) -> int:
        wait_for((Path(handle.directory) / file).exists)
        record = parse_process((Path(handle.directory) / file).read_text())
        assert record is not None
        return record.pid


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    local = Local(tmp_path / "jobs")
    yield local
    end_all(local.root, local.backend)


def wait_for(happened: Callable[[], bool], timeout_s: float = 20) -> None:
    deadline = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(pid: int) -> bool:
    process = read_process(pid)
    return process is None or process.state == "Z"


def holds_only(pid: int, directory: Path) -> bool:
    """Whether all open files of a process are /dev/null or the job's own (its lock given back)."""
    targets: set[str] = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            targets.add(str(entry.readlink()))
    own = {str(directory / name) for name in ("job.sh", "out.log")}
    return targets <= own | {os.devnull}


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: gone(pid))


def test_the_memory_limit_raises_the_programs_own_error(local: Local) -> None:
    code = "import numpy; print('ready', flush=True); numpy.ones(1 << 27)"
    handle = local.start("python", "-c", code, memory_bytes=512 * MIB)
    seen = local.end(handle)
    assert (seen.state, seen.exit_code) == (JobState.FAILED, 1)
    assert "Unable to allocate 1.00 GiB for an array" in local.log(handle)
    assert "labhand:" not in local.log(handle)


def test_the_guard_ends_a_group_that_holds_too_much_together(local: Local) -> None:
    code = "import os, time\nfor _ in range(2): os.fork()\nheld = bytearray(os.urandom(1) * (80 << 20)); time.sleep(60)"
    handle = local.start("python", "-c", code, memory_bytes=200 * MIB)
    seen = local.end(handle)
    assert (seen.state, seen.signal) == (JobState.OUT_OF_MEMORY, "SIGKILL")
    line = local.log(handle).strip().splitlines()[-1]
    assert line.startswith("labhand: memory limit exceeded (")
    assert line.endswith(" MiB > 200.00 MiB), job killed")


def test_pages_shared_by_forked_workers_count_once(local: Local) -> None:
    code = (
        "import os, time\n"
        "held = bytearray(100 << 20)\n"
        "for at in range(0, len(held), 4096): held[at] = 1\n"
        "for _ in range(3): os.fork()\n"
        "time.sleep(1.5); os._exit(0)"
    )
    assert local.end(local.start("python", "-c", code, memory_bytes=200 * MIB)).state is JobState.COMPLETED


def test_the_time_limit_asks_first_and_kills_after_the_grace(local: Local) -> None:
    polite = local.start("sh", "-c", "trap 'echo saved; exit 5' TERM; sleep 60 & wait", key="a", time_limit_s=1)
    stubborn = local.start("sh", "-c", "trap '' TERM; sleep 60; sleep 60", key="b", time_limit_s=1)
    seen = local.end(polite)
    assert (seen.state, seen.exit_code) == (JobState.TIMEOUT, 5)
    assert local.log(polite) == "\nlabhand: time limit exceeded (1 s), job ended\nsaved\n"
    seen = local.end(stubborn)
    assert (seen.state, seen.signal) == (JobState.TIMEOUT, "SIGKILL")
    assert seen.started_at is not None
    assert seen.ended_at is not None
    assert 1.5 < (seen.ended_at - seen.started_at).total_seconds() < 10


def test_cancel_reaches_the_whole_tree(local: Local) -> None:
    code = (
        "import subprocess, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "own = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "stray = subprocess.run(['sh', '-c', 'setsid sleep 60 >/dev/null 2>&1 & echo $!'], capture_output=True)\n"
        "print(child.pid, own.pid, int(stray.stdout), flush=True); time.sleep(60)"
    )
    handle = local.start("python", "-c", code)
    wait_for(lambda: local.log(handle).endswith("\n"))
    pids = [int(word) for word in local.log(handle).split()]
    assert not any(gone(pid) for pid in pids)
    local.backend.cancel(handle)
    assert local.end(handle).state is JobState.CANCELLED
    assert all(gone(pid) for pid in pids)


def test_what_a_command_leaves_behind_ends_with_it(local: Local) -> None:
    handle = local.start("sh", "-c", "trap '' TERM; sleep 60 & setsid sleep 60 & echo $!; sleep 0.3")
    assert local.end(handle).state is JobState.COMPLETED
    assert gone(int(local.log(handle)))


def test_a_job_inherits_nothing_and_its_parent_is_not_this_process(local: Local) -> None:
    with open(os.devnull) as inherited:
        os.set_inheritable(inherited.fileno(), True)
        handle = local.start("sleep", "60")
    for file in ("pid", "command"):
        pid = local.pid(handle, file)
        wait_for(lambda pid=pid: holds_only(pid, Path(handle.directory)))
        process = read_process(pid)
        assert process is not None
        assert process.parent != os.getpid()
        assert process.session != os.getsid(0)
    local.backend.cancel(handle)
    local.end(handle)


def test_nothing_is_left_of_an_ended_job(local: Local) -> None:
    handle = local.start("true")
    supervisor = local.pid(handle, "pid")
    local.end(handle)
    wait_for(lambda: gone(supervisor))
    assert sorted(os.listdir(handle.directory)) == [
        *("command", "exit", "home", "job.sh", "lock", "out.log", "pid", "spec.json", "work")
    ]


def test_a_supervisor_that_is_killed_leaves_a_running_job_that_can_be_cancelled(local: Local) -> None:
    handle = local.start("sh", "-c", "trap '' TERM; sleep 60; sleep 60")
    command = local.pid(handle, "command")
    kill(local.pid(handle, "pid"))
    assert local.poll(handle).state is JobState.RUNNING
    began = time.monotonic()
    local.backend.cancel(handle)
    assert time.monotonic() - began < 3
    assert local.poll(handle).state is JobState.CANCELLED
    assert gone(command)


def test_a_job_killed_with_its_supervisor_is_lost_not_failed(local: Local) -> None:
    handle = local.start("sleep", "60")
    command = local.pid(handle, "command")
    for pid in (local.pid(handle, "pid"), command):
        kill(pid)
    seen = local.poll(handle)
    assert (seen.state, seen.exit_code, seen.signal) == (JobState.LOST, None, None)
    assert "vanished" in (seen.reason or "")
    local.backend.cancel(handle)
    assert local.poll(handle).state is JobState.LOST
    assert local.start("sleep", "60") == handle
    assert local.poll(handle).state is JobState.LOST


def test_a_job_of_an_earlier_boot_is_lost_even_when_its_ids_live_again(local: Local) -> None:
    handle = local.start("sleep", "60")
    local.pid(handle, "command")
    path = Path(handle.directory) / "pid"
    pid, start, _ = path.read_text().split()
    path.write_text(f"{pid} {start} another-boot\n")
    seen = local.poll(handle)
    assert seen.state is JobState.LOST
    assert "restarted" in (seen.reason or "")
    path.write_text(f"{pid} {start} -\n")
    local.backend.cancel(handle)
    local.end(handle)


def test_another_process_under_the_jobs_ids_is_not_the_job(local: Local) -> None:
    handle = local.start("true")
    local.end(handle)
    supervisor = local.pid(handle, "pid")
    wait_for(lambda: gone(supervisor))
    directory = Path(handle.directory)
    (directory / "exit").unlink()
    boot = (directory / "pid").read_text().split()[2]
    for file in ("pid", "command"):
        (directory / file).write_text(f"{os.getpid()} 1 {boot}\n")
    assert local.poll(handle).state is JobState.LOST
    local.backend.cancel(handle)
    own = read_process(os.getpid())
    assert own is not None
    assert own.start != 1


def test_the_work_directory_links_to_the_code_but_not_to_what_is_the_jobs_own(local: Local, tmp_path: Path) -> None:
    code = tmp_path / "the 'code'"
    for name in ("src", "checkpoints", ".git", ".venv", "myenv", "__pycache__", "node_modules", "-dash"):
        (code / name).mkdir(parents=True)
    (code / "myenv" / "pyvenv.cfg").write_text("")
    (code / "train.py").write_text("import pathlib; pathlib.Path('checkpoints').mkdir(); print('trained')")
    (code / "dangling").symlink_to("nowhere")
    handle = local.start("python", "train.py", code_dir=code)
    assert local.end(handle).state is JobState.COMPLETED, local.log(handle)
    work = Path(handle.work_dir)
    assert sorted(os.listdir(work)) == ["-dash", "checkpoints", "src", "train.py"]
    assert {name for name in os.listdir(work) if (work / name).is_symlink()} == {"-dash", "src", "train.py"}
    assert local.log(handle) == "trained\n"


def test_code_that_vanished_since_the_plan_is_told_in_the_log(local: Local, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    spec = JobSpec("job", ("true",), code_dir=str(tmp_path / "code"))
    plan = local.backend.plan(spec)
    (tmp_path / "code").rmdir()
    handle = local.backend.submit(plan, "key")
    seen = local.end(handle)
    assert (seen.state, seen.exit_code) == (JobState.FAILED, 126)
    assert "code directory" in local.log(handle)


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_every_shell_tells_exit_codes_from_signals(local: Local, tmp_path: Path, shell: str) -> None:
    words = shell.split()
    if not any((Path(place) / words[0]).exists() for place in ("/bin", "/usr/bin")):
        pytest.skip(f"no {words[0]} here")
    ends = {"exit 0": (0, None), "exit 3": (3, None), "exit 137": (137, None), "kill -9 $$": (None, "SIGKILL")}
    ends |= {"kill -TERM $$": (None, "SIGTERM"), "kill -SEGV $$": (None, "SIGSEGV"), "exit 127": (127, None)}
    for number, (does, wanted) in enumerate(ends.items()):
        plan = local.backend.plan(JobSpec("job", ("sh", "-c", does)))
        directory = local.root / f"k{number}"
        directory.mkdir(parents=True)
        (directory / "job.sh").write_text(plan.script)
        subprocess.run([*words, str(directory / "job.sh")], stdin=subprocess.DEVNULL, check=True, timeout=20)
        seen = local.backend.poll([JobHandle("local", f"k{number}", "", str(directory))])[f"k{number}"]
        assert (seen.exit_code, seen.signal) == wanted, does


def test_a_hundred_jobs_are_polled_in_one_quick_sweep(local: Local) -> None:
    first = local.start("true", key="k0")
    local.end(first)
    directory = Path(first.directory)
    for number in range(1, 100):
        copy = directory.with_name(f"k{number}")
        copy.mkdir()
        for file in ("pid", "command", "exit"):
            (copy / file).write_text((directory / file).read_text())
    handles = [JobHandle("local", f"k{number}", "", "") for number in range(100)]
    began = time.monotonic()
    seen = local.backend.poll(handles)
    assert time.monotonic() - began < 1
    assert {one.state for one in seen.values()} == {JobState.COMPLETED}


def test_a_root_that_is_not_mounted_says_nothing(local: Local) -> None:
    handle = local.start("true")
    local.end(handle)
    supervisor = local.pid(handle, "pid")
    wait_for(lambda: gone(supervisor))
    local.root.rename(local.root.with_name("elsewhere"))
    with pytest.raises(BackendUnreachable):
        local.backend.poll([handle])


def test_liveness_is_checked_by_start_time() -> None:
    own = read_process(os.getpid())
    assert own is not None
    record = parse_process(f"{os.getpid()} {own.start} -")
    assert record is not None
    assert is_alive(record)


def test_one_job_that_can_not_be_read_does_not_hide_the_others(local: Local) -> None:
    good, bad = local.start("true", key="good"), local.start("true", key="bad")
    local.end(good)
    local.end(bad)
    (Path(bad.directory) / "exit").unlink()
    (Path(bad.directory) / "exit").mkdir()
    seen = local.backend.poll([good, bad])
    assert (seen["good"].state, seen["bad"].state) == (JobState.COMPLETED, JobState.UNKNOWN)
    (Path(bad.directory) / "exit").rmdir()


def test_a_job_starts_with_exactly_its_environment_and_default_signals(local: Local) -> None:
    code = (
        "import json, os, signal\n"
        "names = sorted(set(os.environ) - {'LC_CTYPE'})\n"
        "ignored = [s.name for s in signal.Signals if signal.getsignal(s) is signal.SIG_IGN]\n"
        "print(json.dumps([names, ignored, os.umask(0)]))"
    )
    handle = local.start("python", "-c", code)
    local.end(handle)
    names, ignored, umask = json.loads(local.log(handle))
    base = "PATH HOME TMPDIR LANG PYTHONUNBUFFERED OMP_NUM_THREADS CUDA_VISIBLE_DEVICES"
    assert names == sorted([*base.split(), "LABHAND_ATTEMPT_DIR", "LABHAND_KEY"])
    hangups = ["SIGHUP"] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else []  # the tests run under nohup
    assert ignored == [*hangups, "SIGPIPE", "SIGXFSZ"]  # the last two are Python's own doing
    assert umask == 0o022
