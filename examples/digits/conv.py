"""Convolutions of 3x3 by im2col.

Activations are (channels, N * 18 * 18): images of 16x16 with a border of zeros, laid end to end. A shift by one row or
column is then a shift along the last axis, so each row of the column matrix is one contiguous copy. Layers here keep
the border zero in what they return, forward and backward.
"""

import numpy as np

from examples.digits.data import SIDE
from examples.digits.layers import Parametric, Rng, he_normal

PADDED = SIDE + 2
AREA = PADDED * PADDED
TAPS = tuple(down * PADDED + right for down in (-1, 0, 1) for right in (-1, 0, 1))
POOL = 2
BRANCH_SCALE = 0.1


def overlap(offset: int, length: int) -> tuple[slice, slice]:
    """The places p that have a neighbour p + offset, and those neighbours."""
    return slice(max(0, -offset), length - max(0, offset)), slice(max(0, offset), length + min(0, offset))


def im2col(x: np.ndarray) -> np.ndarray:
    """(C, L) to (9 * C, L): for each place its 3x3 neighbourhood in every channel."""
    channels, length = x.shape
    columns = np.empty((len(TAPS) * channels, length), x.dtype)
    for tap, offset in enumerate(TAPS):
        here, there = overlap(offset, length)
        block = columns[tap * channels : (tap + 1) * channels]
        block[:, here] = x[:, there]
        block[:, : here.start] = 0
        block[:, here.stop :] = 0
    return columns


def zero_border(x: np.ndarray) -> np.ndarray:
    """Sets the border of each image to zero, in place."""
    images = x.reshape(-1, PADDED, PADDED)
    images[:, (0, -1), :] = 0
    images[:, :, (0, -1)] = 0
    return x


class Pad(Parametric):
    """(N, 16, 16) to (1, N * 18 * 18). The first layer: no gradient is asked of it."""

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, None]:
        return np.pad(x, ((0, 0), (1, 1), (1, 1))).reshape(1, -1), None

    def backward(self, dy: np.ndarray, saved: None) -> np.ndarray:
        return dy.reshape(-1, PADDED, PADDED)[:, 1:-1, 1:-1]


class Conv3x3(Parametric):
    """(inputs, L) to (outputs, L)."""

    def __init__(self, weight: np.ndarray) -> None:
        """`weight` is (outputs, 9 * inputs), in the order of `im2col`."""
        super().__init__(weight=weight, bias=np.zeros((len(weight), 1), weight.dtype))

    @classmethod
    def drawn(cls, inputs: int, outputs: int, rng: np.random.Generator, dtype: type) -> "Conv3x3":
        fan_in = len(TAPS) * inputs
        return cls(he_normal(rng, (outputs, fan_in), fan_in, dtype))

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        columns = im2col(x)
        y = self.params["weight"] @ columns
        y += self.params["bias"]
        return zero_border(y), columns

    def backward(self, dy: np.ndarray, saved: np.ndarray) -> np.ndarray:
        self.grads["weight"] += dy @ saved.T
        self.grads["bias"] += dy.sum(axis=1, keepdims=True)
        return self._input_gradient(dy)

    def _input_gradient(self, dy: np.ndarray) -> np.ndarray:
        outputs, length = dy.shape
        by_tap = self.params["weight"].reshape(outputs, len(TAPS), -1)
        dx = np.zeros((by_tap.shape[2], length), dy.dtype)
        for tap, offset in enumerate(TAPS):
            here, there = overlap(offset, length)
            dx[:, there] += by_tap[:, tap].T @ dy[:, here]
        return zero_border(dx)


class Residual(Parametric):
    """x + 0.1 * conv(relu(x)), the pre-activation form (He et al. 2016, "Identity Mappings in Deep Residual Networks").

    The convolution starts at zero, so that the layer starts as the identity (Bachlechner et al. 2021, "ReZero"); the
    fixed scale lets one learning rate serve both models.
    """

    def __init__(self, width: int, dtype: type) -> None:
        self.conv = Conv3x3(np.zeros((width, len(TAPS) * width), dtype))
        self.params, self.grads = self.conv.params, self.conv.grads
        self.scale = dtype(BRANCH_SCALE)

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        y, columns = self.conv.forward(np.maximum(x, 0), rng)
        y *= self.scale
        y += x
        return y, (x > 0, columns)

    def backward(self, dy: np.ndarray, saved: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        positive, columns = saved
        dx = self.conv.backward(dy * self.scale, columns)
        dx *= positive
        dx += dy
        return dx


class ReLUPool(Parametric):
    """relu, then the mean of each 2x2 square: (C, N * 18 * 18) to (N, C * 8 * 8)."""

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        channels = len(x)
        inside = x.reshape(channels, -1, PADDED, PADDED)[:, :, 1:-1, 1:-1]
        squares = np.maximum(inside, 0).reshape(channels, -1, SIDE // POOL, POOL, SIDE // POOL, POOL)
        means = squares.mean(axis=(3, 5), dtype=x.dtype)
        return means.transpose(1, 0, 2, 3).reshape(means.shape[1], -1), x > 0

    def backward(self, dy: np.ndarray, saved: np.ndarray) -> np.ndarray:
        n, channels = len(dy), len(saved)
        squares = dy.reshape(n, channels, SIDE // POOL, SIDE // POOL).transpose(1, 0, 2, 3) / dy.dtype.type(POOL**2)
        dx = np.zeros((channels, n, PADDED, PADDED), dy.dtype)
        dx[:, :, 1:-1, 1:-1] = squares.repeat(POOL, axis=2).repeat(POOL, axis=3)
        return dx.reshape(channels, -1) * saved
