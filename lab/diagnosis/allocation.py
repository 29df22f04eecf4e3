"""The numbers of a failed GPU allocation, and what they say: capacity, fragmentation or contention.

Message formats: PyTorch c10/cuda/CUDACachingAllocator.cpp (before 2.1: `(GPU 0; 23.65 GiB total capacity; 21.98 GiB
already allocated; 211.44 MiB free; 22.41 GiB reserved in total by PyTorch)`; since then sentences), XLA and TensorFlow
`bfc_allocator`, vLLM's start-up check.
"""

import re
from dataclasses import dataclass

from lab.diagnosis.sizes import SIZE, size_in_bytes, words

GIB = 1 << 30
MIB = 1 << 20
_S = SIZE.replace("(", "(?:").replace("(?:?:", "(?:")
_FIELDS = {
    "tried": rf"(?:[Tt]ried to allocate|trying to allocate|[Aa]ttempting to (?:allocate|reserve)|[Ff]ailed to (?:allocate|get)"
    rf"(?: memory)?(?: request)?(?: for)?|allocating|[Cc]annot allocate|[Uu]nable to allocate|tried to allocate)\s+({_S})",
    "total": rf"({_S}) total capacity|total capaci?ty of ({_S})|max allowed: ({_S})|memory on device \S*\([\d.]+/({_S})\)",
    "free": rf"of which ({_S}) is free|({_S}) free\b|available memory is only ({_S})|[Ff]ree memory on device \S*\(({_S})/",
    "in_use": rf"this process has ({_S}) memory in use",
    "allocated": rf"({_S}) already allocated|({_S}) is allocated by PyTorch|MPS allocated: ({_S})|({_S}) memory has been allocated",
    "reserved": rf"({_S}) reserved in total by PyTorch",
    "unallocated": rf"({_S}) is reserved by PyTorch but unallocated",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _FIELDS.items()}
_OTHER = re.compile(rf"Process (?P<pid>\d+) has (?P<size>{_S}) memory in use")
_XLA_OWN = re.compile(rf"total allocation:\s+({_S})")
_XLA_PARAMETERS = re.compile(rf"parameter allocation:\s+({_S})")
_GPU_INDEX = re.compile(r"GPU (\d+)\b")


@dataclass(frozen=True)
class Allocation:
    """Sizes in bytes; `None` where the message does not say. `others` maps the pids of other processes to theirs."""

    tried: int | None = None
    total: int | None = None
    free: int | None = None
    in_use: int | None = None
    allocated: int | None = None
    reserved: int | None = None
    unallocated: int | None = None
    gpu: int | None = None
    parameters: int | None = None
    others: tuple[tuple[int, int], ...] = ()

    @property
    def idle(self) -> int | None:
        """Reserved by this process's allocator but not handed out."""
        if self.unallocated is not None:
            return self.unallocated
        if self.reserved is not None and self.allocated is not None:
            return max(0, self.reserved - self.allocated)
        return None

    @property
    def own(self) -> int | None:
        """What this process holds."""
        if self.in_use is not None:
            return self.in_use
        return self.reserved if self.reserved is not None else self.allocated

    @property
    def foreign(self) -> int | None:
        """What other processes hold: named by the message, or what is missing in the sum."""
        if self.others:
            return sum(size for _, size in self.others)
        if self.total is not None and self.free is not None and self.own is not None:
            return max(0, self.total - self.free - self.own)
        return None

    @property
    def is_fragmented(self) -> bool:
        """The idle memory would hold the request, and is more than the slack that every allocator has."""
        if self.idle is None or self.tried is None:
            return False
        whole = self.total or self.reserved or (self.in_use or 0)
        return self.idle >= self.tried and self.idle >= max(0.06 * whole, GIB // 4)

    @property
    def is_contended(self) -> bool:
        """Others hold so much that the request would have fitted without them."""
        if self.foreign is None or self.total is None:
            return False
        if not self.others and self.foreign < 0.25 * self.total:
            return False
        own = self.own or 0
        fits_without = self.tried is None or own + self.tried <= 0.97 * self.total
        return fits_without and self.foreign >= 0.12 * self.total and self.foreign > 0.3 * own

    @property
    def values(self) -> dict[str, int]:
        """What was read, for `Diagnosis.values`."""
        named = {
            "tried": self.tried, "total": self.total, "free": self.free, "in_use": self.in_use,
            "allocated": self.allocated, "reserved": self.reserved, "unallocated": self.idle, "gpu": self.gpu,
            "other_processes": self.foreign if self.others else None,
            "pid": self.others[0][0] if self.others else None,
        }  # fmt: skip
        return {name: value for name, value in named.items() if value is not None}


def read_allocation(text: str) -> Allocation:
    """Read every number that the message has."""
    sizes: dict[str, int | None] = {}
    for name, pattern in _PATTERNS.items():
        found = pattern.search(text)
        group = next((g for g in found.groups() if g), None) if found else None
        sizes[name] = size_in_bytes(group) if group else None
    own = _XLA_OWN.search(text)
    if own and sizes["allocated"] is None:
        sizes["allocated"] = size_in_bytes(own[1])
    parameters = _XLA_PARAMETERS.search(text)
    sizes["parameters"] = size_in_bytes(parameters[1]) if parameters else None
    others = tuple((int(one["pid"]), size_in_bytes(one["size"]) or 0) for one in _OTHER.finditer(text))
    gpu = _GPU_INDEX.search(text)
    return Allocation(**sizes, gpu=int(gpu[1]) if gpu else None, others=others)


def in_words(a: Allocation) -> str:
    """`: 15.7 GiB more was asked for, 9.7 of 79.3 GiB was free`; empty when nothing is known."""
    parts: list[str] = []
    if a.tried is not None:
        parts.append(f"{words(a.tried)} more was asked for")
    if a.free is not None and a.total is not None:
        parts.append(f"{words(a.free)} of {words(a.total)} was free")
    elif a.total is not None:
        parts.append(f"the card has {words(a.total)}")
    if a.own is not None:
        parts.append(f"the process held {words(a.own)}")
    return f" ({', '.join(parts)})" if parts else ""
