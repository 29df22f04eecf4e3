"""A private PostgreSQL server for the tests: its own directory, its own port on loopback, gone afterwards."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest


def binaries() -> Path | None:
    """Where `initdb` and `postgres` are: Debian keeps them off the PATH."""
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@contextlib.contextmanager
def postgres_server() -> Generator[str]:
    """The SQLAlchemy URL of an empty database. Skipped where there is no PostgreSQL, but never in CI."""
    where = binaries()
    if where is None:
        reason = "PostgreSQL is not installed: apt-get install postgresql"
        if os.environ.get("LABHAND_TEST_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="labhand-pg-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        user = _owner(Path(folder), data)
        demoted = {"user": user} if user else {}
        start = [
            where / "initdb",
            "-D",
            data,
            "-U",
            "lab",
            "--auth=trust",
            "--no-sync",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
        ]
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL, cwd=folder, **demoted)
        port = _free_port()
        options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
        command = [where / "postgres", "-D", data, "-p", str(port), *options]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **demoted)
        try:
            address = f"127.0.0.1:{port}"
            _wait(f"postgresql://lab@{address}/postgres")
            yield f"postgresql+psycopg://lab@{address}/postgres"
        finally:
            server.terminate()
            server.wait(timeout=30)


def _owner(folder: Path, data: Path) -> str | None:
    """PostgreSQL refuses to run as root: root hands it to the user that the package made."""
    if os.getuid() != 0:
        return None
    user = pwd.getpwnam("postgres")
    for path in (folder, data):
        os.chown(path, user.pw_uid, user.pw_gid)
    return "postgres"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait(url: str) -> None:
    for _ in range(200):
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("PostgreSQL did not start within 10 seconds")
