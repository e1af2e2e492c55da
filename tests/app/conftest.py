"""What tests of the program get at once: notebooks of the newest format, and processes that have loaded everything."""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from sqlite_utils import Database

from app.recording import ceiling
from app.server import probe
from storage.migrations import migrations
from tests.command_line import Inside, Sharebench
from tests.screens import (
    backend,
    guide_app,
    messages_are_read_at_once,
    notices_stay,
    painted_at_rest,
    pilot_waits_for_rest,
    styles_are_parsed_once,
)
from tests.servers.asked_once import AskedOnce
from tests.servers.smbd import Smbd

__all__ = [
    "backend",
    "guide_app",
    "messages_are_read_at_once",
    "notices_stay",
    "painted_at_rest",
    "pilot_waits_for_rest",
    "styles_are_parsed_once",
]

_apply = migrations().apply
_calibrate = ceiling._calibrate
_ask_server = probe.ask_server
_asked_once = AskedOnce(_ask_server)


@cache
def _statements() -> list[str]:
    """What makes an empty database what the migrations make of it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        _apply(Database(made))
        return [each for each in made.iterdump() if each not in {"BEGIN TRANSACTION;", "COMMIT;"}]


def _made_at_once(db: Database) -> None:
    if db.table_names():
        _apply(db)
        return
    for statement in _statements():
        db.conn.execute(statement)


@pytest.fixture(autouse=True)
def new_notebooks_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new one takes a twentieth of a second by the migrations, and nearly every test makes one."""
    monkeypatch.setattr(migrations(), "apply", _made_at_once)


@pytest.fixture(autouse=True)
def processes_are_forked(forked: None) -> None:
    """Loading takes a process longer than most tests have it work."""


@pytest.fixture(autouse=True)
def ceilings_are_known(known_ceiling: None) -> None:
    """Not the subject of most tests that measure; beside others, each would be calibrated twice."""


@pytest.fixture
def real_ceiling(ceilings_are_known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own limit is calibrated, as for users."""
    monkeypatch.setattr(ceiling, "_calibrate", _calibrate)


@pytest.fixture(autouse=True)
def servers_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server says of itself is not the subject of most tests that measure one."""
    monkeypatch.setattr(probe, "ask_server", _asked_once)


@pytest.fixture
def sharebench(tmp_path: Path) -> Sharebench:
    """With the password that the tests' servers take in its environment."""
    return Sharebench(tmp_path / "notebook.db", Smbd.password)


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    return Inside(tmp_path / "notebook.db", Smbd.password)
