"""The words of ``sharebench isolate``, before anything is measured."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import CancelledError
from app.isolation.rounds import IsolationClosed, IsolationOpened
from app.isolation.spec import IsolationRequest
from storage.notebook import Notebook
from storage.records import format_target
from tests.builders import example_isolation
from tests.command_line import Inside
from tests.servers.smbd import Smbd


def test_a_script_is_found_again_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[IsolationRequest] = []

    def measure(request: IsolationRequest, *_: object) -> None:
        asked.append(request)
        raise CancelledError("cancelled")

    monkeypatch.setattr("app.isolation.command.record_isolation", measure)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text('Mkdir "/a" NT_STATUS_OK\n')
    inside = Inside(tmp_path / "notebook.db", password="x")
    assert "cancelled" in inside.fails(130, "isolate", "smb://u@127.0.0.1/share", "--script", "short.txt")
    assert [request.script_path for request in asked] == [str(tmp_path / "short.txt")]
    assert "no operation is called ''" in inside.fails(2, "isolate", "smb://u@127.0.0.1/share", "--without", "")


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (0, "no run left"),
        (10, "10 runs of 5 s and a warm-up each, about 80 s"),
        (67, "67 runs of 5 s and a warm-up each, about 9 min"),
        (1000, "1000 runs of 5 s and a warm-up each, about 9 min"),
    ],
)
def test_it_says_how_long_it_takes_within_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs, said):
    isolation = replace(example_isolation(), seconds=5)
    events = [IsolationOpened(isolation=isolation, runs=runs), IsolationClosed(isolation=isolation)]
    monkeypatch.setattr("app.isolation.command.record_isolation", lambda *_: iter(events))
    told = Inside(tmp_path / "notebook.db", password="x")("isolate", "smb://u@127.0.0.1/share").stderr
    assert f"isolation {isolation.id}: {said}\n" in told


@pytest.mark.long
def test_a_folder_that_is_not_there_is_named_and_leaves_no_isolation(smbd: Smbd, tmp_path: Path):
    smbd.make_file("afile", b"x")
    inside = Inside(tmp_path / "notebook.db", password=smbd.password)
    for name, said in (("nosuch", "nosuch: there is no such folder"), ("afile", "afile is a file; name the folder")):
        assert said in inside.fails(4, "isolate", f"{format_target(smbd.target())}/{name}")
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert notebook.isolations() == []
