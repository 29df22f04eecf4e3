"""Train a small classifier on the handwritten digits and print its metrics.

Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 to keep a run on one core; NumPy reads them when it is imported.
SIGUSR1 saves a checkpoint after the current step; SIGTERM ends the run with exit code 143.
"""

import argparse
import math
import resource
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from examples.digits import checkpoint
from examples.digits.checkpoint import Checkpoint, Progress
from examples.digits.data import Digits, Part, load
from examples.digits.layers import cross_entropy
from examples.digits.loader import Loader
from examples.digits.models import Network, Shape, build
from examples.digits.optim import OPTIMIZERS, clip_grad_norm
from examples.digits.options import parse

_DTYPES = {"fp32": np.float32, "fp64": np.float64}
_EVALUATION_BATCH = 256


class Trainer:
    """One run: the network, its optimizer, and where it stands."""

    def __init__(self, options: argparse.Namespace, digits: Digits) -> None:
        self.options = options
        self.digits = digits
        self.rng = np.random.default_rng(options.seed)
        shape = Shape(options.hidden, options.dropout, options.width, options.depth)
        dtype = _DTYPES[options.precision]
        self.network: Network = build(options.model, shape, self.rng, dtype, options.grad_checkpoint)
        self.optimizer = OPTIMIZERS[options.optimizer](self.network.params(), options.weight_decay)
        self.progress = Progress()
        self.save_requested = False
        self.started = time.perf_counter()

    def resume(self, path: str) -> None:
        """Goes on from a checkpoint. Raises what `checkpoint.load` and `checkpoint.restore` raise."""
        saved = checkpoint.load(path)
        checkpoint.restore(self.network.params(), saved.params, "params")
        checkpoint.restore(self.optimizer.state, saved.optimizer, "optimizer state")
        self.rng.bit_generator.state = saved.random
        self.progress = saved.progress
        say(resumed=path, epoch=saved.progress.epoch, step=saved.progress.step)

    def save(self) -> None:
        state = self.rng.bit_generator.state
        content = Checkpoint(self.network.params(), self.optimizer.state, state, self.progress)
        say(saved=checkpoint.save(self.options.checkpoint_dir, content))

    def run(self) -> None:
        """Trains to the last epoch, saving after each, and prints the test metrics."""
        o = self.options
        loader = Loader(self.digits.train, o.batch_size, o.augmentation, o.seed, o.workers)
        while self.progress.epoch < min(o.epochs, o.stop_after_epochs or o.epochs):
            self._epoch(loader)
            self.save()
        loss, accuracy = self.evaluate(self.digits.test)
        say(test_loss=loss, test_accuracy=accuracy, peak_memory_mib=peak_memory_mib(), seconds=self._seconds())

    def _epoch(self, loader: Loader) -> None:
        lr = self._lr()
        norm = math.nan
        for images, labels in loader.epoch(self.progress.epoch, self.progress.samples):
            loss, norm = self._step(images, labels, lr)
            self.progress = self.progress.after(len(labels), loss * len(labels))
            if self.progress.step % self.options.log_every == 0:
                say(step=self.progress.step, loss=loss, grad_norm=norm, lr=lr)
            if self.options.fail_on_nan and not math.isfinite(loss):
                raise FloatingPointError(f"loss is {loss} at step {self.progress.step}, lr {lr:g}")
            if self.save_requested:
                self.save_requested = False
                self.save()
        train_loss = self.progress.loss_sum / self.progress.samples
        self.progress = self.progress.next_epoch()
        val_loss, val_accuracy = self.evaluate(self.digits.val)
        say(
            epoch=self.progress.epoch, step=self.progress.step, train_loss=train_loss, val_loss=val_loss,
            val_accuracy=val_accuracy, grad_norm=norm, lr=lr, seconds=self._seconds(),
        )  # fmt: skip

    def _step(self, images: np.ndarray, labels: np.ndarray, lr: float) -> tuple[float, float]:
        """One update from all micro-batches of a batch: its loss and the norm of its gradient before clipping."""
        grads = self.network.grads()
        for gradient in grads.values():
            gradient[...] = 0
        loss = 0.0
        for start in range(0, len(labels), self.options.micro_batch):
            part = slice(start, start + self.options.micro_batch)
            loss += self.network.accumulate(images[part], labels[part], len(labels), self.rng)
        norm = clip_grad_norm(grads, self.options.clip_grad_norm)
        self.optimizer.step(grads, lr)
        return loss, norm

    def evaluate(self, part: Part) -> tuple[float, float]:
        """Mean loss and accuracy, in batches of at most 256 and no larger than the micro-batch."""
        size = min(_EVALUATION_BATCH, self.options.micro_batch)
        loss, right = 0.0, 0
        for start in range(0, len(part), size):
            labels = part.labels[start : start + size]
            logits = self.network.predict(part.images[start : start + size])
            loss += cross_entropy(logits, labels, len(part))[0]
            right += int((logits.argmax(axis=1) == labels).sum())
        return loss, right / len(part)

    def _lr(self) -> float:
        if self.options.schedule == "constant":
            return self.options.lr
        return self.options.lr * (1 + math.cos(math.pi * self.progress.epoch / self.options.epochs)) / 2

    def _seconds(self) -> float:
        return round(time.perf_counter() - self.started, 1)


def say(**values: object) -> None:
    """One line of `name=value` pairs, at once."""
    print(" ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in values.items()), flush=True)


def peak_memory_mib() -> float:
    """The most resident memory so far, in MiB: VmHWM on Linux, where ru_maxrss counts the parent's too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return round(int(line.split()[1]) / 2**10, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)


def main(argv: Sequence[str] | None = None) -> None:
    options = parse(argv)
    trainer = Trainer(options, load(options.data, _DTYPES[options.precision]))
    signal.signal(signal.SIGUSR1, lambda *_: setattr(trainer, "save_requested", True))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    say(
        model=options.model, parameters=sum(p.size for p in trainer.network.params().values()),
        micro_batch=options.micro_batch, accumulation=-(-options.batch_size // options.micro_batch),
        effective_batch=options.batch_size, train_images=len(trainer.digits.train),
    )  # fmt: skip
    if options.resume:
        trainer.resume(options.resume)
    trainer.run()


if __name__ == "__main__":
    main()
