"""Nobody but the user who started the practice servers, and only with the password, reads or changes what is there."""

import hashlib
import socket
import stat
import subprocess
import sys
from contextlib import suppress

import pytest
from impacket import smb3structs
from impacket.nmb import NetBIOSError
from impacket.smb3 import SMB3, SessionError

from app.practice.access import is_of_another_user
from app.practice.servers import HOST, REPORT, SHARE, USER, PracticeServers
from tests.command_line import Inside
from tests.servers.process import as_another_user, require
from tests.waiting import HANG_SECONDS

REPORT_BYTES = 1_000_001
ROUNDS = 20


@pytest.fixture(scope="module")
def practice():
    with PracticeServers(report_bytes=REPORT_BYTES) as servers:
        yield servers


def contents(practice):
    files = [path for path in sorted(practice.folder.rglob("*")) if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


WITHOUT_THE_PASSWORD = {
    "no login": ["-N"],
    "no name": ["-U", "%"],
    "guest": ["-U", "guest%"],
    "no password": ["-U", f"{USER}%"],
    "wrong password": ["-U", f"{USER}%wrong"],
    "hash of no password": ["-U", f"{USER}%31d6cfe0d16ae931b73c59d7e0c089c0", "--pw-nt-hash"],
    "SMB 1": ["-N", "-m", "NT1", "--option=client min protocol=NT1"],
}


@pytest.mark.varied(how=3)
@pytest.mark.parametrize("how", WITHOUT_THE_PASSWORD)
def test_smbclient_gets_in_with_the_password_alone(practice, how):
    require("smbclient")
    before = contents(practice)
    command = ["smbclient", f"//{HOST}/{SHARE}", "-p", str(practice.smb.port), "-c", f"put /etc/hostname {REPORT}"]
    done = subprocess.run(
        [*command, *WITHOUT_THE_PASSWORD[how]], capture_output=True, check=False, timeout=HANG_SECONDS
    )
    assert done.returncode
    assert contents(practice) == before
    with_it = [*command[:-1], "ls", "-U", f"{USER}%{practice.secrets.password}"]
    assert subprocess.run(with_it, capture_output=True, check=False, timeout=HANG_SECONDS).returncode == 0


@pytest.mark.parametrize(("user", "password"), [("", ""), ("guest", ""), (USER, "wrong")])
def test_nothing_is_answered_after_a_refused_login(practice, user, password):
    session = SMB3(HOST, HOST, sess_port=practice.smb.port, timeout=10)
    with suppress(SessionError):
        session.login(user, password)
    with pytest.raises((SessionError, NetBIOSError, OSError)):
        session.connectTree(SHARE)


def test_nothing_is_answered_that_stands_behind_a_question_before_the_login(practice):
    session = SMB3(HOST, HOST, sess_port=practice.smb.port, timeout=10)
    tree = smb3structs.SMB2TreeConnect()
    tree["Buffer"] = f"\\\\{HOST}\\{SHARE}".encode("utf-16le")
    tree["PathLength"] = len(tree["Buffer"])
    first, second = (session.SMB_PACKET() for _ in range(2))
    first["Command"], first["Data"] = smb3structs.SMB2_NEGOTIATE, negotiation()
    second["Command"], second["Data"] = smb3structs.SMB2_TREE_CONNECT, tree
    length = len(first.getData())
    first["NextCommand"] = length + -length % 8
    session._NetBIOSSession.send_packet(first.getData().ljust(first["NextCommand"], b"\0") + second.getData())
    with pytest.raises((NetBIOSError, OSError)):
        session.recvSMB()


def negotiation():
    offered = smb3structs.SMB2Negotiate()
    offered["Dialects"] = [smb3structs.SMB2_DIALECT_002]
    offered["DialectCount"] = 1
    offered["NegotiateContextList"] = b""
    return offered


@pytest.mark.varied
@pytest.mark.parametrize("login", [f"anonymous:{USER}", "ftp:", f"{USER}:wrong", f"{USER}:"])
def test_ftp_gets_in_with_the_password_alone(practice, login):
    require("curl")
    url = f"ftp://{HOST}:{practice.ftp.port}/"
    assert subprocess.run(
        ["curl", "-s", "-u", login, url], capture_output=True, check=False, timeout=HANG_SECONDS
    ).returncode
    login = f"{USER}:{practice.secrets.password}"
    done = subprocess.run(["curl", "-s", "-u", login, url], capture_output=True, check=False, timeout=HANG_SECONDS)
    assert REPORT.encode() in done.stdout


CONNECT = "import socket, sys; one = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); input()"


@pytest.mark.parametrize("is_another", [True, False])
def test_a_connection_of_another_user_is_told_from_ours(is_another):
    prefix = as_another_user() if is_another else []
    with socket.create_server((HOST, 0)) as server:
        own_port = server.getsockname()[1]
        command = [*prefix, sys.executable, "-I", "-c", CONNECT, str(own_port)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/") as program:
            server.settimeout(HANG_SECONDS)
            connection, (_, peer_port) = server.accept()
            assert is_of_another_user(peer_port, own_port) is is_another
            connection.close()
            program.communicate(b"\n")


INTRUDER = r"""
smb=$1 ftp=$2 folder=$3 over=$4
while [ ! -e "$over" ]; do
    for login in -N -Uguest% -Upractice% -Upractice%wrong; do
        smbclient "//127.0.0.1/practice" -p "$smb" "$login" -c "put /etc/hostname report.bin; rm report.bin" && echo in
    done
    for login in anonymous:a practice:wrong; do
        curl -s -u "$login" -T /etc/hostname "ftp://127.0.0.1:$ftp/report.bin" && echo in
    done
    echo false >"$folder/report.bin" && echo in
    ls "$folder" && echo in
    echo tried
done 2>/dev/null
"""


@pytest.mark.long
def test_another_user_changes_nothing_while_it_is_measured(practice, tmp_path):
    require("smbclient", "curl")
    assert stat.S_IMODE(practice.folder.stat().st_mode) == 0o700
    before, over = contents(practice), practice.folder.parent / f"{practice.folder.name}-over"
    ports = str(practice.smb.port), str(practice.ftp.port)
    command = [*as_another_user(), "sh", "-c", INTRUDER, "sh", *ports, str(practice.folder), str(over)]
    sharebench = Inside(tmp_path / "notebook.db", password=practice.secrets.password)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as intruder:
        try:
            for protocol, target in (("smb", practice.smb), ("ftp", practice.ftp)):
                url = f"{protocol}://{USER}@{HOST}:{target.port}{'/' + SHARE if protocol == 'smb' else ''}/{REPORT}"
                options = ("--runs", str(ROUNDS), "--warmup", "0", "--quiet-time", "skip", "--json")
                series = sharebench.json("run", url, *options)
                assert [run["size_bytes"] for run in series["runs"]] == [REPORT_BYTES] * ROUNDS
                assert {run["status"] for run in series["runs"]} == {"valid"}
        finally:
            over.touch()
            told = intruder.communicate(timeout=HANG_SECONDS)[0].split()
            over.unlink()
    assert "tried" in told
    assert "in" not in told
    assert contents(practice) == before
