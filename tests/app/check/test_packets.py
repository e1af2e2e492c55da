"""A path that carries smaller packets than both ends send: told by what TCP does, not by a guess."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from app.clients.tcp_info import Segments, TcpInfo
from storage.records import format_target
from tests.command_line import Inside
from tests.servers.distance import FarLink
from tests.servers.smbd import Smbd

ROUND_TRIP_SECONDS = 0.002
SIZE_BYTES = 300_000


def served_over(mtu_bytes: int, carries_bytes: int) -> Iterator[Smbd]:
    link = FarLink(ROUND_TRIP_SECONDS, mtu_bytes, carries_bytes)
    smbd = Smbd(link=link)
    try:
        smbd.start()
        smbd.make_file("big", bytes(SIZE_BYTES))
        yield smbd
    finally:
        smbd.stop()
        link.close()


@pytest.fixture(params=[(9000, 1500), pytest.param((1500, 1400), marks=pytest.mark.long)], ids=["switch", "tunnel"])
def narrow(request: pytest.FixtureRequest) -> Iterator[Smbd]:
    yield from served_over(*request.param)


@pytest.fixture
def wide() -> Iterator[Smbd]:
    yield from served_over(9000, 9000)


def test_check_names_packets_that_get_lost_for_their_size(inside: Inside, narrow: Smbd):
    done = inside("check", format_target(narrow.target("big")), "--json")
    assert done.returncode == 4
    states = {item["name"]: item["state"] for item in json.loads(done.stdout)}
    assert (states["log in"], states["share"], states["packets"]) == ("fine", "fine", "failed")


@pytest.mark.long
def test_diagnose_names_them_and_shows_no_tick(inside: Inside, narrow: Smbd):
    words = ("--only", "distance,small-files,long-run", "--quick", "--yes", "--timeout", "4", "--json")
    done = inside("diagnose", format_target(narrow.target("")), *words)
    document = json.loads(done.stdout)
    (found,) = (finding for finding in document["findings"] if finding["key"] == "large-packets-lost")
    assert found["severity"] == "problem"
    assert document["answer"].startswith("✗")
    assert {stage["status"] for stage in document["stages"]} == {"failed"}
    # The server has not heard the end of what stalled, and may keep its files: what is left is named.
    assert all(folder.name in done.stderr for folder in narrow.folder.glob(".sharebench-*"))


def test_a_path_that_carries_what_both_ends_send_has_no_such_line(inside: Inside, wide: Smbd):
    names = [item["name"] for item in inside.json("check", format_target(wide.target("big")), "--json")]
    assert "packets" not in names


def tcp(**known: int) -> TcpInfo:
    return TcpInfo(segments=Segments(), **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("info", "is_told"),
    [
        (tcp(segment_bytes=8948, unacknowledged=1, timeouts=2), True),
        (tcp(segment_bytes=8948, unacknowledged=1, timeouts=1), False),
        (tcp(segment_bytes=8948, unacknowledged=0, timeouts=2), False),
        (tcp(own_segment_bytes=8960), True),
        (tcp(own_segment_bytes=1460), False),
        (tcp(own_segment_bytes=65_483), False),
        (tcp(), False),
    ],
)
def test_what_tcp_tells_of_a_stall(info: TcpInfo, is_told: bool):
    assert bool(info.stall_text()) is is_told
