"""A rank that waits in vain: did the ranks disagree by the job's own logic, or is the cause in another log?"""

import re
from dataclasses import dataclass, replace

from lab.diagnosis.case import Case, Finding
from lab.diagnosis.root import Findings
from lab.diagnosis.ruling import Ruling
from lab.diagnosis.signature import Verdict

_WATCHDOG = re.compile(
    r"\[Rank (\d+)\] Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d+), OpType=(\w+)"
)
_RANK = re.compile(r"(?i)\brank[ _-]?(\d+)")
_LATE = re.compile(r"(?i)tokeniz|preprocess|download|index|cache|build|load|evaluat|validat|sav|export")


@dataclass(frozen=True)
class Wait:
    """One rank's wait: for which collective."""

    rank: int
    sequence: int
    operation: str
    index: int


def judge_waiting(case: Case, first: Finding, found: Findings, ruling: Ruling) -> Ruling:
    """Compare what the ranks wait for; without a reason in this log, say so."""
    waits = _waits(case)
    different = {(wait.sequence, wait.operation) for wait in waits}
    if len({wait.rank for wait in waits}) > 1 and len(different) > 1:
        return _disagree(waits, ruling)
    clue = _own_logic(case, first, found)
    if clue is not None and len(_ranks_seen(case)) > 1:
        return _own_doing(case, clue, ruling)
    ranks = sorted({wait.rank for wait in waits})
    who = f"Rank {ranks[0]}" if len(ranks) == 1 else "The ranks of this log"
    text = f"{who} waited for a collective, or a peer, that was gone; this log does not say which rank failed, or why."
    return replace(ruling, text=text, verdict=Verdict(), confidence=0.55)


def _waits(case: Case) -> list[Wait]:
    found: list[Wait] = []
    for index, line in enumerate(case.lines):
        match = _WATCHDOG.search(line.body)
        if match and "terminated with exception" not in line.body:
            found.append(Wait(int(match[1]), int(match[2]), match[3], index))
    return found


def _disagree(waits: list[Wait], ruling: Ruling) -> Ruling:
    first, other = (
        waits[0],
        next(w for w in waits if (w.sequence, w.operation) != (waits[0].sequence, waits[0].operation)),
    )
    text = (
        f"Rank {first.rank} waits in {first.operation} number {first.sequence}, rank {other.rank} in {other.operation} "
        f"number {other.sequence}: the ranks do not call the same collectives."
    )
    return replace(
        ruling,
        category="collective-mismatch",
        index=first.index,
        text=text,
        verdict=Verdict(),
        confidence=0.85,
        signature=None,
    )


def _own_logic(case: Case, first: Finding, found: Findings) -> Finding | None:
    """What the log says of one rank doing something alone, before the wait."""
    clues = [one for one in found.open if one.signature.id == "rank-only-work" and one.index < first.index]
    return clues[-1] if clues else None


def _own_doing(case: Case, clue: Finding, ruling: Ruling) -> Ruling:
    text = f"One rank was busy alone ({case.lines[clue.index].body.strip()[:120]}) while the others waited for it."
    late = _LATE.search(case.lines[clue.index].body) is not None
    actions = (
        ("fix-rank-logic", "increase-collective-timeout", "patch-code") if late else ("fix-rank-logic", "patch-code")
    )
    return replace(
        ruling,
        category="collective-mismatch",
        text=text,
        verdict=Verdict(actions=actions),
        confidence=0.75,
        signature="rank-only-work",
    )


def _ranks_seen(case: Case) -> set[str]:
    named = {stream for stream in case.streams if stream.startswith("rank")}
    return named | {f"rank {found[1]}" for line in case.lines for found in _RANK.finditer(line.body)}
