"""A rank that waits in vain: did the ranks disagree by the job's own logic, or is the cause in another log?"""

import re
from dataclasses import dataclass, replace

from lab.diagnosis.case import Case, Finding
from lab.diagnosis.root import Findings
from lab.diagnosis.ruling import Ruling
from lab.diagnosis.signature import Verdict

_WATCHDOG = re.compile(
    r"\[Rank (\d+)\] Watchdog caught collective operation timeout: WorkNCCL\((?:SeqNum=(\d+), )?OpType=(\w+)(?:, (?:TensorShape=|NumelIn=)([^)]*?), (?:NumelOut|Timeout))?"
)
_RANK = re.compile(r"(?i)\brank[ _-]?(\d+)")
_WORK = re.compile(
    r"(?i)tokeni[sz]|preprocess|download|\bindex|cach(?:e|ing)|build|load|evaluat|validat|\bsav(?:e|ing)|export|generat|\bmap\b|"
    r"\d+%\||examples/s|it/s|comput|convert|copy|zip|upload|comput"
)
_ALONE = re.compile(r"(?i)\bonly\b|\balone\b|only_rank|main process")
_NOISE = re.compile(
    r"ProcessGroupNCCL|NCCL (?:INFO|WARN)|Watchdog|frame #|terminate called|Aborted|srun:|elastic|To avoid data|what\(\)|"
    r"Exception raised|^\s*$|watchdog|heartbeat"
)
_LEAVES = re.compile(
    r"(?i)\b(?:finish|exhaust|done|end(?:ed|s)?\b|ran out|no more|stop|break|leav|exit|skip|complete|last batch|entering|waiting|continue)"
)


@dataclass(frozen=True)
class Wait:
    """One rank's wait: for which collective."""

    rank: int
    call: tuple[str, ...]
    index: int


def judge_waiting(case: Case, first: Finding, found: Findings, ruling: Ruling) -> Ruling:
    """Compare what the ranks wait for and what the others do meanwhile; without a reason in this log, say so."""
    waits = _waits(case)
    clues = [one.index for one in found.open if one.signature.id == "rank-only-work" and one.index < first.index]
    odd = _odd_one(waits)
    if odd is not None:
        alone = next((i for i in reversed(clues) if _ALONE.search(case.lines[i].body)), None)
        return _disagree(case, waits, odd, alone, ruling)
    busy = _busy_elsewhere(case, first, waits)
    if busy is None:
        busy = clues[-1] if clues and len(_ranks_seen(case)) > 1 else None
    if busy is not None:
        return _own_doing(case, busy, ruling)
    ranks = sorted({wait.rank for wait in waits})
    who = f"Rank {ranks[0]}" if len(ranks) == 1 else "The ranks of this log"
    text = f"{who} waited for a collective, or a peer, that was gone; this log does not say which rank failed, or why."
    return replace(ruling, text=text, verdict=Verdict(), confidence=0.55)


def _waits(case: Case) -> list[Wait]:
    found: dict[int, Wait] = {}
    for index, line in enumerate(case.lines):
        match = _WATCHDOG.search(line.body)
        if match:
            call = tuple(part for part in (match[2], match[3], match[4]) if part)
            found.setdefault(int(match[1]), Wait(int(match[1]), call, index))
    return list(found.values())


def _odd_one(waits: list[Wait]) -> Wait | None:
    """A rank whose call differs from that of most; the later of two."""
    calls = [wait.call for wait in waits]
    if len(set(calls)) < 2:
        return None
    return min(reversed(waits), key=lambda wait: calls.count(wait.call))


def _disagree(case: Case, waits: list[Wait], odd: Wait, alone: int | None, ruling: Ruling) -> Ruling:
    other = next(wait for wait in waits if wait.call != odd.call)
    text = (
        f"Rank {odd.rank} waits in {' '.join(odd.call)}, rank {other.rank} in {' '.join(other.call)}: "
        "the ranks do not call the same collectives."
    )
    left = _last_own_line(case, f"rank {odd.rank}", waits[0].index)
    index = left if left is not None and _LEAVES.search(case.lines[left].body) else odd.index
    index = alone if alone is not None else index
    return replace(
        ruling,
        category="collective-mismatch",
        index=index,
        text=text,
        verdict=Verdict(),
        confidence=0.85,
        signature=None,
    )


def _busy_elsewhere(case: Case, first: Finding, waits: list[Wait]) -> int | None:
    """The last line of a rank that is in this log and waits for nothing, where it shows what that rank was at."""
    waiting = {f"rank {wait.rank}" for wait in waits}
    if not waiting:
        return None
    for stream in sorted(case.streams - waiting):
        if not stream.startswith("rank") or any(tb.stream == stream for tb in case.tracebacks):
            continue
        index = _last_own_line(case, stream, first.index)
        if index is not None and (_WORK.search(case.lines[index].body) or _LEAVES.search(case.lines[index].body)):
            return index
    return None


def _last_own_line(case: Case, stream: str, before: int) -> int | None:
    own = (i for i in range(before, -1, -1) if case.lines[i].stream == stream and not _NOISE.search(case.lines[i].body))
    return next(own, None)


def _own_doing(case: Case, index: int, ruling: Ruling) -> Ruling:
    body = case.lines[index].body.strip()
    text = f"One rank was elsewhere ({body[:120]}) while the others waited for it."
    late = _WORK.search(body) is not None and not _LEAVES.search(body)
    verdict = Verdict(actions=("fix-rank-logic", "patch-code"))
    if late:
        actions = ("increase-collective-timeout", "fix-rank-logic", "preprocess-offline")
        verdict = Verdict(False, "with-change", actions, False)
    return replace(
        ruling,
        category="collective-mismatch",
        index=index,
        text=text,
        verdict=verdict,
        confidence=0.75,
        signature="rank-only-work",
    )


def _ranks_seen(case: Case) -> set[str]:
    named = {stream for stream in case.streams if stream.startswith("rank")}
    return named | {f"rank {found[1]}" for line in case.lines for found in _RANK.finditer(line.body)}
