import sys
from pathlib import Path

import pytest

from backends.base import JobSpec, Resources
from backends.errors import JobRejected, ResourcesUnavailable
from backends.jobscript import CLEAN_PATH
from backends.localfit import LocalMachine, read_memory, resolve_command, usable_cpus

PYTHON = Path(sys.executable)


def resolve(*argv: str, code_dir: Path | None = None, python: Path | None = PYTHON) -> tuple[str, ...]:
    return resolve_command(JobSpec("name", argv, code_dir=code_dir and str(code_dir)), python, CLEAN_PATH)


@pytest.mark.parametrize("name", ["python", "python3"])
def test_the_given_python_stands_in(name: str) -> None:
    assert resolve(name, "-m", "python") == (str(PYTHON), "-m", "python")


def test_without_a_python_the_machines_own_is_used() -> None:
    assert resolve("sh", "-c", "x", python=None) == ("sh", "-c", "x")


def test_a_program_on_the_clean_path_or_the_specs_own_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o700)
    assert resolve("sh") == ("sh",)
    spec = JobSpec("name", ("mine",), env={"PATH": str(tmp_path)})
    assert resolve_command(spec, None, CLEAN_PATH) == ("mine",)


def test_a_program_in_the_code_is_found(tmp_path: Path) -> None:
    (tmp_path / "train.sh").write_text("#!/bin/sh\n")
    (tmp_path / "train.sh").chmod(0o700)
    assert resolve("./train.sh", code_dir=tmp_path) == ("./train.sh",)
    assert resolve(str(tmp_path / "train.sh")) == (str(tmp_path / "train.sh"),)


@pytest.mark.parametrize("command", ["surely-not-installed", "/no/such/program", "./missing.sh", "sub/missing"])
def test_a_missing_program_is_rejected_with_a_next_step(tmp_path: Path, command: str) -> None:
    with pytest.raises(JobRejected) as caught:
        resolve(command, code_dir=tmp_path)
    assert command.removeprefix("./") in str(caught.value)
    assert caught.value.next_step


def test_a_program_without_the_execute_bit_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "train.sh").write_text("#!/bin/sh\n")
    with pytest.raises(JobRejected, match="executed") as caught:
        resolve("./train.sh", code_dir=tmp_path)
    assert "chmod +x" in (caught.value.next_step or "")


def test_a_missing_python_or_code_directory_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(JobRejected, match="no program"):
        resolve("python", python=tmp_path / "python")
    with pytest.raises(JobRejected, match="code directory"):
        resolve("sh", code_dir=tmp_path / "nothing")


@pytest.mark.parametrize(
    "resources",
    [
        Resources(cpus=5),
        Resources(memory_bytes=(1 << 30) + 1),
        Resources(gpus=1, gpu_type="no such card"),
        Resources(nodes=2),
    ],
    ids=repr,
)
def test_what_is_more_than_the_machine_is_unavailable(resources: Resources) -> None:
    with pytest.raises(ResourcesUnavailable) as caught:
        LocalMachine("here", cpus=4, memory_bytes=1 << 30).check(JobSpec("name", ("true",), resources))
    assert caught.value.next_step


def test_all_of_the_machine_may_be_asked_for() -> None:
    asked = Resources(cpus=4, memory_bytes=1 << 30)
    LocalMachine("here", cpus=4, memory_bytes=1 << 30).check(JobSpec("name", ("true",), asked))


def test_the_only_node_can_not_be_avoided() -> None:
    machine = LocalMachine("here")
    machine.check(JobSpec("name", ("true",), avoid_hosts=("there",)))
    with pytest.raises(ResourcesUnavailable, match="avoid"):
        machine.check(JobSpec("name", ("true",), avoid_hosts=("here",)))


def test_the_node_tells_what_the_machine_has() -> None:
    node = LocalMachine("here").node()
    assert (node.name, node.reachable, node.cpus) == ("here", True, usable_cpus())
    assert node.memory_total == read_memory()["MemTotal"]
    assert node.memory_free is not None
    assert 0 < node.memory_free <= node.memory_total
