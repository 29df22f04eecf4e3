"""MLflow's limits (3.17, `mlflow.utils.validation`): lengths of names and values, sizes of batches."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

NAME_LIMIT = 250
PARAM_LIMIT = 6_000
TAG_LIMIT = 8_000
NOTE_LIMIT = TAG_LIMIT
EXPERIMENT_LIMIT = 500
PARAMS_AT_ONCE = 100
METRICS_AT_ONCE = 1_000
LOG_LIMIT = 1_000_000
"""Characters of a log's tail that are kept as an artifact."""

_FORBIDDEN = re.compile(r"[^\w.\- :/]")


def safe_name(name: str) -> str:
    """A name that MLflow takes for a parameter, metric or tag; a long one is cut and told apart by a digest."""
    name = _FORBIDDEN.sub("_", name)
    parts = [part for part in name.split("/") if part.strip() not in ("", ".", "..")]
    name = "/".join(parts) or "_"
    if len(name) <= NAME_LIMIT:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: NAME_LIMIT - 9]}-{digest}"


def cut(text: str, limit: int) -> str:
    """The text, with an ellipsis where it was longer than `limit`."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The items in lists of at most `size`."""
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
