"""A backend without machines, for tests: scripted jobs in virtual time, and the faults of real ones on order.

clock = VirtualClock()
backend = FakeBackend(now=clock.now)
backend.machine.script(Outcome(runs_s=60, exit_code=1, log=((5, "CUDA out of memory\\n"),)))
backend.faults.lose_next_submission(started=True)
clock.advance(60)
backend.machine.check_started_once()
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

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
from backends.errors import (
    BackendUnreachable,
    FileUnavailable,
    HandleUnknown,
    JobRejected,
    ResourcesUnavailable,
    SubmissionUncertain,
)
from backends.fakejobs import Outcome, VirtualClock
from backends.fakemachine import FakeMachine, Shape
from backends.globs import glob_regex
from backends.jobscript import GRACE_S, check_spec, render_job_script

__all__ = ["FakeBackend", "FakeMachine", "Faults", "Outcome", "Shape", "VirtualClock"]


class Faults:
    """Faults of the way to the machine, used up one call at a time."""

    def __init__(self) -> None:
        self._unreachable = 0
        self._lost_answers = 0
        self._uncertain: list[bool] = []
        self._silent: dict[str, int] = {}

    def unreachable(self, calls: int) -> None:
        """The next `calls` calls do nothing and raise `BackendUnreachable`."""
        self._unreachable = calls

    def lose_answers(self, calls: int) -> None:
        """The next `calls` calls do their work, then raise: `SubmissionUncertain` from submit, else unreachable."""
        self._lost_answers = calls

    def lose_next_submission(self, *, started: bool) -> None:
        """One more submission raises `SubmissionUncertain`, its job started or not; several calls queue up."""
        self._uncertain.append(started)

    def silence(self, key: str, polls: int) -> None:
        """The next `polls` polls know nothing of one job (`UNKNOWN`) while they tell of the others."""
        self._silent[key] = polls

    def before(self) -> None:
        if self._unreachable > 0:
            self._unreachable -= 1
            raise BackendUnreachable("The machine did not answer.", next_step="Try again.")

    def after(self) -> None:
        if self.answer_lost():
            raise BackendUnreachable("The machine's answer was lost.", next_step="Try again.")

    def answer_lost(self) -> bool:
        lost = self._lost_answers > 0
        self._lost_answers -= int(lost)
        return lost

    def next_uncertain(self) -> bool | None:
        return self._uncertain.pop(0) if self._uncertain else None

    def silent(self, key: str) -> bool:
        left = self._silent.get(key, 0)
        self._silent[key] = max(0, left - 1)
        return left > 0


class FakeBackend(Backend):
    """The port over a `FakeMachine`. `now` gives the time (default: the real one); `machine` may be shared."""

    def __init__(
        self,
        name: str = "fake",
        *,
        now: Callable[[], datetime] | None = None,
        shape: Shape | None = None,
        schedules: bool = False,
        grace_s: float = GRACE_S,
        machine: FakeMachine | None = None,
    ) -> None:
        self._name = name
        self.machine = machine or FakeMachine(now or _real_now, shape or Shape(), schedules, grace_s)
        self.faults = Faults()

    def capabilities(self) -> Capabilities:
        schedules = self.machine.schedules
        return Capabilities(self._name, "fake", schedules, self.machine.shape.gpus > 0, True, True, preempts=schedules)

    def inventory(self) -> Sequence[Node]:
        self.faults.before()
        with self.machine.lock:
            nodes = self.machine.nodes()
        self.faults.after()
        return nodes

    def plan(self, spec: JobSpec) -> JobPlan:
        check_spec(spec)
        self._check_fit(spec)
        script = render_job_script(spec, spec.argv)
        return JobPlan(self._name, spec, script, spec_digest(self._name, spec, script))

    def submit(self, plan: JobPlan, key: str) -> JobHandle:
        """Raises also `SubmissionUncertain`, when such a fault is ordered."""
        if plan.digest != spec_digest(self._name, plan.spec, plan.script):
            raise JobRejected("The plan was changed after it was made.", next_step="Plan the job again.")
        self.faults.before()
        uncertain = self.faults.next_uncertain()
        if uncertain is not False:
            with self.machine.lock:
                handle = self.machine.submit(self._name, plan, key)
            if uncertain is None and not self.faults.answer_lost():
                return handle
        raise SubmissionUncertain("The answer to the submission was lost.", next_step="Find the job by its key.")

    def find(self, key: str) -> JobHandle | None:
        self.faults.before()
        with self.machine.lock:
            job = self.machine.get(key)
        self.faults.after()
        return job.handle if job is not None else None

    def poll(self, handles: Sequence[JobHandle]) -> Mapping[str, Observation]:
        if not handles:
            return {}
        self.faults.before()
        with self.machine.lock:
            seen = {handle.key: self._observe(handle.key) for handle in handles}
        self.faults.after()
        return seen

    def signal(self, handle: JobHandle, signal: JobSignal) -> None:
        self.faults.before()
        with self.machine.lock:
            self.machine.job(handle.key).send(self.machine.now, signal)
            self.machine.settle()
        self.faults.after()

    def logs(self, handle: JobHandle, cursor: int, limit: int) -> LogChunk:
        self.faults.before()
        with self.machine.lock:
            whole = self.machine.job(handle.key).log(self.machine.now)
        self.faults.after()
        size = len(whole)
        start = min(cursor, size) if cursor >= 0 else max(size + cursor, 0)
        data = whole[start : start + limit]
        return LogChunk(data, start, start + len(data), size)

    def cancel(self, handle: JobHandle) -> None:
        self.faults.before()
        with self.machine.lock:
            self.machine.job(handle.key).cancel(self.machine.now)
            self.machine.settle()
        self.faults.after()

    def files(self, handle: JobHandle, pattern: str) -> Sequence[JobFile]:
        self.faults.before()
        wanted = glob_regex(pattern)
        with self.machine.lock:
            there = [file for file, _ in self.machine.job(handle.key).files(self.machine.now).values()]
        self.faults.after()
        matching = (file for file in there if wanted.fullmatch(file.path))
        return sorted(matching, key=lambda file: (file.modified_at, file.path))

    def read_file(self, handle: JobHandle, path: str, cursor: int, limit: int) -> bytes:
        self.faults.before()
        with self.machine.lock:
            there = self.machine.job(handle.key).files(self.machine.now)
        self.faults.after()
        if str(PurePosixPath(path)) not in there:
            raise FileUnavailable(f"{path!r} is no file of the job.")
        content = there[str(PurePosixPath(path))][1]
        start = min(cursor, len(content)) if cursor >= 0 else max(len(content) + cursor, 0)
        return content[start : start + limit]

    def _observe(self, key: str) -> Observation:
        now = self.machine.now
        if self.faults.silent(key):
            return Observation(key, JobState.UNKNOWN, now, reason="no answer for this job")
        try:
            return self.machine.job(key).observe(now)
        except HandleUnknown as error:
            return Observation(key, JobState.LOST, now, reason=str(error))

    def _check_fit(self, spec: JobSpec) -> None:
        shape, asked = self.machine.shape, spec.resources
        hosts = [host for host in shape.hosts if host not in spec.avoid_hosts]
        has_type = asked.gpu_type is None or asked.gpu_type.lower() in shape.gpu_name.lower()
        wrong = {
            "nodes": asked.nodes > len(hosts),
            "GPUs": asked.gpus > (shape.gpus if has_type else 0),
            "CPUs": asked.cpus > shape.cpus,
            "memory": (asked.memory_bytes or 0) > shape.memory_bytes,
        }
        if any(wrong.values()):
            what = " and ".join(name for name, over in wrong.items() if over)
            raise ResourcesUnavailable(
                f"The job asks for more {what} than there are.", next_step=f"Ask for less {what}."
            )


def _real_now() -> datetime:
    return datetime.now(UTC)
