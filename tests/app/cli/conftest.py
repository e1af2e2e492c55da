"""The command with a notebook of its own, in a process of its own or inside the test's."""

from pathlib import Path

import pytest

from tests.command_line import Inside, Sharebench
from tests.servers.smbd import Smbd


@pytest.fixture
def sharebench(tmp_path: Path) -> Sharebench:
    """With the password that the tests' servers take in its environment."""
    return Sharebench(tmp_path / "notebook.db", Smbd.password)


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    return Inside(tmp_path / "notebook.db", Smbd.password)
