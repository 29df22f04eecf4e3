"""The script as a process: what it prints, how it fails, and what signals do."""

import math
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.unit.examples.digits_run import run, start, values


def test_the_mlp_learns_in_the_default_epochs_and_seeds_differ(tmp_path: Path) -> None:
    scores = []
    for seed in (0, 1):
        code, out, err = run(tmp_path, "--seed", str(seed))
        assert (code, err) == (0, "")
        assert values("epoch", out) == [1, 2, 3, 4]
        scores.append(values("test_accuracy", out)[0])
        assert 30 < values("peak_memory_mib", out)[0] < 150
    assert min(scores) > 0.94
    assert scores[0] != scores[1]
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir())[-1] == "epoch_004.npz"


def test_the_cnn_learns_much_in_one_epoch(tmp_path: Path) -> None:
    _, out, _ = run(tmp_path, "--model", "cnn", "--epochs", "1")
    assert values("val_accuracy", out)[-1] > 0.87


def test_the_learning_rate_matters(tmp_path: Path) -> None:
    _, slow, _ = run(tmp_path, "--lr", "1e-4")
    assert values("val_accuracy", slow)[-1] < 0.7
    _, high, _ = run(tmp_path, "--lr", "1.0")
    assert not values("val_accuracy", high)[-1] > 0.3


def test_too_high_a_learning_rate_prints_nan_and_goes_on(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "--lr", "10")
    assert code == 0
    assert math.isnan(values("val_loss", out)[-1])
    assert math.isnan(values("grad_norm", out)[-1])
    assert "RuntimeWarning" in err


def test_fail_on_nan_ends_with_the_step_and_the_rate(tmp_path: Path) -> None:
    code, _, err = run(tmp_path, "--lr", "10", "--fail-on-nan")
    assert code == 1
    last = err.splitlines()[-1]
    assert last.startswith("FloatingPointError: loss is ")
    assert last.endswith(", lr 10")


def test_an_absent_data_file_and_a_blocked_checkpoint_directory(tmp_path: Path) -> None:
    code, _, err = run(tmp_path, "--data", "absent.npz")
    assert (code, err.splitlines()[-1]) == (
        1,
        "FileNotFoundError: [Errno 2] No such file or directory: 'absent.npz'",
    )
    (tmp_path / "taken").write_text("a file")
    code, _, err = run(tmp_path, "--checkpoint-dir", "taken/inner")
    assert code == 1
    assert err.splitlines()[-1].startswith("NotADirectoryError")


def test_a_label_out_of_range_is_an_index_error(tmp_path: Path) -> None:
    labels = np.arange(200) % 10
    labels[:] = np.where(labels == 3, 10, labels)
    np.savez(tmp_path / "bad.npz", images=np.random.default_rng(0).uniform(0, 16, (200, 8, 8)), labels=labels)
    code, _, err = run(tmp_path, "--data", "bad.npz")
    assert code == 1
    assert err.splitlines()[-1] == "IndexError: index 10 is out of bounds for axis 1 with size 10"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--micro-batch", "128"], "argument --micro-batch: 128 is above --batch-size 64"),
        (["--lr", "0"], "argument --lr: 0 is not above 0"),
        (["--model", "vit"], "argument --model: invalid choice: 'vit' (choose from"),
    ],
)
def test_wrong_arguments_exit_with_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    code, _, err = run(tmp_path, *arguments)
    assert code == 2
    assert message in err


def test_usr1_saves_at_the_next_step_and_term_ends_with_143(tmp_path: Path) -> None:
    process = start(tmp_path, "--epochs", "3000", "--log-every", "1")
    assert process.stdout is not None
    assert "effective_batch=64" in process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.SIGUSR1)
    saved = next(line for line in process.stdout if "_step_" in line)
    path = tmp_path / saved.strip().removeprefix("saved=")
    assert path.is_file()
    later = [process.stdout.readline() for _ in range(3)]
    assert any("step=" in line for line in later)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143
