"""The client for the bare TCP path, with the real iperf3 at both ends."""

from __future__ import annotations

import subprocess
import threading
import time

import pytest

from app.clients.base import Meter, Secrets
from app.clients.content import Content
from app.clients.iperf3 import Iperf3Client
from app.errors import (
    CancelledError,
    ConnectionLostError,
    MeasurementError,
    MissingProgramError,
    StalledError,
    UnreachableError,
)
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter
from tests.servers.iperf3 import Iperf3Server


@pytest.fixture
def server():
    it = Iperf3Server()
    try:
        it.start()
        yield it
    finally:
        it.stop()


def client(server, size_bytes=8 << 20, **settings):
    return Iperf3Client(server.target(), Secrets(), Settings(**settings), size_bytes=size_bytes)


def test_both_directions_are_measured(server):
    it, size = client(server, 128 << 20), 128 << 20
    it.connect()
    for done in (it.get("", meter()), it.put("", Content(size), meter())):
        assert size / 2 < done.size_bytes < size * 1.05  # what is on its way at the end does not count
        assert done.seconds > 0
        assert done.progress
        assert done.progress[-1][1] == pytest.approx(size, rel=0.3)
    assert it.size("") == size


def test_facts_are_those_of_the_program(server):
    it = client(server, block_bytes=65536, in_flight=2)
    facts = it.facts()
    assert (facts.name, facts.block_bytes, facts.in_flight) == ("iperf3", 65536, 2)
    assert facts.version in subprocess.run(["iperf3", "--version"], capture_output=True, text=True, check=True).stdout
    assert it.facts_of_path()["peer_address"] == server.host
    assert 0 < it.facts_of_path()["tcp.least_round_trip_seconds"] < 1


def test_a_busy_server_is_told(server):
    with subprocess.Popen(
        ["iperf3", "-c", server.host, "-p", str(server.port), "-t", "30", "--forceflush"],
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        try:
            assert other.stdout is not None
            assert "Connecting" in other.stdout.readline()
            while "connected" not in (line := other.stdout.readline()):
                assert line
            with pytest.raises(UnreachableError, match="busy with another test"):
                client(server).connect()
        finally:
            other.kill()


def test_no_server_and_no_host_are_told(server):
    gone = server.target()
    server.stop()
    with pytest.raises(UnreachableError, match="start `iperf3 -s` there"):
        Iperf3Client(gone, Secrets(), Settings()).connect()
    with pytest.raises(UnreachableError, match="no host of that name"):
        Iperf3Client(Target(protocol="iperf3", host="no-such-host.invalid"), Secrets(), Settings()).connect()


def test_a_missing_program_is_told(server, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingProgramError, match="apt install iperf3"):
        client(server).connect()


@pytest.mark.parametrize("command", ["get", "put"])
def test_a_server_that_dies_is_told(server, command):
    it = client(server, size_bytes=1 << 44, timeout_seconds=5)
    dying = meter(on_sample=lambda _seconds, _bytes: server.kill())
    with pytest.raises((ConnectionLostError, UnreachableError)):
        _ = it.get("", dying) if command == "get" else it.put("", Content(1 << 44), dying)


def test_a_server_that_stalls_is_told(server):
    it = client(server, size_bytes=1 << 44, timeout_seconds=1)
    with pytest.raises(StalledError, match="nothing moved for 1 s"):
        it.get("", meter(on_sample=lambda _seconds, _bytes: server.suspend()))


def test_cancelling_and_aborting_end_a_test(server):
    it, stop = client(server, size_bytes=1 << 44), threading.Event()
    seen: list[int] = []

    def sample(_seconds: float, moved: int) -> None:
        seen.append(moved)
        if moved:
            stop.set()

    with pytest.raises(CancelledError):
        it.get("", Meter(stop, on_sample=sample))
    assert seen[-1] > 0
    deadline = time.monotonic() + 60
    while True:  # the server needs a moment to notice that its client is gone
        try:
            it.connect()
            break
        except UnreachableError:
            assert time.monotonic() < deadline
    with pytest.raises(ConnectionLostError, match="ended"):
        it.put("", Content(1 << 44), meter(on_sample=lambda _seconds, _bytes: it.abort()))


def test_there_is_nothing_to_list_or_verify(server):
    it = client(server)
    assert it.list("") == []
    assert it.shares() == []
    it.remove("")
    with pytest.raises(MeasurementError, match="nothing to verify"):
        it.digest("")
    it.close()
