import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import JobSpec, Resources
from backends.errors import JobRejected
from backends.jobscript import base_environment, render_job_script

SHELLS = [shell for shell in (["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]
TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=30)
FIXED_PART = "# The fixed part"


def render(spec: JobSpec) -> str:
    return render_job_script(spec, spec.argv)


def run_start(shell: list[str], spec: JobSpec) -> bytes:
    """Execute the `start` function of a rendered script alone."""
    head = render(spec).split(FIXED_PART)[0]
    text = f"dir=/nowhere key=key reset=\n{head}\nstart\n"
    done = subprocess.run([*shell, "-s"], input=text.encode(), capture_output=True, timeout=20, check=False)
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@settings(max_examples=60, deadline=None)
@given(words=st.lists(TEXT, max_size=5), value=TEXT)
def test_any_argument_and_variable_arrives_unchanged(shell: list[str], words: list[str], value: str) -> None:
    told = run_start(shell, JobSpec("name", ("printf", "%s\\0", *words), env={"VALUE": value}))
    assert told == b"".join(word.encode() + b"\0" for word in words or [""])
    assert f"VALUE={value}".encode() in run_start(shell, JobSpec("name", ("env", "-0"), env={"VALUE": value})).split(
        b"\0"
    )


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_a_command_with_an_equals_sign_is_no_variable(shell: list[str], tmp_path: Path) -> None:
    program = tmp_path / "a=b"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    program.chmod(0o700)
    assert run_start(shell, JobSpec("name", (str(program), "x y", ""))) == b"x y||"


@given(name=st.text(max_size=40))
def test_a_name_stays_within_its_comment(name: str) -> None:
    lines = render(JobSpec(name, ("true",))).splitlines()
    assert lines[1].startswith("# ")
    assert lines[2] == "code=''"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
@settings(max_examples=25, deadline=None)
@given(own=TEXT.filter(lambda text: text.strip("./") and "/" not in text and ".." not in text), other=TEXT)
def test_own_names_are_literal(shell: list[str], own: str, other: str) -> None:
    head = render(JobSpec("name", ("true",), own_names=(own,))).split(FIXED_PART)[0]
    asked = head + 'for name; do if is_own "$name"; then printf 1; else printf 0; fi; done\n'
    done = subprocess.run(
        [*shell, "-c", asked, "sh", own, other, own + "x"], capture_output=True, timeout=20, check=True
    )
    assert done.stdout == (b"110" if other == own else b"101" if other == own + "x" else b"100")


def test_only_the_first_part_of_an_own_name_is_kept_from_the_links() -> None:
    assert "case $1 in outputs) return 0" in render(JobSpec("name", ("true",), own_names=("outputs/checkpoints",)))


def test_limits_are_rendered_in_kib_and_seconds() -> None:
    script = render(JobSpec("name", ("true",), Resources(memory_bytes=1 << 30, time_limit_s=60)))
    assert "\nmemory_kib=1048576\ntime_limit_s=60\n" in script
    assert "\nmemory_kib=\ntime_limit_s=\n" in render(JobSpec("name", ("true",)))


def test_the_environment_is_the_specs_over_a_clean_base() -> None:
    spec = JobSpec("name", ("true",), Resources(cpus=3), {"LANG": "de_DE.UTF-8", "OMP_NUM_THREADS": "1"})
    environment = base_environment(spec)
    assert environment["LANG"] == "de_DE.UTF-8"
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["CUDA_VISIBLE_DEVICES"] == ""
    assert base_environment(JobSpec("name", ("true",), Resources(cpus=3, gpus=1)))["OMP_NUM_THREADS"] == "3"
    assert "CUDA_VISIBLE_DEVICES" not in base_environment(JobSpec("name", ("true",), Resources(gpus=1)))


@pytest.mark.parametrize("name", ["LABHAND_KEY", "LABHAND_ATTEMPT_DIR"])
def test_the_jobs_own_marks_can_not_be_set(name: str) -> None:
    told = run_start(SHELLS[0], JobSpec("name", ("env",), env={name: "forged"}))
    assert {b"LABHAND_KEY=key", b"LABHAND_ATTEMPT_DIR=/nowhere"} <= set(told.splitlines())
    assert b"forged" not in told


@pytest.mark.parametrize("name", ["HOME", "TMPDIR"])
def test_the_jobs_home_can_be_set(name: str) -> None:
    told = run_start(SHELLS[0], JobSpec("name", ("env",), env={name: "/given"}))
    assert [line for line in told.splitlines() if line.startswith(name.encode())] == [f"{name}=/given".encode()]


@pytest.mark.parametrize(
    "spec",
    [
        JobSpec("name", ()),
        JobSpec("name", ("",)),
        JobSpec("name", ("true", "\0")),
        JobSpec("name", ("true", "\ud800")),
        JobSpec("name", ("true",), env={"1A": ""}),
        JobSpec("name", ("true",), env={"A=B": ""}),
        JobSpec("name", ("true",), env={"A": "\0"}),
        JobSpec("name", ("true",), own_names=("/abs",)),
        JobSpec("name", ("true",), own_names=("a/../..",)),
        JobSpec("name", ("true",), own_names=("",)),
        JobSpec("name", ("true",), Resources(memory_bytes=0)),
        JobSpec("name", ("true",), Resources(time_limit_s=-1)),
        JobSpec("name", ("true",), Resources(cpus=0)),
        JobSpec("name", ("true",), Resources(gpus=-1)),
        JobSpec("name", ("true",), checkpoint_signal="SIGUSR1"),
    ],
    ids=repr,
)
def test_what_can_not_be_written_down_is_rejected(spec: JobSpec) -> None:
    with pytest.raises(JobRejected) as caught:
        render(spec)
    assert caught.value.next_step
