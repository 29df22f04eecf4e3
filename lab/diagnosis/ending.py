"""How a job ended: well or not, in which attempt, and what it recovered from on the way."""

import re

from lab.diagnosis.case import Case, Finding

_FAULTS = frozenset({"cause", "system", "end", "symptom"})
_NEAR = 3
_FEW = 3
AFTERMATH = re.compile(
    r"^(?:\[?rank\d+\]?:?\s*)?(?:srun:|wandb:|slurmstepd:|={6,}|-{6,}|\S+ FAILED$|.*ProcessGroupNCCL|.*multiprocessing/api|.*Aborted \(core)"
    r"|ChildFailedError"
)
"""What launchers and trackers say after a job's own last words."""
_BAD_STATES = frozenset(
    {"TIMEOUT", "DEADLINE", "PREEMPTED", "NODE_FAIL", "OUT_OF_MEMORY", "OUT_OF_ME", "FAILED", "BOOT_FAIL"}
)
_GOOD_STATES = frozenset({"COMPLETED", "SUCCEEDED", "SUCCESS", "COMPLETE"})


def last_attempt(case: Case, findings: list[Finding]) -> int:
    """The index at which the attempt to be judged begins: the last one that shows a fault or an end of its own."""
    starts = [f.index for f in findings if f.signature.role == "attempt"]
    for start in reversed(starts):
        if any(f.index > start and f.signature.role in _FAULTS | {"success"} for f in findings):
            return start
        if case.progress.last_index is not None and case.progress.last_index > start:
            return start
        if any(tb.start > start for tb in case.tracebacks):
            return start
    return 0


def ended_well(case: Case, findings: list[Finding]) -> bool:
    """Whether the job did what it should, by its exit, else by its own last words."""
    hints = case.hints
    state = (hints.scheduler_state or "").upper()
    if state and state.split()[0].rstrip("+") in _BAD_STATES:
        return False
    if hints.exit_code == 0 or (hints.exit_code is None and state in _GOOD_STATES):
        return hints.signal is None and not _masked_failure(case, findings)
    if hints.exit_code is not None or hints.signal is not None or state:
        return False
    last_good = max((f.index for f in findings if f.signature.role == "success"), default=-1)
    last_bad = max((f.index for f in findings if f.signature.role in _FAULTS), default=-1)
    return last_good >= 0 and last_good > last_bad


def _masked_failure(case: Case, findings: list[Finding]) -> bool:
    """Exit 0 of a wrapper (a pipe, `|| true`) although the program's last word is an uncaught traceback."""
    for traceback in case.tracebacks:
        if traceback.error is None or traceback.ignored:
            continue
        after = [
            f for f in findings if f.index >= traceback.start and f.signature.role in ("success", "alive", "benign")
        ]
        if (
            not after
            and not case.progress.goes_on_after(traceback.end, traceback.stream)
            and _is_last(case, traceback.end)
        ):
            return True
    return False


def _is_last(case: Case, index: int) -> bool:
    after = [line for line in case.lines[index + 1 :] if line.body.strip() and not AFTERMATH.search(line.text)]
    return len(after) <= _FEW


def is_recovered(case: Case, finding: Finding, findings: list[Finding]) -> bool:
    """Whether the same writer went on after it, or says that it did."""
    if finding.signature.role in ("end", "success", "benign", "alive", "attempt"):
        return False
    if finding.signature.role == "system" and finding.category != "hang":
        return False
    line = case.lines[finding.index]
    end = finding.traceback.end if finding.traceback else finding.index
    if case.progress.goes_on_after(end, line.stream):
        return True
    first = finding.index if finding.traceback is None else end + 1
    return any(
        first <= other.index <= end + _NEAR and case.lines[other.index].stream == line.stream
        for other in findings
        if other.signature.role == "alive"
    )
