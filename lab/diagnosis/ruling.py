"""A judgement before it is worded for the outside."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.diagnosis.model import Value
from lab.diagnosis.signature import Verdict


@dataclass(frozen=True)
class Ruling:
    """The category, the index of the proving line, and what of the verdict differs from the category's own."""

    category: str
    index: int | None
    verdict: Verdict
    text: str
    confidence: float
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    usual_hint: str | None = None
    signature: str | None = None
