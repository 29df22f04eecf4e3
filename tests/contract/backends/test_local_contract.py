from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.backends.contract import BackendContract, ExecutionContract
from tests.contract.backends.processes import ProcessHarness, end_all, local_harness


class TestLocalBackend(BackendContract, ExecutionContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Iterator[ProcessHarness]:
        harness = local_harness(tmp_path / "jobs")
        yield harness
        end_all(tmp_path / "jobs", harness.backend)
