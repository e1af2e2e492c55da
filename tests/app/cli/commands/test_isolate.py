"""The words of ``sharebench isolate``, before anything is measured."""

from pathlib import Path

import pytest

from app.errors import CancelledError
from app.isolation.request import IsolationRequest
from tests.command_line import Inside


def test_a_script_is_found_again_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[IsolationRequest] = []

    def measure(request: IsolationRequest, *_: object) -> None:
        asked.append(request)
        raise CancelledError("cancelled")

    monkeypatch.setattr("app.cli.commands.isolate.record_isolation", measure)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text('Mkdir "/a" NT_STATUS_OK\n')
    inside = Inside(tmp_path / "notebook.db", password="x")
    assert "cancelled" in inside.fails(130, "isolate", "smb://u@127.0.0.1/share", "--script", "short.txt")
    assert [request.script_path for request in asked] == [str(tmp_path / "short.txt")]
