"""kill -9 at twenty random moments of a plan: every run ends, none runs twice."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.integration.bot.toy import environment

KILLS = 20
MESSAGE = "compare red and blue on toy with level 1, 2, 3, 4, 5, 6 and 7, 2 seeds"
RECIPE = """
name: toy
command: python job.py
models: [red, blue]
datasets: [toy]
settings:
  level: {default: 1, low: 1, high: 99, type: int}
  seed: {default: 0, type: int}
metrics:
  - {name: score, pattern: 'score=([0-9.]+)'}
resources: {cpus: 1, hours: 0.001}
env: {LEDGER: LEDGER_PATH}
"""
JOB = """
import argparse, os, time
p = argparse.ArgumentParser()
for name in ("model", "level", "seed"):
    p.add_argument(f"--{name}")
a = p.parse_args()
with open(os.environ["LEDGER"], "a") as ledger:
    ledger.write(os.environ["LABHAND_KEY"] + "\\n")
time.sleep(0.4)
print(f"score={int(a.level) + int(a.seed) / 10}", flush=True)
"""


def ask(home: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bot.cli.main", "ask", "--thread", "t", "--wait", "--yes", "--json", *words]
    return subprocess.Popen(
        command, env=environment(home, LABHAND_CPUS="2"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    path = home / "labhand.db"
    if not path.exists():
        return []
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30) as database:
        try:
            return database.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_runs_twice(tmp_path: Path) -> None:
    home, ledger = tmp_path / "home", tmp_path / "ledger"
    recipe = home / "recipes" / "toy"
    recipe.mkdir(parents=True)
    (recipe / "recipe.yaml").write_text(RECIPE.replace("LEDGER_PATH", str(ledger)))
    (recipe / "job.py").write_text(JOB)
    chance = random.Random(20)
    for kill in range(KILLS + 1):
        started = rows(home, "SELECT id FROM plans WHERE started_at IS NOT NULL")
        process = ask(home, "status" if started else MESSAGE)
        if kill == KILLS:
            _out, err = process.communicate(timeout=240)
            assert process.returncode == 0, err.decode()
            break
        time.sleep(chance.uniform(0.8, 2.6))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    states = Counter(state for (state,) in rows(home, "SELECT state FROM runs WHERE started_at IS NOT NULL"))
    plans = rows(home, "SELECT id FROM plans WHERE started_at IS NOT NULL")
    assert states == {"succeeded": 28 * len(plans)}
    starts = Counter(ledger.read_text().split())
    keys = {key for (key,) in rows(home, "SELECT key FROM attempts")}
    assert set(starts) == keys
    assert max(starts.values()) == 1
    assert len(keys) == 28 * len(plans)
