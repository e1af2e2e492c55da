"""``quick --from``: measured on another machine, which a real sshd leads to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.app.quick.leftovers import left_on
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
    words = ("--size", "64M", "--seconds", "0.05", "--from", "fileserver")
    document = inside.json("quick", url, *words, "--json")
    assert document["status"] == "complete"
    assert document["environment"]["client"]["measured.from"] == "fileserver"
    assert document["loopback"] is True
    assert len(document["lines"]) == 8
    assert left_on(smbd) == []
    assert place.processes() == []
