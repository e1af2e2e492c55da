"""An app that opens in the guide, on an outside that is made up."""

import pytest

from app.clients.base import Secrets
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from tests.tui import SMB, FakeBackend


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
