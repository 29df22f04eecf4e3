"""The one place that imports MLflow: late, quiet, without telemetry, and with short time-outs."""

import logging
import os
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from lab.tracking.errors import TrackerUnavailable

CONNECT_SECONDS = 3
HTTP_SECONDS = 10
HTTP_RETRIES = 1
_IMPORT = threading.Lock()


def open_client(tracking_uri: str) -> Any:
    """An `MlflowClient`, for which MLflow is imported (seconds) and a new local store is set up (seconds, once).

    Raises `TrackerUnavailable`.
    """
    with _IMPORT:
        _prepare_environment()
        with unavailable(tracking_uri):
            from mlflow.tracking import MlflowClient

            logging.getLogger("mlflow").setLevel(logging.ERROR)
            logging.getLogger("alembic").setLevel(logging.ERROR)
            check_reachable(tracking_uri)
            client: Any = MlflowClient(tracking_uri=tracking_uri)
            client.search_experiments(max_results=1)
            return client


def _prepare_environment() -> None:
    """MLflow takes these only from the environment, at import and at each request."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ["DO_NOT_TRACK"] = "true"
    os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"] = str(HTTP_SECONDS)
    os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = str(HTTP_RETRIES)
    os.environ["MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"] = "false"


def check_reachable(tracking_uri: str) -> None:
    """Tells within seconds that a server is down, before MLflow's client tries again and again."""
    if tracking_uri.startswith(("http://", "https://")):
        import requests

        requests.get(f"{tracking_uri.rstrip('/')}/health", timeout=(CONNECT_SECONDS, HTTP_SECONDS))


@contextmanager
def unavailable(tracking_uri: str) -> Generator[None]:
    """Whatever MLflow, its server or its database says becomes `TrackerUnavailable`; its deprecations are its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield from _translated(tracking_uri)


def _translated(tracking_uri: str) -> Generator[None]:
    from mlflow.exceptions import MlflowException
    from requests.exceptions import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, RequestException, SQLAlchemyError, OSError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise TrackerUnavailable(
            f"MLflow at {_without_password(tracking_uri)} can't be used: {first}",
            next_step="Start it or check its address; what is missing there follows with the next sync.",
        ) from error


def _without_password(uri: str) -> str:
    head, at, tail = uri.rpartition("@")
    return f"{head.split('://')[0]}://…@{tail}" if at and "://" in head else uri
