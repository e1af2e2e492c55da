"""The diagnosis on the screen, of a real smbd."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from app.base.errors import UsageError
from app.diagnosis.plan import SIZES, Sizes
from app.diagnosis.screen import DiagnosisScreen
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from forms.diagnosis.report import diagnosis_answer
from storage.looks import Effort, StageName, diagnosis_of
from storage.notebook import Notebook
from storage.records import SeriesStatus, format_target
from tests.servers.smbd import Smbd
from tests.tui import here, measured, painted, press, settled

TYPED = {"target": "nas/data", "only": "", "effort": "usual", "folder": "", "ssh": "", "conf": ""}


def test_the_lines_say_what_is_measured():
    request = DiagnosisScreen.parse(TYPED | {"only": "folders, connect", "folder": "projects", "effort": "thorough"})
    assert (request.stages, request.folder) == ((StageName.CONNECT, StageName.FOLDERS), "projects")
    assert request.effort is Effort.THOROUGH


@pytest.mark.parametrize(
    ("line", "typed", "said"),
    [
        ("target", "", "which share"),
        ("target", "file:///srv", "needs a share"),
        ("only", "conect", "there is no stage 'conect'"),
        ("effort", "huge", "not 'huge'"),
        ("ssh", "root:hunter2@nas", "a password does not belong"),
    ],
)
def test_what_cannot_be_meant_is_told(line: str, typed: str, said: str):
    with pytest.raises(UsageError, match=said) as refused:
        DiagnosisScreen.parse(TYPED | {line: typed})
    assert "hunter2" not in str(refused.value)


async def test_it_asks_measures_and_shows_the_answer(tmp_path: Path, smbd: Smbd, monkeypatch: pytest.MonkeyPatch):
    tiny = Sizes(logins=1, echoes=5, files=4, streams=2, file_bytes=1024, stage_seconds=120.0)
    monkeypatch.setitem(SIZES, Effort.USUAL, tiny)
    monkeypatch.setenv("SHAREBENCH_PASSWORD", smbd.password)
    context = Context(notebook_path=tmp_path / "notebook.db")
    app = SharebenchApp(context, first="diagnosis")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = format_target(smbd.target())
        app.screen.query_one("#only", Input).value = "connect,small-files"
        await press(app, pilot, "f9")
        assert "Creates at most 24 files" in " ".join(painted(app).split())
        await press(app, pilot, "left", "enter")
        await measured(app, pilot)
        with Notebook(tmp_path / "notebook.db") as notebook:
            found = diagnosis_of(notebook.recording("last", "diagnosis"))
        assert found.status is SeriesStatus.COMPLETE
        assert diagnosis_answer(found).text[:60] in painted(app)
        assert "x Export" in painted(app)
        assert here(app).doing == "Stage 2 of 2: many small files; about 2 min left at most"
    assert list(smbd.folder.glob(".sharebench-*")) == []
