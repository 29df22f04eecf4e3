import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends import localstart
from backends.base import JobSpec
from backends.errors import BackendError, BackendUnreachable, JobRejected
from backends.local import LocalBackend


@given(st.text(max_size=30))
def test_a_key_is_one_name_below_the_root_or_rejected(key: str) -> None:
    try:
        assert localstart.check_key(key) == key
    except JobRejected:
        return
    assert (Path("/root-of-jobs") / key).resolve().parent == Path("/root-of-jobs")
    assert key == key.strip()


@pytest.mark.parametrize("key", ["", ".", "..", "a/b", "/a", "-a", "a b", "a\n", "ü", "a" * 201])
def test_other_keys_are_rejected(key: str) -> None:
    with pytest.raises(JobRejected):
        localstart.check_key(key)


def test_a_start_under_way_makes_others_wait_and_then_give_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(localstart, "_LOCK_WAIT_S", 0.1)
    with (
        localstart.start_lock(tmp_path),
        pytest.raises(BackendUnreachable, match="not finished"),
        localstart.start_lock(tmp_path),
    ):
        pytest.fail("two at once")


def test_the_lock_is_free_again_after_use(tmp_path: Path) -> None:
    order: list[str] = []
    with localstart.start_lock(tmp_path):
        other = threading.Thread(target=lambda: _enter(tmp_path, order))
        other.start()
        other.join(0.05)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def _enter(directory: Path, order: list[str]) -> None:
    with localstart.start_lock(directory):
        order.append("second")


def submit(root: Path) -> None:
    backend = LocalBackend(root)
    backend.submit(backend.plan(JobSpec("name", ("true",))), "key")


def test_a_root_that_can_not_be_made_is_told_with_a_next_step() -> None:
    with pytest.raises(BackendError, match="/proc/jobs") as caught:
        submit(Path("/proc/jobs"))
    assert caught.value.next_step


def test_a_root_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("")
    with pytest.raises(BackendError) as caught:
        submit(tmp_path / "jobs")
    assert caught.value.next_step


def test_a_root_that_nobody_may_write_is_told() -> None:
    with pytest.raises(BackendError) as caught:
        submit(Path("/proc/labhand-jobs"))
    assert caught.value.next_step


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where this user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("no right to mount a file system")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_is_told_with_a_next_step(small_disk: Path) -> None:
    _fill(small_disk / "filler")
    with pytest.raises(BackendError, match="No space left") as caught:
        submit(small_disk / "jobs")
    assert "space" in (caught.value.next_step or "")
    assert LocalBackend(small_disk / "jobs").find("key") is None


def test_a_job_that_fills_the_disk_still_tells_its_end(small_disk: Path) -> None:
    backend = LocalBackend(small_disk / "jobs")
    program = "dd if=/dev/zero of=big bs=1k count=1000 || exit 7"
    handle = backend.submit(backend.plan(JobSpec("name", ("sh", "-c", program))), "key")
    deadline = time.monotonic() + 20
    while not (seen := backend.poll([handle])["key"]).state.ended:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert (seen.exit_code, seen.signal) == (7, None)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return
