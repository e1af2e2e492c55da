"""``diagnose --from``: measured on another machine, which a real sshd leads to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.base.own_names import PREFIX
from tests.command_line import ROOT, Inside
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd

pytestmark = pytest.mark.long


def test_it_is_measured_there_and_stored_here(tmp_path: Path, smbd: Smbd, place: Sshd):
    script = place.path / "sharebench"
    script.write_text(f'#!/bin/sh\ncd "{ROOT}"\nexec "{sys.executable}" -m app "$@"\n')
    script.chmod(0o755)
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    url = f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}"
    words = ("--only", "connect,small-files", "--quick", "--yes", "--from", "fileserver")
    document = inside.json("diagnose", url, *words, "--json")
    assert document["status"] == "complete"
    assert document["from_host"] == "fileserver"
    assert document["environment"]["client"]["measured.from"] == "fileserver"
    assert document["loopback"] is True
    assert {stage["name"] for stage in document["stages"]} == {"connect", "small-files"}
    assert not [path for path in smbd.folder.iterdir() if path.name.startswith(PREFIX)]
    assert place.processes() == []

    no_share = inside("diagnose", f"smb://{smbd.user}@{smbd.host}:{smbd.port}/none", *words)
    assert no_share.returncode == 4
    assert "no such share" in no_share.stderr.splitlines()[-1]
    assert "--profile" in inside.fails(2, "diagnose", url, *words, "--profile")
