"""Checkpoints: one npz file each, complete or absent.

`epoch_003.npz` is the state after three epochs, `epoch_003_step_000071.npz` that after step 71, in the fourth epoch.
"""

import json
import os
import re
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

_NAME = re.compile(r"epoch_(\d+)(?:_step_(\d+))?\.npz")
_BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Progress:
    """Where training stands: `epoch` epochs are done and `samples` samples of the next, with their summed loss."""

    epoch: int = 0
    step: int = 0
    samples: int = 0
    loss_sum: float = 0.0

    def after(self, samples: int, loss: float) -> "Progress":
        return replace(self, step=self.step + 1, samples=self.samples + samples, loss_sum=self.loss_sum + loss)

    def next_epoch(self) -> "Progress":
        return Progress(self.epoch + 1, self.step)


@dataclass(frozen=True)
class Checkpoint:
    """All that a run needs to go on: arrays of the network and the optimizer, the random state, and the progress."""

    params: Mapping[str, np.ndarray]
    optimizer: Mapping[str, np.ndarray]
    random: Mapping[str, Any]
    progress: Progress


def save(directory: str, checkpoint: Checkpoint) -> Path:
    """Writes the checkpoint beside its final name, then renames it, so that a reader never sees half a file."""
    progress = checkpoint.progress
    middle = f"_step_{progress.step:06d}" if progress.samples else ""
    path = Path(directory, f"epoch_{progress.epoch:03d}{middle}.npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    arrays = {f"param/{name}": value for name, value in checkpoint.params.items()}
    arrays |= {f"optimizer/{name}": value for name, value in checkpoint.optimizer.items()}
    with partial.open("wb") as file:
        np.savez(file, random=_text(checkpoint.random), progress=_text(vars(progress)), **arrays)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    return path


def load(path: str) -> Checkpoint:
    """The checkpoint at a file, or the newest in a directory that can be read; those skipped are told on stderr.

    Raises `FileNotFoundError` if there is none, and what NumPy or zipfile raise for a broken file given by its path.
    """
    if not Path(path).is_dir():
        return _read(Path(path))
    for file in _newest_first(Path(path)):
        try:
            return _read(file)
        except _BROKEN as error:
            print(
                f"checkpoint {file} can't be read ({type(error).__name__}: {error}), trying the one before",
                file=sys.stderr,
                flush=True,
            )
    raise FileNotFoundError(f"no readable checkpoint epoch_*.npz in {path}")


def restore(target: Mapping[str, np.ndarray], saved: Mapping[str, np.ndarray], what: str) -> None:
    """Copies `saved` into the arrays of `target`. Raises `KeyError` or `ValueError` where they don't fit."""
    if target.keys() != saved.keys():
        missing, extra = sorted(target.keys() - saved.keys()), sorted(saved.keys() - target.keys())
        raise KeyError(f"{what} of the checkpoint: missing keys {missing}, unexpected keys {extra}")
    for name, value in saved.items():
        if target[name].shape != value.shape:
            raise ValueError(
                f"{what} of the checkpoint: size mismatch for {name}: "
                f"{value.shape} in the checkpoint, {target[name].shape} in the model"
            )
        target[name][...] = value


def _newest_first(directory: Path) -> list[Path]:
    found = [(match, path) for path in directory.iterdir() if (match := _NAME.fullmatch(path.name))]
    return [path for match, path in sorted(found, key=lambda f: (int(f[0][1]), int(f[0][2] or 0)), reverse=True)]


def _read(path: Path) -> Checkpoint:
    with path.open("rb") as file, np.load(file) as saved:
        arrays = dict(saved)
    return Checkpoint(
        params=_under("param/", arrays),
        optimizer=_under("optimizer/", arrays),
        random=json.loads(str(arrays["random"])),
        progress=Progress(**json.loads(str(arrays["progress"]))),
    )


def _under(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def _text(value: Mapping[str, Any]) -> np.ndarray:
    return np.array(json.dumps(dict(value)))
