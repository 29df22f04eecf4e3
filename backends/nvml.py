"""The GPUs of this machine, asked of the NVIDIA driver through nvidia-ml-py."""

from collections.abc import Callable
from typing import Any, TypeVar

from backends.base import Gpu

_T = TypeVar("_T")


def gpus() -> tuple[Gpu, ...]:
    """All GPUs that the driver shows; none where there is no driver or no nvidia-ml-py.

    What a driver does not tell (old drivers lack functions, MIG parents have no utilisation) is `None`.
    """
    try:
        import pynvml  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return ()
    library: Any = pynvml
    try:
        library.nvmlInit()
    except library.NVMLError:
        return ()
    try:
        return tuple(_gpu(library, index) for index in range(library.nvmlDeviceGetCount()))
    except library.NVMLError:
        return ()
    finally:
        library.nvmlShutdown()


def _gpu(library: Any, index: int) -> Gpu:
    device = library.nvmlDeviceGetHandleByIndex(index)

    def ask(question: Callable[[], _T]) -> _T | None:
        try:
            return question()
        except library.NVMLError:
            return None

    memory = ask(lambda: library.nvmlDeviceGetMemoryInfo(device))
    utilisation = ask(lambda: library.nvmlDeviceGetUtilizationRates(device))
    running = ask(lambda: library.nvmlDeviceGetComputeRunningProcesses(device)) or ()
    return Gpu(
        uuid=_text(ask(lambda: library.nvmlDeviceGetUUID(device))) or f"index-{index}",
        index=index,
        name=_text(ask(lambda: library.nvmlDeviceGetName(device))) or "unknown",
        memory_total=None if memory is None else int(memory.total),
        memory_used=None if memory is None else int(memory.used),
        utilisation=None if utilisation is None else int(utilisation.gpu),
        temperature_c=ask(lambda: int(library.nvmlDeviceGetTemperature(device, library.NVML_TEMPERATURE_GPU))),
        users=tuple(sorted({user for process in running if (user := _owner(process.pid)) is not None})),
    )


def _text(told: Any) -> str | None:
    return told.decode() if isinstance(told, bytes) else told


def _owner(pid: int) -> str | None:
    import os
    import pwd

    try:
        return pwd.getpwuid(os.stat(f"/proc/{pid}").st_uid).pw_name
    except (OSError, KeyError):
        return None
