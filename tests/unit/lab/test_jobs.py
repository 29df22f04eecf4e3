"""From a run to the job of one attempt."""

import json
from typing import Any

import pytest

from backends.base import JobHandle, Resources
from lab.jobs import (
    code_dir,
    effective_resources,
    effective_settings,
    handle_from_json,
    handle_to_json,
    job_spec,
    request,
    spec_from_json,
    spec_to_json,
)
from lab.planning.goal import Design, Limits, Needs
from lab.recipe.files import recipe_from
from lab.recipe.model import Recipe


def recipe(source: str = "/lab/toy/recipe.yaml", **parts: Any) -> Recipe:
    return recipe_from(
        {
            "name": "toy",
            "command": "python t.py",
            "settings": {"lr": {"default": 0.1}},
            "knobs": {"micro_batch": "--micro"},
            "resources": {"gpus": 1, "memory": "1GiB", "time_limit_hours": 2},
            "env": {"A": "1", "B": "1"},
            **parts,
        },
        source,
    )


def test_a_person_goes_before_the_recipe() -> None:
    asked = Design(factors={}, resources=Needs(gpus=0, cpus=3), limits=Limits(hours_per_run=0.5))
    assert request(recipe(), asked) == Resources(gpus=0, cpus=3, memory_bytes=1 << 30, time_limit_s=1800)
    assert request(recipe(), Design(factors={})).time_limit_s == 7200
    assert request(recipe(), Design(factors={}, limits=Limits(hours_per_run=1e-6))).time_limit_s == 1


def test_remedies_lie_on_top_of_the_run() -> None:
    remedies = {"settings": {"micro_batch": 8}, "resources": {"memory_bytes": 5}, "env": {"B": "2"}}
    remedies["avoid_hosts"] = ["n1"]  # type: ignore[assignment]
    found = job_spec(recipe(), "a b/ü", {"lr": 0.1}, {"memory_bytes": 1, "gpus": 2}, remedies)
    assert found.argv == ("python", "t.py", "--lr=0.1", "--micro=8")
    assert found.resources == Resources(gpus=2, memory_bytes=5)
    assert found.env == {"A": "1", "B": "2"}
    assert (found.avoid_hosts, found.name, found.own_names) == (("n1",), "a-b-", ())
    assert effective_settings({"lr": 1}, {}) == {"lr": 1}
    assert effective_resources({"cpus": 2}, {}) == Resources(cpus=2)


def test_checkpoints_name_the_jobs_own_directory_and_signal() -> None:
    found = job_spec(recipe(checkpoints={"dir": "./out/ck", "signal": "sigterm"}), "j", {}, {}, {})
    assert (found.own_names, found.checkpoint_signal) == (("out",), "TERM")
    assert job_spec(recipe(), "j", {}, {}, {}).checkpoint_signal == "USR1"


@pytest.mark.parametrize(
    ("source", "code", "found"),
    [
        ("/lab/toy/recipe.yaml", None, "/lab/toy"),
        ("/lab/toy/recipe.yaml", {"dir": "../src"}, "/lab/src"),
        ("", None, None),
    ],
)
def test_code_lies_beside_the_recipe(source: str, code: dict[str, str] | None, found: str | None) -> None:
    assert code_dir(recipe(source, code=code)) == found


def test_a_job_and_its_handle_survive_json() -> None:
    spec = job_spec(recipe(), "j", {"lr": 1e-05}, {"gpus": 1}, {})
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec
    handle = JobHandle(backend="b", key="k", ref="1", directory="/w")
    assert handle_from_json(json.loads(json.dumps(handle_to_json(handle)))) == handle
