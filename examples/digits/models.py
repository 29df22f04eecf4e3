"""The two classifiers, and how a network keeps or recomputes what its backward pass needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from examples.digits.conv import POOL, Conv3x3, Pad, ReLUPool, Residual
from examples.digits.data import CLASSES, SIDE
from examples.digits.layers import Dense, Dropout, Flatten, Layer, LayerNorm, ReLU, Rng, cross_entropy


@dataclass(frozen=True)
class Shape:
    """Sizes of a model. `width` and `depth` are the channels and the residual layers of the CNN."""

    hidden: int = 128
    dropout: float = 0.0
    width: int = 16
    depth: int = 5


class Network:
    """Layers in order, cut into segments.

    With `recompute`, the forward pass keeps only the input of each segment, and the backward pass runs the segment
    again to get the rest (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost").
    """

    def __init__(self, segments: Sequence[Sequence[Layer]], recompute: bool = False) -> None:
        self.segments = segments
        self.recompute = recompute
        self._layers = [layer for segment in segments for layer in segment]

    def params(self) -> dict[str, np.ndarray]:
        """The arrays themselves by name, e.g. `3.weight`; write into them to change the network."""
        return {f"{i}.{name}": value for i, layer in enumerate(self._layers) for name, value in layer.params.items()}

    def grads(self) -> dict[str, np.ndarray]:
        return {f"{i}.{name}": value for i, layer in enumerate(self._layers) for name, value in layer.grads.items()}

    def predict(self, images: np.ndarray) -> np.ndarray:
        """Logits (N, 10) without dropout."""
        x = images
        for layer in self._layers:
            x, _ = layer.forward(x, None)
        return x

    def accumulate(self, images: np.ndarray, labels: np.ndarray, count: int, rng: np.random.Generator) -> float:
        """Adds the gradients of (sum of losses / count) to `grads()` and returns that loss."""
        x, kept = images, []
        for segment in self.segments:
            if self.recompute:
                kept.append((x, rng.bit_generator.state))
                x = _forward(segment, x, rng, None)
            else:
                saved: list[Any] = []
                x = _forward(segment, x, rng, saved)
                kept.append(saved)
        loss, gradient = cross_entropy(x, labels, count)
        for segment in reversed(self.segments):
            saved = _again(segment, *kept.pop(), rng) if self.recompute else kept.pop()
            for layer in reversed(segment):
                gradient = layer.backward(gradient, saved.pop())
        return loss


def _forward(segment: Sequence[Layer], x: np.ndarray, rng: Rng, saved: list[Any] | None) -> np.ndarray:
    for layer in segment:
        x, needed = layer.forward(x, rng)
        if saved is not None:
            saved.append(needed)
        del needed
    return x


def _again(segment: Sequence[Layer], x: np.ndarray, state: Any, rng: np.random.Generator) -> list[Any]:
    """What the backward pass needs, from a second forward pass with the random numbers of the first."""
    now = rng.bit_generator.state
    rng.bit_generator.state = state
    saved: list[Any] = []
    _forward(segment, x, rng, saved)
    rng.bit_generator.state = now
    return saved


def build(model: str, shape: Shape, rng: np.random.Generator, dtype: type, recompute: bool = False) -> Network:
    """A new network `mlp` or `cnn` with weights drawn from `rng`."""
    segments = (_mlp if model == "mlp" else _cnn)(shape, rng, dtype)
    return Network(segments, recompute)


def _mlp(shape: Shape, rng: np.random.Generator, dtype: type) -> list[list[Layer]]:
    return [
        [Flatten(), Dense(SIDE * SIDE, shape.hidden, rng, dtype), ReLU(), Dropout(shape.dropout)],
        *([Dense(shape.hidden, shape.hidden, rng, dtype), ReLU(), Dropout(shape.dropout)] for _ in range(2)),
        [Dense(shape.hidden, CLASSES, rng, dtype)],
    ]


def _cnn(shape: Shape, rng: np.random.Generator, dtype: type) -> list[list[Layer]]:
    features = shape.width * (SIDE // POOL) ** 2
    return [
        [Pad(), Conv3x3.drawn(1, shape.width, rng, dtype)],
        *([Residual(shape.width, dtype)] for _ in range(shape.depth)),
        [ReLUPool(), LayerNorm(), Dense(features, shape.hidden, rng, dtype), ReLU(), Dropout(shape.dropout)],
        [Dense(shape.hidden, CLASSES, rng, dtype)],
    ]
