"""The guide against a real smbd and vsftpd: from a typed target to a filled form, and a server killed mid-run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from app.backend import Backend
from app.guide.browse_screen import BrowseScreen
from app.guide.screen import GuideScreen
from app.method.choices import MethodStep
from app.recording.process import RunFinished, SeriesControl
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from storage.notebook import Notebook
from storage.records import Command, SeriesStatus, format_target
from tests.tui import measured, painted, press, settled, text_of

MIB = 1024 * 1024

DO_NOT_LOOK = ("down", "down", "down", "enter")
"""At the quiet time: a busy machine would have the test wait for minutes."""


def app_for(tmp_path: Path, backend: Backend | None = None) -> SharebenchApp:
    context = Context(notebook_path=tmp_path / "notebook.db", backend=backend or Backend())
    return SharebenchApp(context, first="guide")


async def log_in(app: SharebenchApp, pilot: Any, url: str, *passwords: str) -> None:
    """Type the target, then each password."""
    await settled(app, pilot)
    await press(app, pilot, "enter")
    app.screen.query_one(Input).value = url
    await press(app, pilot, "enter")
    for password in passwords:
        app.screen.query_one(Input).value = password
        await press(app, pilot, "enter")


def step_of(app: SharebenchApp) -> MethodStep:
    screen = app.screen
    assert isinstance(screen, GuideScreen)
    return screen.session.choices.step


async def test_from_a_wrong_password_to_a_filled_form(smbd, tmp_path, monkeypatch):
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    (smbd.folder / "guide [1]").mkdir()
    smbd.make_file("guide [1]/a%20b.bin", b"x" * 3 * MIB)
    app = app_for(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        url = format_target(smbd.target("guide [1]"))
        await log_in(app, pilot, url, "wrong")
        assert "Type the password again" in text_of(app.screen, ".dialog-text")
        app.screen.query_one(Input).value = smbd.password
        await press(app, pilot, "enter")
        assert isinstance(app.screen, BrowseScreen)
        assert "a%20b.bin" in painted(app)
        await press(app, pilot, "enter")
        assert step_of(app) is MethodStep.FILE
        await press(app, pilot, "enter", *DO_NOT_LOOK, "down", "down", "enter")
        assert step_of(app) is MethodStep.RUN
        await press(app, pilot, "enter")
        await measured(app, pilot)
        assert "Complete: 3 runs" in painted(app)
        assert "3,145,728" in painted(app)
        await press(app, pilot, "enter")
        assert step_of(app) is MethodStep.REVIEW
    with Notebook(tmp_path / "notebook.db") as notebook:
        series = notebook.series("last")
    assert (series.status, len(series.measured()), series.client.dialect) == (SeriesStatus.COMPLETE, 3, "3.1.1")
    assert series.target.path == "guide [1]/a%20b.bin"


@pytest.mark.long
async def test_a_server_killed_mid_series_is_named_and_its_runs_stay(make_smbd, tmp_path, monkeypatch):
    server = make_smbd()
    monkeypatch.setenv("SHAREBENCH_PASSWORD", server.password)
    server.make_file("big.bin", b"x" * 512 * MIB)

    class Killing(Backend):
        """Kills the server when the first run has ended."""

        def record(
            self, request: SeriesRequest, notebook_path: Path, control: SeriesControl
        ) -> Iterator[RecorderEvent]:
            for event in super().record(request, notebook_path, control):
                yield event
                if isinstance(event, RunFinished):
                    server.kill()

    app = app_for(tmp_path, Killing())
    async with app.run_test(size=(120, 40)) as pilot:
        await log_in(app, pilot, format_target(server.target("big.bin")))
        await press(app, pilot, "enter", *DO_NOT_LOOK, "down", "enter", "enter")
        await measured(app, pilot)
        assert "The series ended early" in text_of(app.screen, ".dialog-heading")
        assert "127.0.0.1" in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "enter", "enter")
        assert "The series failed" in painted(app)
    with Notebook(tmp_path / "notebook.db") as notebook:
        series = notebook.series("last")
    assert series.status is SeriesStatus.FAILED
    kept = [run for run in series.runs if run.seconds]
    assert 1 <= len(kept) < 7


async def test_ftp_is_browsed_and_put_to(vsftpd, tmp_path, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", vsftpd.password)
    app = app_for(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await log_in(app, pilot, format_target(vsftpd.target("/")))
        await press(app, pilot, "home", "enter", "down", "down", "down", "enter")
        app.screen.query_one(Input).value = "2M"
        await press(app, pilot, "enter", *DO_NOT_LOOK, "down", "down", "enter", "enter")
        await measured(app, pilot)
        assert "Complete: 3 runs" in painted(app)
    with Notebook(tmp_path / "notebook.db") as notebook:
        series = notebook.series("last")
    assert (series.command, series.target.protocol, series.scratch_path) == (Command.PUT, "ftp", None)
    assert [entry.name for entry in vsftpd.folder.rglob(".sharebench-*")] == []
