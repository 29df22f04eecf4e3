"""A cluster in memory and virtual time, and the faults that a test can order."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import RLock

from backends.base import Gpu, JobHandle, JobPlan, JobSpec, JobState, Node
from backends.errors import HandleUnknown
from backends.fakejobs import End, FakeJob, Outcome

_GIB = 1024**3
REQUEUE_DELAY_S = 120.0


@dataclass(frozen=True)
class Shape:
    """What each node of the fake cluster has."""

    hosts: tuple[str, ...] = ("fake-1",)
    gpus: int = 8
    gpu_name: str = "NVIDIA H200"
    cpus: int = 64
    memory_bytes: int = 512 * _GIB


class FakeMachine:
    """The jobs, their scheduler and their faults; several `FakeBackend` objects may share one.

    `schedules`: a job waits until its GPUs are free on one node, the job submitted first goes first, and a later one
    that fits goes ahead of one that does not; else each starts at once.
    """

    def __init__(self, now: Callable[[], datetime], shape: Shape, schedules: bool, grace_s: float) -> None:
        self.lock = RLock()
        self.shape = shape
        self.schedules = schedules
        self.starts: Counter[str] = Counter()
        self.submissions: list[tuple[str, JobPlan]] = []
        self._now = now
        self._grace_s = grace_s
        self._settled_at = now()
        self._jobs: dict[str, FakeJob] = {}
        self._down: set[str] = set()
        self._default = Outcome()
        self._by_key: dict[str, Outcome] = {}
        self._rules: list[tuple[Callable[[JobSpec], bool], Outcome]] = []

    @property
    def now(self) -> datetime:
        return self._now()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all jobs, in the order of their submission."""
        return tuple(self._jobs)

    def script(
        self, outcome: Outcome, *, key: str | None = None, when: Callable[[JobSpec], bool] | None = None
    ) -> None:
        """Jobs submitted from now on behave so: the one under `key`, those that `when` accepts, or all others.

        A key goes before a rule, a later rule before an earlier one.
        """
        if key is not None:
            self._by_key[key] = outcome
        elif when is not None:
            self._rules.insert(0, (when, outcome))
        else:
            self._default = outcome

    def submit(self, backend: str, plan: JobPlan, key: str) -> JobHandle:
        self.submissions.append((key, plan))
        if key not in self._jobs:
            outcome = self._outcome(key, plan.spec)
            handle = JobHandle(backend, key, str(1000 + len(self.submissions)), f"/fake/{key}", None, self.now)
            ready_at = self.now + timedelta(seconds=outcome.pending_s)
            self._jobs[key] = FakeJob(handle, plan, outcome, ready_at, self._grace_s)
            self.settle()
        return self._jobs[key].handle

    def job(self, key: str) -> FakeJob:
        """The job as it is now. Raises `HandleUnknown`."""
        self.settle()
        if key not in self._jobs:
            raise HandleUnknown(f"There is no job {key}.")
        return self._jobs[key]

    def get(self, key: str) -> FakeJob | None:
        self.settle()
        return self._jobs.get(key)

    def settle(self) -> None:
        """Let everything happen that is due by now, in the order of its time."""
        while (event := min(self._events(), key=lambda event: event[0], default=None)) is not None:
            at, happen = event
            if at > self.now:
                break
            self._settled_at = max(at, self._settled_at)
            happen()
        self._settled_at = self.now

    def preempt(self, key: str, *, requeue: bool = False) -> None:
        """Take the machine from a running job; with `requeue` it waits two minutes and starts again."""
        job = self.job(key)
        if not job.running:
            return
        if requeue:
            job.requeue(self.now, self.now + timedelta(seconds=REQUEUE_DELAY_S))
        else:
            job.finish(End(self.now, JobState.PREEMPTED, signal="SIGTERM", reason="preempted"))

    def fail_node(self, host: str) -> None:
        """A node goes down with all that runs on it."""
        self.settle()
        self._down.add(host)
        for job in self._jobs.values():
            if job.running and job.host == host:
                job.finish(End(self.now, JobState.NODE_FAIL, reason=f"{host} went down"))

    def restore_node(self, host: str) -> None:
        self._down.discard(host)

    def lose(self, key: str) -> None:
        """A job's processes vanish without a trace of how."""
        job = self.job(key)
        if job.end is None:
            job.finish(End(self.now, JobState.LOST, reason="the job's processes vanished"))

    def forget(self, key: str) -> None:
        """The machine no longer knows the job: `find` says `None`, and another submission starts it again."""
        self._jobs.pop(key, None)

    def check_started_once(self) -> None:
        """Raise `AssertionError` when any key was started more than once (a requeue by the machine is no start)."""
        twice = {key: count for key, count in self.starts.items() if count > 1}
        if twice:
            raise AssertionError(f"started more than once: {twice}")

    def nodes(self) -> Sequence[Node]:
        self.settle()
        return tuple(self._node(host) for host in self.shape.hosts)

    def _outcome(self, key: str, spec: JobSpec) -> Outcome:
        if key in self._by_key:
            return self._by_key[key]
        return next((outcome for rule, outcome in self._rules if rule(spec)), self._default)

    def _events(self) -> Iterator[tuple[datetime, Callable[[], None]]]:
        for job in self._jobs.values():
            if job.running and job.due is not None:
                yield job.due.at, lambda job=job, due=job.due: job.finish(due)
        busy = self._busy_gpus()
        for job in self._jobs.values():
            if job.pending and (host := self._place(job, busy)) is not None:
                at = max(job.ready_at, self._settled_at)
                yield at, lambda job=job, at=at, host=host: self._start(job, at, host)
                if at == self._settled_at:
                    break  # nothing can come before it

    def _start(self, job: FakeJob, at: datetime, host: str) -> None:
        if job.restarts == 0:
            self.starts[job.handle.key] += 1
        job.start(at, host)

    def _place(self, job: FakeJob, busy: Counter[str]) -> str | None:
        avoided = job.plan.spec.avoid_hosts
        hosts = [host for host in self.shape.hosts if host not in self._down and host not in avoided]
        if self.schedules:
            hosts = [host for host in hosts if busy[host] + job.plan.spec.resources.gpus <= self.shape.gpus]
        return hosts[0] if hosts else None

    def _busy_gpus(self) -> Counter[str]:
        busy: Counter[str] = Counter()
        for job in self._jobs.values():
            if job.running and job.host is not None:
                busy[job.host] += job.plan.spec.resources.gpus
        return busy

    def _node(self, host: str) -> Node:
        if host in self._down:
            return Node(host, reachable=False, state="down", reason="Not responding")
        busy = self._busy_gpus()[host]
        gpus = tuple(
            Gpu(f"GPU-{host}-{index}", index, self.shape.gpu_name, 141 * _GIB, 0, 100 if index < busy else 0)
            for index in range(self.shape.gpus)
        )
        cpus, memory = self.shape.cpus, self.shape.memory_bytes
        return Node(host, True, cpus, cpus, memory, memory, gpus, state="idle")
