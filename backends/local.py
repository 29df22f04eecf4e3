"""Jobs as plain processes of this machine.

Each job has a directory `<root>/<key>/`; what is in it is the job's whole record, so that any process finds it again.
A job is *started* from the moment its script has made the file `pid` (an atomic link, made once): before that moment a
submission that broke off left nothing but a prepared directory, and the next `submit` starts it; after it, no second
start is possible. While a script is between its launch and that moment it holds the lock on the file `lock`, so that
`find` can say for certain that there is no job.
"""

import json
import socket
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from signal import Signals

from backends import jobfiles, processes
from backends.base import (
    Backend,
    Capabilities,
    JobFile,
    JobHandle,
    JobPlan,
    JobSignal,
    JobSpec,
    JobState,
    LogChunk,
    Node,
    Observation,
    spec_digest,
)
from backends.errors import BackendUnreachable, HandleUnknown, JobRejected
from backends.jobrecord import JobTraces, ProcessRecord, observe, parse_exit, parse_process
from backends.jobscript import CLEAN_PATH, GRACE_S, render_job_script
from backends.localfit import LocalMachine, resolve_command
from backends.localstart import check_key, start_lock, start_once

_ORPHAN_GRACE_S = 1.0
_STEP_S = 0.02
_COMMAND_WAIT_S = 2.0


class LocalBackend(Backend):
    """Runs jobs on this machine, below `root`, each started at once: what runs when is the queue's business.

    `python` stands in for a job's `python` and `python3`, and its directory leads the job's PATH. `cpus` and
    `memory_bytes` are what one job may ask for at most (default: what the machine has). `grace_s` is the time in
    seconds between TERM and KILL. Needs Linux and setsid (util-linux). Jobs outlive this process, but not a
    service manager that ends all processes of a service: under systemd its unit needs `KillMode=process`.
    """

    def __init__(
        self,
        root: Path,
        name: str = "local",
        *,
        python: Path | None = None,
        cpus: int | None = None,
        memory_bytes: int | None = None,
        grace_s: int = GRACE_S,
        host: str | None = None,
    ) -> None:
        self._root = root.resolve()
        self._name = name
        self._python = python
        self._grace_s = grace_s
        self._machine = LocalMachine(host or socket.gethostname(), cpus, memory_bytes)

    def capabilities(self) -> Capabilities:
        return Capabilities(
            name=self._name,
            kind="local",
            schedules=False,
            gpus=self._machine.has_gpus,
            enforces_memory=True,
            enforces_time=True,
        )

    def inventory(self) -> Sequence[Node]:
        return (self._machine.node(),)

    def plan(self, spec: JobSpec) -> JobPlan:
        self._machine.check(spec)
        path = CLEAN_PATH if self._python is None else f"{self._python.parent}:{CLEAN_PATH}"
        argv = resolve_command(spec, self._python, path)
        script = render_job_script(spec, argv, path, self._grace_s)
        warnings = () if spec.resources.time_limit_s else ("No time limit: the job may run for ever.",)
        return JobPlan(self._name, spec, script, spec_digest(self._name, spec, script), warnings)

    def submit(self, plan: JobPlan, key: str) -> JobHandle:
        """Start the job under `key`, once. Raises `JobRejected`, `SubmissionUncertain`; `BackendError` for the disk."""
        if plan.digest != spec_digest(self._name, plan.spec, plan.script):
            raise JobRejected("The plan was changed after it was made.", next_step="Plan the job again.")
        directory = self._root / check_key(key)
        if self._started(directory) is None:
            start_once(directory, plan)
        return self._handle(directory)

    def find(self, key: str) -> JobHandle | None:
        directory = self._root / check_key(key)
        if self._started(directory) is None:
            if not (directory / "lock").exists():
                return None
            with start_lock(directory):
                if self._started(directory) is None:
                    return None
        return self._handle(directory)

    def poll(self, handles: Sequence[JobHandle]) -> Mapping[str, Observation]:
        if handles:
            self._reach()
        boot, seen_at = processes.boot_id(), datetime.now(UTC)
        return {handle.key: self._observe(handle.key, boot, seen_at) for handle in handles}

    def signal(self, handle: JobHandle, signal: JobSignal) -> None:
        """`CHECKPOINT` reaches the command alone; the others all of its processes. Raises `HandleUnknown`."""
        directory = self._directory(handle)
        command = self._running_command(directory)
        if command is None:
            return
        if signal is JobSignal.CHECKPOINT:
            processes.send(command, _checkpoint_signal(directory))
        elif signal is JobSignal.TERMINATE:
            processes.send_all(self._members(directory, command), Signals.SIGTERM)
        else:
            self._kill(directory, command)

    def logs(self, handle: JobHandle, cursor: int, limit: int) -> LogChunk:
        """A slice of stdout and stderr. Raises `HandleUnknown`."""
        return jobfiles.read_log(self._directory(handle) / "out.log", cursor, limit)

    def cancel(self, handle: JobHandle) -> None:
        """Ask the job's script to end it: TERM at once, KILL after the grace. Returns before that.

        When the script itself was killed, this call does it: TERM, at most a second, KILL. Raises `HandleUnknown`.
        """
        directory = self._directory(handle)
        traces = self._traces(directory, processes.boot_id())
        if traces.exit is not None or not traces.alive:
            return
        (directory / "cancel").touch()
        if traces.supervisor is not None and processes.is_alive(traces.supervisor):
            return
        if traces.command is not None:
            self._end_orphan(directory, traces.command)

    def files(self, handle: JobHandle, pattern: str) -> Sequence[JobFile]:
        return jobfiles.list_own_files(self._directory(handle) / "work", pattern)

    def read_file(self, handle: JobHandle, path: str, cursor: int, limit: int) -> bytes:
        return jobfiles.read_own_file(self._directory(handle) / "work", path, cursor, limit)

    def _reach(self) -> None:
        """A root that is gone (a file system that is not mounted) says nothing about the jobs in it."""
        if not self._root.is_dir():
            raise BackendUnreachable(f"{self._root} is not there.", next_step="Mount the file system that it is on.")

    def _directory(self, handle: JobHandle) -> Path:
        self._reach()
        directory = self._root / check_key(handle.key)
        if not directory.is_dir():
            raise HandleUnknown(f"{self._root} has no job {handle.key}.", next_step="It was removed from the disk.")
        return directory

    def _started(self, directory: Path) -> ProcessRecord | None:
        return parse_process(_text(directory / "pid"))

    def _handle(self, directory: Path) -> JobHandle:
        record = self._started(directory)
        if record is None:
            raise HandleUnknown(f"{self._root} has no job {directory.name}.")
        made = datetime.fromtimestamp((directory / "pid").stat().st_mtime, UTC)
        return JobHandle(self._name, directory.name, str(record.pid), str(directory), self._machine.host, made)

    def _traces(self, directory: Path, boot: str | None) -> JobTraces:
        supervisor, command = self._started(directory), parse_process(_text(directory / "command"))
        same_boot = supervisor is not None and supervisor.note in ("-", boot)
        alive = same_boot and any(processes.is_alive(record) for record in (supervisor, command) if record is not None)
        # Read last: a script that ends between the two looks has written it by then.
        ended = parse_exit(_text(directory / "exit"))
        return JobTraces(supervisor, command, ended, alive, (directory / "cancel").exists(), boot)

    def _observe(self, key: str, boot: str | None, seen_at: datetime) -> Observation:
        try:
            return observe(key, self._machine.host, seen_at, self._traces(self._root / check_key(key), boot))
        except BackendUnreachable as error:
            return Observation(key, JobState.UNKNOWN, seen_at, reason=str(error), host=self._machine.host)

    def _running_command(self, directory: Path) -> ProcessRecord | None:
        """The command of a job that runs, waited for while its script is still getting ready; `None` at the end."""
        deadline = time.monotonic() + _COMMAND_WAIT_S
        while True:
            traces = self._traces(directory, processes.boot_id())
            if traces.exit is not None or not traces.alive:
                return None
            if traces.command is not None or time.monotonic() > deadline:
                return traces.command
            time.sleep(_STEP_S)

    def _members(self, directory: Path, command: ProcessRecord) -> tuple[int, ...]:
        return processes.members(command.pid, f"LABHAND_ATTEMPT_DIR={directory}")

    def _kill(self, directory: Path, command: ProcessRecord) -> None:
        """Kill until nobody is left, as a process may have forked while its group was listed."""
        for _ in range(10):
            members = self._members(directory, command)
            if not members:
                return
            processes.send_all(members, Signals.SIGKILL)
            time.sleep(_STEP_S)

    def _end_orphan(self, directory: Path, command: ProcessRecord) -> None:
        processes.send_all(self._members(directory, command), Signals.SIGTERM)
        deadline = time.monotonic() + _ORPHAN_GRACE_S
        while self._members(directory, command) and time.monotonic() < deadline:
            time.sleep(_STEP_S)
        self._kill(directory, command)


def _text(path: Path) -> str:
    """The text of a small file, empty when it is not there."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise BackendUnreachable(f"{path} can't be read: {error.strerror}.", next_step="Check that disk.") from error


def _checkpoint_signal(directory: Path) -> Signals:
    name = json.loads(_text(directory / "spec.json"))["checkpoint_signal"]
    return Signals[f"SIG{name}"]
