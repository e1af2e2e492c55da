"""The distance to a real server behind a link of known round trip: as a fact, on the form, and in the findings."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from forms import wording
from storage.records import format_target
from tests.app.clients.smb.proxy import Proxy
from tests.command_line import Sharebench
from tests.servers.distance import FarLink
from tests.servers.netns import Link
from tests.servers.smbd import Smbd

pytestmark = pytest.mark.xdist_group("links")

ROUND_TRIP_SECONDS = 0.2
"""So much that what a busy machine adds to it is little."""
QUICK = ("--warmup", "1", "--link", "1G", "--quiet-time", "skip", "--ceiling", "skip")


@pytest.fixture
def far_smbd() -> Iterator[Smbd]:
    """A server that is two hundred milliseconds away."""
    link = FarLink(ROUND_TRIP_SECONDS)
    try:
        server = Smbd(link=link)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        link.close()


@pytest.mark.long
def test_a_proxy_in_between_is_seen_by_the_requests(smbd: Smbd, tmp_path):
    """TCP ends at the proxy: its round trip is microseconds, a request takes two hundred milliseconds."""
    smbd.make_file("file", os.urandom(2**20))

    def late(message: bytearray) -> list[bytearray]:
        time.sleep(ROUND_TRIP_SECONDS)
        return [message]

    target = smbd.target("file")
    with Proxy(target.host, target.port_number, answers=late) as proxy:
        sharebench = Sharebench(tmp_path / "notebook.db", smbd.password)
        near = format_target(replace(target, port=proxy.port))
        document = sharebench.json("run", near, "--runs", "2", *QUICK, "--json")
        shown = sharebench("show", "last").stdout
    path = document["environment"]["path"]
    assert path["tcp.least_round_trip_seconds"] < ROUND_TRIP_SECONDS / 5
    assert ROUND_TRIP_SECONDS <= path["request.least_round_trip_seconds"] < 2 * ROUND_TRIP_SECONDS
    assert "relayed" in [finding["key"] for finding in document["findings"]]
    assert f"; an empty request {wording.milliseconds(path['request.least_round_trip_seconds'])}" in shown
    assert path["mtu.path_bytes"] == 65535


def test_a_server_with_a_smaller_mtu_is_seen_by_its_segments(make_smbd, tmp_path):
    link = Link("1gbit")
    try:
        subprocess.run([*link.prefix, "ip", "link", "set", "link0", "mtu", "1400"], check=True)
        server = make_smbd(link=link)
        server.make_file("file", os.urandom(2**20))
        sharebench = Sharebench(tmp_path / "notebook.db", server.password)
        document = sharebench.json("run", format_target(server.target("file")), "--runs", "2", *QUICK, "--json")
    finally:
        link.close()
    path = document["environment"]["path"]
    assert (path["link.mtu_bytes"], path["mtu.segment_bytes"]) == (1500, 1400 - 52)
    (found,) = [finding for finding in document["findings"] if finding["key"] == "smaller-mtu"]
    assert "segments of 1348 bytes, packets of 1400" in found["evidence"]


@pytest.mark.long
def test_a_window_that_the_distance_makes_the_limit(far_smbd: Smbd, tmp_path):
    far_smbd.make_file("file", os.urandom(2 * 2**20))
    sharebench = Sharebench(tmp_path / "notebook.db", far_smbd.password)
    words = ("--runs", "2", *QUICK, "--block", "256K", "--in-flight", "1", "--json")
    document = sharebench.json("run", format_target(far_smbd.target("file")), *words)
    least = document["environment"]["path"]["tcp.least_round_trip_seconds"]
    assert ROUND_TRIP_SECONDS <= least < 2 * ROUND_TRIP_SECONDS
    found = {finding["key"]: finding for finding in document["findings"]}
    assert "The client's window (1 in flight): 262 kB" in found["latency"]["evidence"]
    assert "requests in flight" in found["latency"]["what_to_do"]
    assert "cable" not in str(document["findings"])
    assert f"Round trip: {wording.milliseconds(least)}" in sharebench("show", "last").stdout
