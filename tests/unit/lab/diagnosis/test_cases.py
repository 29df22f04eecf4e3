"""Every case of the corpus gets the verdict of an expert, in every field; the corpus covers the whole taxonomy."""

from collections import Counter

import pytest

from lab.diagnosis import diagnose
from lab.diagnosis.taxonomy import ACTIONS, CATEGORIES
from tests.unit.lab.diagnosis.corpus import Case, cases

ALL = list(cases())


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_the_verdict_is_an_experts(case: Case) -> None:
    found = diagnose(case.log.encode(), case.hints)
    assert case.wrong(found) == [], found
    assert set(found.actions) <= ACTIONS
    assert found.root_cause


def test_every_category_has_at_least_four_cases() -> None:
    counts = Counter(case.expected["category"] for case in ALL)
    assert {category: counts[category] for category in CATEGORIES if counts[category] < 4} == {}


def test_every_evidence_line_has_its_true_number() -> None:
    for case in ALL:
        evidence = diagnose(case.log.encode(), case.hints).evidence
        if evidence is None:
            continue
        line = case.log.split("\n")[evidence.line - 1]
        assert evidence.text.strip() in line or evidence.text.strip()[:30] in line.replace("\x1b", "")
