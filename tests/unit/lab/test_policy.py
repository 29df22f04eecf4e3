"""Who may do what, who is asked first, and that each ruling says why."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.policy import Decision, Effect, PlanSize, Role, Ruling, Site, may, may_approve, may_start

SITE = Site(approval_gpu_hours=50.0, approval_gpus=8, most_runs=500)


def said(decision: Decision) -> bool:
    return len(decision.reason) > 10 and decision.reason.endswith(".") and len(decision.remedy) > 10


@pytest.mark.parametrize(("role", "effect", "owner"), list(product(Role, Effect, [True, False])))
def test_a_viewer_looks_and_only_approvers_end_what_is_anothers(role: Role, effect: Effect, owner: bool) -> None:
    decision = may(role, effect, owner=owner)
    forbidden = role is Role.VIEWER and effect is not Effect.READ
    forbidden |= effect is Effect.DESTROY and not owner and role is Role.RESEARCHER
    assert decision.ruling is (Ruling.DENY if forbidden else Ruling.ALLOW)
    assert said(decision)


@pytest.mark.parametrize(
    ("size", "ruling", "reason"),
    [
        (PlanSize(12, 1, 50.0), Ruling.ALLOW, "without asking"),
        (PlanSize(12, 1, 50.1), Ruling.ASK, "up to 50 GPU-hours; above 50"),
        (PlanSize(12, 1, 1234.0), Ruling.ASK, "up to 1,234 GPU-hours"),
        (PlanSize(12, 8, 1.0), Ruling.ASK, "8 GPUs a run; from 8 on"),
        (PlanSize(12, 1, None), Ruling.ASK, "can't be estimated"),
        (PlanSize(12, 1, math.nan), Ruling.ASK, "can't be estimated"),
        (PlanSize(12, 0, None), Ruling.ALLOW, "without asking"),
        (PlanSize(501, 0, None), Ruling.DENY, "501 runs are more than the 500"),
        (PlanSize(0, 0, None), Ruling.DENY, "no runs"),
    ],
)
def test_large_plans_are_asked_about(size: PlanSize, ruling: Ruling, reason: str) -> None:
    decision = may_start(Role.RESEARCHER, size, SITE)
    assert decision.ruling is ruling
    assert reason in decision.reason


@given(
    st.sampled_from(Role),
    st.builds(PlanSize, st.integers(0, 1000), st.integers(0, 64), st.none() | st.floats()),
    st.builds(
        Site,
        approval_gpu_hours=st.none() | st.floats(0, 1e6),
        approval_gpus=st.none() | st.integers(0, 64),
        most_runs=st.none() | st.integers(1, 1000),
    ),
)
def test_every_ruling_says_why_and_what_would_change_it(role: Role, size: PlanSize, site: Site) -> None:
    assert said(may_start(role, size, site))


@pytest.mark.parametrize(("role", "own"), list(product(Role, [True, False])))
def test_nobody_approves_their_own(role: Role, own: bool) -> None:
    decision = may_approve(role, own=own)
    assert (decision.ruling is Ruling.ALLOW) == (not own and role in (Role.APPROVER, Role.ADMIN))
    assert said(decision)
