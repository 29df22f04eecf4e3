"""Time as the lab sees it: always UTC, always handed in, so that tests and simulations own the clock."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)
