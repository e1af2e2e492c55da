"""Isolations in the TUI: lines that are read or refused, and one that is measured against a real smbd."""

from pathlib import Path

import pytest
from textual.widgets import Input

from app.clients.base import Secrets
from app.errors import UsageError
from app.tui.frame.app import SharebenchApp
from app.tui.frame.base import BaseScreen
from app.tui.frame.context import Context
from app.tui.frame.dialogs import AskDialog, MessageDialog
from app.tui.isolation.fields import read_request, target_of
from app.tui.isolation.run_screen import IsolationRunScreen
from app.tui.isolation.screen import IsolationScreen
from app.tui.widgets.ansi_view import AnsiView
from storage.notebook import Notebook
from storage.records import SeriesStatus
from tests.servers.smbd import Smbd
from tests.tui import measured, settled, text_of

TYPED = {"target": "smb://bench@127.0.0.1:4450/bench", "clients": "4, 1,4", "rounds": "2", "without": "", "expose": ""}


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharebenchApp:
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    monkeypatch.setattr("app.tui.isolation.fields.DEFAULT_SECONDS", 2)
    context = Context(notebook_path=tmp_path / "notebook.db", keys_file=tmp_path / "keys.toml")
    return SharebenchApp(context, first="isolation")


def test_the_lines_are_read():
    request = read_request(TYPED, target_of(TYPED), Secrets())
    assert request.clients == (1, 4)
    assert request.rounds == 2
    assert request.without == ()
    assert not request.expose_tbench
    assert read_request(TYPED | {"expose": "127.0.0.1"}, target_of(TYPED), Secrets()).expose_tbench


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"target": ""}, "which share"),
        ({"target": "ftp://h/x"}, "needs a share"),
        ({"clients": "many"}, "no list of numbers"),
        ({"rounds": "0"}, "not a number of rounds"),
        ({"without": "close"}, "cannot be left out"),
        ({"expose": "elsewhere"}, "the server is 127.0.0.1"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, str], said: str):
    typed = TYPED | wrong
    with pytest.raises(UsageError, match=said):
        read_request(typed, target_of(typed), Secrets())


async def test_from_the_lines_to_the_verdict(app: SharebenchApp, smbd: Smbd):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert shows(app, IsolationScreen)
        await pilot.press("f9")
        assert shows(app, MessageDialog)
        await pilot.press("escape")
        for key, value in {"target": smbd_url(smbd), "clients": "1", "rounds": "1"}.items():
            app.screen.query_one(f"#{key}", Input).value = value
        await pilot.press("f9")
        assert shows(app, AskDialog)
        app.screen.query_one("#answer", Input).value = smbd.password
        await pilot.press("enter")
        await settled(app, pilot)
        assert shows(app, IsolationRunScreen)
        assert quit_question(app)
        await measured(app, pilot)
        await settled(app, pilot)
        assert "Verdict:" in app.screen.query_one("#run-text", AnsiView).text
        assert text_of(app.screen, "#now").strip()
        assert quit_question(app) is None
    with Notebook(app.context.notebook_path) as notebook:
        (head,) = notebook.isolations()
        kept = notebook.remembered("isolation")
    assert head.status is SeriesStatus.COMPLETE
    assert kept is not None
    assert smbd.password not in str(kept)


def shows(app: SharebenchApp, kind: type) -> bool:
    return isinstance(app.screen, kind)


def quit_question(app: SharebenchApp) -> str | None:
    screen = app.screen
    assert isinstance(screen, BaseScreen)
    return screen.quit_question()


def smbd_url(smbd: Smbd) -> str:
    return f"smb://{smbd.user}@127.0.0.1:{smbd.port}/{smbd.share}"
