"""The gradients of the two models, however the batch is held in memory."""

import tracemalloc

import numpy as np
import pytest

from examples.digits.layers import cross_entropy
from examples.digits.models import Network, Shape, build

SMALL = Shape(hidden=6, width=3, depth=2)


def network(model: str, shape: Shape = SMALL, recompute: bool = False, dtype: type = np.float64) -> Network:
    made = build(model, shape, np.random.default_rng(1), dtype, recompute)
    noise = np.random.default_rng(2)
    for value in made.params().values():
        value += noise.normal(0, 0.1, value.shape).astype(dtype)
    return made


def batch(n: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.normal(size=(n, 16, 16)).astype(dtype), rng.integers(0, 10, n)


def gradients(made: Network, n: int, micro: int) -> dict[str, np.ndarray]:
    images, labels = batch(n)
    rng = np.random.default_rng(4)
    for start in range(0, n, micro):
        made.accumulate(images[start : start + micro], labels[start : start + micro], n, rng)
    return made.grads()


@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_gradients_match_finite_differences(model: str) -> None:
    made = network(model)
    images, labels = batch(4)
    grads = gradients(made, 4, 4)
    pick = np.random.default_rng(5)
    for name, value in made.params().items():
        for place in pick.integers(0, value.size, 4):
            before, step = value.flat[place], 1e-6
            value.flat[place] = before + step
            above = cross_entropy(made.predict(images), labels, 4)[0]
            value.flat[place] = before - step
            below = cross_entropy(made.predict(images), labels, 4)[0]
            value.flat[place] = before
            assert grads[name].flat[place] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-7), name


@pytest.mark.parametrize("model", ["mlp", "cnn"])
@pytest.mark.parametrize("micro", [1, 4, 7])
def test_micro_batches_add_up_to_the_gradient_of_the_batch(model: str, micro: int) -> None:
    whole, parts = gradients(network(model), 13, 13), gradients(network(model), 13, micro)
    for name, expected in whole.items():
        np.testing.assert_allclose(parts[name], expected, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_recomputing_gives_the_very_same_gradient_with_dropout(model: str) -> None:
    shape = Shape(hidden=6, width=3, depth=2, dropout=0.4)
    kept, again = (gradients(network(model, shape, recompute), 9, 9) for recompute in (False, True))
    for name, expected in kept.items():
        assert np.array_equal(again[name], expected), name


def test_recomputing_and_micro_batches_lower_the_peak_of_the_cnn() -> None:
    def peak_mib(recompute: bool, micro: int) -> float:
        made = network("cnn", Shape(), recompute, np.float32)
        images, labels = batch(64, np.float32)
        tracemalloc.start()
        for start in range(0, 64, micro):
            made.accumulate(images[start : start + micro], labels[start : start + micro], 64, np.random.default_rng(0))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / 2**20

    plain = peak_mib(False, 64)
    assert 60 < plain < 80
    assert peak_mib(True, 64) < 0.4 * plain
    assert peak_mib(False, 32) == pytest.approx(plain / 2, rel=0.05)
