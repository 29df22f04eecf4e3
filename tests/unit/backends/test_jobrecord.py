import signal
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import JobState
from backends.jobrecord import (
    ExitRecord,
    JobTraces,
    ProcessRecord,
    observe,
    parse_exit,
    parse_process,
    signal_name,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SUPERVISOR = ProcessRecord(10, 500, "boot-1")
COMMAND = ProcessRecord(11, 501, "1893456000000")


def traces(**changed: object) -> JobTraces:
    known: dict[str, object] = {
        "supervisor": SUPERVISOR,
        "command": COMMAND,
        "exit": None,
        "alive": False,
        "cancel_asked": False,
        "boot": "boot-1",
    }
    return JobTraces(**{**known, **changed})  # pyright: ignore[reportArgumentType]


def test_exit_file_of_an_exit_code() -> None:
    record = parse_exit("cause end\ncode 137\nstarted 1893456000500\nended 1893456001500\n" + " " * 1000)
    assert record == ExitRecord("end", 137, None, NOW + timedelta(milliseconds=500), NOW + timedelta(milliseconds=1500))


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("Killed", "SIGKILL"),
        ("Segmentation fault", "SIGSEGV"),
        ("Segmentation fault (core dumped)", "SIGSEGV"),
        ("9", "SIGKILL"),
        ("15", "SIGTERM"),
        ("Real-time signal 6", "SIGRTMIN+6"),
        (str(signal.SIGRTMIN + 6), "SIGRTMIN+6"),
        ("Something new", "Something new"),
    ],
)
def test_signals_have_one_name(told: str, name: str) -> None:
    assert signal_name(told) == name


@pytest.mark.parametrize("number", [s for s in signal.Signals if s < signal.SIGRTMIN])
def test_every_text_of_the_c_library_is_known(number: signal.Signals) -> None:
    text = signal.strsignal(number) or ""
    untold = {signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
    untold |= {signal.SIGURG, signal.SIGWINCH, signal.SIGIO, signal.SIGPWR, signal.SIGSTKFLT}
    assert number in untold or signal_name(text) == number.name


@pytest.mark.parametrize("text", ["", " ", "cause end\n", "code 3\n", "cause end\ncode\n", "garbage"])
def test_an_incomplete_exit_file_is_none(text: str) -> None:
    assert parse_exit(text) is None


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    parse_exit(text)
    parse_process(text)


@pytest.mark.parametrize("text", ["", "1 2", "a 2 b", "1 -2 b", "1 2 3 4"])
def test_what_is_no_process_record_is_none(text: str) -> None:
    assert parse_process(text) is None


@pytest.mark.parametrize(
    ("record", "state"),
    [
        (ExitRecord("end", 0, None, None, None), JobState.COMPLETED),
        (ExitRecord("end", 1, None, None, None), JobState.FAILED),
        (ExitRecord("end", None, "SIGSEGV", None, None), JobState.FAILED),
        (ExitRecord("time", None, "SIGTERM", None, None), JobState.TIMEOUT),
        (ExitRecord("memory", None, "SIGKILL", None, None), JobState.OUT_OF_MEMORY),
        (ExitRecord("cancel", 0, None, None, None), JobState.CANCELLED),
    ],
)
def test_the_exit_record_decides(record: ExitRecord, state: JobState) -> None:
    for alive in (False, True):
        seen = observe("key", "host", NOW, traces(exit=record, alive=alive, cancel_asked=True))
        assert (seen.state, seen.exit_code, seen.signal) == (state, record.code, record.signal)
        assert (seen.reason is None) is (state is JobState.COMPLETED)


def test_an_alive_job_is_running_since_its_command_began() -> None:
    seen = observe("key", "host", NOW, traces(alive=True))
    assert (seen.state, seen.started_at, seen.host) == (JobState.RUNNING, NOW, "host")


@pytest.mark.parametrize(
    ("changed", "state", "reason"),
    [
        ({}, JobState.LOST, "vanished"),
        ({"boot": "boot-2"}, JobState.LOST, "restarted"),
        ({"boot": None}, JobState.LOST, "vanished"),
        ({"supervisor": None, "command": None}, JobState.LOST, "gone"),
        ({"cancel_asked": True}, JobState.CANCELLED, "cancelled"),
    ],
)
def test_a_job_without_an_end_is_lost_with_a_reason(changed: dict[str, object], state: JobState, reason: str) -> None:
    seen = observe("key", "host", NOW, traces(**changed))
    assert seen.state is state
    assert reason in (seen.reason or "")
    assert (seen.exit_code, seen.signal) == (None, None)
