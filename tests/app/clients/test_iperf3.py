"""The client for the bare TCP path, with the real iperf3 at both ends."""

from __future__ import annotations

import json
import math
import subprocess
import threading
import time

import pytest

from app.base.errors import (
    CancelledError,
    ConnectionLostError,
    MeasurementError,
    MissingProgramError,
    ProtocolError,
    StalledError,
    UnreachableError,
)
from app.clients.base import Content, Meter, Secrets
from app.clients.iperf3 import Iperf3Client
from app.server.running_program import ProgramOutcome
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter
from tests.servers.iperf3 import Iperf3Server
from tests.waiting import HANG_SECONDS


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
    deadline = time.monotonic() + HANG_SECONDS
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


TARGET = Target(protocol="iperf3", host="nas", port=5201)


def report(**changes: object) -> dict[str, object]:
    received = {"bytes": 1_000_000, "seconds": 0.001, **changes}
    sent = {"bytes": 1_000_000, "seconds": 0.001}
    return {
        "start": {"test_start": {"blksize": 131072, "num_streams": 1}, "connected": [{"local_host": "a"}]},
        "intervals": [{"sum": {"end": 0.001, "bytes": 1_000_000}}],
        "end": {"sum_sent": sent, "sum_received": received},
    }


def client_hearing(monkeypatch: pytest.MonkeyPatch, output: str) -> Iperf3Client:
    client = Iperf3Client(TARGET, Secrets(), Settings(), size_bytes=1_000_000)
    outcome = ProgramOutcome(0, output, "")
    monkeypatch.setattr("app.clients.iperf3.find_program", lambda *_names: "iperf3")
    monkeypatch.setattr("app.clients.iperf3.first_version", lambda _program: "3.12")
    monkeypatch.setattr(client._program, "run", lambda *_words, **_how: outcome)
    return client


def test_a_sound_report_is_read(monkeypatch):
    monkeypatch.setattr("app.clients.iperf3.time.monotonic", iter([0.0, 1.0]).__next__)
    done = client_hearing(monkeypatch, json.dumps(report())).put("", Content(1_000_000), meter())
    assert (done.size_bytes, done.seconds, done.progress) == (1_000_000, 0.001, ((0.001, 1_000_000),))


def test_a_server_whose_clock_started_late_does_not_make_a_put_faster(monkeypatch):
    monkeypatch.setattr("app.clients.iperf3.time.monotonic", iter([0.0, 1.0, 2.0, 3.0]).__next__)
    client = client_hearing(monkeypatch, json.dumps(report(seconds=0.000001)))
    assert client.put("", Content(1_000_000), meter()).seconds == 0.001
    assert client.get("", meter()).seconds == 0.000001, "what we received is timed by ourselves"


@pytest.mark.parametrize(
    "changes",
    [
        {"bytes": -5}, {"bytes": 10**300}, {"bytes": "many"}, {"bytes": None}, {"bytes": True}, {"bytes": 1_000_001},
        {"seconds": math.nan}, {"seconds": math.inf}, {"seconds": "1"}, {"seconds": []}, {"seconds": 3_600},
        {"seconds": 0}, {"seconds": -1},
    ],
    ids=str,
)  # fmt: skip
def test_figures_that_cannot_be_are_refused(monkeypatch, changes):
    client = client_hearing(monkeypatch, json.dumps(report(**changes)))
    with pytest.raises(ProtocolError):
        client.put("", Content(1_000_000), meter())


@pytest.mark.parametrize(
    "output",
    [
        "", "[]", "7", "null", '"text"', "{}", '{"end": 7}', '{"end": {"sum_received": 7}}', "[" * 100_000,
        '{"end": {"sum_received": {"bytes": ' + "9" * 5_000 + "}}}", '{"error": {"deep": []}}',
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_a_report_of_another_shape_is_told_in_one_line(monkeypatch, output):
    client = client_hearing(monkeypatch, output)
    with pytest.raises(MeasurementError) as caught:
        client.get("", meter())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("intervals", [7, [7], [{"sum": []}], [{"sum": {"bytes": 1, "end": "x"}}]])
def test_intervals_that_make_no_sense_leave_no_curve(monkeypatch, intervals):
    monkeypatch.setattr("app.clients.iperf3.time.monotonic", iter([0.0, 1.0]).__next__)
    client = client_hearing(monkeypatch, json.dumps({**report(), "intervals": intervals}))
    assert client.put("", Content(1_000_000), meter()).progress == ()


@pytest.mark.parametrize("start", [None, 7, [], {"test_start": 7}, {"connected": 7}, {"connected": [7]}])
def test_a_start_of_another_shape_leaves_facts_out(monkeypatch, start):
    client = client_hearing(monkeypatch, json.dumps({**report(), "start": start}))
    assert client.facts().block_bytes is None
    assert client.facts_of_path() == {}
