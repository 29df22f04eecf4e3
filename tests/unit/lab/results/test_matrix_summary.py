import itertools
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.statistics import interval
from lab.results.summary import summarise
from lab.results.values import Against, Design, Level, Matrix, RunResult


def runs_of(
    factors: Mapping[str, tuple[Level, ...]], value: Callable[[dict[str, Level]], float | dict[str, Any]]
) -> list[RunResult]:
    runs: list[RunResult] = []
    for number, combo in enumerate(itertools.product(*factors.values()), start=1):
        settings = dict(zip(factors, combo, strict=True))
        told = value(settings)
        fields = told if isinstance(told, dict) else {"metrics": {"accuracy": told}}
        runs.append(RunResult(**{"run_id": number, "settings": settings, "state": "succeeded", **fields}))
    return runs


def test_a_cell_gathers_its_seeds() -> None:
    factors = {"lr": (0.01, 0.1), "seed": (0, 1, 2)}
    runs = runs_of(factors, lambda s: (0.9 if s["lr"] == 0.01 else 0.8) + 0.01 * float(s["seed"]))
    matrix = summarise(Design(factors, "accuracy"), runs)
    cell = matrix.cell(0.01)
    assert cell is not None
    assert (cell.n, matrix.seeds, matrix.runs) == (3, 3, 6)
    assert cell.mean == pytest.approx(0.91)
    assert cell.sd == pytest.approx(0.01)
    assert matrix.best == cell
    assert list(matrix.factors) == ["lr"]


def test_the_interval_is_students() -> None:
    bounds = interval([1.0, 2.0, 3.0])
    assert bounds is not None
    assert bounds.high - 2.0 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert interval([1.0]) is None


def test_the_goal_decides_what_is_best_and_nan_never_is() -> None:
    factors = {"lr": (0.01, 0.1, 1.0)}
    values = {0.01: 0.5, 0.1: 0.2, 1.0: math.nan}
    runs = runs_of(factors, lambda s: values[float(s["lr"])])
    matrix = summarise(Design(factors, "accuracy", "minimize"), runs)
    assert matrix.best is not None
    assert matrix.best.levels == (0.1,)
    diverged = matrix.cell(1.0)
    assert diverged is not None
    assert [failure.word for failure in diverged.failures] == ["diverged"]


def test_states_become_values_failures_and_waiting() -> None:
    told: dict[float, dict[str, Any]] = {
        1e-4: {"state": "running"},
        1e-3: {"state": "failed", "category": "gpu-oom-capacity"},
        1e-2: {"metrics": {"accuracy": None}},
        1e-1: {"metrics": {"loss": 0.5}},
        1.0: {"state": "cancelled"},
        10.0: {"state": "failed", "category": "some-new-thing"},
    }
    factors = {"lr": tuple(told)}
    matrix = summarise(Design(factors, "accuracy"), runs_of(factors, lambda s: told[float(s["lr"])]))
    words = [cell.failures[0].word if cell.failures else "" for cell in matrix.cells]
    assert words == ["", "out of memory", "diverged", "no result", "cancelled", "some new thing"]
    assert (matrix.pending, matrix.best) == (1, None)


def test_a_repaired_run_counts_and_is_told() -> None:
    repaired = {"metrics": {"accuracy": 0.9}, "category": "host-oom", "remedies": ("gradient checkpointing",)}
    matrix = summarise(Design({"lr": (0.1,)}, "accuracy"), runs_of({"lr": (0.1,)}, lambda _s: repaired))
    (repair,) = matrix.cells[0].repairs
    assert (repair.remedies, repair.after) == (("gradient checkpointing",), "out of memory")


def test_cells_without_runs_stay_and_unplanned_levels_are_added_in_order() -> None:
    runs = runs_of({"lr": (0.03,), "model": ("cnn",)}, lambda _s: 0.5)
    matrix = summarise(Design({"lr": (0.01, 0.1), "model": ("mlp",)}, "accuracy"), runs)
    assert matrix.factors == {"lr": (0.01, 0.03, 0.1), "model": ("mlp", "cnn")}
    assert sum(cell.n for cell in matrix.cells) == 1
    assert len(matrix.cells) == 6


def test_levels_are_told_apart_by_kind_but_not_by_number_type() -> None:
    runs = runs_of({"x": (1, True, "1")}, lambda s: 0.1 if s["x"] is True else 0.2)
    matrix = summarise(Design({"x": (1.0, True, "1")}, "accuracy"), runs)
    assert [cell.n for cell in matrix.cells] == [1, 1, 1]
    flag = matrix.cells[1]
    assert flag.mean == 0.1


def test_one_lucky_seed_does_not_beat_three() -> None:
    factors = {"lr": (0.01, 0.1), "seed": (0, 1, 2)}

    def told(s: dict[str, Level]) -> float | dict[str, Any]:
        if s["lr"] == 0.1:
            return 0.99 if s["seed"] == 0 else {"state": "failed", "category": "numerical-divergence"}
        return 0.9

    matrix = summarise(Design(factors, "accuracy"), runs_of(factors, told))
    assert matrix.best is not None
    assert matrix.best.levels == (0.01,)


def test_each_dataset_has_a_best_of_its_own() -> None:
    factors = {"model": ("mlp", "cnn"), "dataset": ("easy", "hard")}
    values = {("mlp", "easy"): 0.99, ("cnn", "easy"): 0.9, ("mlp", "hard"): 0.4, ("cnn", "hard"): 0.6}
    runs = runs_of(factors, lambda s: values[str(s["model"]), str(s["dataset"])])
    matrix = summarise(Design(factors, "accuracy"), runs)
    assert [cell.levels for cell in matrix.bests] == [("mlp", "easy"), ("cnn", "hard")]
    assert matrix.best is None


def study(rng: random.Random, effects: tuple[float, ...], seeds: int) -> Matrix:
    factors = {"lr": tuple(range(len(effects))), "seed": tuple(range(seeds))}
    return summarise(Design(factors, "accuracy"), runs_of(factors, lambda s: rng.gauss(effects[int(s["lr"])], 1.0)))


def test_equal_cells_are_seldom_called_worse_and_unequal_ones_are_found() -> None:
    rng = random.Random(20)
    false = sum(any(c.verdict.against is Against.WORSE for c in study(rng, (0.0,) * 6, 3).cells) for _ in range(200))
    assert false <= 20
    found = [study(rng, (6.0, 0.0, 0.0, 0.0, 0.0, 0.0), 3) for _ in range(50)]
    worse = [cell.verdict.against is Against.WORSE for matrix in found for cell in matrix.cells if cell.levels != (0,)]
    assert sum(worse) / len(worse) > 0.9


def test_two_cells_are_paired_over_their_seeds() -> None:
    shift = (0.0, 5.0, -3.0, 8.0, 1.0)
    small = (0.11, 0.09, 0.1, 0.105, 0.095)
    factors = {"lr": (0, 1), "seed": (0, 1, 2, 3, 4)}
    runs = runs_of(factors, lambda s: shift[int(s["seed"])] + (small[int(s["seed"])] if s["lr"] == 1 else 0.0))
    other = summarise(Design(factors, "accuracy"), runs).cell(0)
    assert other is not None
    assert other.verdict.method == "paired t"
    assert other.verdict.against is Against.WORSE
    assert other.verdict.difference == pytest.approx(0.1)


@pytest.mark.parametrize("seeds", [1, 2])
def test_without_spread_nothing_is_invented(seeds: int) -> None:
    factors = {"lr": (0, 1, 2), "seed": tuple(range(seeds))}
    matrix = summarise(Design(factors, "accuracy"), runs_of(factors, lambda s: float(s["lr"])))
    against = [cell.verdict.against for cell in matrix.cells]
    expected = Against.UNKNOWN if seeds == 1 else Against.WORSE
    assert against == [expected, expected, Against.BEST]


STATES = st.sampled_from(["succeeded", "failed", "running", "queued", "lost", "cancelled", "preempted"])
VALUES = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))


@given(st.lists(st.tuples(st.sampled_from([0.1, 1, "a", True]), st.integers(0, 3), STATES, VALUES), max_size=25))
def test_every_run_is_counted_once(rows: list[tuple[Level, int, str, float | None]]) -> None:
    runs = [
        RunResult(number, {"x": level, "seed": seed}, state, {"accuracy": value} if value is not None else {})
        for number, (level, seed, state, value) in enumerate(rows)
    ]
    matrix = summarise(Design({"x": (0.1,)}, "accuracy"), runs)
    assert sum(cell.n + len(cell.failures) + cell.pending for cell in matrix.cells) == len(rows)
    assert (matrix.best is not None) == any(cell.n for cell in matrix.cells)
