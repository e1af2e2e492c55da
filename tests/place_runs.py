"""Commands that measure from several machines: begun, watched, and refused a login."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.command_line import Inside, Sharebench
from tests.servers.machines import ssh_to_measure
from tests.servers.smbd import Smbd


def url_of(smbd: Smbd) -> str:
    """Its share, for its user."""
    return f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}"


def from_both(hosts: tuple[str, str]) -> tuple[str, ...]:
    first, second = hosts
    return ("--from", first, "--from", second)


def begun_until(notebook: Path, smbd: Smbd, words: Sequence[str], line_start: str) -> subprocess.Popen[str]:
    """The command, once it has told a line that starts so."""
    command = Sharebench(notebook, smbd.password, {"PATH": os.environ["PATH"]})
    process = command.start(*words)
    assert process.stderr is not None
    for line in process.stderr:
        if line.strip().startswith(line_start):
            break
    return process


def assert_login_is_tried_once(notebook: Path, smbd: Smbd, words: Sequence[str]) -> None:
    """A wrong password is tried from the first machine only: another try may lock the account."""
    done = Inside(notebook, "wrong")(*words)
    assert done.returncode == 4
    refused, spared = json.loads(done.stdout)["places"]
    assert smbd.user in refused["error"]
    assert "the login was refused before" in spared["error"]


def cut_off_amid(
    notebook: Path, smbd: Smbd, words: Sequence[str], line_start: str, host: str, module: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the first machine and ``host`` measured, which is cut off once the command has told a line that starts so.

    ``module`` is the measuring process on ``host``.
    """
    process = begun_until(notebook, smbd, words, line_start)
    ssh_to_measure(process.pid, host, module).send_signal(signal.SIGKILL)
    out, err = process.communicate()
    assert process.returncode == 4
    assert host in err.splitlines()[-1]

    alive, cut_off = json.loads(out)["places"]
    assert (alive["status"], alive["error"]) == ("complete", None)
    assert cut_off["status"] == "failed"
    assert "cut off" in cut_off["error"]
    return alive, cut_off
