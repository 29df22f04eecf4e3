"""What a job script leaves on its machine, and what follows from it: pure reading, the same for every machine.

The formats are those written by `jobscript.sh`.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from signal import SIGRTMIN, Signals

from backends.base import JobState, Observation

_ENDS = {"time": JobState.TIMEOUT, "memory": JobState.OUT_OF_MEMORY, "cancel": JobState.CANCELLED}
_WHY = {
    "time": "the job reached its time limit",
    "memory": "the job's processes held more memory than its limit",
    "cancel": "cancelled on request",
}

# What `jobs` of dash and busybox prints for a signal: the texts of strsignal(3) in the C locale.
_SIGNAL_TEXTS: Mapping[str, Signals] = {
    "Hangup": Signals.SIGHUP,
    "Interrupt": Signals.SIGINT,
    "Quit": Signals.SIGQUIT,
    "Illegal instruction": Signals.SIGILL,
    "Trace/breakpoint trap": Signals.SIGTRAP,
    "Aborted": Signals.SIGABRT,
    "Bus error": Signals.SIGBUS,
    "Floating point exception": Signals.SIGFPE,
    "Arithmetic exception": Signals.SIGFPE,
    "Killed": Signals.SIGKILL,
    "User defined signal 1": Signals.SIGUSR1,
    "Segmentation fault": Signals.SIGSEGV,
    "User defined signal 2": Signals.SIGUSR2,
    "Broken pipe": Signals.SIGPIPE,
    "Alarm clock": Signals.SIGALRM,
    "Terminated": Signals.SIGTERM,
    "CPU time limit exceeded": Signals.SIGXCPU,
    "File size limit exceeded": Signals.SIGXFSZ,
    "Virtual timer expired": Signals.SIGVTALRM,
    "Profiling timer expired": Signals.SIGPROF,
    "Bad system call": Signals.SIGSYS,
}
_REAL_TIME = "Real-time signal "


@dataclass(frozen=True)
class ProcessRecord:
    """One process for ever: its id and its start in clock ticks since boot (field 22 of proc(5) stat).

    `note` is the boot id for a supervisor, the start in milliseconds since 1970 for a command.
    """

    pid: int
    start: int
    note: str


@dataclass(frozen=True)
class ExitRecord:
    """How a command ended. `cause` is end, time, memory or cancel; one of `code` and `signal` is set."""

    cause: str
    code: int | None
    signal: str | None
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True)
class JobTraces:
    """All that a machine can show of one job. `alive`: its supervisor or its command is a running process."""

    supervisor: ProcessRecord | None
    command: ProcessRecord | None
    exit: ExitRecord | None
    alive: bool
    cancel_asked: bool
    boot: str | None


def parse_process(text: str) -> ProcessRecord | None:
    """Read the file `pid` or `command`; `None` for anything else."""
    words = text.split()
    if len(words) != 3 or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    return ProcessRecord(int(words[0]), int(words[1]), words[2])


def parse_exit(text: str) -> ExitRecord | None:
    """Read the file `exit`; `None` when it is not complete."""
    fields = dict(_pair(line) for line in text.splitlines() if line.strip())
    code, signal = fields.get("code", ""), fields.get("signal", "")
    if "cause" not in fields or not (code.isdecimal() or signal):
        return None
    return ExitRecord(
        cause=fields["cause"],
        code=int(code) if code.isdecimal() else None,
        signal=None if code.isdecimal() else signal_name(signal),
        started_at=from_milliseconds(fields.get("started", "")),
        ended_at=from_milliseconds(fields.get("ended", "")),
    )


def signal_name(told: str) -> str:
    """`SIGKILL` from a number or a shell's text; text that is not known stays as it is."""
    told = told.removesuffix("(core dumped)").strip()
    if told.isdecimal():
        number = int(told)
        with suppress(ValueError):
            return Signals(number).name
        return f"SIGRTMIN+{number - SIGRTMIN}" if number > SIGRTMIN else f"SIG{number}"
    if told.startswith(_REAL_TIME):
        return f"SIGRTMIN+{told.removeprefix(_REAL_TIME)}"
    return _SIGNAL_TEXTS[told].name if told in _SIGNAL_TEXTS else told


def from_milliseconds(text: str) -> datetime | None:
    return datetime.fromtimestamp(int(text) / 1000, UTC) if text.isdecimal() else None


def observe(key: str, host: str, seen_at: datetime, traces: JobTraces) -> Observation:
    """What the traces of the job `key` on `host` say. Never `UNKNOWN`: the machine did answer."""
    if traces.exit is not None:
        return _ended(key, host, seen_at, traces.exit)
    started_at = from_milliseconds(traces.command.note) if traces.command is not None else None
    if traces.alive:
        return Observation(key, JobState.RUNNING, seen_at, host=host, started_at=started_at)
    state = JobState.CANCELLED if traces.cancel_asked else JobState.LOST
    reason = _WHY["cancel"] if traces.cancel_asked else _loss(traces)
    return Observation(key, state, seen_at, reason=reason, host=host, started_at=started_at)


def _ended(key: str, host: str, seen_at: datetime, record: ExitRecord) -> Observation:
    state, reason = _ENDS.get(record.cause), _WHY.get(record.cause)
    if state is None:
        state = JobState.COMPLETED if record.code == 0 else JobState.FAILED
        reason = None if record.code == 0 else f"ended by {record.signal}" if record.signal else f"exit {record.code}"
    return Observation(
        key,
        state,
        seen_at,
        exit_code=record.code,
        signal=record.signal,
        reason=reason,
        host=host,
        started_at=record.started_at,
        ended_at=record.ended_at,
    )


def _loss(traces: JobTraces) -> str:
    if traces.supervisor is None:
        return "the job's directory is gone or was never started"
    if traces.boot is not None and traces.supervisor.note not in ("-", traces.boot):
        return "the machine was restarted while the job ran"
    return "the job's processes vanished without leaving an exit status (killed from outside)"


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.strip().partition(" ")
    return name, value.strip()
