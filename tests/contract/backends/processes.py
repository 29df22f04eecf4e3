"""A harness for backends that execute programs: behaviours become a small Python program."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from backends.base import Backend, JobHandle, JobSpec, LogChunk, Observation, Resources
from backends.local import LocalBackend
from tests.contract.backends.contract import Behaviour

_PROGRAM = """
import json, os, pathlib, signal, sys, time
does = json.loads(sys.argv[1])
if does["on_checkpoint"]:
    signal.signal(signal.SIGUSR1, lambda *_: print(does["on_checkpoint"], flush=True))
if does["stubborn"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for path, text in does["files"].items():
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_text(text)
for line in does["lines"]:
    print(line, flush=True)
end = time.monotonic() + does["waits_s"]
while time.monotonic() < end:
    time.sleep(0.05)
if does["ends_by"]:
    signal.signal(signal.Signals[does["ends_by"]], signal.SIG_DFL) if does["ends_by"] != "SIGKILL" else None
    os.kill(os.getpid(), signal.Signals[does["ends_by"]])
os._exit(does["exit_code"])
"""
_STEP_S = 0.02


def program(behaviour: Behaviour) -> tuple[str, ...]:
    """The argv of a program that behaves so (needs python3 alone)."""
    return ("python3", "-c", _PROGRAM, json.dumps(asdict(behaviour)))


class ProcessHarness:
    """Drives a backend in real time. `make` gives a new object for the same machine."""

    def __init__(self, make: Callable[[], Backend]) -> None:
        self._make = make
        self._backend = make()

    @property
    def backend(self) -> Backend:
        return self._backend

    def reopen(self) -> Backend:
        return self._make()

    def spec(self, behaviour: Behaviour) -> JobSpec:
        return JobSpec("contract", program(behaviour), Resources(time_limit_s=120))

    def wait(self, handle: JobHandle, until: Callable[[Observation], bool], timeout_s: float = 20.0) -> Observation:
        deadline = time.monotonic() + timeout_s
        while True:
            seen = self._backend.poll([handle])[handle.key]
            if until(seen):
                return seen
            if time.monotonic() > deadline:
                pytest.fail(f"{seen} after {timeout_s} s; log: {self._backend.logs(handle, -2000, 2000).data!r}")
            time.sleep(_STEP_S)

    def wait_log(self, handle: JobHandle, text: bytes, timeout_s: float = 20.0) -> LogChunk:
        deadline = time.monotonic() + timeout_s
        while True:
            chunk = self._backend.logs(handle, 0, 1 << 20)
            if text in chunk.data:
                return chunk
            if time.monotonic() > deadline:
                pytest.fail(f"{text!r} is not in the log after {timeout_s} s: {chunk.data!r}")
            time.sleep(_STEP_S)


def end_all(root: Path, backend: Backend) -> None:
    """Cancel whatever still runs below `root`, so that a failed test leaves no process."""
    for directory in root.glob("*"):
        if (handle := backend.find(directory.name)) is not None:
            backend.cancel(handle)


def local_harness(root: Path) -> ProcessHarness:
    return ProcessHarness(lambda: LocalBackend(root, python=Path(sys.executable), grace_s=1))
