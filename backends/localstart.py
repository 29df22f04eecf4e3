"""Starting a job's script on this machine: once for each key, detached from this process."""

import errno
import fcntl
import json
import os
import re
import select
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from backends.base import JobPlan
from backends.errors import BackendError, BackendUnreachable, JobRejected, SubmissionUncertain
from backends.jobscript import CLEAN_PATH

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)
_LOCK_WAIT_S = 10.0
_START_WAIT_S = 15.0
_STEP_S = 0.005
_DISK_STEPS = {
    errno.ENOSPC: "Free space on that disk.",
    errno.EDQUOT: "Free some of the disk quota.",
    errno.EACCES: "Let the user of this process write there, or choose another directory.",
    errno.EPERM: "Let the user of this process write there, or choose another directory.",
    errno.EROFS: "The file system is mounted read-only: choose another directory.",
}


def check_key(key: str) -> str:
    """The key itself, which is the name of the job's directory. Raises `JobRejected`."""
    if not _KEY.fullmatch(key):
        raise JobRejected(
            f"{key!r} can't be the key of a job.",
            next_step="Use at most 200 letters, digits, dots, dashes and underscores, with a letter or digit in front.",
        )
    return key


def start_once(directory: Path, plan: JobPlan) -> None:
    """Prepare `directory` and start the plan's script in it, unless it was started before.

    Raises `SubmissionUncertain` when the script does not tell in time, `BackendError` when the disk or the machine
    refuses.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with start_lock(directory) as lock:
            if (directory / "pid").exists():
                return
            _write(directory / "job.sh", plan.script)
            _write(directory / "spec.json", json.dumps(asdict(plan.spec), ensure_ascii=True, indent=1))
            told = launch(directory, lock)
    except OSError as error:
        raise disk_error(error, directory) from error
    if not (directory / "pid").exists():
        raise BackendError(
            f"The job's script could not start in {directory}: {told or 'it said nothing'}.",
            next_step="Check the free space and the permissions of that directory, then submit again.",
        )


def launch(directory: Path, lock: int) -> str:
    """Start `job.sh` in a session of its own, its parent being init; what it says until it has started or given up.

    setsid forks, as it leads a process group here, and its parent returns at once. The script holds the lock as its
    standard input until it has made `pid`. Nothing of this process's environment is handed on.
    """
    answer, answer_end = os.pipe()
    try:
        try:
            starter = subprocess.Popen(  # noqa: S603 - fixed argv
                ["setsid", "sh", str(directory / "job.sh")],  # noqa: S607 - found on the clean PATH below
                stdin=lock,
                stdout=answer_end,
                stderr=answer_end,
                env={"PATH": CLEAN_PATH, "LC_ALL": "C"},
                cwd="/",
                process_group=0,
            )
        finally:
            os.close(answer_end)
        starter.wait()
        return _read_until_closed(answer)
    finally:
        os.close(answer)


@contextmanager
def start_lock(directory: Path) -> Generator[int, None, None]:
    """Hold the lock on the starts of one job. Raises `BackendUnreachable` when another start holds it for long."""
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + _LOCK_WAIT_S
        while not _lock(descriptor):
            if time.monotonic() > deadline:
                raise BackendUnreachable(f"A start of the job in {directory} has not finished.", next_step="Try again.")
            time.sleep(_STEP_S)
        yield descriptor
    finally:
        os.close(descriptor)


def disk_error(error: OSError, path: Path) -> BackendError:
    """What a failure of the operating system means for a person."""
    step = _DISK_STEPS.get(error.errno or 0, "Check that this directory is there and can be written to.")
    return BackendError(f"{error.filename or path}: {error.strerror}.", next_step=step)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_until_closed(descriptor: int) -> str:
    said = b""
    deadline = time.monotonic() + _START_WAIT_S
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise SubmissionUncertain("The job's script did not tell whether it started.", next_step="Find the job.")
        piece = os.read(descriptor, 4096)
        if not piece:
            return said.decode(errors="replace").strip()
        said += piece


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.tmp")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
    partial.replace(path)
