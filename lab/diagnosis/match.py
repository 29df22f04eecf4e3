"""Findings: which signatures are seen on which lines, read in their context."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from lab.diagnosis.case import Case, Finding
from lab.diagnosis.quotes import quoted_lines
from lab.diagnosis.signature import Signature, Signatures, Variant
from lab.diagnosis.tracebacks import Traceback

_FIRST, _LAST = 40, 40


def find(case: Case, signatures: Signatures) -> list[Finding]:
    """All findings in the order of their lines; what is only quoted, or is another program's source code, is left out."""
    quoted = quoted_lines(case)
    found: list[Finding] = []
    for index, likely in _candidates(case, signatures):
        if index in quoted:
            continue
        found.extend(_on_line(case, index, likely))
    return _thinned(sorted(found, key=lambda finding: finding.index))


def _thinned(found: list[Finding]) -> list[Finding]:
    """The first and the last findings of each signature: what a loop prints ten thousand times is no more evidence."""
    counts = Counter(one.signature.id for one in found)
    seen: Counter[str] = Counter()
    kept: list[Finding] = []
    for one in found:
        name = one.signature.id
        seen[name] += 1
        if seen[name] <= _FIRST or seen[name] > counts[name] - _LAST:
            kept.append(one)
    return kept


def _on_line(case: Case, index: int, likely: Iterable[Signature]) -> list[Finding]:
    """The findings on one line; one that is known to be harmless silences the others."""
    line = case.lines[index]
    in_code = index in case.frame_lines
    found: list[Finding] = []
    for signature in likely:
        if in_code != (signature.place == "frame") or not _in_place(case, signature, index):
            continue
        match = signature.match(line.body)
        if match is None or not all(case.holds(one, index) for one in signature.conditions):
            continue
        values = {name: value for name, value in match.groupdict().items() if value}
        found.append(_read(case, signature, index, values))
    if any(one.signature.role == "benign" for one in found):
        return [one for one in found if one.signature.role in ("benign", "success", "alive", "attempt")]
    return found


def _in_place(case: Case, signature: Signature, index: int) -> bool:
    if signature.place != "exception":
        return True
    owner = case.owners.get(index)
    return owner is not None and owner.error == index


def _read(case: Case, signature: Signature, index: int, values: dict[str, str]) -> Finding:
    number = next((i for i, variant in enumerate(signature.variants) if _fits(case, variant, index)), None)
    variant = signature.variants[number] if number is not None else None
    return Finding(
        signature,
        index,
        (variant.category if variant else None) or signature.category,
        variant.weight if variant and variant.weight is not None else signature.weight,
        values,
        number,
        _owner(case, index),
    )


def _fits(case: Case, variant: Variant, index: int) -> bool:
    return all(case.holds(condition, index) for condition in variant.conditions)


def _owner(case: Case, index: int) -> Traceback | None:
    owner = case.owners.get(index)
    return owner if owner is not None and owner.error is not None and index >= owner.error else None


def _candidates(case: Case, signatures: Signatures) -> list[tuple[int, list[Signature]]]:
    """The lines on which a signature's literal stands, with those signatures."""
    low = [line.body.lower() for line in case.lines]
    starts: list[int] = []
    total = 0
    for body in low:
        starts.append(total)
        total += len(body) + 1
    text = "\n".join(low)
    on_line: dict[int, dict[str, Signature]] = {}
    present = signatures.scanner.present(text.encode("utf-8", "replace"))
    for number in present:
        literal = signatures.literals[number]
        sought = signatures.by_anchor[literal]
        at = text.find(literal)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            on_line.setdefault(index, {}).update((one.id, one) for one in sought)
            end = starts[index + 1] if index + 1 < len(starts) else len(text)
            at = text.find(literal, end)
    return [(index, list(found.values())) for index, found in sorted(on_line.items())]
