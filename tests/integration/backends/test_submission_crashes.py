"""A submitting process may die at any point: one key starts one job, and `find` tells the truth."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backends.base import JobSpec, JobState
from backends.local import LocalBackend

ROUNDS = 20
KEY = "key"

# Submits at the word "go"; where asked, dies by SIGKILL before or after one step of the submission.
SUBMITTER = """
import os, signal, sys
from pathlib import Path
from backends import localstart
from backends.base import JobSpec
from backends.local import LocalBackend

root, mark, step, when = sys.argv[1:]

def dies(function):
    def wrapped(*words):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        function(*words)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapped

if step:
    setattr(localstart, step, dies(getattr(localstart, step)))
backend = LocalBackend(Path(root))
plan = backend.plan(JobSpec("job", ("sh", "-c", 'echo ran >>"$0"; sleep 0.05', mark)))
print("ready", flush=True)
sys.stdin.readline()
print(backend.submit(plan, "key").ref, flush=True)
"""


def submitter(root: Path, mark: Path, step: str = "", when: str = "") -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", SUBMITTER, str(root), str(mark), step, when],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def reap(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    with process:
        said = process.stdout.read()
        process.wait(20)
    return said


def times_run(mark: Path) -> int:
    return mark.read_text().count("ran") if mark.exists() else 0


def finish(backend: LocalBackend, mark: Path) -> None:
    """Submit once more, as after a restart, and wait for the end."""
    handle = backend.submit(backend.plan(JobSpec("job", ("sh", "-c", 'echo ran >>"$0"', str(mark)))), KEY)
    deadline = time.monotonic() + 20
    while not (seen := backend.poll([handle])[KEY]).state.ended:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert seen.state is JobState.COMPLETED
    assert times_run(mark) == 1


def test_killed_at_any_moment_one_key_runs_once(tmp_path: Path) -> None:
    """Kills the submitter and its whole group with SIGKILL, each round a quarter of a millisecond later."""
    found = 0
    for number in range(ROUNDS):
        root, mark = tmp_path / f"jobs{number}", tmp_path / f"mark{number}"
        process = submitter(root, mark)
        go(process)
        time.sleep(number * 0.00025)
        os.killpg(process.pid, signal.SIGKILL)
        reap(process)
        backend = LocalBackend(root)
        handle = backend.find(KEY)
        if handle is None:
            time.sleep(0.05)
            assert times_run(mark) == 0
        else:
            found += 1
        finish(backend, mark)
        assert handle in (None, backend.find(KEY))
    print(f"{found} of {ROUNDS} were started before the kill")


@pytest.mark.parametrize(
    ("step", "when", "started"),
    [
        ("start_lock", "before", False),
        ("_write", "before", False),
        ("_write", "after", False),
        ("launch", "before", False),
        ("_read_until_closed", "before", True),
        ("launch", "after", True),
    ],
)
def test_a_death_at_each_step(tmp_path: Path, step: str, when: str, started: bool) -> None:
    root, mark = tmp_path / "jobs", tmp_path / "mark"
    process = submitter(root, mark, step, when)
    go(process)
    assert reap(process) == ""
    assert process.returncode == -signal.SIGKILL
    backend = LocalBackend(root)
    assert (backend.find(KEY) is not None) is started
    assert (root / KEY).exists()
    finish(backend, mark)


def test_a_directory_without_a_lock_or_script_is_no_job(tmp_path: Path) -> None:
    (tmp_path / "jobs" / KEY).mkdir(parents=True)
    backend = LocalBackend(tmp_path / "jobs")
    assert backend.find(KEY) is None
    finish(backend, tmp_path / "mark")


def test_find_waits_for_a_script_that_is_about_to_start(tmp_path: Path) -> None:
    """A script was launched and its submitter killed; it is stopped just before the moment that makes it a job."""
    root, mark = tmp_path / "jobs", tmp_path / "mark"
    backend = LocalBackend(root)
    plan = backend.plan(JobSpec("job", ("sh", "-c", 'echo ran >>"$0"', str(mark))))
    directory = root / KEY
    directory.mkdir(parents=True)
    (directory / "job.sh").write_text(plan.script.replace("\nclaim ||", "\nsleep 0.5\nclaim ||"))
    lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    starter = subprocess.Popen(["sh", str(directory / "job.sh")], stdin=lock, start_new_session=True)
    os.close(lock)
    began = time.monotonic()
    assert backend.find(KEY) is not None
    assert time.monotonic() - began > 0.3
    finish(backend, mark)
    starter.wait(20)


def test_processes_that_submit_at_once_start_one_job(tmp_path: Path) -> None:
    root, mark = tmp_path / "jobs", tmp_path / "mark"
    processes = [submitter(root, mark) for _ in range(5)]
    for process in processes:
        go(process)
    refs = {reap(process) for process in processes}
    assert len(refs) == 1
    finish(LocalBackend(root), mark)


def test_scripts_that_start_at_once_run_one_command(tmp_path: Path) -> None:
    """Even with no lock at all, as on a machine reached by other means, the link decides."""
    root, mark = tmp_path / "jobs", tmp_path / "mark"
    backend = LocalBackend(root)
    plan = backend.plan(JobSpec("job", ("sh", "-c", 'echo ran >>"$0"', str(mark))))
    directory = root / KEY
    directory.mkdir(parents=True)
    (directory / "job.sh").write_text(plan.script)
    scripts = [
        subprocess.Popen(["sh", str(directory / "job.sh")], stdin=subprocess.DEVNULL, start_new_session=True)
        for _ in range(8)
    ]
    assert [script.wait(20) for script in scripts] == [0] * len(scripts)
    assert times_run(mark) == 1
    finish(backend, mark)


def test_a_job_outlives_the_process_that_submitted_it(tmp_path: Path) -> None:
    root, mark = tmp_path / "jobs", tmp_path / "mark"
    process = submitter(root, mark)
    go(process)
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdecimal()
    os.killpg(process.pid, signal.SIGKILL)
    reap(process)
    backend = LocalBackend(root)
    assert backend.find(KEY) is not None
    finish(backend, mark)
