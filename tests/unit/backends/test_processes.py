import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from backends import processes
from backends.jobrecord import ProcessRecord

FAMILY = """
import os, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen(sleep)
own_session = subprocess.Popen(sleep, start_new_session=True)
subprocess.run(["sh", "-c", "setsid sleep 60 >/dev/null 2>&1 &"])
print(child.pid, own_session.pid, flush=True)
time.sleep(60)
"""
MARK = "LABHAND_ATTEMPT_DIR=/a/test/of/processes"


@pytest.fixture
def family() -> Iterator["subprocess.Popen[str]"]:
    """A session with a child, a child in its own session, and a stray whose parent is gone."""
    root = subprocess.Popen(
        [sys.executable, "-c", FAMILY],
        env={**os.environ, "LABHAND_ATTEMPT_DIR": MARK.partition("=")[2]},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with root:
        yield root
        processes.send_all((*processes.members(root.pid, MARK), root.pid), signal.SIGKILL)


def record(pid: int) -> ProcessRecord:
    process = processes.read_process(pid)
    assert process is not None
    return ProcessRecord(pid, process.start, "")


def test_this_process_is_read() -> None:
    process = processes.read_process(os.getpid())
    assert process is not None
    assert (process.parent, process.group, process.session) == (os.getppid(), os.getpgid(0), os.getsid(0))


def test_another_process_with_the_same_id_is_not_the_same() -> None:
    own = record(os.getpid())
    assert processes.is_alive(own)
    assert not processes.is_alive(replace(own, start=own.start + 1))
    assert processes.read_process(2**22 + 1) is None


def test_a_zombie_is_not_alive() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        known = record(child.pid)
        child.kill()
        deadline = time.monotonic() + 5
        while processes.is_alive(known) and time.monotonic() < deadline:
            time.sleep(0.01)
        left = processes.read_process(child.pid)
        assert left is not None
        assert left.state == "Z"
        assert not processes.is_alive(known)


def test_all_relatives_are_members_wherever_they_went(family: "subprocess.Popen[str]") -> None:
    assert family.stdout is not None
    child, own_session = (int(word) for word in family.stdout.readline().split())
    found = processes.members(family.pid, MARK)
    assert {family.pid, child, own_session} <= set(found)
    assert len(found) == 4
    assert os.getpid() not in found


def test_a_signal_goes_to_the_very_process_only(family: "subprocess.Popen[str]") -> None:
    known = record(family.pid)
    processes.send(replace(known, start=known.start + 1), signal.SIGKILL)
    assert processes.is_alive(known)
    processes.send(known, signal.SIGKILL)
    assert family.wait(5) == -signal.SIGKILL
    processes.send(known, signal.SIGKILL)
    processes.send_all((2**22 + 1,), signal.SIGKILL)
