"""The audit on the screen, of a real smbd."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from app.audit.screen import AuditScreen
from app.base.errors import UsageError
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from storage.notebook import Notebook
from storage.records import format_target
from tests.tui import measured, painted, press, settled, text_of


def test_a_missing_target_is_asked_for():
    with pytest.raises(UsageError, match="which server"):
        AuditScreen.parse({"target": "", "ssh": "", "conf": ""})


def test_a_password_in_the_name_for_ssh_is_refused_and_not_repeated():
    with pytest.raises(UsageError, match="a password does not belong") as refused:
        AuditScreen.parse({"target": "nas/data", "ssh": "root:hunter2@nas", "conf": ""})
    assert "hunter2" not in str(refused.value)


@pytest.mark.long
async def test_what_is_harmful_comes_first_and_the_edits_are_shown(tmp_path: Path, make_smbd, monkeypatch):
    smbd = make_smbd(share_options={"strict sync": "no"})
    monkeypatch.setenv("SHAREBENCH_PASSWORD", smbd.password)
    context = Context(notebook_path=tmp_path / "notebook.db")
    app = SharebenchApp(context, first="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#target", Input).value = format_target(smbd.target())
        await press(app, pilot, "f9")
        await measured(app, pilot)
        assert "✗ 1 harmful" in painted(app)
        assert "strict sync = no" in painted(app)
        assert "t Try" in painted(app)
        await press(app, pilot, "f")
        assert "strict sync = no" in text_of(app.screen, ".dialog-text")
        for width in (80, 200):
            await pilot.resize_terminal(width, 24)
            await settled(app, pilot)
            assert app.screen.query_one(".dialog-box").region.width >= 0.95 * width
        await pilot.resize_terminal(80, 24)
        await press(app, pilot, "escape", "escape")
        smbd.conf.write_text(smbd.conf.read_text().replace(f"smb ports = {smbd.port}", "smb ports = 445"))
        await press(app, pilot, "f9")
        await measured(app, pilot)
        assert "he server's settings were not read." in painted(app)
        assert "Fix" not in painted(app), "there is no edit to show"
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert notebook.recording("last", "audit").kind == "audit"


@pytest.mark.long
async def test_a_refused_login_leaves_the_settings_read_and_is_asked_for_again(tmp_path: Path, smbd):
    app = SharebenchApp(Context(notebook_path=tmp_path / "notebook.db"), first="audit")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        target = format_target(smbd.target())
        app.screen.query_one("#target", Input).value = target
        for password, said in (
            ("wrong", "SMB password for"),
            (smbd.password, f"the password of bench on 127.0.0.1:{smbd.port} was refused"),
        ):
            await press(app, pilot, "f9")
            assert said in text_of(app.screen, ".dialog-text")
            app.screen.query_one("#answer", Input).value = password
            await press(app, pilot, "enter")
            await measured(app, pilot)
            assert ("✓ No problems found." in painted(app)) is (password != "wrong")
            assert ("Not found out: no session:" in painted(app)) is (password == "wrong")
            assert painted(app).count(target) == 2, "in the title, and beside what it is"
            await press(app, pilot, "escape")


async def test_from_a_request_the_audit_begins_with_the_file(tmp_path: Path):
    context = Context(notebook_path=tmp_path / "notebook.db")
    context.typed["audit"] = {"target": "smb://alice@nas/photos", "ssh": "nas", "conf": ""}
    app = SharebenchApp(context, first="request", text="Please run this.")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f7")
        await settled(app, pilot)
        assert isinstance(app.screen, AuditScreen)
        assert app.screen.focused is app.screen.query_one("#conf", Input)
        assert app.screen.query_one("#target", Input).value == ""

        await press(app, pilot, "escape", "escape")
        app.visit("audit")
        await settled(app, pilot)
        assert app.screen.query_one("#target", Input).value == "smb://alice@nas/photos", "nothing typed is lost"
        assert app.screen.focused is app.screen.query_one("#target", Input)
