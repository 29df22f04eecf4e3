"""Many workers at one queue, as threads and as processes."""

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab import audit
from lab.states import RunState
from lab.store import Store
from tests.support.labrows import claim, make_plan, runs_in

RUNS = 200


@pytest.mark.slow
def test_threads_claim_each_run_once(store: Store) -> None:
    make_plan(store, RUNS)

    def work(owner: str) -> list[int]:
        mine: list[int] = []
        while (found := claim(store, owner)) is not None:
            mine.append(found.run_id)
        return mine

    with ThreadPoolExecutor(8) as pool:
        claimed = [run_id for mine in pool.map(work, "abcdefgh") for run_id in mine]
    assert sorted(claimed) == [run.id for run in runs_in(store)]


@pytest.mark.slow
def test_processes_claim_each_run_once_and_the_chain_holds(store: Store) -> None:
    make_plan(store, RUNS)
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.claimer", store.url, owner],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for owner in ("one", "two")
    ]
    assert [worker.stdout.readline() for worker in workers if worker.stdout] == ["ready\n", "ready\n"]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    keys = [worker.communicate()[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert all(keys)
    assert Counter(key.split("-")[0] for mine in keys for key in mine) == {f"r{run.id}": 1 for run in runs_in(store)}
    assert {run.state for run in runs_in(store)} == {RunState.RUNNING}
    with store.read() as tx:
        assert audit.verify(tx).first_broken is None
