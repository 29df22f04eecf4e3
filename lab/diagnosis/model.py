"""What goes into a diagnosis and what comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Retry = Literal["as-is", "with-change", "other-node", "no"]
Value = int | float | str
_NO_VALUES: Mapping[str, Value] = MappingProxyType({})


@dataclass(frozen=True)
class Hints:
    """What is known from outside the log. `gpu` is free words or JSON telemetry. `None` is unknown."""

    exit_code: int | None = None
    signal: str | None = None
    scheduler_state: str | None = None
    gpu: str | None = None


@dataclass(frozen=True)
class Evidence:
    """One line of the log: its 1-based number in the file, and its words without colours and overwritten parts."""

    line: int
    text: str


@dataclass(frozen=True)
class Diagnosis:
    """An expert's verdict. `values` holds what was read: sizes in bytes, pids, ranks, nodes, paths."""

    category: str
    root_cause: str
    evidence: Evidence | None
    transient: bool
    retry: Retry
    actions: tuple[str, ...]
    needs_human: bool
    confidence: float
    cascade: tuple[Evidence, ...] = ()
    values: Mapping[str, Value] = field(default_factory=lambda: _NO_VALUES)
    why_not_the_usual_hint: str | None = None
    signature: str | None = None


def to_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The object that `labhand diagnose --json` prints."""
    evidence = diagnosis.evidence
    return {
        "category": diagnosis.category,
        "root_cause": diagnosis.root_cause,
        "evidence": None if evidence is None else {"line": evidence.line, "text": evidence.text},
        "cascade": [{"line": one.line, "text": one.text} for one in diagnosis.cascade],
        "transient": diagnosis.transient,
        "retry": diagnosis.retry,
        "actions": list(diagnosis.actions),
        "needs_human": diagnosis.needs_human,
        "confidence": round(diagnosis.confidence, 2),
        "values": dict(diagnosis.values),
        "why_not_the_usual_hint": diagnosis.why_not_the_usual_hint,
        "signature": diagnosis.signature,
    }
