"""Fixtures of the example's tests."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def kept_signal_handlers() -> Iterator[None]:
    """The training script sets handlers; the test process gets its own back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
