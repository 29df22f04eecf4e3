"""Running commands and moving files on this machine."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from backends.base import CommandResult, Transport
from backends.errors import BackendError, BackendUnreachable, FileUnavailable

MOST_OUTPUT = 16 * 1024 * 1024


class LocalTransport(Transport):
    """The transport to this very machine. `env` is the whole environment of the commands (default: only PATH, LANG).

    Output over 16 MiB a stream is cut.
    """

    def __init__(self, host: str = "localhost", env: dict[str, str] | None = None) -> None:
        self._host = host
        self._env = env if env is not None else {"PATH": os.defpath, "LANG": "C.UTF-8"}

    @property
    def host(self) -> str:
        return self._host

    def run(self, argv: Sequence[str], stdin: bytes | None = None, timeout_s: float = 30.0) -> CommandResult:
        """Run a command to its end. A program that is missing is exit code 127, as in a shell.

        Raises `BackendUnreachable` after `timeout_s` seconds; the command and its group are killed then. Output goes
        through files, so that a daemon left behind by the command does not hold the call.
        """
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin or b"")
            given.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - argv is never read by a shell
                    list(argv), stdin=given, stdout=out, stderr=err, env=self._env, start_new_session=True
                )
            except FileNotFoundError:
                return CommandResult(127, b"", f"{argv[0]}: not found\n".encode())
            except PermissionError:
                return CommandResult(126, b"", f"{argv[0]}: permission denied\n".encode())
            exit_code = _wait(process, timeout_s, argv[0])
            return CommandResult(exit_code, _read(out), _read(err))

    def put(self, data: bytes, path: str, mode: int = 0o600) -> None:
        """Write a file atomically. Raises `BackendError` when the disk refuses."""
        target = Path(path)
        partial = ""
        try:
            descriptor, partial = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            Path(partial).replace(target)
        except OSError as error:
            if partial:
                with suppress(FileNotFoundError):
                    os.unlink(partial)
            raise BackendError(
                f"{path} can't be written: {error.strerror}.", next_step="Check the directory, its owner and its space."
            ) from error

    def get(self, path: str, cursor: int = 0, limit: int | None = None) -> bytes:
        try:
            with Path(path).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(min(cursor, size) if cursor >= 0 else max(0, size + cursor))
                return file.read(-1 if limit is None else limit)
        except OSError as error:
            raise FileUnavailable(f"{path} can't be read: {error.strerror}.") from error


def _wait(process: "subprocess.Popen[bytes]", timeout_s: float, name: str) -> int:
    try:
        code = process.wait(timeout_s)
    except subprocess.TimeoutExpired as error:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
        raise BackendUnreachable(f"{name} did not end within {timeout_s:g} s.", next_step="Try again.") from error
    return code if code >= 0 else 128 - code


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(MOST_OUTPUT)
