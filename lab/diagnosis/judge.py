"""The judgement: from findings to one root, its category and the line that proves it."""

from dataclasses import dataclass

from lab.diagnosis.case import Case, Finding
from lab.diagnosis.ending import ended_well
from lab.diagnosis.losses import judge_losses
from lab.diagnosis.match import find
from lab.diagnosis.memory import judge_memory
from lab.diagnosis.model import Value
from lab.diagnosis.ranks import judge_waiting
from lab.diagnosis.root import Findings, choose, sort_out
from lab.diagnosis.ruling import Ruling
from lab.diagnosis.signature import Signatures, Verdict
from lab.diagnosis.silence import by_state, judge_ending, judge_good_end
from lab.diagnosis.telling import path_in, tell

_VAGUE = frozenset({"cancelled-by-scheduler-user", "sigterm", "shell-killed"})
"""What only says that the job was ended: the scheduler's own state says why."""
_SPECIFIC = 60
_MEMORY = frozenset({"gpu-oom-capacity", "gpu-memory-contention", "gpu-oom-fragmentation"})


@dataclass(frozen=True)
class Judged:
    """A ruling with all that was found on the way."""

    ruling: Ruling
    findings: Findings


def judge(case: Case, signatures: Signatures) -> Judged:
    """Find the root cause, or say that it is not here, or that there is none."""
    found = find(case, signatures)
    sorted_out = sort_out(case, found, signatures)
    if ended_well(case, found):
        return Judged(judge_losses(case, sorted_out) or judge_good_end(case, found), sorted_out)
    return Judged(_judge_failure(case, sorted_out, signatures), sorted_out)


def _judge_failure(case: Case, found: Findings, signatures: Signatures) -> Ruling:
    root = choose(case, found.faults)
    clue = _telling_clue(found.clues, root)
    if clue is not None:
        return _ruling(case, clue, signatures, 0.9 if root else 0.75)
    if root is not None:
        return _refine(case, root, found, signatures)
    diverged = judge_losses(case, found)
    if diverged is not None:
        return diverged
    return judge_ending(case, found) or _from_symptoms(case, found, signatures)


def _telling_clue(clues: list[Finding], root: Finding | None) -> Finding | None:
    """A clue that explains what was found; without a fault, the surest one that explains anything."""
    told = {root.category, root.signature.id} if root else set[str]()
    fitting = [one for one in clues if one.signature.explains and (root is None or one.signature.explains & told)]
    fitting = [one for one in fitting if root is None or one.weight >= root.weight]
    fitting = [one for one in fitting if one.signature.id != "nan-metric"]
    return max(fitting, key=lambda one: (one.weight, -one.index), default=None)


def _refine(case: Case, root: Finding, found: Findings, signatures: Signatures) -> Ruling:
    ruling = _ruling(case, root, signatures, 0.93 if root.weight >= 70 else 0.72)
    if root.category in _MEMORY:
        return judge_memory(case, root, ruling)
    torn_down = case.hints.exit_code == 143 or (case.hints.signal or "").upper() in ("SIGTERM", "TERM")
    vague = root.signature.id in _VAGUE or (torn_down and root.weight < _SPECIFIC)
    return by_state(case, ruling) if vague else ruling


def _from_symptoms(case: Case, found: Findings, signatures: Signatures) -> Ruling:
    first = min(
        (one for one in found.symptoms if one.weight >= 50),
        key=lambda one: one.index,
        default=max(found.symptoms, key=lambda one: one.weight, default=None),
    )
    if first is None:
        return judge_ending(case, found, force=True) or Ruling("cause-not-in-log", None, Verdict(), "", 0.3)
    if first.category == "cause-not-in-log":
        ruling = judge_waiting(case, first, found, _ruling(case, first, signatures, 0.6))
        return by_state(case, ruling) if ruling.category == "cause-not-in-log" else ruling
    ruling = by_state(case, _ruling(case, first, signatures, 0.6))
    return judge_memory(case, first, ruling) if first.category in _MEMORY else ruling


def _ruling(case: Case, finding: Finding, signatures: Signatures, confidence: float) -> Ruling:
    signature = finding.signature
    variant = signature.variants[finding.variant] if finding.variant is not None else None
    verdict = variant.verdict if variant else Verdict()
    if finding.category == signature.category:
        verdict = verdict.over(signature.verdict)
    says = (variant.says if variant else None) or (signature.says if finding.category == signature.category else None)
    text = tell(case, finding, says or signatures.categories[finding.category].says)
    values: dict[str, Value] = dict(finding.values)
    path = path_in(case.lines[finding.index].body)
    if path and says is not None and "{path}" in says:
        values["path"] = path
    return Ruling(finding.category, finding.index, verdict, text, confidence, values=values, signature=signature.id)
