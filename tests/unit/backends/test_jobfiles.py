import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.errors import FileUnavailable
from backends.jobfiles import list_own_files, read_log, read_own_file


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=50), cursor=st.integers(-60, 60), limit=st.integers(0, 60))
def test_a_slice_is_what_python_slices(tmp_path: Path, data: bytes, cursor: int, limit: int) -> None:
    path = tmp_path / "log"
    path.write_bytes(data)
    chunk = read_log(path, cursor, limit)
    rest = data[cursor:] if cursor >= 0 or -cursor <= len(data) else data
    assert chunk.data == rest[:limit]
    assert chunk.next_cursor == chunk.cursor + len(chunk.data)
    assert chunk.size == len(data)
    assert data[chunk.cursor : chunk.next_cursor] == chunk.data


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), limit=st.integers(1, 50))
def test_following_the_cursor_reads_everything_once(tmp_path: Path, data: bytes, limit: int) -> None:
    path = tmp_path / "log"
    path.write_bytes(data)
    read, cursor = b"", 0
    while chunk := read_log(path, cursor, limit).data:
        read, cursor = read + chunk, cursor + len(chunk)
    assert read == data


def test_a_log_not_yet_begun_is_empty(tmp_path: Path) -> None:
    assert read_log(tmp_path / "log", -100, 100).size == 0


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work directory beside a secret, with every kind of link to it."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret")
    work = tmp_path / "work"
    (work / "own").mkdir(parents=True)
    (work / "own" / "a").write_text("mine")
    (work / "linked_dir").symlink_to(tmp_path / "secret")
    (work / "linked_file").symlink_to(tmp_path / "secret" / "key")
    (work / "own" / "inner").symlink_to(work / "own" / "a")
    (work / "dangling").symlink_to(tmp_path / "nothing")
    os.mkfifo(work / "pipe")
    return work


def test_only_regular_files_not_reached_through_links_are_listed(work: Path) -> None:
    assert [file.path for file in list_own_files(work, "**")] == ["own/a"]


@pytest.mark.parametrize(
    "path",
    ["linked_file", "linked_dir/key", "own/inner", "dangling", "pipe", "own", "../secret/key", "own/../../secret/key"],
)
def test_nothing_is_read_through_a_link_or_from_elsewhere(work: Path, path: str) -> None:
    with pytest.raises(FileUnavailable):
        read_own_file(work, path, 0, 100)


def test_the_work_directory_itself_may_not_be_a_link(work: Path, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to(work)
    with pytest.raises(FileUnavailable):
        read_own_file(tmp_path / "other", "own/a", 0, 100)


def test_files_come_oldest_first(tmp_path: Path) -> None:
    for age, name in enumerate(["c", "a", "b"]):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (1000 + age, 1000 + age))
    assert [file.path for file in list_own_files(tmp_path, "*")] == ["c", "a", "b"]


def test_no_descriptor_is_left_open(work: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in ("own/a", "linked_dir/key", "pipe", "own/missing"):
        try:
            read_own_file(work, path, 0, 10)
        except FileUnavailable:
            continue
    assert len(os.listdir("/proc/self/fd")) == before
