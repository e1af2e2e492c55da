"""``sharebench who`` on a real smbd: three users at once, on the server itself and through ssh."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from impacket.nt_errors import STATUS_SUCCESS
from impacket.smb3structs import SMB2_LOCK
from impacket.smbconnection import SMBConnection

from storage.notebook import Notebook
from storage.records import Target, format_target
from storage.who import recording_of_who
from tests.command_line import Inside
from tests.recordings import WHO
from tests.servers.paced_users import Pace, PacedUsers
from tests.servers.process import program
from tests.servers.smbd import UNIX_USER, Smbd
from tests.servers.sshd import Sshd

PACES = (
    Pace(user="sys", bytes_per_second=1e5),
    Pace(user=UNIX_USER, bytes_per_second=16e5),
    Pace(user="bin", bytes_per_second=3e5, is_writing=True),
)
"""80, 15 and 5 % of the bytes."""


@pytest.fixture(scope="module")
def users() -> Iterator[PacedUsers]:
    """Three users who are at work on an smbd of theirs."""
    server = Smbd()
    try:
        server.start()
        with PacedUsers(server, PACES) as users:
            yield users
    finally:
        server.stop()


@pytest.fixture
def busy_smbd(users: PacedUsers) -> Smbd:
    return users.smbd


def url(smbd: Smbd) -> str:
    return format_target(Target(protocol="smb", host=smbd.host, port=smbd.port))


def shares(found: dict[str, Any]) -> dict[str, float]:
    """The share of the bytes by user."""
    users = {session["process"]: session["users"][0] for session in found["sessions"]}
    return {users[share["process"]]: share["bytes_percent"] for share in found["shares"]}


@pytest.mark.alone
def test_the_shares_of_three_users_are_those_of_their_bytes(users: PacedUsers, inside: Inside):
    before = users.moved_bytes()
    found = inside.json("who", url(users.smbd), "--seconds", "4", "--json")
    after = users.moved_bytes()
    # They may be slower than they want to be: what they counted is what is true.
    counted = {user: after[user] - before[user] for user in after}
    true_shares = {user: 100 * moved / sum(counted.values()) for user, moved in counted.items()}
    assert shares(found) == pytest.approx(true_shares, abs=8)


def test_who_reads_and_writes_is_told(users: PacedUsers, inside: Inside):
    found = inside.json("who", url(users.smbd), "--seconds", "4", "--label", "monday", "--json")
    assert (found["schema"], found["status"], found["label"]) == ("sharebench/who/1", "complete", "monday")
    sessions = {session["users"][0]: session for session in found["sessions"]}
    assert sessions[UNIX_USER]["sent_bytes"] > 10 * sessions[UNIX_USER]["received_bytes"]
    assert sessions["bin"]["received_bytes"] > 10 * sessions["bin"]["sent_bytes"]
    assert [sessions[user]["open_files"] for user in (UNIX_USER, "bin", "sys")] == [1, 1, 1]
    assert {session["client"] for session in found["sessions"]} == {users.smbd.host}
    assert found["look_cpu_seconds"] > 0
    assert found["seconds"] > 3


def test_it_is_a_recording_like_all_others(busy_smbd: Smbd, inside: Inside):
    done = inside("who", url(busy_smbd), "--seconds", "1")
    assert done.returncode == 0, done.stderr
    assert UNIX_USER in done.stdout
    listed = json.loads(inside("list", "--json").stdout)
    assert [entry["schema"] for entry in listed] == ["sharebench/who/1"]
    assert inside("show", "last").stdout == done.stdout


def test_through_ssh_it_says_the_same(busy_smbd: Smbd, through: Sshd, inside: Inside):
    assert through
    found = inside.json("who", url(busy_smbd), "--server-ssh", "fileserver", "--seconds", "1", "--json")
    assert "server_ssh" not in found
    assert shares(found).keys() == {UNIX_USER, "bin", "sys"}


def test_a_lock_a_session_without_traffic_and_a_named_smb_conf(smbd: Smbd, inside: Inside):
    with closing(SMBConnection(smbd.host, smbd.host, sess_port=smbd.port)) as connection:
        connection.login(smbd.user, smbd.password)
        tree = connection.connectTree(smbd.share)
        content = smbd.make_file("locked.bin", b"x")
        content.chmod(0o666)
        file = connection.openFile(tree, "locked.bin", desiredAccess=0x3, shareMode=0x7)
        _lock(connection, tree, file)
        found = inside.json("who", url(smbd), "--smb-conf", str(smbd.conf), "--seconds", "1", "--json")
        own = [session for session in found["sessions"] if session["open_files"]]
        assert [session["users"] for session in own] == [[UNIX_USER]]
        assert own[0]["locks"] == 1
    content.unlink()  # the server is that of other tests, too


def _lock(connection: SMBConnection, tree: int, file: bytes) -> None:
    """Lock 100 bytes of an open file (MS-SMB2 2.2.26)."""
    exclusive_at_once = 0x12
    dialog = connection.getSMBServer()
    packet = dialog.SMB_PACKET()
    packet["Command"] = SMB2_LOCK
    packet["TreeID"] = tree
    packet["Data"] = struct.pack("<HHI", 48, 1, 0) + file + struct.pack("<QQII", 0, 100, exclusive_at_once, 0)
    assert dialog.recvSMB(dialog.sendSMB(packet)).isValidAnswer(STATUS_SUCCESS)


def test_a_connection_without_a_session_is_no_session(users: PacedUsers, inside: Inside):
    with socket.create_connection((users.smbd.host, users.smbd.port)):
        found = inside.json("who", url(users.smbd), "--seconds", "1", "--json")
    assert shares(found).keys() == {UNIX_USER, "bin", "sys"}
    assert all(session["sent_bytes"] is not None for session in found["sessions"])


def test_nothing_is_changed_by_it(busy_smbd: Smbd, inside: Inside):
    def state() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in busy_smbd.root.glob("*") if path.is_file()}

    before = state()
    assert inside("who", url(busy_smbd), "--seconds", "1").returncode == 0
    assert state() == before


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (2, ["who"]),
        (2, ["who", "ftp://127.0.0.1"]),
        (2, ["who", "smb://fileserver.invalid"]),
        (2, ["who", "smb://127.0.0.1", "--seconds", "0.5"]),
        (2, ["who", "smb://127.0.0.1", "--server-ssh", "-oProxyCommand=x"]),
        (4, ["who", "smb://127.0.0.1:1", "--seconds", "1"]),
        (4, ["who", "smb://127.0.0.1", "--server-ssh", "nowhere.invalid"]),
    ],
)
def test_what_cannot_be_looked_at_is_said_in_a_line(inside: Inside, code: int, words: list[str]):
    inside.fails(code, *words)
    assert not inside.db.exists() or not json.loads(inside("list", "--json").stdout)


@pytest.mark.parametrize(("missing", "package"), [("ss", "iproute2"), ("smbstatus", "samba")])
def test_a_program_that_is_missing_on_the_server_is_named(
    busy_smbd: Smbd, inside: Inside, tmp_path: Path, monkeypatch, missing: str, package: str
):
    script = Path("app/server/sessions/sessions.sh").read_text()
    hidden = script.replace("PATH=$PATH:/usr/local/sbin:", f"PATH={tmp_path}/bin #")
    monkeypatch.setattr("app.server.sessions.look.shell.script_file", lambda *_: hidden)
    (tmp_path / "bin").mkdir()
    for name in {"ss", "smbstatus", "id", "sed", "grep"} - {missing}:
        (tmp_path / "bin" / name).symlink_to(program(name))
    said = inside.fails(4, "who", url(busy_smbd), "--seconds", "1")
    assert missing in said
    assert package in said


def test_another_user_than_root_is_told_to_be_root(busy_smbd: Smbd, inside: Inside, monkeypatch, tmp_path: Path):
    status = tmp_path / "status"
    status.write_text("Name:\tsh\nUid:\t0\t1000\t0\t1000\n")
    script = Path("app/server/sessions/sessions.sh").read_text().replace("/proc/$$/status", str(status))
    monkeypatch.setattr("app.server.sessions.look.shell.script_file", lambda *_: script)
    said = inside.fails(4, "who", url(busy_smbd), "--seconds", "1")
    assert "sudo" in said
    assert "--server-ssh" not in said, "it is this machine"


def test_a_server_that_ends_during_the_look_is_not_one_that_nobody_uses(
    make_smbd: Callable[..., Smbd], inside: Inside, monkeypatch: pytest.MonkeyPatch
):
    server = make_smbd()
    script = Path("app/server/sessions/sessions.sh").read_text()
    ended = script.replace('sleep "$seconds"', 'kill -9 "$smbd"; while [ -e "/proc/$smbd/exe" ]; do sleep 0.1; done')
    assert ended != script
    monkeypatch.setattr("app.server.sessions.look.shell.script_file", lambda *_: ended)
    assert "ended" in inside.fails(4, "who", url(server), "--seconds", "1")
    assert not inside.db.exists()


def test_an_anonymous_export_has_no_names(inside: Inside):
    with Notebook(inside.db) as notebook:
        note = r"NT\alice and Bob on ws-alice filled the disk, carol did not"
        notebook.add_recording(recording_of_who(replace(WHO, note=note)))
    out = inside.db.parent / "out"
    for name in ("json", "text", "html"):
        done = inside("export", "last", "--format", name, "--anonymous", "-o", f"{out}.{name}")
        assert done.returncode == 0, done.stderr
    for path in inside.db.parent.glob("out.*"):
        content = path.read_text().casefold()
        assert [word for word in ("alice", "bob", "carol", "nt\\") if word in content] == [], path.name
        assert "10.0.0.6" in content


@pytest.mark.long
def test_the_smb_conf_of_the_smbd_on_the_port_is_found(make_smbd: Callable[..., Smbd], busy_smbd: Smbd, inside: Inside):
    """Of two smbds each is asked by its own port."""
    other = make_smbd()
    subprocess.run(
        [program("smbclient"), f"//{other.host}/{other.share}", "-p", str(other.port), "-U", "x%y", "-c", "ls"],
        check=False,
        capture_output=True,
    )
    assert inside.json("who", url(other), "--seconds", "1", "--json")["sessions"] == []
    assert len(inside.json("who", url(busy_smbd), "--seconds", "1", "--json")["sessions"]) == 3
