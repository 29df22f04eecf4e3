"""Whether a job can ever run on this machine, and with which program."""

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from backends import nvml
from backends.base import Gpu, JobSpec, Node, Resources
from backends.errors import JobRejected, ResourcesUnavailable
from backends.jobscript import base_environment, check_spec

_GIB = 1024**3
_INTERPRETERS = ("python", "python3")


@dataclass(frozen=True)
class LocalMachine:
    """This machine. `cpus` and `memory_bytes` narrow what is offered of it."""

    host: str
    cpus: int | None = None
    memory_bytes: int | None = None

    @cached_property
    def has_gpus(self) -> bool:
        return bool(nvml.gpus())

    def node(self) -> Node:
        """What there is now; `cpus_free` is `None`, as plain processes are not bound to CPUs."""
        memory = read_memory()
        return Node(
            name=self.host,
            reachable=True,
            cpus=self.cpus or usable_cpus(),
            memory_total=self.memory_bytes or memory.get("MemTotal"),
            memory_free=memory.get("MemAvailable"),
            gpus=nvml.gpus(),
        )

    def check(self, spec: JobSpec) -> None:
        """Raise `ResourcesUnavailable` for what this machine can never hold, `JobRejected` for a faulty spec."""
        check_spec(spec)
        asked = spec.resources
        if asked.nodes > 1:
            raise ResourcesUnavailable(f"The job asks for {asked.nodes} nodes.", next_step="Ask for one node here.")
        if self.host in spec.avoid_hosts:
            raise ResourcesUnavailable(
                f"The job is to avoid {self.host}, the only node here.", next_step="Allow that node, or add another."
            )
        cpus = self.cpus or usable_cpus()
        if asked.cpus > cpus:
            raise ResourcesUnavailable(f"The job asks for {asked.cpus} CPUs of {cpus}.", next_step="Ask for fewer.")
        memory = self.memory_bytes or read_memory().get("MemTotal")
        if asked.memory_bytes is not None and memory is not None and asked.memory_bytes > memory:
            raise ResourcesUnavailable(
                f"The job asks for {asked.memory_bytes / _GIB:.2f} GiB of memory; {self.host} has {memory / _GIB:.2f}.",
                next_step="Ask for less memory.",
            )
        _check_gpus(asked, nvml.gpus() if asked.gpus else (), self.host)


def resolve_command(spec: JobSpec, python: Path | None, path: str) -> tuple[str, ...]:
    """The argv to execute: `python` in place of the job's python, the rest as it is.

    Raises `JobRejected` when the code directory or the program is missing.
    """
    if spec.code_dir is not None and not Path(spec.code_dir).is_dir():
        raise JobRejected(
            f"The code directory {spec.code_dir} is not on this machine.", next_step="Correct code.dir in the recipe."
        )
    command = spec.argv[0]
    if command in _INTERPRETERS and python is not None:
        _check_program(str(python), "Choose the Python in which the recipe's packages are installed.")
        return (str(python), *spec.argv[1:])
    if command.startswith("/"):
        _check_program(command, "Correct the command in the recipe.")
    elif "/" in command:
        _check_program(str(Path(spec.code_dir or "/") / command), "Correct the command: it is relative to the code.")
    elif shutil.which(command, path=base_environment(spec, path)["PATH"]) is None:
        raise JobRejected(
            f"{command!r} is not installed on this machine.",
            next_step="Install it, or give its full path in the recipe's command.",
        )
    return spec.argv


def usable_cpus() -> int:
    return len(os.sched_getaffinity(0))


def read_memory() -> dict[str, int]:
    """`MemTotal` and `MemAvailable` in bytes (proc(5) meminfo); empty when the machine does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines if line.startswith(("MemTotal:", "MemAvailable:")))
    return {words[0].removesuffix(":"): int(words[1]) * 1024 for words in pairs}


def _check_gpus(asked: Resources, gpus: tuple[Gpu, ...], host: str) -> None:
    fitting = [gpu for gpu in gpus if asked.gpu_type is None or asked.gpu_type.lower() in gpu.name.lower()]
    if asked.gpus > len(fitting):
        kind = f" of type {asked.gpu_type}" if asked.gpu_type else ""
        raise ResourcesUnavailable(
            f"The job asks for {asked.gpus} GPUs{kind}; {host} shows {len(fitting)}.",
            next_step="Ask for fewer GPUs, or use a backend that has them (`labhand doctor` checks the driver).",
        )


def _check_program(path: str, next_step: str) -> None:
    if not Path(path).is_file():
        raise JobRejected(f"There is no program {path}.", next_step=next_step)
    if not os.access(path, os.X_OK):
        raise JobRejected(f"{path} can't be executed.", next_step=f"Make it executable: chmod +x {path}")
