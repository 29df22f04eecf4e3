"""Saving and going on: exactly, from the newest file that can be read."""

from pathlib import Path

import numpy as np
import pytest

from examples.digits import checkpoint
from examples.digits.data import load
from examples.digits.options import parse
from examples.digits.train import Trainer, main

pytestmark = pytest.mark.usefixtures("kept_signal_handlers")
SETTINGS = ["--optimizer", "adam", "--dropout", "0.3", "--augmentation", "B", "--hidden", "24", "--batch-size", "256"]


def train(folder: Path, *more: str) -> Path:
    main([*SETTINGS, "--checkpoint-dir", str(folder), *more])
    return folder


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return dict(file)


def assert_same_state(path: Path, other: Path) -> None:
    one, two = arrays(path), arrays(other)
    assert one.keys() == two.keys()
    for name, value in one.items():
        assert np.array_equal(value, two[name]), name


def test_two_and_two_epochs_are_four_bit_for_bit(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", "--epochs", "4")
    halves = train(tmp_path / "halves", "--epochs", "4", "--stop-after-epochs", "2")
    assert sorted(p.name for p in halves.iterdir()) == ["epoch_001.npz", "epoch_002.npz"]
    train(halves, "--epochs", "4", "--resume", str(halves))
    assert_same_state(whole / "epoch_004.npz", halves / "epoch_004.npz")


def test_the_middle_of_an_epoch_goes_on_exactly(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", "--epochs", "2")
    options = parse([*SETTINGS, "--checkpoint-dir", str(tmp_path / "middle"), "--epochs", "2"])
    trainer = Trainer(options, load())
    trainer.save_requested = True
    trainer.run()
    middle = tmp_path / "middle" / "epoch_000_step_000001.npz"
    assert middle.is_file()
    train(tmp_path / "resumed", "--epochs", "2", "--resume", str(middle))
    assert_same_state(whole / "epoch_002.npz", tmp_path / "resumed" / "epoch_002.npz")


def test_a_truncated_newest_file_is_told_and_the_one_before_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = train(tmp_path, "--epochs", "2")
    newest = folder / "epoch_002.npz"
    newest.write_bytes(newest.read_bytes()[:5000])
    (folder / ".epoch_003.npz.77.part").write_bytes(b"half")
    found = checkpoint.load(str(folder))
    assert (found.progress.epoch, found.progress.step) == (1, 5)
    assert "epoch_002.npz can't be read (BadZipFile" in capsys.readouterr().err
    with pytest.raises(Exception, match="not a zip file"):
        checkpoint.load(str(newest))


def test_a_save_in_the_middle_of_an_epoch_is_newer_than_the_epoch_before_it(tmp_path: Path) -> None:
    folder = train(tmp_path, "--epochs", "2")
    first = checkpoint.load(str(folder / "epoch_001.npz"))
    checkpoint.save(str(folder), checkpoint.Checkpoint({}, {}, first.random, first.progress.after(256, 0.5)))
    assert (folder / "epoch_001_step_000006.npz").is_file()
    (folder / "epoch_002.npz").unlink()
    assert checkpoint.load(str(folder)).progress.step == 6


def test_no_checkpoint_in_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no readable checkpoint"):
        checkpoint.load(str(tmp_path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--hidden", "32"], r"size mismatch for 1\.weight: \(256, 24\) in the checkpoint, \(256, 32\) in the model"),
        (["--optimizer", "sgd"], "optimizer state of the checkpoint: missing keys"),
        (["--model", "cnn"], "params of the checkpoint: missing keys"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(tmp_path: Path, change: list[str], message: str) -> None:
    folder = train(tmp_path, "--epochs", "1")
    with pytest.raises((KeyError, ValueError), match=message):
        train(folder, "--epochs", "2", "--resume", str(folder), *change)
