"""What a test needs of the machine: left out where it is missing, but never in CI."""

import os
import shutil

import pytest


def need_program(name: str, package: str) -> str:
    """The path of a program; the test is skipped without it, and fails when `LABHAND_TEST_ALL` is set."""
    found = shutil.which(name)
    if found is None:
        reason = f"{name} is not installed: apt-get install {package}"
        if os.environ.get("LABHAND_TEST_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found
