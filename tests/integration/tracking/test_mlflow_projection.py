"""The tracking against MLflow itself: its default local store, and a real tracking server on loopback."""

import math
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lab.tracking import MetricRow, PlanView, RunView, Tracker, TrackerUnavailable, local_tracker
from lab.tracking.client import open_client
from lab.tracking.limits import NAME_LIMIT, safe_name

pytestmark = pytest.mark.slow
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
PICTURE = b"\x89PNG\r\n\x1a\n not a real one"


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home") / "mlflow"


@pytest.fixture(scope="session")
def local(store: Path) -> Tracker:
    return local_tracker(store, "this-lab")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("server")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    argv = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    argv += [
        "--backend-store-uri",
        f"sqlite:///{place / 'served.db'}",
        "--artifacts-destination",
        str(place / "served"),
    ]
    environment = {
        **os.environ,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    }
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            argv, cwd=place, env=environment, stdout=log, stderr=log, start_new_session=True
        )  # fmt: skip
        try:
            yield _answering(f"http://127.0.0.1:{port}", process, place / "log")
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _answering(uri: str, process: "subprocess.Popen[bytes]", log: Path) -> str:
    for _ in range(300):
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            with urllib.request.urlopen(f"{uri}/health", timeout=2) as answer:  # noqa: S310 - our own server
                if answer.status == 200:
                    return uri
        except (urllib.error.URLError, OSError):
            time.sleep(0.4)
    raise AssertionError(log.read_text(errors="replace"))


@pytest.fixture(params=["local", "server"])
def tracker(request: pytest.FixtureRequest) -> Tracker:
    if request.param == "local":
        return request.getfixturevalue("local")
    return Tracker(request.getfixturevalue("server"), lab="this-lab")


_numbers = iter(range(1, 1000))


def a_run(run_id: int, **changed: Any) -> RunView:
    rows = tuple(MetricRow("accuracy", step, 0.5 + step / 100, START + timedelta(seconds=step)) for step in (1, 2, 3))
    run = RunView(
        run_id, f"cnn {run_id}", {"model": "cnn", "lr": 0.01, "batch_size": 64}, "succeeded", START, certain=True,
        attempts=1, started_at=START, ended_at=START + timedelta(minutes=3), host="node1", metrics=rows,
        log_tail="the end",
    )  # fmt: skip
    return replace(run, **changed)


def a_plan(*runs: RunView, **changed: Any) -> PlanView:
    number = next(_numbers)
    plan = PlanView(number, "vision", f"Goal {number}", "ada", "active", START, runs, recipe="digits")
    return replace(plan, **changed)


def at(tracker: Tracker, mlflow_id: str | None) -> Any:
    return open_client(tracker.tracking_uri).get_run(mlflow_id)


def all_runs(tracker: Tracker, experiment: str) -> list[Any]:
    return list(open_client(tracker.tracking_uri).search_runs([experiment], run_view_type=3))


def test_what_was_logged_comes_back(tracker: Tracker, tmp_path: Path) -> None:
    picture = tmp_path / "matrix.png"
    picture.write_bytes(PICTURE)
    run = a_run(1, commit="c0ffee", diagnosis="gpu-oom-capacity", used={"model": "cnn", "lr": 0.01, "batch_size": 32})
    plan = a_plan(run, state="done", ended_at=START + timedelta(hours=1), files=(picture,), note="cnn wins")
    tracked = tracker.sync(plan)

    child = at(tracker, tracked.runs[1])
    assert child.info.status == "FINISHED"
    assert child.info.start_time == int(START.timestamp() * 1000)
    assert child.info.end_time == int((START + timedelta(minutes=3)).timestamp() * 1000)
    assert child.data.params == {"model": "cnn", "lr": "0.01", "batch_size": "32"}
    tags = child.data.tags
    assert tags["mlflow.parentRunId"] == tracked.plan
    assert (tags["mlflow.runName"], tags["mlflow.user"], tags["mlflow.source.git.commit"]) == ("cnn 1", "ada", "c0ffee")
    assert (tags["labhand.plan"], tags["labhand.run"]) == (str(plan.plan_id), "1")
    assert (tags["labhand.state"], tags["labhand.attempts"], tags["labhand.host"]) == ("succeeded", "1", "node1")
    assert tags["labhand.changed"] == '{"batch_size": [64, 32]}'
    assert "batch_size: 64 → 32" in tags["mlflow.note.content"]

    client = open_client(tracker.tracking_uri)
    history = client.get_metric_history(tracked.runs[1], "accuracy")
    read = [(point.step, point.value, point.timestamp) for point in history]
    assert read == [(row.step, row.value, int(row.at.timestamp() * 1000)) for row in run.metrics]
    logged = client.download_artifacts(tracked.runs[1], "log/attempt-1.txt", str(tmp_path))
    assert Path(logged).read_text() == "the end"

    parent = at(tracker, tracked.plan)
    assert (parent.info.status, parent.data.tags["mlflow.note.content"]) == ("FINISHED", "cnn wins")
    shown = client.download_artifacts(tracked.plan, "results/matrix.png", str(tmp_path))
    assert Path(shown).read_bytes() == PICTURE


def test_a_plan_is_followed_from_its_queue_to_its_end(tracker: Tracker) -> None:
    waiting = a_run(
        1, state="queued", certain=False, metrics=(), started_at=None, ended_at=None, log_tail=None, attempts=0
    )
    plan = a_plan(waiting)
    first = tracker.sync(plan)
    assert at(tracker, first.runs[1]).info.status == "SCHEDULED"
    assert at(tracker, first.plan).info.status == "RUNNING"

    oom = replace(waiting, state="failed", attempts=1, reason="out of memory", ended_at=START + timedelta(minutes=1))
    steps = [
        (replace(waiting, state="running", attempts=1, started_at=START), "RUNNING"),
        (replace(waiting, state="preempted", attempts=1), "SCHEDULED"),
        (oom, "FAILED"),
        (replace(waiting, state="running", attempts=2), "RUNNING"),
        (a_run(1, attempts=2, used={"model": "cnn", "lr": 0.01, "batch_size": 16}), "FINISHED"),
    ]
    for run, status in steps:
        assert tracker.sync(replace(plan, runs=(run,))) == first
        child = at(tracker, first.runs[1])
        assert child.info.status == status
        assert child.data.tags["labhand.state"] == run.state
        assert (child.data.params != {}) == run.certain
    assert child.data.params["batch_size"] == "16"
    assert "out of memory" not in child.data.tags["mlflow.note.content"]


@pytest.mark.parametrize(
    ("state", "status"), [("cancelled", "KILLED"), ("lost", "FAILED"), ("denied", "KILLED"), ("expired", "KILLED")]
)
def test_the_end_is_told_truthfully(local: Tracker, state: str, status: str) -> None:
    tracked = local.sync(a_plan(a_run(1, state=state)))
    assert at(local, tracked.runs[1]).info.status == status


def test_a_plan_without_a_success_failed(local: Tracker) -> None:
    tracked = local.sync(a_plan(a_run(1, state="failed"), state="done"))
    assert at(local, tracked.plan).info.status == "FAILED"


def test_syncing_again_changes_nothing(tracker: Tracker) -> None:
    plan = a_plan(a_run(1), a_run(2))
    first = tracker.sync(plan)
    before = [run.to_dictionary() for run in all_runs(tracker, first.experiment_id)]
    assert tracker.sync(plan) == first
    assert [run.to_dictionary() for run in all_runs(tracker, first.experiment_id)] == before


def test_after_a_crash_it_goes_on_without_a_second_run(tracker: Tracker) -> None:
    plan = a_plan(a_run(1), a_run(2))
    first = tracker.sync(plan)
    client = open_client(tracker.tracking_uri)
    for mlflow_id in (first.runs[1], first.plan):
        client.delete_tag(mlflow_id, "labhand.synced")
    again = Tracker(tracker.tracking_uri, lab="this-lab").sync(plan)
    assert again == first
    mine = [run for run in all_runs(tracker, first.experiment_id) if run.data.tags["labhand.plan"] == str(plan.plan_id)]
    assert len(mine) == 3
    assert len(client.get_metric_history(first.runs[1], "accuracy")) == 3


def test_two_labs_on_one_server_stay_apart(local: Tracker, store: Path) -> None:
    plan = a_plan(a_run(1))
    ours, theirs = local.sync(plan), local_tracker(store, "another-lab").sync(plan)
    assert ours.experiment_id == theirs.experiment_id
    assert set(ours.runs.values()).isdisjoint(theirs.runs.values())


def test_a_run_that_a_person_deleted_stays_deleted(local: Tracker) -> None:
    plan = a_plan(a_run(1))
    first = local.sync(plan)
    open_client(local.tracking_uri).delete_run(first.runs[1])
    assert local.sync(replace(plan, runs=(a_run(1, host="node2"),))) == first
    assert at(local, first.runs[1]).info.lifecycle_stage == "deleted"


def test_settings_that_change_after_all_become_tags(local: Tracker) -> None:
    plan = a_plan(a_run(1))
    first = local.sync(plan)
    local.sync(replace(plan, runs=(a_run(1, used={"lr": 0.5, "model": "cnn", "batch_size": 64}),)))
    child = at(local, first.runs[1])
    assert (child.data.params["lr"], child.data.tags["labhand.setting.lr"]) == ("0.01", "0.5")


def test_the_limits_are_kept(tracker: Tracker) -> None:
    settings = {f"setting_{at}": at for at in range(230)} | {"x" * 400: "long", "odd€name*": "y" * 9_000}
    rows = tuple(MetricRow("loss", step, 1 / (step + 1), START + timedelta(seconds=step)) for step in range(2_500))
    special = (MetricRow("nan", 1, None, START, "nan"), MetricRow("inf", 1, None, START, "inf"))
    run = a_run(1, settings=settings, metrics=(*rows, *special), diagnosis="z" * 20_000, name="n" * 300)
    tracked = tracker.sync(a_plan(run))
    child = at(tracker, tracked.runs[1])
    assert len(child.data.params) == len(settings)
    assert len(child.data.params["odd_name_"]) == 6_000
    assert len(child.data.tags["labhand.diagnosis"]) == 8_000
    assert math.isnan(child.data.metrics["nan"])
    assert child.data.metrics["inf"] > 1e308
    history = open_client(tracker.tracking_uri).get_metric_history(tracked.runs[1], "loss")
    assert [point.value for point in history] == [row.value for row in rows]


def test_a_page_of_many_runs_is_found_again(local: Tracker) -> None:
    runs = tuple(a_run(n, metrics=(), log_tail=None, settings={}) for n in range(1, 13))
    plan = a_plan(*runs)
    began = time.perf_counter()
    first = local.sync(plan)
    took = time.perf_counter() - began
    assert local.sync(plan) == first
    assert len(set(first.runs.values())) == 12
    assert took < 30


def test_the_local_store_keeps_to_its_directory(local: Tracker, store: Path) -> None:
    local.sync(a_plan(a_run(1), project="a/b: c"))
    assert {path.name for path in store.iterdir()} <= {"mlflow.db", "mlflow.db-wal", "mlflow.db-shm", "artifacts"}
    assert not Path("mlruns").exists()
    assert not Path("mlflow.db").exists()


def test_a_deleted_experiment_is_told_with_the_way_back(local: Tracker) -> None:
    tracked = local.sync(a_plan(project="thrown away"))
    open_client(local.tracking_uri).delete_experiment(tracked.experiment_id)
    with pytest.raises(TrackerUnavailable, match=f"--experiment-id {tracked.experiment_id}"):
        local.sync(a_plan(project="thrown away"))


def test_a_server_that_is_down_is_told_at_once() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    tracker = Tracker(f"http://somebody:secret@127.0.0.1:{port}")
    began = time.monotonic()
    with pytest.raises(TrackerUnavailable, match="sync") as caught:
        tracker.sync(a_plan())
    assert time.monotonic() - began < 20
    assert "secret" not in str(caught.value)


def test_a_server_that_does_not_answer_is_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.tracking.client.HTTP_SECONDS", 1)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with pytest.raises(TrackerUnavailable):
            Tracker(f"http://127.0.0.1:{listener.getsockname()[1]}").sync(a_plan())


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TrackerUnavailable, match="permissions"):
        local_tracker(tmp_path / "file" / "mlflow")


@pytest.mark.parametrize(
    ("name", "safe"),
    [("lr", "lr"), ("a/../b", "a/b"), ("/x", "x"), ("模型", "模型"), ("a=b", "a_b"), ("", "_"), ("..", "_")],
)
def test_names_are_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe
    assert len(safe_name(name * 300)) <= NAME_LIMIT
