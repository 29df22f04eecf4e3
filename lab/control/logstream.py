"""A job's log as a seekable stream of bytes, read from its machine piece by piece."""

import io

from backends.base import Backend, JobHandle

PIECE = 1 << 20


class LogStream(io.RawIOBase):
    """Reads a log through `Backend.logs`; nothing but one piece is held in memory. Raises `BackendUnreachable`."""

    def __init__(self, backend: Backend, handle: JobHandle) -> None:
        super().__init__()
        self._backend = backend
        self._handle = handle
        self._cursor = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._cursor

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            base = self._backend.logs(self._handle, 0, 0).size
        else:
            base = self._cursor if whence == io.SEEK_CUR else 0
        self._cursor = max(0, base + offset)
        return self._cursor

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk = self._backend.logs(self._handle, self._cursor, min(len(buffer), PIECE))
        buffer[: len(chunk.data)] = chunk.data
        self._cursor += len(chunk.data)
        return len(chunk.data)


def open_log(backend: Backend, handle: JobHandle) -> io.BufferedReader:
    """The log as a buffered binary stream."""
    return io.BufferedReader(LogStream(backend, handle), PIECE)
