"""What iperf3, or something that answers in its place, may print: figures that cannot be are no measurement."""

from __future__ import annotations

import json
import math

import pytest

from app.clients.base import Secrets
from app.clients.content import Content
from app.clients.iperf3 import Iperf3Client
from app.clients.subprocesses import SubprocessOutcome
from app.errors import MeasurementError, ProtocolError
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter

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
    outcome = SubprocessOutcome(status=0, output=output, errors="")
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
