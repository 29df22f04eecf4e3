"""The command line as a person runs it, process by process."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.integration.bot.toy import environment, home_with_toy, json_of, labhand

ASK = "compare red and blue on toys with level 1 and 2"
pytestmark = pytest.mark.slow


def test_help_imports_nothing_that_is_slow() -> None:
    code = (
        "import sys\nfrom bot.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('pydantic', 'sqlmodel', 'rich', 'numpy', 'litellm', 'mlflow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_ask_wait_holds_the_whole_story(tmp_path: Path) -> None:
    home = home_with_toy(tmp_path)
    told = json_of(home, "ask", ASK, "--yes", "--wait")
    assert [run["state"] for run in told["runs"]] == ["succeeded"] * 4
    assert {run["attempts"] for run in told["runs"]} == {1}
    assert told["runs"][3]["metrics"] == {"score": 2.0}
    assert told["replies"][-1]["kind"] == "matrix"
    assert Path(told["images"][0]).read_bytes().startswith(b"\x89PNG")
    rows = json_of(home, "runs")
    assert [row["id"] for row in rows] == [1, 2, 3, 4]
    assert "score=1" in "\n".join(json_of(home, "logs", "1")["lines"])
    assert json_of(home, "show", "1")["attempt_rows"][0]["state"] == "succeeded"
    assert json_of(home, "audit", "verify")["ok"] is True
    assert json_of(home, "queue") == []
    assert json_of(home, "nodes")[0]["reachable"] is True
    follow_up = json_of(home, "ask", "which model won?", "--thread", told["thread"])
    assert follow_up["replies"][-1]["kind"] == "matrix"


def test_without_yes_nothing_starts(tmp_path: Path) -> None:
    home = home_with_toy(tmp_path)
    told = json_of(home, "ask", ASK)
    assert told["plan"]["state"] == "draft"
    assert {run["state"] for run in told["runs"]} == {"draft"}


@contextlib.contextmanager
def running(home: Path) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bot.cli.main", "up"]
    process = subprocess.Popen(
        command, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert "Labhand is up" in process.stdout.readline()
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def test_beside_a_running_labhand_the_words_go_through_it_and_a_second_one_is_refused(tmp_path: Path) -> None:
    home = home_with_toy(tmp_path)
    with running(home) as process:
        second = labhand(home, "up")
        assert second.returncode == 1
        assert f"labhand up (pid {process.pid}" in second.stderr
        assert second.stderr.count("\n") == 1
        told = json_of(home, "ask", ASK, "--yes", "--wait")
        assert {run["state"] for run in told["runs"]} == {"succeeded"}


def test_a_home_that_can_not_be_used_is_one_clear_line() -> None:
    done = labhand(Path("/proc/nowhere"), "runs")
    assert done.returncode == 1
    assert re.fullmatch(r"labhand: The home /proc/nowhere can't be used: .* LABHAND_HOME .*\n", done.stderr)


def test_a_full_disk_is_one_clear_line_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = [shutil.which("mount") or "mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.fail("this test mounts a small file system: run it as root") if os.getuid() == 0 else pytest.skip(
            "not root"
        )
    try:
        home = home_with_toy(disk)
        assert json_of(home, "ask", ASK)["plan"]["state"] == "draft"
        filler = disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"x" * 4096)
        done = labhand(home, "ask", "queue")
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "disk" in done.stderr or "space" in done.stderr
        filler.unlink()
        assert len(json_of(home, "runs")) == 4
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_broken_recipe_is_told_and_hides_no_other(tmp_path: Path) -> None:
    home = home_with_toy(tmp_path)
    broken = home / "recipes" / "broken"
    broken.mkdir()
    (broken / "recipe.yaml").write_text("name: x\ncomand: python x.py\n")
    done = labhand(home, "recipe", str(broken / "recipe.yaml"))
    assert done.returncode == 1
    assert str(broken / "recipe.yaml") in done.stderr
    listed = labhand(home, "recipe")
    assert "toy" in listed.stdout
    assert "broken" in listed.stdout
    assert json_of(home, "ask", ASK)["plan"]["recipe"] == "toy"


def test_a_missing_interpreter_is_told_before_anything_runs(tmp_path: Path) -> None:
    home = home_with_toy(tmp_path)
    told = json_of(home, "ask", ASK, "--yes", LABHAND_PYTHON="/nowhere/python")
    assert told["runs"] == []
    assert "/nowhere/python" in json.dumps(told["replies"])


def test_a_setting_misspelt_is_told(tmp_path: Path) -> None:
    done = labhand(tmp_path, "runs", LABHAND_WEBPORT="1")
    assert done.returncode == 1
    assert "LABHAND_WEBPORT is no setting" in done.stderr


def test_parse_and_plan_print_one_object(tmp_path: Path) -> None:
    home = home_with_toy(tmp_path)
    assert json_of(home, "parse", "cancel run 9 please") == {"tool": "cancel_run", "arguments": {"run": 9}}
    plan = json_of(home, "plan", ASK)
    assert (plan["recipe"], plan["n_runs"]) == ("toy", 4)
    assert plan["candidates"][0]["n_runs"] == 4
    outside = json_of(home, "plan", "compare CLIP and BLIP on MSCOCO")
    assert outside["recipe"] is None
    assert "toy" in outside["questions"][0]


def test_diagnose_needs_no_home(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        "Traceback (most recent call last):\n  File 'x.py', line 3\nModuleNotFoundError: No module named 'einops'\n"
    )
    told = json_of(tmp_path / "nothing", "diagnose", str(log), "--exit-code", "1")
    assert told["category"] == "missing-dependency"
    assert told["evidence"]["line"] == 3
    assert not (tmp_path / "nothing").exists()


def test_doctor_says_that_all_is_well(tmp_path: Path) -> None:
    told = json_of(home_with_toy(tmp_path), "doctor")
    assert told["grade"] == "ok"
    assert {"database", "audit", "recipes", "local"} <= {check["name"] for check in told["checks"]}


def test_two_at_once_on_one_home_each_see_their_own(tmp_path: Path) -> None:
    home = home_with_toy(tmp_path)
    command = [sys.executable, "-m", "bot.cli.main", "ask", "--yes", "--wait", "--json"]
    words = ("compare red and blue on toys", "run red on toys with level 3 and 4 and 5")
    both = [
        subprocess.Popen(
            [*command, text], env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for text in words
    ]
    told = [json.loads(process.communicate(timeout=200)[0]) for process in both]
    assert [len(one["runs"]) for one in told] == [2, 3]
    assert {run["state"] for one in told for run in one["runs"]} == {"succeeded"}
    assert [one["replies"][-1]["kind"] for one in told] == ["matrix", "matrix"]
