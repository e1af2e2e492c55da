"""``load --like``: each user speaks SMB as that client, as it crosses the wire to a real smbd."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from app.clients.smb import wire
from storage.notebook import Notebook
from storage.records import format_target
from tests.app.clients.smb import proxy
from tests.app.clients.smb.proxy import Proxy
from tests.command_line import Inside
from tests.servers.smbd import Smbd

USERS = 3
SHORT = ("--users", str(USERS), "--files", "20", "--settle", "0.2", "--duration", "1", "--processes", "1")


class Passage:
    """Counts the logins that pass, and notes whether each request about a file is signed or part of a compound."""

    def __init__(self) -> None:
        self.tree_connects = 0
        self.are_signed: set[bool] = set()
        self.are_in_compounds: set[bool] = set()

    def __call__(self, message: bytearray) -> list[bytearray]:
        command = proxy.command(message)
        flags, next_offset = struct.unpack_from("<II", message, 16)
        if command == wire.Opcode.TREE_CONNECT:
            self.tree_connects += 1
        if command == wire.Opcode.CREATE:
            self.are_signed.add(bool(flags & proxy.SIGNED))
            self.are_in_compounds.add(next_offset != 0)
        return [message]


def load_through(smbd: Smbd, sharebench: Inside, *options: str) -> tuple[Any, Passage]:
    folder = smbd.folder / "users"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    passage = Passage()
    with Proxy(smbd.host, smbd.port, requests=passage) as between:
        url = format_target(smbd.target()).replace(f":{smbd.port}", f":{between.port}")
        document = sharebench.json("load", f"{url}/users", *SHORT, "--think", "0.02", "--json", *options)
    return document, passage


@pytest.fixture
def sharebench(tmp_path: Path, smbd: Smbd) -> Inside:
    return Inside(tmp_path / "notebook.db", password=smbd.password)


@pytest.mark.long
@pytest.mark.varied(like=1)
@pytest.mark.parametrize(
    ("like", "is_signed", "has_compounds"),
    [(None, False, True), ("windows-11-24h2", True, False), ("windows-10", False, False)],
)
def test_each_user_signs_and_asks_as_that_client(smbd, sharebench, like, is_signed, has_compounds):
    options = () if like is None else ("--like", like)
    document, passage = load_through(smbd, sharebench, *options)

    assert document["points"][0]["errors"] == {}
    assert document["choices"]["like"] == like
    assert document["choices"]["single_requests"] is not has_compounds
    assert passage.tree_connects > USERS, "one for the files, and each user's own"
    assert passage.are_signed == {is_signed}
    assert has_compounds in passage.are_in_compounds


@pytest.mark.long
def test_the_form_and_the_notebook_name_the_client(smbd, sharebench, tmp_path):
    load_through(smbd, sharebench, "--like", "windows-11-24h2")
    assert "Windows 11 24H2" in sharebench("show", "last").stdout
    with Notebook(tmp_path / "notebook.db") as notebook:
        load = notebook.load("last")
    assert load.choices.like == "windows-11-24h2"


@pytest.mark.parametrize(("option", "value"), [("--like", ("windows-10",)), ("--sign", ()), ("--encrypt", ())])
def test_what_belongs_to_smb_is_refused_elsewhere(sharebench, option, value):
    assert "smb://" in sharebench.fails(2, "load", "ftp://nas/folder", "--users", "1", option, *value)
