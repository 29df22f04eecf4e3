import itertools
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.results.arrange import arrange
from lab.results.picture import Theme, render_matrix
from lab.results.picture.fonts import balanced, drawable, shortened, width, wrapped
from lab.results.picture.scale import is_bright, scale_for
from lab.results.summary import summarise
from lab.results.values import Design, Level, Matrix, RunResult


def size_of(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def example(*counts: int, seeds: int = 2, special: bool = True, title: str = "Which wins?") -> Matrix:
    factors: dict[str, tuple[Level, ...]] = {f"factor_{at}": tuple(range(n)) for at, n in enumerate(counts)}
    runs: list[RunResult] = []
    for combo in itertools.product(*factors.values(), range(seeds)):
        fields: dict[str, Any] = {"state": "succeeded", "metrics": {"accuracy": 0.5 + sum(map(float, combo)) / 99}}
        if special and sum(map(int, combo[:-1])) == 1:
            fields = {"state": "failed", "category": "gpu-oom-capacity"}
        elif special and sum(map(int, combo[:-1])) == 2:
            fields = {"state": "queued"}
        elif special and sum(map(int, combo[:-1])) == 3:
            fields |= {"remedies": ("gradient checkpointing",), "category": "gpu-oom-capacity"}
        names = [*factors, "seed"]
        runs.append(RunResult(len(runs), dict(zip(names, combo, strict=True)), **fields))
    return summarise(Design(factors, "accuracy", title=title), runs)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("counts", [(), (1,), (5,), (3, 4), (2, 3, 3), (2, 2, 2, 3), (2, 2, 2, 2, 2)])
def test_any_number_of_factors_is_drawn(counts: tuple[int, ...], theme: Theme, tmp_path: Path) -> None:
    wide, tall = size_of(render_matrix(example(*counts), tmp_path / "matrix.png", theme))
    assert 800 <= wide <= 2100
    assert 200 <= tall <= 2100


def test_nothing_known_is_drawn_too(tmp_path: Path) -> None:
    empty = summarise(Design({"lr": (0.1, 1.0), "model": ("a", "b")}, "accuracy"), [])
    render_matrix(empty, tmp_path / "empty.png")
    render_matrix(summarise(Design({"lr": (0.1, 1.0)}, "accuracy"), []), tmp_path / "line.png")


def test_the_same_matrix_as_a_vector_picture(tmp_path: Path) -> None:
    path = render_matrix(example(3, 3), tmp_path / "matrix.svg")
    assert path.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_many_cells_are_drawn_in_seconds_and_without_numbers(tmp_path: Path) -> None:
    big = example(28, 10, special=False)
    render_matrix(big, tmp_path / "big.png")
    before = time.process_time()
    render_matrix(big, tmp_path / "big.png")
    assert time.process_time() - before < 5
    wide, _ = size_of(render_matrix(example(60, 40, seeds=1, special=False), tmp_path / "huge.png"))
    assert wide < 2100


@pytest.mark.parametrize("title", ["学习率 的 影响", "$x^2$ and {braces} \\frac", "🚀 " * 40, "x" * 300, "", "a\nb\tc"])
def test_any_words_are_drawn_without_a_warning(title: str, tmp_path: Path) -> None:
    factors: dict[str, tuple[Level, ...]] = {"模型_$": ("卷积 $y$", "resnet-" * 12), "ümlaut": ("日本語", "한국어")}
    runs = [
        RunResult(n, dict(zip(factors, combo, strict=True)), "succeeded", {"损失": n * 1e6})
        for n, combo in enumerate(itertools.product(*factors.values()))
    ]
    matrix = summarise(Design(factors, "损失", "minimize", title), runs)
    wide, _ = size_of(render_matrix(matrix, tmp_path / "words.png"))
    assert wide < 1500


def test_signs_that_no_font_has_are_romanised() -> None:
    assert drawable("学习率 lr", ("DejaVu Sans",)) == "Xue Xi Lu lr"
    assert drawable("é ± ★ †") == "é ± ★ †"


def test_axes_are_the_longest_numeric_factors() -> None:
    factors: dict[str, tuple[Level, ...]] = {"model": ("a", "b"), "lr": (1, 2, 3), "wd": (1, 2), "batch": (1, 2, 3, 4)}
    plan = arrange(summarise(Design(factors, "accuracy"), []))
    assert (plan.rows, plan.columns, plan.down, plan.across) == ("lr", "batch", ("model",), ("wd",))


def test_a_constant_factor_takes_no_axis() -> None:
    plan = arrange(summarise(Design({"model": ("a",), "lr": (1, 2)}, "accuracy"), []))
    assert (plan.rows, plan.columns) == ("lr", None)


def test_one_outlier_does_not_flatten_the_colours() -> None:
    runs = [RunResult(n, {"lr": n}, "succeeded", {"loss": v}) for n, v in enumerate((0.1, 0.2, 0.3, 1e9))]
    scale = scale_for(summarise(Design({"lr": (0, 1, 2, 3)}, "loss", "minimize"), runs), "viridis")
    assert scale.clipped
    assert scale.high < 2
    assert is_bright(scale.at(0.1))
    assert not is_bright(scale.at(1e9))


@settings(deadline=None, max_examples=40)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=60), st.floats(0.3, 4))
def test_wrapped_lines_fit(text: str, limit: float) -> None:
    shown = drawable(text)
    for lines in (wrapped(shown, 9, limit, 2), balanced(shown, 9, limit, 2)):
        assert len(lines) <= 2
        assert all(width(line, 9) <= limit for line in lines)
    assert width(shortened(shown, 9, limit), 9) <= limit
