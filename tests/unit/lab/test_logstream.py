"""A job's log as a stream of bytes."""

import io
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import JobHandle, JobSpec
from backends.errors import BackendUnreachable
from backends.fake import FakeBackend, Outcome, VirtualClock
from lab.control.logstream import PIECE, open_log


def logged(text: str) -> tuple[FakeBackend, JobHandle, VirtualClock]:
    clock = VirtualClock()
    backend = FakeBackend(now=clock.now)
    backend.machine.script(Outcome(runs_s=20, log=((1, text), (10, "the end\n"))))
    handle = backend.submit(backend.plan(JobSpec("j", ("x",))), "k")
    clock.advance(2)
    return backend, handle, clock


@settings(max_examples=30)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=200), moves=st.lists(st.integers(0, 300)))
def test_it_reads_as_the_same_bytes_in_memory(text: str, moves: list[int]) -> None:
    backend, handle, _clock = logged(text)
    memory = io.BytesIO(text.encode())
    with open_log(backend, handle) as log:
        for place in moves:
            whence = place % 3
            offset = {io.SEEK_SET: place, io.SEEK_CUR: 0, io.SEEK_END: -min(place, len(text.encode()))}[whence]
            assert log.seek(offset, whence) == memory.seek(offset, whence)
            assert log.read(place % 17) == memory.read(place % 17)
            assert log.tell() == memory.tell()


def test_a_long_log_comes_piece_by_piece() -> None:
    text = "0123456789abcdef" * (PIECE // 16) + "tail\n"
    backend, handle, _clock = logged(text)
    with open_log(backend, handle) as log:
        assert log.seek(-5, io.SEEK_END) == PIECE
        assert log.read() == b"tail\n"
        log.seek(0)
        assert log.read() == text.encode()


def test_what_was_written_meanwhile_is_read_on() -> None:
    backend, handle, clock = logged("first\n")
    with open_log(backend, handle) as log:
        assert log.readlines() == [b"first\n"]
        clock.advance(timedelta(seconds=20).total_seconds())
        assert log.readlines() == [b"the end\n"]


def test_a_machine_that_does_not_answer_is_told() -> None:
    backend, handle, _clock = logged("first\n")
    backend.faults.unreachable(1)
    with open_log(backend, handle) as log, pytest.raises(BackendUnreachable):
        log.read()
