"""Whatever program of this machine, or ssh, hangs: every command ends, within the limits that SECURITY.md names."""

import subprocess
import sys
import time

import pytest

from app.server.shell import RUN_SECONDS
from storage.records import format_target
from tests.command_line import QUICK, Sharebench

PROGRAMS = (
    "cat", "cp", "curl", "dmidecode", "ethtool", "fc-list", "find", "findmnt", "getent", "head", "iperf3", "ip", "iw",
    "lp", "lpstat", "lpq", "ls", "lsblk", "lspci", "mdadm", "mv", "net", "pdbedit", "ps", "sed", "smartctl",
    "smbclient", "smbcontrol", "smbd", "smbstatus", "ss", "ssh", "ssh-keygen", "stat", "sysctl", "systemctl", "tc",
    "testparm", "uname", "unshare", "zfs", "zpool",
)  # fmt: skip
HANGING = {
    "with a child that holds its output": "sleep 1000 & exec sleep 1000",
}
MOST_CALLS = 5
"""One after the other in a command, each with its own limit."""
SLACK_SECONDS = 400.0
"""For a busy machine."""
WORDS = {
    "check": ("check", "{file}", "--timeout", "3"),
    "run": ("run", "{file}", "--runs", "1", "--warmup", "0", "--timeout", "3", *QUICK),
    "smbclient": ("run", "{file}", "--client", "smbclient", "--runs", "1", "--warmup", "0", "--timeout", "3", *QUICK),
    "iperf3": ("run", "iperf3://127.0.0.1:9", "--size", "1M", "--runs", "1", "--warmup", "0", "--timeout", "3", *QUICK),
    "audit": ("audit", "{file}", "--timeout", "3"),
    "load": (
        "load", "{folder}", "--users", "1", "--duration", "1", "--settle", "0", "--files", "5", "--processes", "1",
    ),
    "workers": (
        "load", "{folder}", "--users", "1", "--duration", "1", "--settle", "0", "--files", "5", "--workers-on", "nas",
    ),
    "load, server by ssh": (
        "load", "{folder}", "--users", "1", "--duration", "1", "--settle", "0", "--files", "5", "--processes", "1",
        "--server-ssh", "nas",
    ),
    "try": ("try", "aio read size=1", "{file}", "--yes", "--server-ssh", "nas"),
    "restore": ("restore", "--server-ssh", "nas"),
    "push": ("push", "nas"),
    "pull": ("pull", "nas"),
    "verify": ("verify", "{evidence}"),
}  # fmt: skip
"""Commands that start programs; isolate, diagnose and an audit by ssh start so many that their limits add up."""


@pytest.fixture
def hanging(tmp_path, monkeypatch):
    """A folder that is searched first, whose programs hang; our own are named by their paths."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(body):
        for name in PROGRAMS:
            program = folder / name
            program.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{body}\n")
            program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin")

    return make


@pytest.mark.long
@pytest.mark.parametrize("how", HANGING)
@pytest.mark.parametrize("kind", WORDS)
def test_every_command_ends_though_every_program_hangs(smbd, tmp_path, hanging, kind, how):
    smbd.make_file("file", bytes(100_000))
    (smbd.folder / "here").mkdir(exist_ok=True)
    smbd.folder.joinpath("here").chmod(0o777)
    evidence = tmp_path / "evidence.json"
    evidence.write_text('{"recordings": []}\n-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n')
    given = {
        "file": format_target(smbd.target("file")), "folder": format_target(smbd.target("here")), "evidence": evidence,
    }  # fmt: skip
    hanging(HANGING[how])
    sharebench = Sharebench(tmp_path / "notebook.db", smbd.password)
    began = time.monotonic()
    process = sharebench.start(*(word.format(**given) for word in WORDS[kind]))
    try:
        _out, error = process.communicate(timeout=MOST_CALLS * RUN_SECONDS + SLACK_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail(f"still running after {time.monotonic() - began:.0f} s")
    sys.stderr.write(f"{kind}: {time.monotonic() - began:.0f} s\n")
    assert "Traceback" not in error
    assert "a fault in sharebench" not in error
    assert max(map(len, error.splitlines()), default=0) < 1500
    assert list(smbd.folder.glob("**/.sharebench-*")) == []
