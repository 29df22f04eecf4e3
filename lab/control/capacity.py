"""What is free on machines that have no scheduler of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backends.base import Backend, Node, Resources
from backends.errors import BackendError
from lab.jobs import spec_from_json
from lab.schema import Attempt


@dataclass
class Capacity:
    """Free CPUs, bytes of memory and GPUs of one backend, counted down as runs are given to it.

    `None` means that nothing limits it, or that nobody knows: the machine itself then decides.
    """

    cpus: int | None
    memory: int | None
    gpus: int | None

    def take(self, need: Resources) -> bool:
        """Whether the need fits; if so it is taken off."""
        free = (self.cpus, self.memory, self.gpus)
        if any(have is not None and want > max(have, 0) for want, have in zip(_all_nodes(need), free, strict=True)):
            return False
        self.give(need, -1)
        return True

    def give(self, need: Resources, sign: int) -> None:
        """Add the need `sign` times (-1 takes it off)."""
        cpus, memory, gpus = _all_nodes(need)
        self.cpus = None if self.cpus is None else self.cpus + sign * cpus
        self.memory = None if self.memory is None else self.memory + sign * memory
        self.gpus = None if self.gpus is None else self.gpus + sign * gpus


def free_capacity(backends: Mapping[str, Backend], live: Sequence[Attempt]) -> dict[str, Capacity | None]:
    """What is left on each backend beside its live attempts; `None` for one that can't be reached now."""
    return {
        name: _free(backend, [attempt for attempt in live if attempt.backend == name])
        for name, backend in backends.items()
    }


def _free(backend: Backend, live: Sequence[Attempt]) -> Capacity | None:
    if backend.capabilities().schedules:
        return Capacity(None, None, None)
    try:
        nodes = [node for node in backend.inventory() if node.reachable]
    except BackendError:
        return None
    if not nodes:
        return None
    capacity = _total(nodes)
    here = {node.name for node in nodes}
    for attempt in live:
        if attempt.host is None or attempt.host in here:
            capacity.give(spec_from_json(attempt.job).resources, -1)
    return capacity


def largest_memory(backend: Backend) -> int | None:
    """The most memory that one node of the backend has; `None` when it can't be told."""
    try:
        sizes = [node.memory_total for node in backend.inventory()]
    except BackendError:
        return None
    known = [size for size in sizes if size is not None]
    return max(known) if known else None


def _all_nodes(need: Resources) -> tuple[int, int, int]:
    """CPUs, bytes and GPUs of a job over all its nodes."""
    return need.cpus * need.nodes, (need.memory_bytes or 0) * need.nodes, need.gpus * need.nodes


def _total(nodes: Sequence[Node]) -> Capacity:
    cpus = [node.cpus for node in nodes]
    memory = [node.memory_total for node in nodes]
    return Capacity(_sum(cpus), _sum(memory), sum(len(node.gpus) for node in nodes))


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) and known else None
