"""The handwritten digits: reading, splitting and scaling them.

The images come with scikit-learn (UCI "Optical Recognition of Handwritten Digits", test part: 1,797 images of 8x8
pixels, grey levels 0 to 16), so nothing is downloaded.
"""

import gzip
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

SIDE = 16
CLASSES = 10
_GREY_LEVELS = 16.0
_SPLIT_SEED = 20240
_PARTS = (0.70, 0.15)


@dataclass(frozen=True)
class Part:
    """Images (N, 16, 16) with mean 0 and deviation 1 over the training part, and labels (N,)."""

    images: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Digits:
    """The three parts. The split is the same for every seed, so that runs can be compared."""

    train: Part
    val: Part
    test: Part


def load(path: str | None = None, dtype: type = np.float32) -> Digits:
    """The bundled digits, or the arrays `images` (N, 8, 8) and `labels` (N,) of an npz file.

    Raises what NumPy raises for a file that is absent or malformed.
    """
    images, labels = _bundled() if path is None else _from_file(path)
    order = np.random.default_rng(_SPLIT_SEED).permutation(len(labels))
    first, second = (np.cumsum(_PARTS) * len(order)).round().astype(int)
    train = order[:first]
    images = enlarge(images.astype(np.float64) / _GREY_LEVELS)
    images = ((images - images[train].mean()) / images[train].std()).astype(dtype)
    return Digits(*(Part(images[rows], labels[rows]) for rows in (train, order[first:second], order[second:])))


def enlarge(images: np.ndarray) -> np.ndarray:
    """(N, 8, 8) to (N, 16, 16), each pixel four times."""
    if images.shape[1:] != (8, 8):
        raise ValueError(f"images must have shape (N, 8, 8), not {images.shape}")
    factor = SIDE // 8
    return images.repeat(factor, axis=1).repeat(factor, axis=2)


def _from_file(path: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path) as arrays:
        return arrays["images"], arrays["labels"].astype(np.int64)


def _bundled() -> tuple[np.ndarray, np.ndarray]:
    rows = _rows()
    return rows[:, :-1].reshape(-1, 8, 8), rows[:, -1].astype(np.int64)


def _rows() -> np.ndarray:
    """Rows of 64 pixels and a label. The file is read in place, since importing scikit-learn takes a second or more."""
    package = find_spec("sklearn")
    if package is None:
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
    for folder in package.submodule_search_locations or ():
        file = Path(folder, "datasets", "data", "digits.csv.gz")
        if file.is_file():
            with gzip.open(file, "rt") as lines:
                return np.loadtxt(lines, delimiter=",")
    from sklearn.datasets import load_digits

    digits = load_digits()
    return np.column_stack([digits.data, digits.target])
