"""The port to the machines: what a job is, what is seen of it, and what every backend can do.

Values are frozen and made of plain types, so that they can be stored and compared. `None` means unknown.
Every call may raise `BackendUnreachable`; a call that says so raises more.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Protocol, runtime_checkable


class JobState(StrEnum):
    """What a machine says of a job. `UNKNOWN` is no end: the machine did not answer, or not clearly."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    NODE_FAIL = "node_fail"
    LOST = "lost"
    UNKNOWN = "unknown"

    @property
    def ended(self) -> bool:
        return self not in (JobState.PENDING, JobState.RUNNING, JobState.UNKNOWN)


class JobSignal(StrEnum):
    """Requests to a running job. `CHECKPOINT` sends the signal agreed on in the job's spec."""

    CHECKPOINT = "checkpoint"
    TERMINATE = "terminate"
    KILL = "kill"


@dataclass(frozen=True)
class Resources:
    """What one job asks for. Memory in bytes per node, time in seconds; `None` leaves it to the machine's default."""

    gpus: int = 0
    gpu_type: str | None = None
    cpus: int = 1
    memory_bytes: int | None = None
    time_limit_s: int | None = None
    nodes: int = 1


@dataclass(frozen=True)
class JobSpec:
    """One job, complete: nothing else may influence what is run.

    `argv` is run without a shell in the job's own work directory, which holds links to the top-level entries of
    `code_dir` except those in `own_names` (the names the job itself writes, such as its checkpoint directory).
    `env` is the whole environment on top of a clean base; a machine never hands on its own.
    """

    name: str
    argv: tuple[str, ...]
    resources: Resources = Resources()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    code_dir: str | None = None
    own_names: tuple[str, ...] = ()
    checkpoint_signal: str = "USR1"
    avoid_hosts: tuple[str, ...] = ()
    priority: int = 0
    comment: str = ""


@dataclass(frozen=True)
class JobPlan:
    """What will be submitted, rendered without side effect; what is shown for approval is this very object."""

    backend: str
    spec: JobSpec
    script: str
    digest: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobHandle:
    """How a backend finds a job again. `ref` is the machine's own id (a process id, a Slurm job id)."""

    backend: str
    key: str
    ref: str
    directory: str
    host: str | None = None
    submitted_at: datetime | None = None

    @property
    def work_dir(self) -> str:
        """The directory in which the job runs, on the job's machine."""
        return str(PurePosixPath(self.directory) / "work")


@dataclass(frozen=True)
class Observation:
    """One look at one job. Exactly one of `exit_code` and `signal` is set for a process that ended by itself."""

    key: str
    state: JobState
    seen_at: datetime
    exit_code: int | None = None
    signal: str | None = None
    reason: str | None = None
    host: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    restarts: int = 0


@dataclass(frozen=True)
class LogChunk:
    """Bytes of a job's log from `cursor` (a byte offset) on. `next_cursor` continues; `size` is the log's size now."""

    data: bytes
    cursor: int
    next_cursor: int
    size: int


@dataclass(frozen=True)
class JobFile:
    """A file that a job wrote; `path` is relative to its work directory."""

    path: str
    size: int
    modified_at: datetime


@dataclass(frozen=True)
class Gpu:
    """One GPU as seen now. Memory in bytes, utilisation 0 to 100; `None` when the driver does not say."""

    uuid: str
    index: int
    name: str
    memory_total: int | None = None
    memory_used: int | None = None
    utilisation: int | None = None
    temperature_c: int | None = None
    users: tuple[str, ...] = ()


@dataclass(frozen=True)
class Node:
    """One machine of a backend as seen now. `reachable` False says that all the rest may be out of date."""

    name: str
    reachable: bool
    cpus: int | None = None
    cpus_free: int | None = None
    memory_total: int | None = None
    memory_free: int | None = None
    gpus: tuple[Gpu, ...] = ()
    state: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do, told without asking the machine."""

    name: str
    kind: str
    schedules: bool
    gpus: bool
    enforces_memory: bool
    enforces_time: bool
    preempts: bool = False
    arrays: bool = False


@runtime_checkable
class Backend(Protocol):
    """A set of machines on which jobs run. Idempotent by key: submitting one key twice starts one job."""

    def capabilities(self) -> Capabilities: ...

    def inventory(self) -> Sequence[Node]:
        """The nodes and what is free on them now."""
        ...

    def plan(self, spec: JobSpec) -> JobPlan:
        """Render `spec`. No side effect. Raises `JobRejected` when it could never run here."""
        ...

    def submit(self, plan: JobPlan, key: str) -> JobHandle:
        """Start the planned job under `key`; with a known key, return the handle of the job that exists.

        Raises `JobRejected`, or `SubmissionUncertain` when only `find` can tell.
        """
        ...

    def find(self, key: str) -> JobHandle | None:
        """The job submitted under `key`, or `None` when the machine knows that there is none."""
        ...

    def poll(self, handles: Sequence[JobHandle]) -> Mapping[str, Observation]:
        """One observation a handle, by key; one round trip per host or cluster whatever the number of handles."""
        ...

    def signal(self, handle: JobHandle, signal: JobSignal) -> None:
        """Send a request to the job's processes. A job that has ended is left alone."""
        ...

    def logs(self, handle: JobHandle, cursor: int, limit: int) -> LogChunk:
        """At most `limit` bytes of the log from byte `cursor`; a negative cursor counts from the end."""
        ...

    def cancel(self, handle: JobHandle) -> None:
        """End the job and all its processes. Idempotent; a job that has ended keeps its end."""
        ...

    def files(self, handle: JobHandle, pattern: str) -> Sequence[JobFile]:
        """The job's own files whose path in the work directory matches the glob `pattern`, oldest first."""
        ...

    def read_file(self, handle: JobHandle, path: str, cursor: int, limit: int) -> bytes:
        """At most `limit` bytes of one of the job's own files. Raises `FileUnavailable`."""
        ...


@dataclass(frozen=True)
class CommandResult:
    """What a command printed and how it ended; output is bounded by the transport."""

    exit_code: int
    stdout: bytes
    stderr: bytes


@runtime_checkable
class Transport(Protocol):
    """A way to run commands on one host. Arguments are never read by a shell."""

    @property
    def host(self) -> str: ...

    def run(self, argv: Sequence[str], stdin: bytes | None = None, timeout_s: float = 30.0) -> CommandResult: ...

    def put(self, data: bytes, path: str, mode: int = 0o600) -> None:
        """Write a file atomically: complete, or not at all."""
        ...

    def get(self, path: str, cursor: int = 0, limit: int | None = None) -> bytes:
        """Bytes of a file. Raises `FileUnavailable`."""
        ...


def spec_digest(backend: str, spec: JobSpec, script: str) -> str:
    """SHA-256 over everything that decides what is run; an approval is bound to it."""
    canonical = json.dumps(
        {"backend": backend, "spec": asdict(spec), "script": script}, sort_keys=True, ensure_ascii=True
    )
    return hashlib.sha256(canonical.encode()).hexdigest()
