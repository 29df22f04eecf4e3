"""Running the training script as a process of its own, as a lab would."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_ENV = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}


def start(cwd: Path, *arguments: str, data_limit: int | None = None) -> subprocess.Popen[str]:
    """The script in `cwd`, its data segment held to `data_limit` bytes."""

    def hold() -> None:
        if data_limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (data_limit, data_limit))

    return subprocess.Popen(
        [sys.executable, "-m", "examples.digits.train", *arguments],
        cwd=cwd,
        env=_ENV,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hold,
    )


def run(cwd: Path, *arguments: str, data_limit: int | None = None) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    process = start(cwd, *arguments, data_limit=data_limit)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def values(name: str, text: str) -> list[float]:
    """Every value printed as `name=value`, in order."""
    return [float(found) for found in re.findall(rf"\b{name}=(\S+)", text)]
