import os
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import CommandResult, Transport
from backends.errors import BackendError, BackendUnreachable, FileUnavailable
from backends.transport import LocalTransport

TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=20)


@pytest.fixture
def transport() -> LocalTransport:
    return LocalTransport()


def test_it_is_a_transport(transport: LocalTransport) -> None:
    assert isinstance(transport, Transport)
    assert transport.host == "localhost"


def test_output_input_and_exit_code_pass(transport: LocalTransport) -> None:
    assert transport.run(["sh", "-c", "cat; echo no >&2; exit 3"], b"a\0b") == CommandResult(3, b"a\0b", b"no\n")


@settings(max_examples=25, deadline=None)
@given(words=st.lists(TEXT, max_size=4))
def test_no_shell_reads_the_arguments(words: list[str]) -> None:
    told = LocalTransport().run(["printf", "%s\\0", *words]).stdout
    assert told == b"".join(word.encode() + b"\0" for word in words or [""])


def test_the_environment_of_this_process_stays_here(transport: LocalTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_TOKEN", "secret")
    assert b"secret" not in transport.run(["env"]).stdout
    assert LocalTransport(env={"ONLY": "1"}).run(["/usr/bin/env"]).stdout == b"ONLY=1\n"


def test_a_missing_program_is_127_and_death_by_a_signal_is_over_128(transport: LocalTransport) -> None:
    assert transport.run(["surely-not-installed"]).exit_code == 127
    assert transport.run(["/etc/passwd"]).exit_code == 126
    assert transport.run(["sh", "-c", "kill -9 $$"]).exit_code == 137


def test_a_command_that_hangs_is_killed_with_its_children(transport: LocalTransport) -> None:
    began = time.monotonic()
    with pytest.raises(BackendUnreachable, match=r"within 0\.2 s"):
        transport.run(["sh", "-c", "sleep 60; true"], timeout_s=0.2)
    assert time.monotonic() - began < 5


def test_a_daemon_left_behind_does_not_hold_the_call(transport: LocalTransport) -> None:
    began = time.monotonic()
    assert transport.run(["sh", "-c", "sleep 3 & echo done"]).stdout == b"done\n"
    assert time.monotonic() - began < 2


def test_files_arrive_whole_with_their_mode(transport: LocalTransport, tmp_path: Path) -> None:
    path = tmp_path / "file"
    transport.put(b"first", str(path))
    transport.put(b"second", str(path), 0o640)
    assert transport.get(str(path)) == b"second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_files_are_read_in_slices(transport: LocalTransport, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    get = transport.get
    assert (get(str(path), 3, 2), get(str(path), -2), get(str(path), 50)) == (b"34", b"89", b"")


def test_what_can_not_be_read_or_written_is_told(transport: LocalTransport, tmp_path: Path) -> None:
    with pytest.raises(FileUnavailable):
        transport.get(str(tmp_path / "missing"))
    with pytest.raises(BackendError, match="written"):
        transport.put(b"", str(tmp_path / "missing" / "file"))
    (tmp_path / "directory").mkdir()
    with pytest.raises(BackendError, match="written"):
        transport.put(b"", str(tmp_path / "directory"))
    assert os.listdir(tmp_path) == ["directory"]
