"""An app that opens in the guide, on an outside that is made up."""

import pytest
from textual._context import active_app

from app.clients.base import Secrets
from app.tui.frame.app import SharebenchApp
from app.tui.frame.base import Context
from tests.rest import at_rest
from tests.tui import SMB, FakeBackend


@pytest.fixture(autouse=True)
def pilot_waits_for_rest(monkeypatch):
    """The pilot's ``press``, ``click`` and ``pause`` wait until the app is at rest; by itself it asks the processor."""

    async def wait_for_rest(*_seconds: float) -> None:
        await at_rest(active_app.get())

    monkeypatch.setattr("textual.app.wait_for_idle", wait_for_rest)
    monkeypatch.setattr("textual.pilot.wait_for_idle", wait_for_rest)


@pytest.fixture
def backend():
    return FakeBackend()


@pytest.fixture
def guide_app(tmp_path, backend):
    context = Context(
        notebook_path=tmp_path / "notebook.db",
        keys_file=tmp_path / "keys.toml",
        backend=backend,
        practice=(SMB,),
        practice_secrets={"smb": Secrets(password="practice")},
    )
    return SharebenchApp(context, first="guide")
