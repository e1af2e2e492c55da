"""What the audit says that another parameter switches off does nothing on a real smbd, by its own counters."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from forms.audit.audited_server import AuditedServer
from forms.audit.judge import judge
from forms.tuning.conf_file import read_conf
from tests.servers.process import require
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

FILE_BYTES = 8 << 20
"""One read and one write of smbclient, the largest that SMB has."""


def calls(smbd: Smbd, name: str) -> int:
    """How often smbd made that system call."""
    answer = subprocess.run(
        [smbd.program("smbstatus"), "-P", "-s", str(smbd.conf)], capture_output=True, text=True, check=True
    )
    counters = dict(line.split(":", 1) for line in answer.stdout.splitlines() if ":" in line)
    return int(counters.get(f"syscall_{name}_count", "0"))


def move_file(smbd: Smbd, folder: Path) -> None:
    """Write a file to the share and read it again."""
    source = folder / "source"
    source.write_bytes(b"\0" * FILE_BYTES)
    subprocess.run(
        [
            smbd.program("smbclient"), f"//127.0.0.1/{smbd.share}", "-p", str(smbd.port),
            "-U", f"{smbd.user}%{smbd.password}", "-c", f"put {source} moved; get moved {folder}/back",
        ],
        check=True, capture_output=True, timeout=HANG_SECONDS,
    )  # fmt: skip


@pytest.mark.varied(options=4)
@pytest.mark.parametrize(
    ("options", "call", "key"),
    [
        ({"sync always": "yes"}, "asys_fsync", ""),
        ({"sync always": "yes", "strict sync": "no"}, "asys_fsync", "sync-always-without-effect"),
        ({"min receivefile size": "16384"}, "recvfile", ""),
        ({"min receivefile size": "16384", "server signing": "mandatory"}, "recvfile", "receivefile-with-signing"),
        ({"aio read size": "0", "use sendfile": "yes"}, "sendfile", ""),
        ({"aio read size": "16M", "use sendfile": "yes"}, "sendfile", ""),
        ({"use sendfile": "yes"}, "sendfile", "sendfile-without-effect"),
        ({"aio read size": "65536", "use sendfile": "yes"}, "sendfile", "sendfile-without-effect"),
        (
            {"aio read size": "0", "use sendfile": "yes", "server signing": "mandatory"},
            "sendfile",
            "sendfile-with-signing",
        ),
        ({"aio read size": "16M"}, "asys_pread", "aio-read-size-above-every-request"),
        ({"aio write size": "16M"}, "asys_pwrite", "aio-write-size-above-every-request"),
    ],
)
def test_smbd_does_nothing_for_a_line_that_another_one_switches_off(
    make_smbd: Callable[..., Smbd], tmp_path: Path, options: Mapping[str, str], call: str, key: str
):
    require("smbclient", "smbstatus")
    smbd = make_smbd({**options, "smbd profiling level": "count"})
    move_file(smbd, tmp_path)
    assert (calls(smbd, call) == 0) is bool(key)

    text = "[global]\n" + "".join(f"{name} = {value}\n" for name, value in options.items()) + "[a]\npath = /a\n"
    conf = read_conf("smb.conf", {"smb.conf": text})
    keys = {finding.key for finding in judge(AuditedServer(conf=conf, path="smb.conf"))}
    if key:
        assert key in keys
    else:
        assert not any(found.endswith(("-without-effect", "-with-signing")) for found in keys)
