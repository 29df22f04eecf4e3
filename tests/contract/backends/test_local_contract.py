from pathlib import Path

import pytest

from tests.contract.backends.contract import BackendContract, ExecutionContract
from tests.contract.backends.processes import ProcessHarness, local_harness


class TestLocalBackend(BackendContract, ExecutionContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> ProcessHarness:
        return local_harness(tmp_path / "jobs")
