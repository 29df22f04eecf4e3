"""A private PostgreSQL and MLflow server on loopback, to play with. Ctrl-C stops both; nothing else is touched."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from pathlib import Path

from tests.support.postgres import postgres_server


def main() -> int:
    """Start, say where they are, wait."""
    stop = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stop.set())
    with postgres_server() as url, mlflow_server() as address:
        print(f"PostgreSQL  LABHAND_DATABASE_URL={url}")
        print(f"MLflow      LABHAND_MLFLOW_URI={address}")
        print("Ctrl-C stops both.", flush=True)
        stop.wait()
    return 0


@contextlib.contextmanager
def mlflow_server() -> Generator[str]:
    """An MLflow tracking server with a store of its own, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        store = f"sqlite:///{Path(folder) / 'mlflow.db'}"
        command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
        command += ["--backend-store-uri", store, "--artifacts-destination", str(Path(folder) / "artifacts")]
        quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        server = subprocess.Popen(  # noqa: S603
            command, env={**os.environ, **quiet}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=20)


if __name__ == "__main__":
    sys.exit(main())
