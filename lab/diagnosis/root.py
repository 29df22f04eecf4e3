"""The root among the findings: what nothing else explains, what was not recovered from, what came first."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lab.diagnosis.case import Case, Finding
from lab.diagnosis.chains import reduce_chains
from lab.diagnosis.ending import is_recovered, last_attempt
from lab.diagnosis.signature import Signatures

_LEVELS = {"WARNING": -25, "WARN": -25, "INFO": -35, "DEBUG": -40, "NOTICE": -35}
_MARGIN = 12
_SPECIFIC = 60
_ONE_MESSAGE = 2
_TELLING_CLUE = 60
_FIRST_RANK = re.compile(r"\brank\s*:\s*(\d+) \(local_rank")
_FROM_OUTSIDE = frozenset({"walltime", "preempted", "node-failure"})
_SURE_ROLES = frozenset({"cause", "system", "end"})


@dataclass(frozen=True)
class Findings:
    """The findings of the attempt that is judged, sorted by what they may be."""

    all: list[Finding]
    open: list[Finding]
    faults: list[Finding]
    clues: list[Finding]
    symptoms: list[Finding]


def sort_out(case: Case, found: list[Finding], signatures: Signatures) -> Findings:
    """Keep the last attempt, one finding a chain, without what was recovered from and what another finding explains."""
    start = last_attempt(case, found)
    current = [one for one in found if one.index >= start]
    reduced = reduce_chains(case, current)
    live = [one for one in reduced if not _is_over(case, one, current)]
    unexplained = _unexplained(live, signatures)
    return Findings(
        current,
        live,
        [one for one in unexplained if one.signature.role in _SURE_ROLES],
        [one for one in unexplained if one.signature.role == "clue"],
        [one for one in unexplained if one.signature.role == "symptom"],
    )


def choose(case: Case, candidates: list[Finding]) -> Finding | None:
    """The surest finding, or an earlier one that is about as sure."""
    if not candidates:
        return None
    first_rank = first_failed_rank(case)
    scores = {id(one): _score(case, one, first_rank) for one in candidates}
    best = max(scores.values())
    near = [one for one in candidates if scores[id(one)] >= best - _MARGIN]
    ends = [one for one in near if one.signature.role == "end"]
    if ends:
        earlier = [one for one in candidates if one.index < ends[0].index and scores[id(one)] >= _SPECIFIC]
        near = earlier or near
        best = max(scores[id(one)] for one in near)
        near = [one for one in near if scores[id(one)] >= best - _MARGIN]
    first = min(near, key=lambda one: one.index)
    first = max((one for one in near if _same_message(first, one)), key=lambda one: (scores[id(one)], -one.index))
    writer = case.lines[first.index].stream
    same = [one for one in near if one.category == first.category and case.lines[one.index].stream == writer]
    return max(same, key=lambda one: (scores[id(one)], -one.index))


def _same_message(first: Finding, other: Finding) -> bool:
    """Whether two plain lines stand so near that they are one message of one program."""
    plain = first.traceback is None and other.traceback is None
    return other is first or (plain and 0 <= other.index - first.index <= _ONE_MESSAGE)


def first_failed_rank(case: Case) -> str | None:
    """The rank that torchrun names as the first observed failure."""
    for index, line in enumerate(case.lines):
        if "first observed failure" in line.body:
            for row in case.lines[index + 1 : index + 8]:
                found = _FIRST_RANK.search(row.body)
                if found:
                    return f"rank {int(found[1])}"
    return None


def _score(case: Case, finding: Finding, first_rank: str | None) -> int:
    line = case.lines[finding.index]
    score = finding.weight
    if finding.traceback is not None:
        score += 5
    elif finding.signature.role == "cause":
        score += _LEVELS.get(line.level, 0)
    return score + (6 if first_rank and line.stream == first_rank else 0)


def _is_over(case: Case, finding: Finding, findings: list[Finding]) -> bool:
    if finding.traceback is not None and finding.traceback.ignored:
        return True
    if finding.signature.role == "clue" and (
        finding.category == "numerical-divergence" or not finding.signature.explains
    ):
        return False
    return is_recovered(case, finding, findings)


def _unexplained(live: list[Finding], signatures: Signatures) -> list[Finding]:
    gone: set[int] = set()
    for one in sorted(live, key=lambda f: (-f.weight, f.index)):
        if id(one) in gone or one.signature.role in ("symptom", "benign", "success", "alive", "attempt"):
            continue
        gone.update(id(other) for other in _explained_by(one, live, signatures) if id(other) != id(one))
    return [one for one in live if id(one) not in gone]


def _explained_by(one: Finding, live: Iterable[Finding], signatures: Signatures) -> list[Finding]:
    role = one.signature.role
    brings = set(one.signature.explains)
    if role != "clue" or one.weight >= _TELLING_CLUE:
        brings |= signatures.categories[one.category].causes
    found: list[Finding] = []
    for other in live:
        if role == "clue" and (other.signature.role in ("system", "clue") or _surer(other, one)):
            continue
        if _follows(one, other, brings):
            found.append(other)
    return found


def _surer(other: Finding, clue: Finding) -> bool:
    """Whether a fault says the same as a clue, and better."""
    return other.category == clue.category and other.weight > clue.weight


def _follows(one: Finding, other: Finding, brings: set[str]) -> bool:
    """Whether the other is a consequence: brought about by the one, or mere noise after an end."""
    role, after = one.signature.role, one.index <= other.index
    if role == "end" and after and other.signature.role not in ("system", "end"):
        return True
    if other.category not in brings:
        return False
    told_late = role == "system" or (role == "end" and one.category in _FROM_OUTSIDE)
    return after or told_late or (role == "clue" and other.signature.role != "end")
