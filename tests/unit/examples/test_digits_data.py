"""The digits, their augmentations and their batches."""

from pathlib import Path

import numpy as np
import pytest

from examples.digits.augment import POLICIES, SHIFT_PIXELS, augment
from examples.digits.data import load
from examples.digits.loader import Loader
from examples.digits.optim import OPTIMIZERS, clip_grad_norm


def test_the_bundled_digits_are_split_without_overlap_and_standardised() -> None:
    digits = load()
    assert [len(part) for part in (digits.train, digits.val, digits.test)] == [1258, 269, 270]
    assert digits.train.images.shape == (1258, 16, 16)
    assert digits.train.images.dtype == np.float32
    assert abs(float(digits.train.images.mean())) < 1e-5
    assert float(digits.train.images.std()) == pytest.approx(1, abs=1e-4)
    assert all(set(part.labels) == set(range(10)) for part in (digits.train, digits.val, digits.test))
    seen = [image.tobytes() for part in (digits.train, digits.val, digits.test) for image in part.images]
    assert len(set(seen)) == len(seen)


def test_a_file_of_other_images_is_refused_by_its_shape(tmp_path: Path) -> None:
    np.savez(tmp_path / "big.npz", images=np.zeros((4, 28, 28)), labels=np.zeros(4))
    with pytest.raises(ValueError, match=r"\(N, 8, 8\), not \(4, 28, 28\)"):
        load(str(tmp_path / "big.npz"))


def test_a_shift_moves_the_image_by_at_most_two_pixels() -> None:
    images = np.zeros((200, 16, 16), np.float32)
    images[:, 8, 5] = 1
    moved = augment(images, "A", np.random.default_rng(0))
    _, rows, columns = np.nonzero(moved)
    assert len(rows) == 200
    assert set(rows - 8) == set(columns - 5) == set(range(-SHIFT_PIXELS, SHIFT_PIXELS + 1))


def test_policy_b_adds_noise_to_what_policy_a_does() -> None:
    images = load().train.images[:8]
    for policy in POLICIES:
        changed = augment(images, policy, np.random.default_rng(0))
        assert changed.shape == images.shape
        assert changed.dtype == images.dtype
        assert np.array_equal(changed, images) == (policy == "none")
    flat = np.zeros((50, 16, 16), np.float32)
    assert not augment(flat, "A", np.random.default_rng(0)).any()
    assert float(augment(flat, "B", np.random.default_rng(0)).std()) == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_change_no_batch_and_a_restart_in_the_middle_neither(workers: int) -> None:
    part = load().train
    alone = list(Loader(part, 100, "B", seed=5).epoch(2))
    ahead = list(Loader(part, 100, "B", seed=5, workers=workers).epoch(2, start=300))
    assert sum(len(labels) for _, labels in alone) == len(part)
    assert len(ahead) == len(alone) - 3
    for (images, labels), (same_images, same_labels) in zip(alone[3:], ahead, strict=True):
        assert np.array_equal(images, same_images)
        assert np.array_equal(labels, same_labels)


@pytest.mark.parametrize(("name", "lr"), [("sgd", 0.1), ("momentum", 0.02), ("adam", 0.1)])
def test_each_optimizer_finds_the_bottom_of_a_bowl(name: str, lr: float) -> None:
    params = {"w": np.array([3.0, -2.0])}
    optimizer = OPTIMIZERS[name](params)
    for _ in range(300):
        optimizer.step({"w": 2 * (params["w"] - 1)}, lr)
    np.testing.assert_allclose(params["w"], 1.0, atol=1e-2)


def test_weight_decay_pulls_towards_zero_and_clipping_keeps_the_direction() -> None:
    params = {"w": np.array([1.0])}
    OPTIMIZERS["sgd"](params, weight_decay=0.5).step({"w": np.array([0.0])}, 0.1)
    assert params["w"] == pytest.approx(0.95)
    grads = {"a": np.array([3.0]), "b": np.array([4.0])}
    assert clip_grad_norm(grads, 10.0) == pytest.approx(5)
    assert clip_grad_norm(grads, 1.0) == pytest.approx(5)
    assert (float(grads["a"][0]), float(grads["b"][0])) == pytest.approx((0.6, 0.8))
