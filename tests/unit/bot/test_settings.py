"""Reading the environment."""

from pathlib import Path

import pytest

from bot.settings import SettingsError, load_settings


def test_nothing_needs_to_be_set() -> None:
    settings = load_settings({})
    assert settings.home == Path.home() / ".labhand"
    assert settings.model is None


def test_values_are_read_and_typed() -> None:
    settings = load_settings(
        {"LABHAND_HOME": "/data/lab", "LABHAND_CPUS": "3", "LABHAND_RECIPES": "/a:/b", "LABHAND_WEB_PORT": "0"}
    )
    assert (settings.home, settings.cpus, settings.web_port) == (Path("/data/lab"), 3, 0)
    assert settings.recipes == (Path("/a"), Path("/b"))


def test_an_empty_limit_switches_it_off() -> None:
    assert load_settings({"LABHAND_APPROVAL_GPU_HOURS": ""}).approval_gpu_hours is None


def test_an_empty_other_setting_is_as_good_as_unset() -> None:
    assert load_settings({"LABHAND_HOME": "", "LABHAND_CPUS": " "}).cpus is None


@pytest.mark.parametrize(
    ("name", "value"), [("LABHAND_CPUS", "many"), ("LABHAND_CPUS", "0"), ("LABHAND_WEB_PORT", "99999")]
)
def test_a_bad_value_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}='{value}'"):
        load_settings({name: value})


def test_a_typing_error_in_a_name_is_noticed() -> None:
    with pytest.raises(SettingsError, match=r"LABHAND_HOMER .*SETTINGS\.md"):
        load_settings({"LABHAND_HOMER": "/x"})


def test_what_a_job_is_given_is_no_error() -> None:
    load_settings({"LABHAND_ATTEMPT_DIR": "/x", "LABHAND_KEY": "r1-a1"})
