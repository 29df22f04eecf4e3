"""Which of several findings in one chain of exceptions names the root, and which exceptions go unexplained."""

from lab.diagnosis.case import Case, Finding

_GENERIC = 60


def chain_of(case: Case) -> dict[int, int]:
    """For the start of each traceback, the number of its chain: the outermost traceback's start."""
    numbers: dict[int, int] = {}
    for traceback in sorted(case.tracebacks, key=lambda one: -len(one.chain)):
        for member in traceback.chain:
            numbers.setdefault(member.start, traceback.start)
    return numbers


def reduce_chains(case: Case, findings: list[Finding]) -> list[Finding]:
    """One finding for each chain: the surest, and among equals the earliest cause. Others pass."""
    numbers = chain_of(case)
    longest_last = sorted(case.tracebacks, key=lambda one: len(one.chain))
    order = {member.start: place for tb in longest_last for place, member in enumerate(tb.chain)}
    kept: list[Finding] = []
    best: dict[int, Finding] = {}
    for finding in findings:
        if finding.traceback is None or finding.signature.role not in ("cause", "symptom", "end"):
            kept.append(finding)
            continue
        chain = numbers[finding.traceback.start]
        rival = best.get(chain)
        if rival is None or _beats(finding, rival, order):
            best[chain] = finding
    return sorted([*kept, *best.values()], key=lambda one: one.index)


def _beats(one: Finding, rival: Finding, order: dict[int, int]) -> bool:
    if one.traceback is None or rival.traceback is None:
        return False
    if (one.weight >= _GENERIC) != (rival.weight >= _GENERIC) or abs(one.weight - rival.weight) > 1:
        return one.weight > rival.weight
    if one.traceback is rival.traceback:
        return one.index < rival.index
    earlier, later = sorted((one, rival), key=lambda f: order[f.traceback.start] if f.traceback else 0)
    retold = one.category == rival.category and one.weight >= _GENERIC and one.traceback.kind != rival.traceback.kind
    return (later if retold and _is_context(later) else earlier) is one


def _is_context(finding: Finding) -> bool:
    """Whether the exception was raised while another was being handled, not because of it: then it is the better worded."""
    return finding.traceback is not None and finding.traceback.link == "context"
