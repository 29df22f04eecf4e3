"""When no message names the fault: what the end of the log, the losses, the exit and the telemetry say."""

import re
from dataclasses import replace

from lab.diagnosis.case import Case, Finding
from lab.diagnosis.ending import AFTERMATH
from lab.diagnosis.root import Findings
from lab.diagnosis.ruling import Ruling
from lab.diagnosis.signature import Verdict

_KILLED = (137, -9, 9)
_ENDING = 12
_COMPLAINT = re.compile(r"(?i)\b(?:error|fatal|failed|failure|cannot|could not|unable to|panic|abort(?:ed|ing)?)\b")
_RISING = re.compile(
    r"(?i)(?:host|cpu|ram|rss|memory|mem)\b[^\n;]{0,40}(?:ris|grow|climb|increas|9\d ?%|100 ?%|limit|full)|rising|swap"
)
_IDLE = re.compile(
    r"(?i)(?:util\w*\s*|at\s+)?\b0\s?%[^\n;]{0,24}(?:for|since|last|during)|idle (?:for|since)|0% .{0,12}(?:min|h\b|hour)|spinning|stuck"
)
_ALIVE = re.compile(r"(?i)util\w*\s*(?:avg\s*)?(?:[5-9]\d|100)\s?%|(?:[5-9]\d|100)\s?% util")
_STATES = {
    "TIMEOUT": "walltime", "DEADLINE": "walltime", "PREEMPTED": "preempted", "NODE_FAIL": "node-failure",
    "BOOT_FAIL": "node-failure", "OUT_OF_MEMORY": "host-oom", "OOMKILLED": "host-oom", "EVICTED": "preempted",
    "CANCELLED": "user-cancelled", "REVOKED": "scheduler-rejected",
}  # fmt: skip
_STATE_WORDS = {
    "walltime": "The scheduler ended the job at its time limit.",
    "preempted": "The scheduler took the resources back.",
    "node-failure": "The scheduler lost the node.",
    "host-oom": "The job was killed at its host-memory limit.",
    "user-cancelled": "The job was cancelled.",
    "scheduler-rejected": "The scheduler took the allocation back.",
}


def judge_good_end(case: Case, findings: list[Finding]) -> Ruling:
    """No failure: the surest word of success proves it, else the last progress, else the last line."""
    wins = [one for one in findings if one.signature.role == "success"]
    best = max(wins, key=lambda one: (one.signature.weight, one.index), default=None)
    index = best.index if best else case.progress.last_index
    index = index if index is not None else _last_words(case)
    return Ruling(
        "no-failure", index, Verdict(), "The job ended well; what looks like an error in its log is harmless.", 0.92
    )


def judge_ending(case: Case, found: Findings, force: bool = False) -> Ruling | None:
    """What exit code, signal, scheduler state and telemetry say by themselves."""
    cut = _cut_traceback(case)
    if cut is not None:
        return cut
    state = _by_state(case)
    if state is not None:
        told = next((one.index for one in found.symptoms if one.signature.id == "sigterm"), None)
        return state if told is None else replace(state, index=told)
    return _by_exit(case, found, force)


def _cut_traceback(case: Case) -> Ruling | None:
    for traceback in reversed(case.tracebacks):
        if traceback.error is None and case.last - traceback.end <= 2:
            text = "The log ends in the middle of a traceback, before the exception; the cause can't be read from it."
            return Ruling("cause-not-in-log", _last_words(case), Verdict(), text, 0.7)
    return None


def _by_state(case: Case) -> Ruling | None:
    state = (case.hints.scheduler_state or "").upper().split(" ")[0].rstrip("+")
    category = _STATES.get(state)
    if category is None:
        return None
    return Ruling(category, _last_words(case), Verdict(), f"{_STATE_WORDS[category]} ({state})", 0.8)


def by_state(case: Case, ruling: Ruling) -> Ruling:
    """The scheduler's state in place of a line that only says that the job was ended."""
    state = _by_state(case)
    if state is None or state.category == ruling.category:
        return ruling
    return replace(state, index=ruling.index if ruling.index is not None else state.index)


def _by_exit(case: Case, found: Findings, force: bool) -> Ruling | None:
    code, signal, gpu = case.hints.exit_code, (case.hints.signal or "").upper(), case.hints.gpu or ""
    if code in _KILLED and any(one.signature.id == "host-memory-rising" for one in found.open):
        return _killed(case, found)
    if found.symptoms and not force:
        return None
    if code in (130, -2) or signal in ("SIGINT", "INT"):
        return Ruling("user-cancelled", _last_words(case), Verdict(), "The job was interrupted (SIGINT).", 0.7)
    if code in (129, -1) or signal in ("SIGHUP", "HUP"):
        actions = ("run-in-detached-session", "resume-from-last-good-checkpoint", "requeue")
        text = "The job's terminal session ended (SIGHUP)."
        return Ruling("user-cancelled", _last_words(case), Verdict(None, "with-change", actions), text, 0.75)
    if _IDLE.search(gpu) and code in (None, 137, 143, -9, -15, 124):
        text = "The job stopped making progress: nothing in the log, and the GPU idle."
        return Ruling("hang", _last_words(case), Verdict(), text, 0.65)
    if code in _KILLED or signal in ("SIGKILL", "KILL"):
        return _killed(case, found)
    return _unknown_end(case)


def _killed(case: Case, found: Findings) -> Ruling:
    rising = [one for one in found.open if one.signature.id == "host-memory-rising"]
    sure = bool(rising) or _RISING.search(case.hints.gpu or "") is not None
    index = rising[-1].index if rising else _last_words(case)
    text = "The process was killed (SIGKILL) without a word, as the out-of-memory killer does"
    text += f"; its memory was rising: {case.lines[index].body.strip()[:100]}." if rising and index is not None else "."
    return Ruling("host-oom", index, Verdict(), text, 0.75 if sure else 0.5)


def _unknown_end(case: Case) -> Ruling:
    code = case.hints.exit_code
    if code is None and case.hints.signal is None and (case.progress.marks or _ALIVE.search(case.hints.gpu or "")):
        index = case.progress.last_index
        return Ruling("no-failure", index, Verdict(), "The job makes progress; nothing in its log is a fault.", 0.5)
    complaint = _last_complaint(case)
    if complaint is not None:
        words = case.lines[complaint].message.strip()[:160]
        text = f"The log ends with a complaint that no signature knows ({words}); its cause is not told here."
        return Ruling("cause-not-in-log", complaint, Verdict(), text, 0.35)
    text = "The log holds no fault; what ended the job must stand in another log."
    return Ruling("cause-not-in-log", _last_words(case), Verdict(), text, 0.4)


def _last_complaint(case: Case) -> int | None:
    """The first error-like line among the last ones."""
    for index in range(max(0, case.last - _ENDING), case.last + 1):
        line = case.lines[index]
        if line.level in ("ERROR", "CRITICAL", "FATAL") or _COMPLAINT.search(line.body):
            return index
    return None


def _last_words(case: Case) -> int | None:
    launcher = {i for i, owner in case.owners.items() if owner.name == "ChildFailedError"}
    spoken = [i for i in range(case.last, -1, -1) if case.lines[i].body.strip() and i not in launcher]
    return next((i for i in spoken if not AFTERMATH.search(case.lines[i].text)), spoken[0] if spoken else None)
