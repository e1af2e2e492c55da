"""Fixtures for screens: an app at rest, and one that opens in the guide, on an outside that is made up."""

from typing import Any

import pytest
from textual._compositor import Compositor
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.notifications import Notification

from app.clients.base import Secrets
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.dialogs import MessageDialog
from tests.rest import at_rest, paint
from tests.tui import SMB, FakeBackend


@pytest.fixture(autouse=True)
def pilot_waits_for_rest(monkeypatch):
    """The pilot's ``press``, ``click`` and ``pause`` wait until the app is at rest; by itself it asks the processor."""

    async def wait_for_rest(*_seconds: float) -> None:
        await at_rest(active_app.get())

    monkeypatch.setattr("textual.app.wait_for_idle", wait_for_rest)
    monkeypatch.setattr("textual.pilot.wait_for_idle", wait_for_rest)


@pytest.fixture(autouse=True)
def messages_are_read_at_once(monkeypatch):
    """The driver answers a message as soon as it is there, which nobody else does."""
    monkeypatch.setattr(MessageDialog, "UNREAD_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def painted_at_rest(monkeypatch):
    """Of what is painted between two rests nobody reads anything; the last of it is painted by :func:`at_rest`."""

    def put_off(compositor: Compositor, full: bool = False, **how: Any) -> object:
        return paint(compositor, full, **how) if full else None

    monkeypatch.setattr(Compositor, "render_update", put_off)


@pytest.fixture(autouse=True)
def notices_stay(monkeypatch):
    """A notice that goes after five seconds is gone before a busy machine has painted what comes next."""
    monkeypatch.setattr(Notification, "time_left", 600.0)


_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules


def _parsed_once(sheet: Stylesheet, *source: Any, **named: Any) -> list[RuleSet]:
    key = (source, *named.items(), frozenset(sheet._variables.items()))
    if key not in _PARSED:
        _PARSED[key] = _parse_rules(sheet, *source, **named)
    return _PARSED[key]


@pytest.fixture(autouse=True)
def styles_are_parsed_once(monkeypatch):
    """The same style sheets are not parsed anew for the app of each test: a seventh of these tests' time."""
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parsed_once)


@pytest.fixture
def backend():
    return FakeBackend()


@pytest.fixture
def guide_app(tmp_path, backend):
    context = Context(notebook_path=tmp_path / "notebook.db", backend=backend, practice=(SMB,))
    context.logins.keep(SMB, Secrets(password="practice"))
    return SharebenchApp(context, first="guide")
