import csv
import io
import unicodedata
from typing import Any

import pytest

from lab.results.summary import summarise
from lab.results.tables import matrix_table, matrix_text, to_csv, to_markdown
from lab.results.values import Design, Level, Matrix, RunResult
from lab.results.verdict import verdict
from lab.results.words import level_word

LEVELS = {"model": ("mlp", "cnn"), "lr": (0.01, 0.1, 1.0), "seed": (0, 1, 2)}
NOISE = (0.003, -0.003, 0.0)


def told(model: Level, lr: Level, seed: int) -> dict[str, Any]:
    if lr == 1.0:
        return {"state": "failed", "category": "numerical-divergence"}
    base = {("mlp", 0.01): 0.90, ("mlp", 0.1): 0.93, ("cnn", 0.01): 0.978, ("cnn", 0.1): 0.977}[str(model), float(lr)]
    fields: dict[str, Any] = {"metrics": {"accuracy": base + NOISE[(seed + (lr == 0.1)) % 3]}}
    if model == "cnn" and lr == 0.1:
        fields |= {"category": "host-oom", "remedies": ("a smaller micro-batch",)}
    return fields


def example(**changed: Any) -> Matrix:
    runs: list[RunResult] = []
    for model in LEVELS["model"]:
        for lr in LEVELS["lr"]:
            for seed in (0, 1, 2):
                fields = {"state": "succeeded", **told(model, lr, seed), **changed}
                runs.append(RunResult(len(runs), {"model": model, "lr": lr, "seed": seed}, **fields))
    return summarise(Design(LEVELS, "accuracy"), runs)


def test_the_verdict_says_who_won_and_whether_it_is_real() -> None:
    assert verdict(example()) == (
        "cnn at lr 0.01 wins with accuracy 0.978 ± 0.003 over 3 seeds; lr 0.1 is not distinguishable from it. "
        "1 of 6 cells ran only after a smaller micro-batch; 2 of 6 cells failed (diverged)."
    )


def test_the_verdict_before_anything_is_known() -> None:
    waiting = example(state="queued", metrics={}, category=None, remedies=())
    assert verdict(waiting) == "No run has given the accuracy yet (18 runs still to come)."
    failed = example(state="failed", category="gpu-oom-capacity", metrics={}, remedies=())
    assert verdict(failed) == "No run has given the accuracy yet (failed: 18 out of memory)."


def test_single_runs_are_not_oversold() -> None:
    runs = [RunResult(n, {"lr": lr}, "succeeded", {"loss": lr}) for n, lr in enumerate((0.1, 0.2))]
    text = verdict(summarise(Design({"lr": (0.1, 0.2)}, "loss", "minimize"), runs))
    assert text.startswith("lr 0.1 wins with loss 0.100 from one run;")
    assert "more than noise" in text


def test_datasets_are_told_one_by_one() -> None:
    values = {("mlp", "easy"): 0.99, ("cnn", "easy"): 0.9, ("mlp", "hard"): 0.4, ("cnn", "hard"): 0.6}
    runs = [
        RunResult(n, {"model": m, "dataset": d}, "succeeded", {"accuracy": v})
        for n, ((m, d), v) in enumerate(values.items())
    ]
    text = verdict(summarise(Design({"model": ("mlp", "cnn"), "dataset": ("easy", "hard")}, "accuracy"), runs))
    assert text.startswith("On easy mlp wins with accuracy 0.990 from one run; on hard cnn wins")


def test_two_factors_make_a_grid() -> None:
    table = matrix_table(example())
    assert table.columns == ("model \\ lr", "0.01", "0.1", "1")
    assert table.rows[1] == ("cnn", "0.978 ± 0.003 *", "0.977 ± 0.003 ~ +", "✗ diverged")
    assert "* best; ~ not distinguishable from the best; + ran after a repair" in table.caption


def test_text_columns_are_aligned_also_with_wide_signs() -> None:
    factors: dict[str, tuple[Level, ...]] = {"模型": ("卷积网络", "mlp"), "lr": (0.01,), "optim": ("adam", "sgd")}
    runs = [
        RunResult(n, {"模型": m, "lr": 0.01, "optim": o}, "succeeded", {"accuracy": 0.5})
        for n, (m, o) in enumerate((m, o) for m in factors["模型"] for o in factors["optim"])
    ]
    lines = matrix_text(summarise(Design(factors, "accuracy"), runs)).splitlines()
    assert lines[0].startswith("模型 \\ optim   ")
    ends = {sum(2 if unicodedata.east_asian_width(sign) == "W" else 1 for sign in line) for line in lines[:4]}
    assert len(ends) == 1


def test_more_factors_make_a_line_each() -> None:
    factors: dict[str, tuple[Level, ...]] = {"a": (1, 2), "b": (1, 2), "c": (True, False)}
    table = matrix_table(summarise(Design(factors, "accuracy"), []))
    assert len(table.rows) == 8
    assert table.rows[0] == ("1", "1", "on", "–", "0")


def test_csv_reads_back() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(example()))))
    assert len(rows) == 6
    cnn = rows[3]
    assert (cnn["model"], cnn["lr"], cnn["n"], cnn["against_best"]) == ("cnn", "0.01", "3", "best")
    assert float(cnn["mean"]) == pytest.approx(0.978)
    assert rows[2]["reason"] == "3 diverged"
    assert rows[4]["repaired"] == "a smaller micro-batch"


def test_csv_starts_no_formula_in_a_spreadsheet() -> None:
    factors: dict[str, tuple[Level, ...]] = {"note": ("=HYPERLINK(1)", "b")}
    assert "'=HYPERLINK(1)" in to_csv(summarise(Design(factors, "accuracy"), []))


def test_markdown_keeps_its_columns() -> None:
    factors: dict[str, tuple[Level, ...]] = {"note": ("a|b", "c\nd")}
    lines = to_markdown(summarise(Design(factors, "accuracy"), [])).splitlines()
    assert lines[2] == "| a\\|b | – | 0 |"
    assert lines[3] == "| c d | – | 0 |"


LEVEL_WORDS = [(1e-4, "1e-4"), (2.5e-5, "2.5e-5"), (0.001, "0.001"), (0.0, "0"), (1.0, "1"), (64, "64"), (1e6, "1e6")]
OTHER_WORDS = [(True, "on"), (False, "off"), ("cnn", "cnn"), (-3e-7, "-3e-7"), (float("inf"), "inf")]


@pytest.mark.parametrize(
    ("level", "word"),
    [
        (0.0001, "1e-4"),
        (2.5e-05, "2.5e-5"),
        (0.001, "0.001"),
        (0.0, "0"),
        (1.0, "1"),
        (64, "64"),
        (1000000.0, "1e6"),
        (True, "on"),
        (False, "off"),
        ("cnn", "cnn"),
        (-3e-07, "-3e-7"),
        (float("inf"), "inf"),
    ],
)
def test_levels_are_written_as_people_do(level: Level, word: str) -> None:
    assert level_word(level) == word
