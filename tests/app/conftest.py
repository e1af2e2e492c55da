"""What tests of the program get at once: notebooks of the newest format, and processes that have loaded everything."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache

import pytest
from sqlite_utils import Database

from app import child_process
from storage.base import migrations
from tests import fork_server

_apply = migrations.apply


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
    monkeypatch.setattr(migrations, "apply", _made_at_once)


@pytest.fixture(scope="session")
def forking() -> Iterator[dict[str, fork_server.ForkServer]]:
    """The servers that this process of the tests has, started in its main thread."""
    if not fork_server.possible():
        yield {}
        return
    servers = {fork_server.PLAIN: fork_server.ForkServer(fork_server.PLAIN)}
    yield servers
    for server in servers.values():
        server.close()


@pytest.fixture(autouse=True)
def forked(
    request: pytest.FixtureRequest, forking: dict[str, fork_server.ForkServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading takes a process longer than most tests have it work. What is marked ``alone`` is measured as it is."""
    if not request.node.get_closest_marker("alone"):
        monkeypatch.setattr(fork_server, "servers", forking)
        monkeypatch.setattr(child_process, "subprocess", fork_server.FORKING)


@pytest.fixture
def real_start(forked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started as users start them."""
    monkeypatch.setattr(fork_server, "servers", {})
