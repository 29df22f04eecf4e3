"""The home: its places, its lock, its secret."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.errors import HomeLocked, StoreUnavailable
from lab.home import Home

HOLDER = """
import sys, time
from pathlib import Path
from lab.home import Home
with Home(Path(sys.argv[1])).lock("labhand up"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "deep" / "home")
    home.create()
    return home


def test_its_places_are_made_for_the_owner_alone_and_twice_is_fine(home: Home) -> None:
    home.create()
    places = (home.root, home.jobs, home.images, home.mlflow, home.logs, home.recipes, home.signatures)
    assert {place.stat().st_mode & 0o777 for place in places} == {0o700}
    assert sorted(path.name for path in home.root.iterdir()) == sorted(place.name for place in places[1:])
    assert home.database == home.root / "labhand.db"


@pytest.mark.parametrize("root", ["/proc/nowhere", "/dev/null/home"])
def test_a_place_that_can_not_be_used_says_what_to_do(root: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"can't be used: .*point LABHAND_HOME to another directory"):
        Home(Path(root)).create()


def test_a_second_process_learns_who_holds_it_and_may_have_it_afterwards(home: Home) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(home.root)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(
            HomeLocked, match=rf"^labhand up \(pid {holder.pid} on host .+, since \d{{4}}-.*already holds"
        ):
            with home.lock("labhand ask"):
                pytest.fail("two processes hold one home")
        holder.kill()
    with home.lock("labhand ask"):
        assert f'"pid": {os.getpid()}' in (home.root / "lock").read_text()


def test_a_holder_that_wrote_nothing_yet_is_still_told(home: Home) -> None:
    with home.lock("labhand up"):
        (home.root / "lock").write_text("[1]")
        with pytest.raises(HomeLocked, match="another process"), home.lock("labhand ask"):
            pytest.fail("two holders of one home")


def test_a_lock_that_can_not_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="LABHAND_HOME"), Home(tmp_path / "missing").lock("labhand up"):
        pytest.fail("held what is not there")


def test_the_token_is_one_secret_kept_from_others(home: Home) -> None:
    token = home.read_token()
    assert len(token) >= 32
    assert home.token.stat().st_mode & 0o777 == 0o600
    assert Home(home.root).read_token() == token
    assert [path.name for path in home.root.iterdir() if path.name.startswith(".")] == []


def test_a_token_cut_short_by_a_crash_is_made_anew(home: Home) -> None:
    home.token.write_text("")
    assert len(home.read_token()) >= 32


def test_a_process_that_was_frozen_still_holds_it(home: Home) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(home.root)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.send_signal(19)
        time.sleep(0.1)
        with pytest.raises(HomeLocked), home.lock("labhand ask"):
            pytest.fail("taken from a holder that lives")
        holder.kill()
