import os
import pwd
import sys
from types import ModuleType, SimpleNamespace

import pytest

from backends import nvml
from backends.base import Gpu


class Driver(ModuleType):
    """Answers as nvidia-ml-py does for two GPUs, the second one of an old driver that lacks most functions."""

    NVML_TEMPERATURE_GPU = 0

    class NVMLError(Exception):
        pass

    def __init__(self, *, works: bool = True) -> None:
        super().__init__("pynvml")
        self.works = works
        self.open = 0

    def nvmlInit(self) -> None:
        if not self.works:
            raise self.NVMLError("driver not loaded")
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetUUID(self, device: int) -> str | bytes:
        return "GPU-0" if device == 0 else b"GPU-1"

    def nvmlDeviceGetName(self, device: int) -> str:
        return f"Card {device}"

    def _new(self, device: int) -> None:
        if device == 1:
            raise self.NVMLError("function not found")

    def nvmlDeviceGetMemoryInfo(self, device: int) -> SimpleNamespace:
        self._new(device)
        return SimpleNamespace(total=100, used=40)

    def nvmlDeviceGetUtilizationRates(self, device: int) -> SimpleNamespace:
        self._new(device)
        return SimpleNamespace(gpu=93, memory=1)

    def nvmlDeviceGetTemperature(self, device: int, sensor: int) -> int:
        self._new(device)
        return 61

    def nvmlDeviceGetComputeRunningProcesses(self, device: int) -> list[SimpleNamespace]:
        self._new(device)
        return [SimpleNamespace(pid=os.getpid()), SimpleNamespace(pid=2**22 + 1)]


def test_what_the_driver_tells_is_passed_on_and_the_rest_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    me = pwd.getpwuid(os.getuid()).pw_name
    assert nvml.gpus() == (
        Gpu("GPU-0", 0, "Card 0", 100, 40, 93, 61, (me,)),
        Gpu("GPU-1", 1, "Card 1", None, None, None, None, ()),
    )
    assert driver.open == 0


def test_without_a_driver_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Driver(works=False))
    assert nvml.gpus() == ()


def test_without_the_library_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert nvml.gpus() == ()
