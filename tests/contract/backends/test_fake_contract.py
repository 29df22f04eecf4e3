from collections.abc import Callable

import pytest

from backends.base import Backend, JobHandle, JobSpec, LogChunk, Observation, Resources
from backends.fake import FakeBackend, Outcome, VirtualClock
from tests.contract.backends.contract import BackendContract, Behaviour


class FakeHarness:
    """Passes virtual time while it waits."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.fake = FakeBackend(now=self.clock.now, grace_s=1)
        self._outcomes = 0

    @property
    def backend(self) -> Backend:
        return self.fake

    def reopen(self) -> Backend:
        return FakeBackend(machine=self.fake.machine)

    def spec(self, behaviour: Behaviour) -> JobSpec:
        self._outcomes += 1
        argv = ("scripted", str(self._outcomes))
        outcome = Outcome(
            runs_s=behaviour.waits_s,
            exit_code=behaviour.exit_code,
            signal=behaviour.ends_by,
            log=tuple((0.0, f"{line}\n") for line in behaviour.lines),
            files=tuple((0.0, path, text.encode()) for path, text in behaviour.files.items()),
            on_checkpoint=None if behaviour.on_checkpoint is None else f"{behaviour.on_checkpoint}\n",
            stubborn=behaviour.stubborn,
        )
        self.fake.machine.script(outcome, when=lambda spec: spec.argv == argv)
        return JobSpec("contract", argv, Resources(time_limit_s=120))

    def wait(self, handle: JobHandle, until: Callable[[Observation], bool], timeout_s: float = 20.0) -> Observation:
        waited = 0.0
        while not until(seen := self.fake.poll([handle])[handle.key]):
            assert waited < timeout_s, seen
            self.clock.advance(0.5)
            waited += 0.5
        return seen

    def wait_log(self, handle: JobHandle, text: bytes, timeout_s: float = 20.0) -> LogChunk:
        waited = 0.0
        while text not in (chunk := self.fake.logs(handle, 0, 1 << 20)).data:
            assert waited < timeout_s, chunk
            self.clock.advance(0.5)
            waited += 0.5
        return chunk


class TestFakeBackend(BackendContract):
    @pytest.fixture
    def harness(self) -> FakeHarness:
        return FakeHarness()
