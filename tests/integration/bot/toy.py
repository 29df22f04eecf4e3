"""A recipe that takes a moment, and the command line as a person runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RECIPE = """
name: toy
command: python job.py
models: [red, blue]
datasets: [toys]
settings:
  level: {default: 1, low: 1, high: 99, type: int}
  seed: {default: 0, type: int}
metrics:
  - {name: score, pattern: 'score=([0-9.]+)'}
resources: {cpus: 1, hours: 0.001}
"""
JOB = """
import argparse, sys
p = argparse.ArgumentParser()
for name in ("model", "level", "seed"):
    p.add_argument(f"--{name}")
a = p.parse_args()
print(f"score={int(a.level) + int(a.seed or 0) / 10}", flush=True)
"""


def home_with_toy(root: Path, job: str = JOB) -> Path:
    """A home whose recipe directory holds the toy."""
    place = root / "home" / "recipes" / "toy"
    place.mkdir(parents=True)
    (place / "recipe.yaml").write_text(RECIPE)
    (place / "job.py").write_text(job)
    return root / "home"


def environment(home: Path, **more: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LABHAND_")}
    return {**clean, "LABHAND_HOME": str(home), "LABHAND_TICK_SECONDS": "0.1", "LABHAND_WEB_PORT": "0", **more}


def labhand(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    command = [sys.executable, "-m", "bot.cli.main", *words]
    return subprocess.run(
        command, env=environment(home, **more), capture_output=True, text=True, timeout=120, check=False
    )


def json_of(home: Path, *words: str, **more: str) -> Any:
    """What a command prints with `--json`: exactly one value."""
    done = labhand(home, *words, "--json", **more)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)
