"""Before an upgrade: two real versions of Samba beside each other, over one folder."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest

from app.cli.main import run
from storage.records import format_target
from tests.release.running import FailedError
from tests.servers.debian_servers import pinned_servers, server_root
from tests.servers.other_smbd import OtherSmbd

OLD = "samba 4.13"
NEW = "samba 4.22"
EXIT_CODES = {"faster": 0, "same": 0, "slower": 1, "unknown": 3}

_SSH = """\
#!/bin/bash
# Stands for ssh to two machines, each with the programs of its own version.
while [[ $1 == -* ]]; do
    case $1 in -o | -p | -i | -l | -E | -F | -S) shift 2 ;; *) shift ;; esac
done
case $1 in old) PATH={old}:$PATH ;; new) PATH={new}:$PATH ;; esac
shift
exec sh -c "$*"
"""


def smbd_of(name: str, share_options: dict[str, str] | None = None) -> OtherSmbd:
    try:
        root = server_root(pinned_servers()[name])
    except FailedError as error:
        pytest.skip(str(error))
    return OtherSmbd(root, share_options=share_options)


@pytest.mark.long
def test_two_versions_are_compared_and_what_differs_by_default_is_named(tmp_path: Path, monkeypatch, capsys):
    old = smbd_of(OLD)
    new = smbd_of(NEW, {"path": str(old.folder)})
    servers = [old, new]
    try:
        for server in servers:
            server.start()
        old.make_file("big.bin", os.urandom(8 << 20))
        ssh = tmp_path / "bin" / "ssh"
        ssh.parent.mkdir()
        ssh.write_text(_SSH.replace("{old}", shlex.quote(str(old.path))).replace("{new}", shlex.quote(str(new.path))))
        ssh.chmod(0o755)
        monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
        monkeypatch.setenv("SHAREBENCH_PASSWORD", old.password)

        other = f"{format_target(new.target('big.bin'))} --server-ssh new --smb-conf {new.conf}"
        words = ["--runs", "4", "--warmup", "1", "--quiet-time", "skip", "--ceiling", "skip", "--json"]
        words += ["--server-ssh", "old", "--smb-conf", str(old.conf), "--versus", other]
        db = str(tmp_path / "notebook.db")
        code = run(["run", format_target(old.target("big.bin")), *words, "--db", db], lambda *_args, **_more: 0)
    finally:
        for server in servers:
            server.stop()

    comparison = json.loads(capsys.readouterr().out)
    assert code == EXIT_CODES[comparison["verdict"]]
    assert comparison["in_turns"]
    differing = {difference["name"]: difference for difference in comparison["differences"]}
    versions = differing["server.samba.version"]
    assert [versions["base"][:4], versions["other"][:4]] == ["4.13", "4.22"]
    multi_channel = differing["server.smb.conf/global/server multi channel support"]
    assert [multi_channel["base"], multi_channel["other"]] == ["No", "Yes"]
