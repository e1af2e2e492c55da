"""The servers themselves: they serve, they take changes, they end."""

from __future__ import annotations

import ftplib
import multiprocessing
import socket
import ssl
import subprocess
import time

import psutil
import pytest

from tests.servers.process import free_port
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS


def smbclient(
    server: Smbd, *commands: str, share: str | None = None, user: bool = True
) -> subprocess.CompletedProcess[str]:
    arguments = ["smbclient", "-s", "/dev/null", f"//{server.host}/{share or server.share}", "-p", str(server.port)]
    arguments += ["-U", f"{server.user}%{server.password}"] if user else ["-N"]
    return subprocess.run([*arguments, "-c", ";".join(commands)], capture_output=True, text=True, check=False)


def test_processes_forked_from_one_take_different_ports():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        ports = pool.map(_take_ports, range(2), chunksize=1)
    taken = [port for ports_of_process in ports for port in ports_of_process]
    assert len(set(taken)) == len(taken) == 40


def _take_ports(_number: int) -> list[int]:
    # Longer than the other process needs to begin: each takes its own share.
    time.sleep(0.2)
    return [free_port() for _ in range(20)]


def test_smbd_lets_the_user_in_and_write(smbd, tmp_path):
    (tmp_path / "a").write_bytes(b"hello")
    assert smbclient(smbd, f"put {tmp_path}/a from-test").returncode == 0
    assert (smbd.folder / "from-test").read_bytes() == b"hello"


def test_smbd_lets_guests_into_their_share_alone(smbd):
    assert smbclient(smbd, "ls", share=smbd.guest_share, user=False).returncode == 0
    assert "ACCESS_DENIED" in smbclient(smbd, "ls", user=False).stdout


def test_smbd_refuses_a_wrong_password(make_smbd):
    server = make_smbd()
    server.password = "wrong"
    assert "LOGON_FAILURE" in smbclient(server, "ls").stdout


def test_smbd_takes_changed_options(make_smbd):
    server = make_smbd({"server max protocol": "SMB2_10"})
    assert smbclient(server, "mkdir before").returncode == 0
    server.rewrite_conf(share_options={"read only": "yes"})
    assert "NT_STATUS" in smbclient(server, "mkdir after").stdout
    assert not (server.folder / "after").exists()


@pytest.mark.parametrize("factory", ["make_smbd", "make_vsftpd"])
def test_a_killed_server_leaves_no_process(factory, request):
    server = request.getfixturevalue(factory)()
    with socket.create_connection((server.host, server.port)) as connection:
        if factory == "make_vsftpd":
            assert connection.recv(100)
        processes = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
        assert len(processes) > 1
        server.kill()
        psutil.wait_procs(processes, timeout=HANG_SECONDS)
    assert [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE] == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((server.host, server.port))


@pytest.mark.parametrize("login", [("bench", "Correct-Horse 9", "/"), ("anonymous", "", "/upload/")])
def test_vsftpd_lets_users_and_anonymous_read_and_write(vsftpd, login, tmp_path):
    (tmp_path / "a").write_bytes(b"hello")
    with ftplib.FTP() as ftp:
        ftp.connect(vsftpd.host, vsftpd.port)
        ftp.login(*login[:2])
        with (tmp_path / "a").open("rb") as file:
            ftp.storbinary(f"STOR {login[2]}by-{login[0]}", file)
        assert ftp.size(f"{login[2]}by-{login[0]}") == 5
        ftp.delete(f"{login[2]}by-{login[0]}")


def test_vsftpd_refuses_a_wrong_password(vsftpd):
    with ftplib.FTP() as ftp:
        ftp.connect(vsftpd.host, vsftpd.port)
        with pytest.raises(ftplib.error_perm, match="530"):
            ftp.login("bench", "wrong")


def test_vsftpd_speaks_tls(make_vsftpd):
    server = make_vsftpd(tls="explicit")
    context = ssl.create_default_context()
    context.load_verify_locations(server.root / "certificate.pem")
    with ftplib.FTP_TLS(context=context) as ftp:
        ftp.connect(server.host, server.port)
        ftp.login(server.user, server.password)
        assert ftp.pwd() == "/"


def test_iperf3_answers(iperf3_server):
    done = subprocess.run(
        ["iperf3", "-c", iperf3_server.host, "-p", str(iperf3_server.port), "-n", "1M"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0


def test_a_link_has_a_server_at_its_far_end(make_link, make_smbd, make_vsftpd):
    link = make_link("1gbit")
    server = make_smbd(link=link)
    assert smbclient(server, "ls").returncode == 0
    with ftplib.FTP() as ftp:
        other = make_vsftpd(link=link)
        ftp.connect(other.host, other.port)
        ftp.login()
    shape = subprocess.run(["tc", "qdisc", "show"], capture_output=True, text=True, check=True).stdout
    assert "tbf" in shape
    assert "rate 1Gbit" in shape


def test_a_small_disk_fills_up(small_disk):
    with pytest.raises(OSError, match="No space"), (small_disk / "file").open("wb") as file:
        file.write(bytes(8 << 20))
