"""Without a user: logged in as a guest where the server has one, else anonymously."""

from contextlib import closing
from pathlib import Path

import pytest

from app.base.errors import LoginError
from app.clients.base import Secrets
from app.clients.smb.files import SMBFiles
from storage.plan import Settings
from storage.records import format_target
from tests.app.clients.smb.conftest import MakeClient
from tests.command_line import QUICK, Inside
from tests.servers.smbd import Smbd

NO_GUEST = {"map to guest": "Never"}


def test_nobody_may_make_files_in_a_folder_that_nobody_made(smbd: Smbd):
    with closing(SMBFiles(smbd.target(guest=True), Secrets(), Settings())) as files:
        files.connect()
        files.make_folder("made")
        files.write_file("made/file", memoryview(b"x" * 1000))
        assert (smbd.guest_folder / "made/file").stat().st_size == 1000
        files.remove("made/file")
        files.remove_folder("made")
    assert not (smbd.guest_folder / "made").exists()


@pytest.mark.parametrize("options", [{}, NO_GUEST], ids=["guest", "anonymous"])
def test_shares_are_listed_and_the_session_is_a_guests(smbd_with, make_client: MakeClient, options: dict[str, str]):
    server = smbd_with(options)
    client = make_client(server, guest=True)
    assert server.guest_share in client.shares()
    assert client.facts_of_path()["smb.guest"] == "yes"


def test_a_server_without_a_guest_is_used_anonymously(smbd_with):
    server = smbd_with(NO_GUEST)
    with closing(SMBFiles(server.target(guest=True), Secrets(), Settings())) as files:
        files.connect()
        files.write_file("file", memoryview(b"x" * 1000))
        assert (server.guest_folder / "file").stat().st_size == 1000
        files.remove("file")


def test_a_named_guest_without_an_account_is_refused_and_not_made_anonymous(smbd_with, make_client: MakeClient):
    with pytest.raises(LoginError, match="as guest"):
        make_client(smbd_with(NO_GUEST), guest=True, changes={"user": "guest"}).connect()


@pytest.mark.varied
@pytest.mark.parametrize(
    "words",
    [
        ("run", "--put", "--files", "3", "--runs", "1", "--warmup", "0", *QUICK),
        ("diagnose", "--only", "small-files", "--yes"),
    ],
    ids=["tree", "diagnosis"],
)
def test_commands_need_no_user_on_a_share_for_guests(tmp_path: Path, smbd: Smbd, words: tuple[str, ...]):
    command, *options = words
    done = Inside(tmp_path / "n.db", "")(command, format_target(smbd.target(guest=True)), *options)
    assert done.returncode == 0, done.stderr
    assert list(smbd.guest_folder.glob(".sharebench-*")) == []
