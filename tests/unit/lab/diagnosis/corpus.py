"""The cases beside this file: logs as they are on disk, what was known from outside, and the verdict of an expert."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.diagnosis import Diagnosis, Hints

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """`expected` has one right value for each field; `alternatives` lists others that are right too."""

    id: str
    log: str
    hints: Hints
    expected: dict[str, Any]
    tags: frozenset[str]

    def allowed(self, field: str) -> list[Any]:
        return [self.expected[field], *self.expected.get("alt", {}).get(field, [])]

    def wrong(self, found: Diagnosis) -> list[str]:
        """The fields in which a diagnosis is wrong."""
        text = found.evidence.text if found.evidence else ""
        first = found.actions[0]
        checks = {
            "category": found.category in self.allowed("category"),
            "evidence": any(words in text for words in self.allowed("evidence")),
            "transient": found.transient in self.allowed("transient"),
            "retry": found.retry in self.allowed("retry"),
            "actions": first in [*self.expected["fix"], *self.expected.get("alt", {}).get("fix", [])],
            "needs_human": found.needs_human in self.allowed("needs_human"),
        }
        return [field for field, right in checks.items() if not right]


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            hints = row["hints"]
            known = Hints(hints["exit_code"], hints["signal"], hints["slurm_state"], hints["gpu"])
            yield Case(row["id"], row["log"], known, row["expected"], frozenset(row["tags"]))
