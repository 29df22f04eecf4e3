"""Augmentations of training images, drawn anew for each batch."""

import numpy as np

SHIFT_PIXELS = 2
NOISE_DEVIATION = 0.3


def shift(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each image (N, H, W) moved by up to 2 pixels in each direction, filled from its edge."""
    n, height, width = images.shape
    padded = np.pad(images, ((0, 0), (SHIFT_PIXELS, SHIFT_PIXELS), (SHIFT_PIXELS, SHIFT_PIXELS)), mode="edge")
    down, right = rng.integers(0, 2 * SHIFT_PIXELS + 1, size=(2, n))
    rows = down[:, None] + np.arange(height)
    columns = right[:, None] + np.arange(width)
    return padded[np.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]


def noise(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Gaussian noise of deviation 0.3 (the images have deviation 1)."""
    return images + rng.normal(0.0, NOISE_DEVIATION, images.shape).astype(images.dtype)


POLICIES = {"none": (), "shift": (shift,), "noise": (noise,), "A": (shift,), "B": (noise, shift)}


def augment(images: np.ndarray, policy: str, rng: np.random.Generator) -> np.ndarray:
    """The images after every step of the policy; `none` hands back the same array."""
    for step in POLICIES[policy]:
        images = step(images, rng)
    return images
