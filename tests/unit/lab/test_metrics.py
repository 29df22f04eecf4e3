import itertools
import json
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.metrics import LINE_LIMIT, MetricPoint, MetricReader, ReadState, number_pattern
from lab.recipe.model import MetricRule, Recipe


def reader(*metrics: MetricRule, step: str | None = None) -> MetricReader:
    rules = metrics or (
        MetricRule(name="accuracy", pattern=r"val_accuracy=([0-9.]+)"),
        MetricRule(name="loss", goal="minimize", pattern=r"loss=([0-9.]+)"),
    )
    return MetricReader(Recipe(name="digits", command="python train.py", metrics=rules, step_pattern=step))


def read_all(
    one: MetricReader, *chunks: bytes, state: ReadState | None = None
) -> tuple[ReadState, list[tuple[str, int, float | str | None]]]:
    state = state or ReadState()
    points: list[MetricPoint] = []
    for chunk in chunks:
        state, new = one.read(state, chunk)
        points += new
    state, new = one.finish(state)
    return state, [(p.name, p.step, p.special or p.value) for p in points + new]


def test_a_line_gives_each_metric_with_the_step_it_names() -> None:
    _, points = read_all(reader(), b"epoch=3 loss=0.25 val_accuracy=0.91\n")
    assert points == [("accuracy", 3, 0.91), ("loss", 3, 0.25)]


def test_without_a_step_the_lines_are_counted() -> None:
    _, points = read_all(reader(), b"loss=3\nnothing\nloss=2\nloss=1\n")
    assert points == [("loss", 1, 3.0), ("loss", 2, 2.0), ("loss", 3, 1.0)]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        (b"step=40 epoch=2 loss=1", 40),
        (b"Epoch [7/90] loss=1", 7),
        (b"{'epoch': 2.0, 'x': 'loss=1'}", 2),
        (b'{"global_step": 1200, "m": "loss=1"}', 1200),
        (b"iteration 15: loss=1", 15),
        (b"max_steps=1000 epochs=20 loss=1", 1),
        (b"epoch: 0.35 loss=1", 1),
        (b"step=99999999999999999999 loss=1", 1),
    ],
)
def test_steps_are_read_from_the_usual_words(line: bytes, step: int) -> None:
    _, points = read_all(reader(), line)
    assert points == [("loss", step, 1.0)]


def test_the_recipes_own_step_holds_until_the_next_one() -> None:
    one = reader(step=r"Round (\d+)")
    _, points = read_all(one, b"Round 0\nloss=5\nepoch=9 loss=4\nRound 1 loss=3\n")
    assert points == [("loss", 0, 5.0), ("loss", 0, 4.0), ("loss", 1, 3.0)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.97", 0.97),
        ("0.97.", 0.97),
        ("1e-05", 1e-05),
        ("2.5E+3", 2500.0),
        ("-0.5", -0.5),
        ("nan", "nan"),
        ("NaN,", "nan"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("Infinity", "inf"),
        ("12", 12.0),
    ],
)
def test_numbers_are_read_whole_though_the_pattern_names_digits_only(text: str, value: float | str) -> None:
    _, points = read_all(reader(), f"loss={text} done\n".encode())
    assert points == [("loss", 1, value)]


@pytest.mark.parametrize("line", [b"loss=information\n", b"loss=nano\n", b"loss=...\n", b"loss=\n"])
def test_what_is_no_number_gives_no_point(line: bytes) -> None:
    assert read_all(reader(), line)[1] == []


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        (r"acc.*?(\d+\.\d+)", "acc top1 0.95", "0.95"),
        (r"(?:train|val)[([]loss\]?\)? (?P<v>[0-9.]+)", "val(loss) 1e-3", "1e-3"),
        (r"a=(0|1(?:\.5)?);", "a=1.5;", "1.5"),
        (r"[()]acc\(x\)=([0-9]+|none)", ")acc(x)=7", "7"),
        (r"(?i)LOSS: ([0-9.]+),", "loss: 1e-05,", "1e-05"),
        (r"score ([0-9]{1,3}(?:,[0-9]{3})*)", "score 1,234,567", "1,234,567"),
    ],
)
def test_widening_keeps_what_a_pattern_means(pattern: str, line: str, found: str) -> None:
    match = number_pattern(pattern).search(line)
    assert match is not None
    assert match[1] == found


def test_progress_bars_colours_and_windows_line_ends() -> None:
    bar = b"\r 10%|#  | loss=0.9\r 10%|#  | loss=0.9\r 50%|## | loss=0.8\r100%|###| loss=0.8\n"
    _, points = read_all(
        reader(), bar, b"\x1b[32mepoch=1\x1b[0m val_accuracy=\x1b[1m0.5\x1b[0m\r\n", b"loss=0.8\r\n" * 2
    )
    assert points == [("loss", 1, 0.9), ("loss", 2, 0.8), ("accuracy", 1, 0.5), ("loss", 3, 0.8), ("loss", 4, 0.8)]


def test_other_encodings() -> None:
    chinese = reader(MetricRule(name="acc", pattern="准确率[=:：]([0-9.]+)"))
    for encoding in ("utf-8", "gb18030"):
        assert read_all(chinese, "准确率：0.75\n".encode(encoding))[1] == [("acc", 1, 0.75)]
    for encoding in ("utf-16", "utf-16-be"):
        text = "loss=0.5\r\nloss=0.25\r\n".encode(encoding)
        assert [p[2] for p in read_all(reader(), text)[1]] == [0.5, 0.25]
    assert read_all(reader(), b"caf\xe9 \xff\xfe loss=0.5\n")[1] == [("loss", 1, 0.5)]


def test_a_restart_goes_on_in_the_middle_of_a_line() -> None:
    one = reader()
    state, points = one.read(ReadState(), b"loss=0.5\nepoch=2 lo")
    assert [p.value for p in points] == [0.5]
    state = ReadState.from_json(json.loads(json.dumps(state.to_json())))
    _, points = one.read(state, b"ss=0.25\n")
    assert points == [MetricPoint("loss", 2, 0.25)]


def test_a_new_state_comes_from_nothing() -> None:
    assert ReadState.from_json(None) == ReadState.from_json({}) == ReadState()


def test_a_line_without_end_is_cut_and_the_next_one_is_read() -> None:
    one = reader()
    state = ReadState()
    for _ in range(100):
        state, points = one.read(state, b"x" * 10_000)
        assert points == []
        assert len(state.tail) <= LINE_LIMIT
    state, points = one.read(state, b" loss=9\nloss=1\n")
    assert [p.value for p in points] == [1.0]


@pytest.mark.parametrize("pattern", [r".*acc=([0-9.]+)", r".*acc.*=([0-9.]+)", r"(?:.*)acc=([0-9.]+)"])
def test_no_pattern_is_slow_on_a_long_line(pattern: str) -> None:
    one = reader(MetricRule(name="acc", pattern=pattern))
    before = time.process_time()
    _, points = read_all(one, b"x acc" * 6_000 + b"\nacc=0.5\n")
    assert points == [("acc", 1, 0.5)]
    assert time.process_time() - before < 5


def test_a_metric_late_in_a_long_line_is_read() -> None:
    _, points = read_all(reader(), b"y" * 30_000 + b" loss=0.125 " + b"z" * 3_700 + b"\n")
    assert points == [("loss", 1, 0.125)]


def test_many_points_are_thinned_but_the_first_last_and_best_are_known() -> None:
    one = reader()
    lines = [b"loss=%d\n" % abs(k - 77_777) for k in range(100_000)]
    state, points = read_all(one, *(b"".join(lines[at : at + 1000]) for at in range(0, 100_000, 1000)))
    assert len(points) < 10_000
    assert points[0] == ("loss", 1, 77_777.0)
    assert points[-1] == ("loss", 100_000, 22_222.0)
    steps = [step for _, step, _ in points]
    assert steps == sorted(set(steps))
    assert max(b - a for a, b in itertools.pairwise(steps)) <= 128
    series = state.series["loss"]
    assert series.seen == 100_000
    assert series.best == MetricPoint("loss", 77_778, 0.0)


def test_the_first_nan_is_never_thinned_out() -> None:
    _, points = read_all(reader(), b"loss=1\n" * 20_001, b"loss=nan\n" * 3)
    assert ("loss", 20_002, "nan") in points


def test_best_follows_the_goal_and_passes_over_nan() -> None:
    state, _ = read_all(reader(), b"loss=2 val_accuracy=0.5\nloss=1 val_accuracy=0.9\nloss=nan val_accuracy=0.7\n")
    best = {name: one.best.value for name, one in state.series.items() if one.best}
    assert best == {"loss": 1.0, "accuracy": 0.9}
    last = state.series["loss"].last
    assert last is not None
    assert last.special == "nan"


WORDS = [b"loss=0.5", b"val_accuracy=", b"1e-3", b"nan", b" epoch=3 ", b"step=", b"12"]
MARKS = [b"\n", b"\r", b"\r\n", b"\x1b[0m", b"\x08\x08", b"\xe5\x87\x86", b"\xff", b"\x00", b"q" * LINE_LIMIT]
FRAGMENT = st.sampled_from([*WORDS, *MARKS])


@settings(deadline=None)
@given(st.lists(FRAGMENT, max_size=30), st.data())
def test_how_the_bytes_arrive_makes_no_difference(fragments: list[bytes], data: st.DataObject) -> None:
    log = b"".join(fragments)
    cuts = data.draw(st.lists(st.integers(0, len(log)), max_size=8))
    edges = [0, *sorted(cuts), len(log)]
    chunks = [log[a:b] for a, b in itertools.pairwise(edges)]
    whole = read_all(reader(), log)
    assert read_all(reader(), *chunks)[1] == whole[1]
    assert whole[0] == ReadState.from_json(whole[0].to_json())


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(noise: bytes) -> None:
    _, points = read_all(reader(step=r"(\d+)"), noise, b"\nloss=0.5\n")
    assert points[-1][0] == "loss"
    assert points[-1][2] == 0.5


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_what_python_prints_is_read_back(number: float) -> None:
    _, points = read_all(reader(), f"loss={number!r}\n".encode())
    (read,) = points
    value = float(read[2]) if read[2] is not None else math.nan
    assert value == number or (math.isnan(number) and math.isnan(value))
