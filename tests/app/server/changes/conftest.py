"""A place of its own for each test's undo script: the machine has one, which all that runs on it would share."""

from pathlib import Path

import pytest

from app.server.changes import machine


@pytest.fixture(autouse=True)
def undo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the undo script of what is not Samba's lies in this test."""
    path = tmp_path / "var" / "sharebench-undo.sh"
    monkeypatch.setattr(machine, "UNDO", str(path))
    return path
