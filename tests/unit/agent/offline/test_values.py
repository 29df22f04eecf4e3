"""What a range means."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.offline.values import expand


@pytest.mark.parametrize(
    ("scale", "low", "high", "levels"),
    [
        ("decades", 1e-5, 1e-3, [1e-5, 1e-4, 1e-3]),
        ("decades", 1e-2, 1e-4, [1e-2, 1e-3, 1e-4]),
        ("powers", 64, 256, [64, 128, 256]),
        ("powers", 48, 100, [48, 96, 100]),
        ("linear", 0.1, 0.5, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("whole", 2, 6, [2, 3, 4, 5, 6]),
        ("whole", 10, 50, [10, 20, 30, 40, 50]),
    ],
)
def test_a_range_means_what_its_setting_makes_of_it(scale: Any, low: float, high: float, levels: list[float]) -> None:
    assert expand(scale, low, high) == pytest.approx(levels)


def test_steps_and_counts_are_kept() -> None:
    assert expand("whole", 10, 50, step=20) == [10, 30, 50]
    assert expand("linear", 0, 1, count=5) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert expand("decades", 1e-4, 1e-2, count=5) == pytest.approx([1e-4, 10**-3.5, 1e-3, 10**-2.5, 1e-2], rel=1e-5)


@given(st.sampled_from(["decades", "powers", "whole", "linear"]), st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_a_range_holds_its_ends_in_order_and_no_more_than_can_be_run(scale: Any, low: float, high: float) -> None:
    levels = expand(scale, low, high)
    assert 1 <= len(levels) <= 200
    assert levels[0] == pytest.approx(low, rel=1e-5)
    assert levels == sorted(levels, reverse=high < low)
