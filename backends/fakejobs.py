"""Scripted jobs in virtual time: the inside of the fake backend."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from backends.base import JobFile, JobHandle, JobPlan, JobSignal, JobState, Observation

_EPOCH = datetime(2030, 1, 1, tzinfo=UTC)


class VirtualClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, start: datetime = _EPOCH) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("time does not go backwards")
        self._now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Outcome:
    """What a scripted job does. Times in seconds after its start.

    It runs for `runs_s` (`None`: until something ends it), then exits with `exit_code` or dies by `signal`
    (`SIGSEGV`); `state` and `reason` are what the machine says of the end when that is not plain success or failure.
    `log` holds (time, text), `files` (time, path, content). `pending_s` is spent waiting before the start.
    `on_checkpoint` is printed at each checkpoint signal; `stubborn` jobs end only when they are killed.
    """

    runs_s: float | None = 0.0
    exit_code: int = 0
    signal: str | None = None
    state: JobState | None = None
    reason: str | None = None
    log: tuple[tuple[float, str], ...] = ()
    files: tuple[tuple[float, str, bytes], ...] = ()
    pending_s: float = 0.0
    on_checkpoint: str | None = None
    stubborn: bool = False


@dataclass(frozen=True)
class End:
    """How and when a job ends or ended."""

    at: datetime
    state: JobState
    exit_code: int | None = None
    signal: str | None = None
    reason: str | None = None


@dataclass
class FakeJob:
    """One job of a fake machine. `due` is the end it is heading for."""

    handle: JobHandle
    plan: JobPlan
    outcome: Outcome
    ready_at: datetime
    grace_s: float
    host: str | None = None
    started_at: datetime | None = None
    due: End | None = None
    end: End | None = None
    restarts: int = 0
    printed: list[tuple[datetime, bytes]] = field(default_factory=list[tuple[datetime, bytes]])

    @property
    def pending(self) -> bool:
        return self.started_at is None and self.end is None

    @property
    def running(self) -> bool:
        return self.started_at is not None and self.end is None

    def start(self, at: datetime, host: str) -> None:
        self.started_at, self.host = at, host
        self.printed += [(at + timedelta(seconds=after), text.encode()) for after, text in self.outcome.log]
        self.due = self._natural_end(at)

    def finish(self, end: End) -> None:
        """End now; what was not printed by then never will be."""
        self.end, self.due = end, None
        self.printed = [entry for entry in self.printed if entry[0] <= end.at]

    def requeue(self, at: datetime, ready_at: datetime) -> None:
        """Back to waiting, as a scheduler does with a job that it took the machine from."""
        self.printed = [entry for entry in self.printed if entry[0] <= at]
        self.started_at = self.due = self.host = None
        self.ready_at = ready_at
        self.restarts += 1

    def send(self, at: datetime, signal: JobSignal) -> None:
        if not self.running:
            return
        if signal is JobSignal.CHECKPOINT:
            if self.outcome.on_checkpoint is not None:
                self.print(at, self.outcome.on_checkpoint)
            else:
                name = f"SIG{self.plan.spec.checkpoint_signal}"
                self.due = End(at, JobState.FAILED, signal=name, reason=f"ended by {name}")
        elif signal is JobSignal.KILL:
            self.due = End(at, JobState.FAILED, signal="SIGKILL", reason="ended by SIGKILL")
        elif not self.outcome.stubborn:
            self.due = End(at, JobState.FAILED, signal="SIGTERM", reason="ended by SIGTERM")

    def cancel(self, at: datetime) -> None:
        reason = "cancelled on request"
        if self.pending:
            self.finish(End(at, JobState.CANCELLED, reason=reason))
        elif self.running and (self.due is None or self.due.state is not JobState.CANCELLED):
            self.print(at, "\nlabhand: job cancelled\n")
            self.due = self._forced_end(at, JobState.CANCELLED, reason)

    def print(self, at: datetime, text: str) -> None:
        self.printed.append((at, text.encode()))

    def log(self, now: datetime) -> bytes:
        ordered = sorted(self.printed, key=lambda entry: entry[0])
        return b"".join(text for at, text in ordered if at <= now)

    def files(self, now: datetime) -> Mapping[str, tuple[JobFile, bytes]]:
        if self.started_at is None:
            return {}
        until = now if self.end is None else self.end.at
        written: dict[str, tuple[JobFile, bytes]] = {}
        for after, path, content in sorted(self.outcome.files, key=lambda entry: entry[0]):
            at = self.started_at + timedelta(seconds=after)
            if at <= until:
                written[path] = (JobFile(path, len(content), at), content)
        return written

    def observe(self, now: datetime) -> Observation:
        end = self.end
        state = end.state if end is not None else JobState.RUNNING if self.running else JobState.PENDING
        return Observation(
            self.handle.key,
            state,
            now,
            exit_code=end.exit_code if end is not None else None,
            signal=end.signal if end is not None else None,
            reason=end.reason if end is not None else "Resources" if self.pending else None,
            host=self.host,
            started_at=self.started_at,
            ended_at=end.at if end is not None else None,
            restarts=self.restarts,
        )

    def _natural_end(self, at: datetime) -> End | None:
        runs_s, limit_s = self.outcome.runs_s, self.plan.spec.resources.time_limit_s
        if limit_s is not None and (runs_s is None or runs_s > limit_s):
            over = at + timedelta(seconds=limit_s)
            self.print(over, f"\nlabhand: time limit exceeded ({limit_s} s), job ended\n")
            return self._forced_end(over, JobState.TIMEOUT, "the job reached its time limit")
        if runs_s is None:
            return None
        signal = self.outcome.signal
        code = None if signal is not None else self.outcome.exit_code
        state = JobState.COMPLETED if code == 0 else JobState.FAILED
        reason = None if code == 0 else f"ended by {signal}" if signal else f"exit {code}"
        ends_at = at + timedelta(seconds=runs_s)
        return End(ends_at, self.outcome.state or state, code, signal, self.outcome.reason or reason)

    def _forced_end(self, at: datetime, state: JobState, reason: str) -> End:
        if self.outcome.stubborn:
            return End(at + timedelta(seconds=self.grace_s), state, signal="SIGKILL", reason=reason)
        return End(at, state, signal="SIGTERM", reason=reason)
