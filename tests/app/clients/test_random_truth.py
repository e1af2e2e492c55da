"""What random requests say of themselves, held against smbd's own counters and against the path's round trip."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from statistics import median

import pytest

from app.clients.base import Content
from app.clients.random_requests import RandomWorkload
from app.clients.smb import wire
from app.clients.smb.client import SMBClient
from app.server.shell import ServerShell
from app.server.smbd import SmbdControl
from storage.plan import Settings
from tests.app.fakes import meter
from tests.servers.distance import FarLink
from tests.servers.smbd import Smbd

pytestmark = pytest.mark.long

KIB = 1024
FILE_BYTES = 8 << 20
TURNS = 30
ONE_PACKET_MTU = 9000
"""The answer with a block of 4 KiB is one packet, as that of an echo is."""


@pytest.fixture
def client(smbd: Smbd) -> Iterator[SMBClient]:
    with contextlib.closing(SMBClient(smbd.target(), smbd.secrets(), Settings())) as client:
        yield client


@pytest.fixture
def profiled(smbd: Smbd) -> Iterator[SmbdControl]:
    """An smbd that other tests have as well: it counts for this one alone."""
    control = SmbdControl(ServerShell(), str(smbd.conf))
    control.set_level("on")
    yield control
    control.set_level("off")


def make_random_file(smbd: Smbd) -> None:
    path = smbd.make_file("random", os.urandom(FILE_BYTES))
    path.chmod(0o666)


@pytest.mark.parametrize(
    ("read_percent", "in_flight", "block_bytes"),
    [
        (100, 1, 4 * KIB),
        (100, 32, 4 * KIB),
        (0, 1, 4 * KIB),
        (0, 32, 4 * KIB),
        (70, 1, 4 * KIB),
        (70, 32, 4 * KIB),
        (100, 32, 64 * KIB),
        (70, 8, 16 * KIB),
    ],
)
def test_smbd_counts_the_same_requests_and_bytes(
    smbd: Smbd, client: SMBClient, profiled: SmbdControl, read_percent: int, in_flight: int, block_bytes: int
):
    make_random_file(smbd)
    # Before the login: the process that serves it counts from its start.
    client.connect()
    before = profiled.profile()
    workload = RandomWorkload(block_bytes=block_bytes, in_flight=in_flight, seconds=0.5, read_percent=read_percent)
    transfer = client.request_blocks("random", workload, Content(FILE_BYTES), meter())

    requests = transfer.requests
    assert requests is not None
    grown = profiled.grown_since(before, requests.count + 2)  # and one to open the file, one to close it
    for name, counted in (("smb2_read", requests.reads.count), ("smb2_write", requests.writes.count)):
        calls = grown[name].calls if name in grown else 0
        assert calls == counted, name
    moved_bytes = block_bytes * requests.count
    assert transfer.size_bytes == moved_bytes
    wire_bytes = sum(
        grown[name].in_bytes + grown[name].out_bytes for name in ("smb2_read", "smb2_write") if name in grown
    )
    # smbd counts the fixed parts of the messages, too.
    assert moved_bytes <= wire_bytes <= moved_bytes + 1024 * requests.count


@pytest.mark.alone
@pytest.mark.parametrize(
    ("round_trip_seconds", "most_seconds"),
    [(0.001, 0.0003), (0.010, 0.05 * 0.010), (0.050, 0.05 * 0.050)],
)
def test_one_request_at_a_time_takes_the_round_trip_and_the_servers_time(
    round_trip_seconds: float, most_seconds: float
):
    with contextlib.ExitStack() as stack:
        link = FarLink(round_trip_seconds, ONE_PACKET_MTU)
        stack.callback(link.close)
        server = Smbd(link=link)
        stack.callback(server.stop)
        server.start()
        make_random_file(server)
        control = SmbdControl(ServerShell(), str(server.conf))
        control.set_level("on")
        client = stack.enter_context(contextlib.closing(SMBClient(server.target(), server.secrets(), Settings())))
        client.connect()

        # In many short turns, since the courier of the link is a process that a busy machine delays.
        beyond_trips: list[float] = []
        before = control.profile()
        count = 0
        for _ in range(TURNS):
            # Around the requests, so that what slows these slows the echoes too.
            trips_seconds = [echo_seconds(client) for _ in range(5)]
            workload = RandomWorkload(block_bytes=4 * KIB, in_flight=1, seconds=0.3, read_percent=100)
            transfer = client.request_blocks("random", workload, Content(FILE_BYTES), meter())
            assert transfer.requests is not None
            count += transfer.requests.count
            median_seconds = transfer.requests.reads.quantile_seconds(0.5)
            assert median_seconds is not None
            trips_seconds += [echo_seconds(client) for _ in range(5)]
            beyond_trips.append(median_seconds - median(trips_seconds))
        read = control.grown_since(before, count)["smb2_read"]
        server_seconds = (read.microseconds - read.idle_microseconds) / read.calls / 1e6

        assert abs(median(beyond_trips) - server_seconds) <= most_seconds


def echo_seconds(client: SMBClient) -> float:
    """The round trip of the smallest request, which the server answers at once."""
    channel = client.connected_share().channel
    began_at = time.perf_counter()
    channel.ask(wire.frame(*wire.ECHO))
    return time.perf_counter() - began_at
