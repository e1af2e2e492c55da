"""An app that opens in the guide, on an outside that is made up."""

import pytest

from app.clients.base import Secrets
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from tests.tui import SMB, FakeWorld


@pytest.fixture
def world():
    return FakeWorld()


@pytest.fixture
def guide_app(tmp_path, world):
    context = Context(
        notebook_path=tmp_path / "notebook.db",
        keys_file=tmp_path / "keys.toml",
        world=world,
        practice=(SMB,),
        practice_secrets={"smb": Secrets(password="practice")},
    )
    return SharebenchApp(context, first="guide")
