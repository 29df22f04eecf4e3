"""A private PostgreSQL server for the tests: its own directory, its own port on loopback, gone afterwards."""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest

_NAMES = itertools.count(1)
_OPTIONS = {"listen_addresses": "127.0.0.1", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


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
        cluster = ["-D", data, "-U", "lab", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run([where / "initdb", *cluster], check=True, stdout=subprocess.DEVNULL, cwd=folder, **demoted)
        port = _free_port()
        options = {**_OPTIONS, "unix_socket_directories": folder}
        command = [where / "postgres", "-D", data, "-p", str(port)]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **demoted)
        try:
            _wait(server, f"postgresql://lab@127.0.0.1:{port}/postgres")
            yield f"postgresql+psycopg://lab@127.0.0.1:{port}/postgres"
        finally:
            # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients that are still there.
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)


@contextlib.contextmanager
def fresh_database(server_url: str, template: str = "template0") -> Generator[str]:
    """The URL of a new database on that server, a copy of the database `template`, dropped afterwards."""
    name = f"labhand_{os.getpid()}_{next(_NAMES)}"
    address = server_url.replace("+psycopg", "")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield f"{server_url.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


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


def _wait(server: subprocess.Popen[bytes], url: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended with exit status {server.returncode}")
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"PostgreSQL did not start within {seconds:.0f} seconds")
