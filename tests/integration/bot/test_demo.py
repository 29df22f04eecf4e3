"""`labhand demo`, for real: real processes, real memory faults, real repairs, and MLflow with the same numbers."""

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.bot.toy import environment

_READ_MLFLOW = """
import json, sys
import mlflow
client = mlflow.MlflowClient(sys.argv[1])
ids = [e.experiment_id for e in client.search_experiments()]
runs = client.search_runs(ids, max_results=500)
print(json.dumps([{"tags": r.data.tags, "metrics": r.data.metrics, "params": r.data.params, "status": r.info.status}
                  for r in runs]))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_demo_ends_well_and_mlflow_says_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bot.cli.main", "demo"]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    said = " ".join(done.stdout.split())
    assert "24 of 24 runs ran through" in said
    assert "effective batch unchanged" in said
    home = next((tmp_path / "demo").iterdir())
    with sqlite3.connect(home / "labhand.db") as database:
        rows = database.execute("SELECT id, settings, remedies, results, retries FROM runs").fetchall()
        causes = [
            json.loads(text)["category"]
            for (text,) in database.execute("SELECT diagnosis FROM attempts WHERE diagnosis IS NOT NULL")
            if text != "null"
        ]
    assert causes.count("host-oom") >= 2
    assert (home / "images" / "plan-1-accuracy.png").read_bytes().startswith(b"\x89PNG")
    repaired = [json.loads(remedies)["settings"] for _id, _s, remedies, _r, retries in rows if retries]
    assert len(repaired) >= 2
    assert all(changed.keys() <= {"micro_batch", "gradient_checkpointing"} for changed in repaired)
    _mlflow_agrees(home, {run_id: json.loads(results)["metrics"] for run_id, _s, _m, results, _n in rows})


def _mlflow_agrees(home: Path, metrics: dict[int, dict[str, float]]) -> None:
    uri = f"sqlite:///{home / 'mlflow' / 'mlflow.db'}"
    read = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _READ_MLFLOW, uri],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    told = json.loads(re.search(r"^\[.*\]$", read.stdout, re.MULTILINE)[0])  # type: ignore[index]
    children = {int(run["tags"]["labhand.run"]): run for run in told if "labhand.run" in run["tags"]}
    assert children.keys() == metrics.keys()
    for run_id, values in metrics.items():
        assert children[run_id]["status"] == "FINISHED"
        assert children[run_id]["metrics"]["accuracy"] == pytest.approx(values["accuracy"])
    parents = [run for run in told if "labhand.plan" in run["tags"] and "labhand.run" not in run["tags"]]
    assert [run["status"] for run in parents] == ["FINISHED"]
