"""Processes of this machine as /proc shows them (proc(5)): who is alive, who belongs together, and ending them."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backends.jobrecord import ProcessRecord

_PROC = Path("/proc")
_DEAD = ("Z", "X")


@dataclass(frozen=True)
class Process:
    """One line of /proc/PID/stat; `start` in clock ticks since boot."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start: int


def read_process(pid: int) -> Process | None:
    """The process `pid`, or `None` when there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        # The name in parentheses may hold anything, so what follows its last parenthesis counts.
        field = text[text.rindex(")") + 2 :].split()
        return Process(pid, field[0], int(field[1]), int(field[2]), int(field[3]), int(field[19]))
    except (OSError, ValueError, IndexError):
        return None


def is_alive(record: ProcessRecord) -> bool:
    """Whether the very process of `record` still runs; another one with its id does not count, nor does a zombie."""
    process = read_process(record.pid)
    return process is not None and process.start == record.start and process.state not in _DEAD


def boot_id() -> str | None:
    """The id of this boot of the machine (random(4))."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def members(root: int, mark: str) -> tuple[int, ...]:
    """Ids of the live processes of a job.

    They are the group, the session and the descendants of `root`, and whoever carries `mark` (`NAME=value`) in its
    environment, wherever it went.
    """
    everyone = {process.pid: process for process in _processes() if process.state not in _DEAD}
    found = {pid for pid, process in everyone.items() if root in (pid, process.group, process.session)}
    found |= {pid for pid in everyone if pid not in found and _carries(pid, mark.encode())}
    grown = True
    while grown:
        more = {pid for pid, process in everyone.items() if process.parent in found} - found
        found |= more
        grown = bool(more)
    return tuple(sorted(found - {os.getpid()}))


def send(record: ProcessRecord, number: signal.Signals) -> None:
    """Send a signal to the very process of `record`; nothing happens when it has ended."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(record.pid)
        try:
            if is_alive(record):
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def send_all(pids: tuple[int, ...], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _processes() -> Iterator[Process]:
    for name in os.listdir(_PROC):
        if name.isdecimal() and (process := read_process(int(name))) is not None:
            yield process


def _carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
