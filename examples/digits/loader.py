"""Batches of one epoch, prepared in order by the caller or ahead of it by worker threads.

Order and augmentation depend only on (seed, epoch, position), so a resumed epoch sees the same batches.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from examples.digits.augment import augment
from examples.digits.data import Part


@dataclass(frozen=True)
class Loader:
    """Shuffled batches of `part`. `workers` is the number of threads that prepare batches ahead; 0 is none."""

    part: Part
    batch_size: int
    augmentation: str = "none"
    seed: int = 0
    workers: int = 0

    def epoch(self, epoch: int, start: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Batches (images (B, H, W), labels (B,)) of an epoch from sample number `start` on; the last may be short."""
        order = np.random.default_rng((self.seed, epoch)).permutation(len(self.part))
        positions = range(start, len(order), self.batch_size)
        if self.workers == 0:
            for position in positions:
                yield self._batch(order, epoch, position)
            return
        with ThreadPoolExecutor(self.workers) as pool:
            ahead: deque = deque()
            for position in positions:
                ahead.append(pool.submit(self._batch, order, epoch, position))
                if len(ahead) > self.workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()

    def _batch(self, order: np.ndarray, epoch: int, position: int) -> tuple[np.ndarray, np.ndarray]:
        rows = order[position : position + self.batch_size]
        rng = np.random.default_rng((self.seed, epoch, position))
        return augment(self.part.images[rows], self.augmentation, rng), self.part.labels[rows]
