"""The distance to a real server behind a link of known round trip: as a fact, on the form, and in the findings."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from storage.target_url import format_target
from tests.command_line import Sharebench
from tests.servers.distance import FarLink
from tests.servers.smbd import Smbd

pytestmark = pytest.mark.xdist_group("links")

ROUND_TRIP_SECONDS = 0.05


@pytest.fixture
def far_smbd() -> Iterator[Smbd]:
    """A server that is fifty milliseconds away."""
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


def test_a_window_that_the_distance_makes_the_limit(far_smbd: Smbd, tmp_path):
    far_smbd.make_file("file", os.urandom(4 * 2**20))
    sharebench = Sharebench(tmp_path / "notebook.db", far_smbd.password)
    words = ("--runs", "2", "--warmup", "1", "--link", "1G", "--quiet-time", "skip", "--ceiling", "skip")
    window = ("--block", "256K", "--in-flight", "1")
    document = sharebench.json("run", format_target(far_smbd.target("file")), *words, *window, "--json")
    least = document["environment"]["path"]["tcp.least_round_trip_seconds"]
    assert ROUND_TRIP_SECONDS <= least < 2 * ROUND_TRIP_SECONDS
    found = {finding["key"]: finding for finding in document["findings"]}
    assert "The client's window (1 in flight): 262 kB" in found["latency"]["evidence"]
    assert "requests in flight" in found["latency"]["what_to_do"]
    assert "cable" not in str(document["findings"])
    assert "Round trip: 5" in sharebench("show", "last").stdout
