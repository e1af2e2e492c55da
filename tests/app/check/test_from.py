"""``check --from``: checked by another machine, which a real sshd leads to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.base.own_names import PREFIX
from tests.command_line import Inside
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd

pytestmark = pytest.mark.long


def test_a_machine_that_does_not_answer_is_named_and_the_others_check(tmp_path: Path, smbd: Smbd, place: Sshd):
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    url = f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}"
    hosts = ("--from", "nohost.invalid", "--from", "fileserver")
    done = inside("check", "--put", url, *hosts, "--json")
    assert done.returncode == 4
    checked = [(line["from"], line["name"], line["state"]) for line in json.loads(done.stdout)]
    assert checked[0] == ("nohost.invalid", "from", "failed")
    by_place = {name: state for host, name, state in checked[1:] if host == "fileserver"}
    assert len(by_place) == len(checked) - 1
    assert {by_place[name] for name in ("from", "reach", "log in", "share", "folder", "server", "link")} == {"fine"}
    assert "quiet time" in by_place
    assert by_place["ceiling"] == "fine"
    assert not [path for path in smbd.folder.iterdir() if path.name.startswith(PREFIX)]
    assert place.processes() == []


def test_what_fails_there_fails_as_here(tmp_path: Path, smbd: Smbd, place: Sshd):
    inside = Inside(tmp_path / "notebook.db", "wrong")
    done = inside("check", f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}", "--from", "fileserver")
    assert done.returncode == 4
    assert "log in" in done.stdout
    assert "Traceback" not in done.stderr
