"""GPU memory: the numbers decide between capacity, fragmentation and contention; the stack says what to change."""

import re
from dataclasses import replace

from lab.diagnosis.allocation import GIB, MIB, Allocation, in_words, read_allocation
from lab.diagnosis.case import Case, Finding
from lab.diagnosis.ruling import Ruling
from lab.diagnosis.signature import Verdict
from lab.diagnosis.sizes import size_in_bytes, words

_MESSAGE_LINES = 30
_NUMBERS_BELOW = 8
_STATE_FRAME = re.compile(r"exp_avg|state\[|momentum_buffer|zeros_like\(p|init_state|max_exp_avg_sq|sum\s*=\s*torch\.")
_OPTIMIZER_FILE = re.compile(r"optim|adam|lion|sgd|lamb", re.I)
_SAME_DEVICE = re.compile(r"(?i)cuda\(id=(\d+)\)|\bcuda:(\d+)\b|\bGPU[ _:=]*(\d+)\b|local_rank[ =:]+(\d+)")
_SHARED = re.compile(
    r"(?i)another (?:\w+ )?(?:process|job|run|server|notebook)|other (?:\w+ )?process|other users?\b|\bshared (?:gpu|card|workstation)\b"
)
_COLOCATED = re.compile(
    r"(?i)\bshar(?:e|es|ed|ing) (?:one|the same|a single|a|the|gpu)\b[^\n]{0,40}(?:gpu|card|device)|two (?:\w+ )?(?:processes|trainings|jobs|runs)"
    r"|--workers 2 --gpu 0|\b(?:on )?(?:the )?same (?:gpu|card|device)\b|\bshared with\b|\bsidecar\b|co-?locat(?:ed|e)|gpu_memory_utilization ?= ?0?\.\d"
    r"|mem_fraction|per_process_gpu_memory_fraction"
)
_TAKEN_BEFORE = re.compile(
    r"(?i)(?P<used>\d+(?:\.\d+)?)\s*(?:/\s*(?P<of>\d+(?:\.\d+)?)\s*)?(?P<unit>[GM])i?B[^\n;,]{0,30}(?:used|held|taken|occupied|in use)?[^\n;,]{0,20}"
    r"(?:before|at start|prior|by (?:another|other|pid|a )|other (?:user|process|job))"
)
_DENIED = re.compile(
    r"(?i)\b(?:no|without|0) (?:other|foreign|another|second)\b[^;,.]*|\bto itself\b|\balone on\b|\bexclusive(?:ly)?\b"
    r"|\bonly (?:this|the|one) (?:process|job|pid)\b|\bused by this (?:pid|process|job)\b|\bsole (?:user|process|tenant)\b"
)
_CARD = re.compile(r"\b\d+x (\d+(?:\.\d+)?) GiB")
_ROWS = re.compile(r"\|\s+(?P<gpu>\d+)\s+\S+\s+\S+\s+(?P<pid>\d+)\s+[CG+]+\s+(?P<name>\S+)\s+(?P<size>\d+)MiB")
_POOL = re.compile(
    r"(?i)alloc(?:ated)?\w*[ =:]*(?P<allocated>\d+(?:\.\d+)? ?[GM]i?B?)\b.{0,30}?reserved?[ =:]*(?P<reserved>\d+(?:\.\d+)? ?[GM]i?B?)"
)
_PREALLOC = re.compile(r"(?i)\bjax\b|jaxlib|XlaRuntimeError")


def judge_memory(case: Case, root: Finding, ruling: Ruling) -> Ruling:
    """Refine a failed allocation by its numbers and by what else is known of the card."""
    index = _telling_line(case, root)
    text = "\n".join(row.body for row in case.lines[index : index + _MESSAGE_LINES])
    numbers = read_allocation(text)
    values = {**ruling.values, **numbers.values, **_rank(case, index)}
    ruling = replace(ruling, index=index, values=values)
    if root.category == "gpu-oom-capacity":
        pool = _pool(case, numbers)
        if pool is not None:
            return _from_pool(case, pool, ruling)
        if numbers.is_contended or _told_of_others(case, numbers, root):
            return _contention(case, numbers, ruling)
        if numbers.is_fragmented:
            return _fragmentation(numbers, ruling, text)
    if ruling.category == "gpu-memory-contention":
        return ruling
    return _capacity(case, root, numbers, ruling, text)


def _telling_line(case: Case, root: Finding) -> int:
    """The finding's own line, or one right below it where only that has the numbers."""
    if read_allocation(case.lines[root.index].body).tried is not None:
        return root.index
    for index in range(root.index + 1, min(root.index + _NUMBERS_BELOW, len(case.lines))):
        numbers = read_allocation(case.lines[index].body)
        if numbers.tried is not None and numbers.free is not None:
            return index
    return root.index


def _pool(case: Case, numbers: Allocation) -> tuple[int | None, int, int] | None:
    """Where the message has no numbers: the last allocated and reserved that the job or the telemetry tell of."""
    if numbers.allocated is not None or numbers.total is not None:
        return None
    for index in range(case.last, -1, -1):
        read = _read_pool(case.lines[index].body)
        if read is not None:
            return (index, *read)
    read = _read_pool(case.hints.gpu or "")
    return (None, *read) if read is not None else None


def _read_pool(text: str) -> tuple[int, int] | None:
    """Allocated and reserved bytes, where most of what is reserved lies idle."""
    found = _POOL.search(text)
    if found is None:
        return None
    allocated, reserved = size_in_bytes(found["allocated"]) or 0, size_in_bytes(found["reserved"]) or 0
    return (allocated, reserved) if reserved > 2 * GIB and reserved - allocated > 0.4 * reserved else None


def _from_pool(case: Case, pool: tuple[int | None, int, int], ruling: Ruling) -> Ruling:
    index, allocated, reserved = pool
    text = f"The caching allocator holds {words(reserved)} for {words(allocated)} of tensors, so nothing is left outside it."
    verdict = Verdict(actions=("set-expandable-segments", "set-max-split-size", "pad-to-fixed-shapes"))
    place = index if index is not None else ruling.index
    return replace(ruling, category="gpu-oom-fragmentation", index=place, text=text, verdict=verdict)


def _capacity(case: Case, root: Finding, numbers: Allocation, ruling: Ruling, text: str) -> Ruling:
    if numbers.parameters is not None and numbers.parameters > 0.5 * (numbers.allocated or numbers.parameters):
        verdict = Verdict(actions=("shard-model-or-optimizer", "use-memory-efficient-optimizer", "use-larger-gpu"))
        ruling = replace(ruling, verdict=verdict)
    hint = None
    if numbers.idle is not None and ("expandable_segments" in text or "max_split_size_mb" in text):
        hint = (
            f"The message proposes an allocator setting against fragmentation, but only {words(numbers.idle)} is reserved "
            "and unused: this is real demand."
        )
    index = _state_frame(root)
    return replace(ruling, index=ruling.index if index is None else index, usual_hint=hint)


def _state_frame(root: Finding) -> int | None:
    """The frame that creates optimizer state: it proves more than the message, which says only where memory ended."""
    if root.traceback is None or not root.traceback.frames:
        return None
    for frame in reversed(root.traceback.frames[-2:]):
        if _STATE_FRAME.search(frame.code) and _OPTIMIZER_FILE.search(frame.file):
            return frame.index
    return None


def _fragmentation(numbers: Allocation, ruling: Ruling, text: str) -> Ruling:
    old = "max_split_size_mb" in text and "expandable_segments" not in text
    actions = (
        ("set-max-split-size", "set-expandable-segments") if old else ("set-expandable-segments", "set-max-split-size")
    )
    text = (
        f"The caching allocator is fragmented: {words(numbers.idle or 0)} is reserved but unusable while a block of "
        f"{words(numbers.tried or 0)} can't be found."
    )
    return replace(
        ruling, category="gpu-oom-fragmentation", text=text, verdict=Verdict(actions=(*actions, "pad-to-fixed-shapes"))
    )


def _contention(case: Case, numbers: Allocation, ruling: Ruling) -> Ruling:
    if _own_ranks(case, numbers):
        verdict = Verdict(False, "with-change", ("fix-device-mapping", "pick-free-gpu", "free-gpu-memory"), False)
        text = f"Several ranks of the job are on the same GPU{in_words(numbers)}."
    elif _own_neighbour(case):
        first = (
            ("disable-preallocation", "adjust-memory-fraction")
            if _PREALLOC.search(case.text)
            else ("adjust-memory-fraction",)
        )
        verdict = Verdict(False, "with-change", (*first, "pick-free-gpu", "fix-device-mapping"), False)
        text = f"Another process of the same work took most of the GPU first{in_words(numbers)}."
    else:
        verdict = Verdict()
        who = f"Another process (pid {numbers.others[0][0]})" if numbers.others else "Another process"
        held = f" holds {words(numbers.foreign)} of the GPU" if numbers.foreign else " holds the GPU's memory"
        text = f"{who}{held}{in_words(numbers)}."
    return replace(ruling, category="gpu-memory-contention", text=text, verdict=verdict)


def _own_ranks(case: Case, numbers: Allocation) -> bool:
    """Whether ranks of this job share the card: several of them name the same GPU, or hold like amounts on GPU 0."""
    named: dict[str, set[str]] = {}
    for line in case.lines:
        if line.stream.startswith("rank") and "out of memory" in line.body:
            found = re.search(r"GPU (\d+)", line.body)
            if found:
                named.setdefault(found[1], set()).add(line.stream)
    if any(len(ranks) > 1 for ranks in named.values()):
        return True
    if re.search(r"(?i)of this job|own ranks|same job", case.hints.gpu or "") or _pids_of_job(case, numbers):
        return True
    sizes = [size for _, size in numbers.others]
    return len(sizes) >= 2 and max(sizes) < 1.6 * (min(sizes) + 1) and (numbers.own or 0) > 0.3 * max(sizes)


def _pids_of_job(case: Case, numbers: Allocation) -> bool:
    """Whether the launcher names one of the other processes as its own."""
    pids = "|".join(str(pid) for pid, _ in numbers.others)
    launched = re.compile(
        rf"(?i)(?:local_rank|closing signal|subprocess)[^\n]*\b(?:{pids})\b|\b(?:{pids})\b[^\n]*(?:closing signal|local_rank)"
    )
    return bool(pids) and launched.search(case.text) is not None


def _own_neighbour(case: Case) -> bool:
    """Whether the neighbour was started by the same script: two named workers on one device."""
    devices: dict[str, set[str]] = {}
    for line in case.lines:
        if line.stream and "cuda(id=" in line.body:
            devices.setdefault(line.body[line.body.index("cuda(id=") :][:10], set()).add(line.stream)
    return any(len(streams) > 1 for streams in devices.values()) or (_COLOCATED.search(case.text) is not None)


def _told_of_others(case: Case, numbers: Allocation, root: Finding) -> bool:
    """Whether something outside the message says that others hold the card, and the request was small."""
    small = numbers.tried is None or numbers.total is None or numbers.tried < 0.5 * numbers.total
    if root.signature.id == "vllm-kv-cache":
        return False
    card = _CARD.search(case.hints.gpu or "")
    if card is not None and numbers.tried is not None and numbers.tried > float(card[1]) * GIB:
        return False
    if not small or (numbers.own is not None and numbers.total is not None and numbers.own > 0.5 * numbers.total):
        return False
    gpu = _DENIED.sub("", case.hints.gpu or "")
    if _DENIED.search(case.hints.gpu or ""):
        return False
    if _taken_before(gpu) or re.search(
        r"(?i)another (?:process|job|user)|other (?:process|user|job)|foreign|neighbou?r", gpu
    ):
        return True
    own_bytes = numbers.allocated if numbers.allocated is not None else numbers.tried
    if root.signature.id == "xla-resource-exhausted" and own_bytes is not None and own_bytes < GIB:
        return _own_neighbour(case) or _SHARED.search(case.text) is not None
    return _COLOCATED.search(case.text) is not None or _SHARED.search(case.text) is not None or _busy_in_table(case)


def _taken_before(gpu: str) -> bool:
    """Whether telemetry tells of more than a context's worth of memory in use before the job began."""
    found = _TAKEN_BEFORE.search(gpu)
    if found is None:
        return False
    used, whole = float(found["used"]), float(found["of"] or 0)
    return used > 0.25 * whole if whole else used * (GIB if found["unit"] == "G" else MIB) > 2 * GIB


def _busy_in_table(case: Case) -> bool:
    """nvidia-smi's process table in the log shows somebody with much memory before the job failed."""
    return any(int(row["size"]) > 4096 for row in _ROWS.finditer(case.text))


def _rank(case: Case, index: int) -> dict[str, int]:
    found = re.fullmatch(r"rank (\d+)", case.lines[index].stream)
    return {"rank": int(found[1])} if found else {}
