"""The whole way from a log to a diagnosis."""

from typing import BinaryIO

from lab.diagnosis.case import Case
from lab.diagnosis.judge import Judged, judge
from lab.diagnosis.model import Diagnosis, Evidence, Hints
from lab.diagnosis.reader import read_lines
from lab.diagnosis.signature import Signatures
from lab.diagnosis.transcript import transcribe

_MOST_CASCADE = 8
_FOLLOWS = frozenset({"cause", "system", "end", "symptom"})


def examine(source: bytes | BinaryIO, hints: Hints, signatures: Signatures) -> Diagnosis:
    """Read, judge, decide."""
    lines = transcribe(read_lines(source, signatures))
    case = Case(lines, hints)
    if not any(line.text.strip() for line in lines):
        case = Case([], hints)
    return _worded(case, judge(case, signatures), signatures)


def _worded(case: Case, judged: Judged, signatures: Signatures) -> Diagnosis:
    ruling = judged.ruling
    rule = signatures.categories[ruling.category]
    verdict = ruling.verdict.over(rule.verdict)
    return Diagnosis(
        category=ruling.category,
        root_cause=ruling.text or rule.says,
        evidence=case.evidence(ruling.index) if ruling.index is not None else None,
        transient=bool(verdict.transient),
        retry=verdict.retry or "no",
        actions=verdict.actions or ("inspect-other-logs",),
        needs_human=bool(verdict.needs_human),
        confidence=ruling.confidence,
        cascade=_cascade(case, judged),
        values=ruling.values,
        why_not_the_usual_hint=ruling.usual_hint,
        signature=ruling.signature,
    )


def _cascade(case: Case, judged: Judged) -> tuple[Evidence, ...]:
    """The other faults of the attempt that is judged, which follow from the root; one line each."""
    if judged.ruling.category == "no-failure":
        return ()
    seen = {judged.ruling.index}
    found: list[Evidence] = []
    for one in judged.findings.open:
        if one.signature.role in _FOLLOWS and one.index not in seen and len(found) < _MOST_CASCADE:
            seen.add(one.index)
            found.append(case.evidence(one.index))
    return tuple(found)
