"""Where all state of one Labhand lives, and who may use it now."""

import contextlib
import fcntl
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from lab.clock import utc_now
from lab.errors import HomeLocked, StoreUnavailable

_PROBE_BYTES = 4096


@dataclass(frozen=True)
class Home:
    """The directory of `LABHAND_HOME` and the places in it."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "labhand.db"

    @property
    def jobs(self) -> Path:
        return self.root / "jobs"

    @property
    def images(self) -> Path:
        return self.root / "images"

    @property
    def mlflow(self) -> Path:
        return self.root / "mlflow"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def recipes(self) -> Path:
        return self.root / "recipes"

    @property
    def signatures(self) -> Path:
        return self.root / "signatures"

    @property
    def token(self) -> Path:
        return self.root / "token"

    def create(self) -> None:
        """Make the directories, readable by their owner only. Raises `StoreUnavailable`."""
        with self._named_errors():
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for place in (self.jobs, self.images, self.mlflow, self.logs, self.recipes, self.signatures):
                place.mkdir(mode=0o700, exist_ok=True)
            self._probe()

    def read_token(self) -> str:
        """The secret of the local page's address, made on first use in a file of mode 600. Raises `StoreUnavailable`.

        The file is whole or absent, so that a page is never opened with half a secret.
        """
        with self._named_errors():
            if self.token.exists() and not self.token.read_text().strip():
                self.token.unlink()
            if not self.token.exists():
                self._write_token()
            return self.token.read_text().strip()

    @contextlib.contextmanager
    def lock(self, what: str) -> Generator[None]:
        """Hold the home for this process. Raises `HomeLocked` that says who has it, `StoreUnavailable`."""
        path = self.root / "lock"
        with contextlib.ExitStack() as stack:
            with self._named_errors():
                file = stack.enter_context(path.open("a+", encoding="utf-8"))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise _locked(self.root, _holder(path)) from error
                file.seek(0)
                file.truncate()
                json.dump(_self(what, utc_now()), file)
                file.flush()
            yield

    def _probe(self) -> None:
        """Write a page for real: a full disk and a read-only one both let a directory be listed."""
        handle, name = tempfile.mkstemp(prefix=".probe-", dir=self.root)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(bytes(_PROBE_BYTES))
        finally:
            os.unlink(name)

    def _write_token(self) -> None:
        handle, name = tempfile.mkstemp(prefix=".token-", dir=self.root)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(24))
        with contextlib.suppress(FileExistsError):
            os.link(name, self.token)
        os.unlink(name)

    @contextlib.contextmanager
    def _named_errors(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise StoreUnavailable(
                f"The home {self.root} can't be used: {error.strerror or error}.",
                next_step="Free its disk or make it writable, or point LABHAND_HOME to another directory.",
            ) from error


def _self(what: str, now: datetime) -> dict[str, Any]:
    return {"what": what, "pid": os.getpid(), "host": socket.gethostname(), "since": f"{now:%Y-%m-%d %H:%M:%S} UTC"}


def _holder(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _locked(root: Path, who: dict[str, Any]) -> HomeLocked:
    what = who.get("what", "another process")
    place = f"pid {who.get('pid', '?')} on host {who.get('host', '?')}, since {who.get('since', '?')}"
    return HomeLocked(
        f"{what} ({place}) already holds {root}.",
        next_step="Use that one, stop it first, or set LABHAND_HOME to another directory.",
    )
