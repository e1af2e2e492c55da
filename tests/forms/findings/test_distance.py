"""Distance: what a round trip makes of buffers and windows, and which verdicts it forbids."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forms.comparison.rules import findings
from forms.findings.finding import Finding, Severity
from forms.findings.path import is_far
from forms.findings.rules_distance import spends_runs_in_slow_start
from forms.series.head_fields import head_fields
from storage.records import Command, Quiet, QuietVerdict, Series
from tests.builders import CLIENT, runs, series

RMEM, WMEM = "4096 131072 6291456", "4096 16384 4194304"


def far(megabytes: float, milliseconds: float, **fields: Any) -> Series:
    """A series over a gigabit link at a distance."""
    path = {"link.kind": "card", "tcp.least_round_trip_seconds": milliseconds / 1000}
    usual: dict[str, Any] = {"environment": {"path": path, "client": {"tcp.rmem": RMEM, "tcp.wmem": WMEM}}}
    return series([megabytes * 1e6 * share for share in (1.0, 1.004, 0.997)], **{**usual, **fields})


def only(series_: Series, *keys: str) -> Finding:
    found = [finding for finding in findings([series_]) if finding.key in keys]
    assert len(found) == 1
    return found[0]


def test_a_buffer_is_the_limit():
    found = only(far(20, 200, command=Command.PUT, client=replace(CLIENT, in_flight=16)), "latency", "far")
    assert found.key == "latency"
    assert found.severity is Severity.WARNING
    assert "20.01 MB/s x 200 ms = 4 MB on the way; 1 Gb/s would need 25 MB" in found.evidence
    assert "largest buffer (tcp_wmem): 4.19 MB / 200 ms = 20.97 MB/s at most" in found.evidence
    assert "tcp_rmem and tcp_wmem to 50000000 or more on both ends" in found.what_to_do
    assert "cable" not in found.what_to_do


@pytest.mark.parametrize(
    ("megabytes", "key", "bound"),
    [
        (9.42, "far", ""),
        (9.45, "latency", "4.19 MB, half of it for data, / 200 ms = 10.49 MB/s at most"),
        (11.5, "latency", "half of it for data, / 200 ms = 10.49 MB/s at most"),
        (11.6, "latency", "4.19 MB / 200 ms = 20.97 MB/s at most"),
    ],
)
def test_a_buffer_is_the_limit_from_45_percent_and_half_of_it_carries_data(megabytes, key, bound):
    """45 % of 4,194,304 bytes in 200 ms are 9.437 MB/s; 55 % are 11.53 MB/s."""
    rates = [megabytes * 1e6] * 3
    found = only(
        far(1, 200, command=Command.PUT, client=replace(CLIENT, in_flight=16), runs=runs(rates)), "latency", "far"
    )
    assert found.key == key
    assert bound in found.evidence


def test_slow_start_is_not_taken_for_a_buffer():
    """8 MiB at 50 ms and 27.9 MB/s, as measured: larger buffers gave 29.2, so they were not the limit."""
    short = far(1, 50, command=Command.PUT, runs=runs([27.9e6] * 3, size_bytes=8 << 20))
    found = only(short, "latency", "far")
    assert found.key == "far"
    assert "slow start" in found.evidence
    shorter_window = replace(short, client=replace(CLIENT, block_bytes=65536, in_flight=4))
    assert only(shorter_window, "latency", "far").key == "latency"


def test_the_servers_buffer_counts_where_it_is_known():
    told = far(8, 200)
    small = {**told.environment, "server": {"tcp.wmem": "4096 16384 2097152"}}
    assert (
        "The server's largest buffer (tcp_wmem): 2.1 MB" in only(replace(told, environment=small), "latency").evidence
    )


def test_the_clients_window_is_the_limit():
    found = only(far(30, 50, client=replace(CLIENT, block_bytes=65536, in_flight=4)), "latency")
    assert "window (4 in flight): 262 kB / 50 ms = 5.243 MB/s at most" in found.evidence
    assert "requests in flight" in found.what_to_do


def test_neither_buffer_nor_window():
    found = only(far(1, 50), "latency", "far")
    assert (found.key, found.severity) == ("far", Severity.NOTE)
    assert "This machine's largest buffer (tcp_rmem): 6.29 MB." in found.evidence
    assert "iperf3" in found.what_to_do


def test_losses_come_before_buffers():
    lossy = far(34, 50, command=Command.PUT)
    path = {"tcp.own_segments_sent_during": 143_167, "tcp.own_retransmitted_during": 4_110}
    lossy = replace(lossy, environment={**lossy.environment, "path": {**lossy.environment["path"], **path}})
    found = only(lossy, "latency", "far")
    assert found.key == "far"
    assert "Packets are lost" in found.evidence


@pytest.mark.parametrize(("megabytes", "milliseconds"), [(110, 50), (30, 0.3)])
def test_a_full_link_or_a_near_server_is_not_limited_by_distance(megabytes, milliseconds):
    assert not {"latency", "far"} & {finding.key for finding in findings([far(megabytes, milliseconds)])}


def test_nobody_is_sent_to_the_cable_of_a_far_server():
    ftp = far(22, 200, id="ftp", target=replace(far(1, 1).target, protocol="ftp", share=None))
    keys = [finding.key for finding in findings([far(20, 200), ftp])]
    assert "network-slow" not in keys
    assert "latency" in keys


def test_no_ratio_where_slow_start_rules():
    short = runs((70e6, 71e6, 69e6), size_bytes=1 << 26)
    smb = far(70, 50, runs=short)
    ftp = far(30, 50, id="ftp", target=replace(smb.target, protocol="ftp", share=None))
    keys = {finding.key: finding for finding in findings([smb, ftp])}
    assert keys["ratio-far"].severity is Severity.NOTE
    assert "well-configured" not in keys
    near = [replace(one, environment={}) for one in (smb, ftp)]
    assert "well-configured" in {finding.key for finding in findings(near)}


def test_long_runs_outlast_slow_start():
    assert spends_runs_in_slow_start(far(70, 50, runs=runs((70e6, 71e6, 69e6), size_bytes=1 << 26)))
    assert not spends_runs_in_slow_start(far(70, 50))
    assert not spends_runs_in_slow_start(far(70, 0.5))
    assert not is_far(series((1e6,)))


def line(series_: Series) -> str:
    return next((field.text for field in head_fields(series_) if field.name == "Round trip"), "")


def test_the_round_trip_stands_on_the_form():
    assert line(far(20, 200)) == "200 ms; bandwidth-delay product 3.82 MiB"
    loaded = far(12, 0.2)
    path = {**loaded.environment["path"], "tcp.round_trip_seconds": 0.098}
    assert line(replace(loaded, environment={"path": path})).startswith("0.2 ms, 98 ms under load; ")
    assert line(series((1e6,))) == ""
    here = {**loaded.environment["path"], "link.kind": "loopback"}
    assert line(replace(loaded, environment={"path": here})) == "0.2 ms"


def behind_a_proxy(request_milliseconds: float, **fields: Any) -> Series:
    """TCP is acknowledged after 0.004 ms by what stands in between."""
    one = far(20, 0.004, **fields)
    request = {"request.least_round_trip_seconds": request_milliseconds / 1000}
    return replace(one, environment={**one.environment, "path": {**one.environment["path"], **request}})


def test_what_answers_tcp_in_between_is_named():
    relayed = behind_a_proxy(100)
    assert line(relayed) == "0.004 ms; an empty request 100 ms; bandwidth-delay product 1.91 MiB"
    assert is_far(relayed)
    found = only(relayed, "relayed")
    assert "acknowledged after 0.004 ms, an empty request is answered after 100 ms" in found.evidence
    assert "buffer (tcp" not in only(relayed, "latency", "far").evidence
    assert line(behind_a_proxy(0.2)) == "0.004 ms; an empty request 0.2 ms; bandwidth-delay product 80 bytes"


def test_late_answers_alone_are_no_distance():
    late = behind_a_proxy(100)
    titles = {finding.title for finding in findings([late]) if finding.key in {"relayed", "far", "latency"}}
    assert len(titles) == 2
    assert not [title for title in titles if "away" in title or "distance" in title or "between" in title]


@pytest.mark.parametrize(("opening_seconds", "told"), [(0.005003, False), (0.005005, True), (0.0, True), (None, True)])
def test_a_server_that_opened_a_file_in_time_is_not_far(opening_seconds: float | None, told: bool):
    late = behind_a_proxy(100)
    first, *others = late.runs
    runs = (replace(first, open_seconds=opening_seconds), *[replace(run, open_seconds=0.1) for run in others])
    found = findings([replace(late, runs=runs)])
    assert bool({finding.key for finding in found} & {"relayed", "far", "latency"}) is told


@pytest.mark.parametrize(("milliseconds", "told"), [(5.003, False), (5.005, True)])
def test_a_request_may_take_five_milliseconds_longer_than_tcp(milliseconds, told):
    assert bool({f.key for f in findings([behind_a_proxy(milliseconds)])} & {"relayed"}) is told


@pytest.mark.parametrize(
    ("host", "quiet", "milliseconds", "told"),
    [
        ("127.0.0.1", QuietVerdict.BUSY, 20.003, False),
        ("127.0.0.1", QuietVerdict.BUSY, 20.005, True),
        ("127.0.0.1", QuietVerdict.QUIET, 6.41, True),
        ("nas", QuietVerdict.BUSY, 6.41, True),
    ],
)
def test_a_busy_machine_that_serves_itself_has_nothing_in_between(
    host: str, quiet: QuietVerdict, milliseconds: float, told: bool
):
    one = behind_a_proxy(milliseconds, quiet=Quiet(verdict=quiet, reasons=("others",)))
    kind = {"link.kind": "loopback"} if host[0] == "1" else {}
    path = {**one.environment["path"], **kind}
    one = replace(one, target=replace(one.target, host=host), environment={**one.environment, "path": path})
    assert bool({f.key for f in findings([one])} & {"relayed", "far"}) is told


def test_why_there_is_no_ceiling_stands_on_the_form():
    busy = series((1e6,), environment={"client": {"ceiling.not_calibrated_busy_percent": 63.4}})
    texts = {field.name: field.text for field in head_fields(busy)}
    assert (
        texts["Ceiling"]
        == "the client was too busy to measure its own limit: other programs took 63 % of the processors"
    )
    beaten = {field.name: field.text for field in head_fields(series((1e6,), ceiling_bytes_per_second=9e5))}
    assert "%" not in beaten["Ceiling"]
