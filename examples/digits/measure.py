"""Measure the example under its recipe's memory limit and print the table of README.md.

    python -m examples.digits.measure --limit-mib 768

Each cell is a run of one epoch in a process of its own, held by RLIMIT_DATA (or RLIMIT_AS with `--address-space`).
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product

MODELS = ("mlp", "cnn")
BATCHES = (64, 256, 512, 1024)
WAYS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "grad-checkpoint": ("--grad-checkpoint",),
    "micro-batch 512": ("--micro-batch", "512"),
    "micro-batch 256": ("--micro-batch", "256"),
}
_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def cells() -> list[tuple[str, int, str]]:
    """Model, batch size and way of saving memory; a micro-batch only where it is below the batch size."""
    every = product(MODELS, BATCHES, WAYS)
    return [(m, b, w) for m, b, w in every if not w.startswith("micro") or (b == 1024 and m == "cnn")]


def measure(model: str, batch: int, way: str, epochs: int, limit_mib: int | None, kind: int) -> tuple[float, str, str]:
    """Seconds, and what the run printed on stdout and stderr."""

    def hold() -> None:
        if limit_mib is not None:
            resource.setrlimit(kind, (limit_mib * 2**20,) * 2)

    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "examples.digits.train", "--model", model, "--batch-size", str(batch)]
        argv += ["--epochs", str(epochs), "--checkpoint-dir", folder, *WAYS[way]]
        began = time.perf_counter()
        ended = subprocess.run(argv, capture_output=True, text=True, env=_THREADS, preexec_fn=hold, check=False)  # noqa: S603
        return time.perf_counter() - began, ended.stdout, ended.stderr


def value(name: str, text: str) -> str:
    found = re.findall(rf"\b{name}=(\S+)", text)
    return found[-1] if found else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit-mib", type=int, default=768)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--address-space", action="store_true")
    options = parser.parse_args()
    kind = resource.RLIMIT_AS if options.address_space else resource.RLIMIT_DATA
    print(f"| model | batch | way | seconds | peak MiB | test accuracy | under {options.limit_mib} MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for model, batch, way in cells():
        seconds, out, _ = measure(model, batch, way, options.epochs, None, kind)
        _, _, error = measure(model, batch, way, 1, options.limit_mib, kind)
        verdict = error.splitlines()[-1].split(": ")[-1] if error else "fits"
        peak, accuracy = value("peak_memory_mib", out), value("test_accuracy", out)
        print(f"| {model} | {batch} | {way} | {seconds:.1f} | {peak} | {accuracy} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
