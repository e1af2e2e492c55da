"""Options that only a restart of smbd brings into effect: asked for, made by whoever started it, made again to undo."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.clients.registry import make_client
from app.server.changes import smbd_restart
from app.server.changes.samba_setting import samba_setting
from app.server.changes.script import ChangeRefusedError, new_change_id, set_arm
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial.change_journal import begin_change
from app.trial.restored_change import restore_change
from storage.notebook import Notebook
from storage.plan import Settings
from tests.servers.process import program
from tests.servers.smbd import Smbd, SupervisedSmbd
from tests.servers.sysvinit import SysvSmbd

PINNED = "TCP_NODELAY SO_SNDBUF=65536"


@pytest.fixture(scope="module")
def samba() -> Iterator[Smbd]:
    found = SupervisedSmbd({"socket options": PINNED})
    try:
        found.start()
        yield found
    finally:
        found.stop()


def setting(samba: Smbd, name: str, value: str, *, allowed: bool = True) -> ChangeableSetting:
    return samba_setting(
        name, [value], samba.target("x"), Ways(smb_conf=str(samba.conf), accepted=(name,), restart=allowed)
    )


def process_of(samba: Smbd) -> str:
    done = subprocess.run(
        [program("smbcontrol"), "-s", str(samba.conf), "smbd", "ping"], capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


def send_buffers(samba: Smbd) -> str:
    """What the kernel says of a session that is open now, on the server's side."""
    client = make_client(samba.target(), "sharebench", samba.secrets(), Settings(), None)
    try:
        client.connect()
        words = ["ss", "-tmnH", "state", "established", f"( sport = :{samba.port} )"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    finally:
        client.close()


def test_it_is_refused_until_it_is_allowed(samba: Smbd):
    before = process_of(samba)
    with pytest.raises(ChangeRefusedError, match="allow that first"):
        setting(samba, "socket options", "TCP_NODELAY", allowed=False)
    assert process_of(samba) == before


@pytest.mark.long
def test_pinned_buffers_go_with_a_restart_and_come_back_with_another(samba: Smbd, tmp_path: Path):
    conf = samba.conf.read_bytes()
    first = process_of(samba)
    assert "tb131072" in send_buffers(samba)
    found = setting(samba, "socket options", "TCP_NODELAY")
    assert any("smbd is restarted each time" in line for line in found.writes)
    change = found.plan(new_change_id(), found.values)
    with Notebook(tmp_path / "notebook.db") as notebook:
        entry = begin_change(change, found, "trial of it", notebook)
        answer = set_arm(change, 1, None)
        assert found.effective(answer) == "TCP_NODELAY"
        second = process_of(samba)
        assert answer.text("restarted") == second != first
        assert "tb131072" not in send_buffers(samba)
        done = restore_change(entry, notebook)
    assert (done.effective, done.reloaded, done.same_configuration) == (PINNED, True, True)
    assert process_of(samba) != second
    assert "tb131072" in send_buffers(samba)
    assert samba.conf.read_bytes() == conf


def test_where_nothing_would_start_it_again_it_is_refused(make_smbd: Callable[..., Smbd]):
    samba = make_smbd()
    before = samba.conf.read_bytes(), process_of(samba)
    with pytest.raises(ChangeRefusedError, match="nothing there would start smbd again"):
        setting(samba, "change notify", "no")
    assert (samba.conf.read_bytes(), process_of(samba)) == before


def test_a_unit_of_systemd_is_restarted_by_its_name(samba: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A stand-in for systemctl, and for the line of the process's control group that names the unit."""
    for name, text in {
        "systemctl": f'[ "$1 $3" = "show smbd.service" ] && echo MainPID={process_of(samba)}',
        "sed": 'for last; do :; done\ncase $last in /proc/*/cgroup) echo smbd.service;; *) exec /bin/sed "$@";; esac',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = smbd_restart.find_restart(str(samba.conf), None)
    assert found.command == "systemctl restart smbd.service"


def test_a_script_of_sysvinit_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    samba = SysvSmbd()
    try:
        samba.start(tmp_path)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        found = smbd_restart.find_restart(samba.conf, None)
        assert found == smbd_restart.Restart(command="service smbd restart")
        text = "section() { echo $1; }\n" + smbd_restart.restart_text(samba.conf, found)
        ping = f"smbcontrol -s {samba.conf} smbd ping"
        before, *told, after = (
            subprocess.run(["sh", "-c", f"{ping}\n{text}"], capture_output=True, text=True, check=True)
            .stdout.removeprefix("PONG from pid ")
            .split()
        )
    finally:
        samba.stop()
    assert told == ["reloaded", "restarted"]
    assert before != after


def test_smbd_that_somebody_stopped_is_not_started(tmp_path: Path):
    made = smbd_restart.Restart(command=f"touch {tmp_path}/started", stopped="true")
    text = "section() { echo $1; }\n" + smbd_restart.restart_text("/nonexistent/smb.conf", made)
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "not_reloaded\n"
    assert not (tmp_path / "started").exists()
