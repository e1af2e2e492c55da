"""The version of the Samba that is installed, on which depends what its programs know."""

import functools
import re
import subprocess

from tests.servers.process import program, require

MEASURED = (4, 17)
"""The version that the catalogue was measured on: what came later is called newer in it."""


@functools.cache
def _version_of_program(path: str) -> tuple[int, int]:
    printed = subprocess.run([path, "--version"], check=True, capture_output=True, text=True).stdout
    numbers = re.search(r"(\d+)\.(\d+)", printed)
    assert numbers, printed
    return int(numbers[1]), int(numbers[2])


def installed_samba() -> tuple[int, int]:
    """Such as (4, 22). Skips the test where Samba is not installed."""
    require("testparm", root=False)
    return _version_of_program(program("testparm"))


def version_numbers(text: str) -> tuple[int, int]:
    """``4.22`` or ``4.22.1`` as numbers that can be compared."""
    major, minor, *_ = map(int, text.split("."))
    return major, minor
