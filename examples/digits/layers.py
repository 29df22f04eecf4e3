"""Layers with hand-written gradients.

`forward(x, rng)` returns the output and what `backward` will need; with `rng` None the layer is evaluated, not trained.
`backward(dy, saved)` adds to `grads` and returns the gradient of the input.
"""

from typing import Any, Protocol

import numpy as np

Rng = np.random.Generator | None


class Layer(Protocol):
    params: dict[str, np.ndarray]
    grads: dict[str, np.ndarray]

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, Any]: ...

    def backward(self, dy: np.ndarray, saved: Any) -> np.ndarray: ...


class Parametric:
    """A layer's arrays and their gradients, which start at zero."""

    def __init__(self, **params: np.ndarray) -> None:
        self.params = params
        self.grads = {name: np.zeros_like(value) for name, value in params.items()}


def he_normal(rng: np.random.Generator, shape: tuple[int, ...], fan_in: int, dtype: type) -> np.ndarray:
    """Weights of deviation sqrt(2 / fan_in) (He et al. 2015, "Delving Deep into Rectifiers")."""
    return (rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(dtype)


class Dense(Parametric):
    """(N, inputs) to (N, outputs)."""

    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator, dtype: type) -> None:
        super().__init__(weight=he_normal(rng, (inputs, outputs), inputs, dtype), bias=np.zeros(outputs, dtype))

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        return x @ self.params["weight"] + self.params["bias"], x

    def backward(self, dy: np.ndarray, saved: np.ndarray) -> np.ndarray:
        self.grads["weight"] += saved.T @ dy
        self.grads["bias"] += dy.sum(axis=0)
        return dy @ self.params["weight"].T


class ReLU(Parametric):
    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        return np.maximum(x, 0), x > 0

    def backward(self, dy: np.ndarray, saved: np.ndarray) -> np.ndarray:
        return dy * saved


class Flatten(Parametric):
    """(N, ...) to (N, features)."""

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, tuple[int, ...]]:
        return x.reshape(len(x), -1), x.shape

    def backward(self, dy: np.ndarray, saved: tuple[int, ...]) -> np.ndarray:
        return dy.reshape(saved)


class LayerNorm(Parametric):
    """Each sample's features shifted to mean 0 and scaled to deviation 1 (Ba et al. 2016), without a learned scale."""

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        centred = x - x.mean(axis=1, keepdims=True)
        inverse = 1 / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + x.dtype.type(1e-5))
        y = centred * inverse
        return y, (y, inverse)

    def backward(self, dy: np.ndarray, saved: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        y, inverse = saved
        along = (dy * y).mean(axis=1, keepdims=True)
        return inverse * (dy - dy.mean(axis=1, keepdims=True) - y * along)


class Dropout(Parametric):
    """Zeroes a share `rate` of the inputs in training and scales the others by 1 / (1 - rate)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: np.ndarray, rng: Rng) -> tuple[np.ndarray, np.ndarray | None]:
        if rng is None or self.rate == 0:
            return x, None
        keep = (rng.random(x.shape) >= self.rate).astype(x.dtype) / x.dtype.type(1 - self.rate)
        return x * keep, keep

    def backward(self, dy: np.ndarray, saved: np.ndarray | None) -> np.ndarray:
        return dy if saved is None else dy * saved


def cross_entropy(logits: np.ndarray, labels: np.ndarray, count: int) -> tuple[float, np.ndarray]:
    """Summed loss of the samples divided by `count`, and its gradient.

    `count` is the size of the whole batch, so that the gradients of its micro-batches add up to the batch's own.
    """
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    loss = -float(log_p[rows, labels].sum(dtype=np.float64)) / count
    gradient = np.exp(log_p)
    gradient[rows, labels] -= 1
    return loss, gradient / logits.dtype.type(count)
