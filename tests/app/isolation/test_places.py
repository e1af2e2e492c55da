"""Where the layers can be measured, and what is said of those that cannot."""

import contextlib
import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.isolation import places
from app.isolation.places import find_places
from app.isolation.record import record_isolation, restored_isolations
from app.isolation.restoration import restore_server
from app.isolation.rounds import IsolationClosed, IsolationEvent
from app.isolation.script import load_script
from app.isolation.spec import IsolationRequest
from app.recording.process import SeriesControl
from app.server.facts import Environment
from app.server.shell import ServerShell
from storage.isolation import Isolation, LeftBehind
from storage.notebook import Notebook
from storage.records import Target

SHARE = Target(protocol="smb", host="fileserver", share="public", path="deep")


def found(monkeypatch: pytest.MonkeyPatch, server: dict[str, Any], **options: Any) -> places.Places:
    monkeypatch.setattr("app.isolation.places.facts.collect", lambda *_args, **_more: Environment(server=server))
    request = IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script(), **options)
    return find_places(request)


def test_a_server_that_nobody_can_look_into_leaves_the_server_layer(monkeypatch):
    where = found(monkeypatch, {})
    assert where.shell is None
    assert (where.disk, where.network, where.smbd) == (None, False, None)
    assert where.problems == (
        (
            "disk, network and profile not measured: the way to fileserver by ssh is not known; name it, such as "
            "root@fileserver"
        ),
    )


def shell_with(monkeypatch: pytest.MonkeyPatch, programs: set[str], folder: Path) -> None:
    """The server's shell is this machine's, with these programs alone."""
    monkeypatch.setattr(ServerShell, "has", lambda _shell, name: name in programs or name == "apt-get")
    monkeypatch.setattr(ServerShell, "words", lambda _shell, command, *_options: ["sh", "-c", command])
    assert folder.is_dir()


def test_tbench_is_exposed_only_where_it_is_named(monkeypatch, tmp_path: Path):
    shell_with(monkeypatch, {"dbench", "tbench", "tbench_srv", "setpriv"}, tmp_path)
    (tmp_path / "deep").mkdir()
    server = {"smb.conf/share/path": str(tmp_path)}
    where = found(monkeypatch, server, server_ssh="root@fileserver")
    assert not where.network
    assert any("naming fileserver once more" in problem for problem in where.problems)
    assert found(monkeypatch, server, server_ssh="root@fileserver", expose_tbench=True).network
    assert where.disk
    assert where.disk.folder.startswith(f"{tmp_path}/deep/.sharebench-isolate-")


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, tmp_path: Path):
    shell_with(monkeypatch, set(), tmp_path)
    (tmp_path / "deep").mkdir()
    where = found(monkeypatch, {"smb.conf/share/path": str(tmp_path)}, server_ssh="root@fileserver")
    said = " ".join(where.problems)
    assert "dbench is not installed: `apt-get install dbench` on root@fileserver" in said
    assert "tbench is not installed: `apt-get install dbench` on this machine" in said


@pytest.mark.parametrize("path", ["/srv/%U", ""])
def test_a_folder_that_depends_on_the_user_is_not_measured(monkeypatch, tmp_path: Path, path: str):
    shell_with(monkeypatch, {"dbench"}, tmp_path)
    where = found(monkeypatch, {"smb.conf/share/path": path}, server_ssh="root@fileserver")
    assert where.disk is None
    assert any(problem.startswith("disk not measured") for problem in where.problems)


def test_what_is_no_share_is_refused():
    request = IsolationRequest(
        target=Target(protocol="ftp", host="h"), secrets=Secrets(), whole_script=load_script()
    )  # fmt: skip
    with pytest.raises(UsageError, match="needs a share"):
        find_places(request)


def test_nothing_is_put_back_that_a_notebook_of_somebody_else_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "n.db"
    folder = tmp_path / ".sharebench-isolate-0123abcd"
    isolation = Isolation(
        id="a", created_at="2026-01-31T10:00:00.000Z", target=SHARE, script="office", clients=(1,), rounds=1,
        left_behind=LeftBehind(server_folders=(str(folder),)),
    )  # fmt: skip
    with Notebook(path) as notebook:
        notebook.add_isolation(isolation)
    folder.mkdir()

    def nothing_measured(*_: object) -> Generator[IsolationEvent, None, IsolationClosed]:
        yield from ()
        return IsolationClosed(isolation=isolation)

    monkeypatch.setattr("app.isolation.record.rounds.measure", nothing_measured)
    request = IsolationRequest(target=SHARE, secrets=Secrets(), whole_script=load_script())
    for own in (False, True):
        monkeypatch.setattr("app.isolation.record.is_own_file", lambda _path, own=own: own)
        list(record_isolation(request, path, SeriesControl()))
        assert folder.exists() is not own


def test_no_folder_of_another_name_is_removed(tmp_path: Path):
    folder = tmp_path / ".sharebench-isolate-mine"
    folder.mkdir()
    restore_server(LeftBehind(server_folders=(str(folder),)))
    assert folder.exists()


LEFT = Isolation(
    id="a", created_at="2026-01-31T10:00:00.000Z", target=SHARE, script="office", clients=(1,), rounds=1,
    left_behind=LeftBehind(share_folder="deep\\.sharebench-isolate-0123"),
)  # fmt: skip


def test_a_folder_on_a_share_that_a_kill_left_is_told_once(tmp_path: Path):
    with Notebook(tmp_path / "n.db") as notebook:
        notebook.add_isolation(LEFT)
        (said,) = restored_isolations(notebook)
        assert not list(restored_isolations(notebook))
    assert "may still be on the share smb://fileserver/public/deep: delete it there" in said
    assert "as it was" not in said


def test_what_was_restored_is_noted_once_the_notebook_is_free_again(tmp_path: Path):
    path = tmp_path / "n.db"
    with Notebook(path) as notebook, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        notebook.add_isolation(LEFT)
        other.execute("BEGIN IMMEDIATE")
        said = restored_isolations(notebook)
        assert "held by another program" in next(said)
        assert "may still be on the share" in next(said)
        other.rollback()
        assert "nothing was lost" in next(said)
        assert notebook.isolations()[0].left_behind.nothing
        assert not list(said)
