"""Optimizers, each with its state as plain arrays."""

from collections.abc import Mapping

import numpy as np

Arrays = Mapping[str, np.ndarray]


class Sgd:
    """w -= lr * (g + weight_decay * w)."""

    def __init__(self, params: Arrays, weight_decay: float = 0.0) -> None:
        self.params = params
        self.weight_decay = weight_decay
        self.state: dict[str, np.ndarray] = {}

    def step(self, grads: Arrays, lr: float) -> None:
        for name, value in self.params.items():
            value -= lr * self.direction(name, grads[name] + self.weight_decay * value)

    def direction(self, name: str, gradient: np.ndarray) -> np.ndarray:
        return gradient


class Momentum(Sgd):
    """Heavy ball: v = 0.9 v + g; w -= lr v."""

    def __init__(self, params: Arrays, weight_decay: float = 0.0, momentum: float = 0.9) -> None:
        super().__init__(params, weight_decay)
        self.momentum = momentum
        self.state = {f"velocity.{name}": np.zeros_like(value) for name, value in params.items()}

    def direction(self, name: str, gradient: np.ndarray) -> np.ndarray:
        velocity = self.state[f"velocity.{name}"]
        velocity *= self.momentum
        velocity += gradient
        return velocity


class Adam(Sgd):
    """Adam with bias correction (Kingma and Ba 2015, algorithm 1)."""

    def __init__(self, params: Arrays, weight_decay: float = 0.0, betas: tuple[float, float] = (0.9, 0.999)) -> None:
        super().__init__(params, weight_decay)
        self.betas = betas
        self.state = {f"mean.{name}": np.zeros_like(value) for name, value in params.items()}
        self.state |= {f"square.{name}": np.zeros_like(value) for name, value in params.items()}
        self.state["steps"] = np.zeros((), np.int64)

    def step(self, grads: Arrays, lr: float) -> None:
        self.state["steps"] += 1
        super().step(grads, lr)

    def direction(self, name: str, gradient: np.ndarray) -> np.ndarray:
        mean, square = self.state[f"mean.{name}"], self.state[f"square.{name}"]
        steps = int(self.state["steps"])
        mean += (1 - self.betas[0]) * (gradient - mean)
        square += (1 - self.betas[1]) * (gradient**2 - square)
        return mean / (1 - self.betas[0] ** steps) / (np.sqrt(square / (1 - self.betas[1] ** steps)) + 1e-8)


OPTIMIZERS: dict[str, type[Sgd]] = {"sgd": Sgd, "momentum": Momentum, "adam": Adam}


def clip_grad_norm(grads: Arrays, limit: float | None) -> float:
    """The norm of all gradients together; if `limit` is given and smaller, they are scaled down to it in place."""
    norm = float(np.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads.values())))
    if limit is not None and norm > limit:
        for gradient in grads.values():
            gradient *= limit / norm
    return norm
