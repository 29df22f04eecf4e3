"""The files of a job on this machine: slices of its log, and its own files, never through a link."""

import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from backends.base import JobFile, LogChunk
from backends.errors import FileUnavailable
from backends.globs import glob_regex

MOST_FILES = 10_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_slice(descriptor: int, cursor: int, limit: int) -> LogChunk:
    """At most `limit` bytes from byte `cursor`; a negative cursor counts from the end. Past the end: nothing."""
    size = os.fstat(descriptor).st_size
    start = min(cursor, size) if cursor >= 0 else max(size + cursor, 0)
    data = os.pread(descriptor, max(0, min(limit, size - start)), start)
    return LogChunk(data, start, start + len(data), size)


def read_log(path: Path, cursor: int, limit: int) -> LogChunk:
    """A slice of the log; a log that was not begun is empty."""
    try:
        descriptor = os.open(path, _FILE)
    except FileNotFoundError:
        return LogChunk(b"", 0, 0, 0)
    try:
        return read_slice(descriptor, cursor, limit)
    finally:
        os.close(descriptor)


def read_own_file(work: Path, path: str, cursor: int, limit: int) -> bytes:
    """A slice of the regular file `path` below `work`. Raises `FileUnavailable`, also for a path through a link."""
    with _open_below(work, path) as descriptor:
        return read_slice(descriptor, cursor, limit).data


def list_own_files(work: Path, pattern: str) -> Sequence[JobFile]:
    """The regular files below `work` that match and were not reached through a link: at most 10,000, oldest first."""
    wanted = glob_regex(pattern)
    found: list[JobFile] = []
    for path, about in _walk(work, ""):
        if wanted.fullmatch(path):
            found.append(JobFile(path, about.st_size, datetime.fromtimestamp(about.st_mtime, UTC)))
        if len(found) >= MOST_FILES:
            break
    return sorted(found, key=lambda file: (file.modified_at, file.path))


def _walk(directory: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        with os.scandir(directory) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in ordered:
        try:
            if entry.is_file(follow_symlinks=False):
                yield prefix + entry.name, entry.stat(follow_symlinks=False)
            elif entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/")
        except FileNotFoundError:
            continue


@contextmanager
def _open_below(work: Path, path: str) -> Generator[int, None, None]:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise FileUnavailable(f"{path!r} is not a path within the work directory.")
    opened: list[int] = []
    try:
        opened.append(os.open(work, _DIRECTORY))
        for part in parts[:-1]:
            opened.append(os.open(part, _DIRECTORY, dir_fd=opened[-1]))
        opened.append(os.open(parts[-1], _FILE, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            raise FileUnavailable(f"{path!r} is not a regular file.")
        yield opened[-1]
    except OSError as error:
        raise FileUnavailable(
            f"{path!r} can't be read: {error.strerror}.", next_step="List the job's files to see what there is."
        ) from error
    finally:
        for descriptor in reversed(opened):
            os.close(descriptor)
