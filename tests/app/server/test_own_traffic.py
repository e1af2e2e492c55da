"""Our own traffic told from others', on links of known speed: quiet time, small competitors, the curve of a run.

Only what is said of the link is looked at: others may well be busy on the processors of the machine that tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from app.recording.process import MeasuringProcess, Progressed, RunFinished, SeriesControl
from forms.series.progress import over_time
from storage.records import Command, Run, format_target
from tests.servers.netns import PAYLOAD_SHARE, Link
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.specs import order_with

pytestmark = pytest.mark.xdist_group("links")
"""One after another: what needs no accuracy runs beside other tests, since it mostly waits for a link."""

SIZES = {"10mbit": 10 * 2**20, "100mbit": 64 * 2**20, "250mbit": 128 * 2**20}
"""Some seconds each: less than a window, some windows, and many of them; some are looked at with a competitor."""
BITS = {"10mbit": 10e6, "100mbit": 100e6, "250mbit": 250e6}

COMPETITOR = """
import socket, sys, time
address, rate = (sys.argv[1], 9), float(sys.argv[2])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    print("ready", flush=True)
    began, sent = time.monotonic(), 0
    while True:
        while sent < rate * (time.monotonic() - began):
            try:
                sent += sock.sendto(bytes(1400), address)
            except ConnectionRefusedError:
                pass
        time.sleep(0.005)
"""
"""Sends datagrams to an address at so many bytes a second, whether anybody wants them or not."""


@pytest.fixture
def linked(make_link, make_smbd, tmp_path):
    """A factory: a link of a rate, and a server behind it that shares a folder in memory."""

    def make(rate: str) -> tuple[Link, Smbd]:
        link = make_link(rate)
        return link, make_smbd(link=link)

    return make


def document_of(server: Smbd | Vsftpd, tmp_path, command: Command, link: str, size_bytes: int) -> dict[str, Any]:
    """The document of a series of one run."""
    server.make_file("file", os.urandom(size_bytes))
    root = "" if isinstance(server, Smbd) else "/"
    path = f"{root}file" if command is Command.GET else root
    done = subprocess.run(
        [
            *(sys.executable, "-m", "app", "--db", str(tmp_path / "notebook.db"), "run"),
            *(format_target(server.target(path)), f"--{command}", "--runs", "1", "--warmup", "0"),
            *("--link", link.removesuffix("bit").upper(), "--ceiling", "skip", "--json"),
            *(["--size", str(size_bytes)] if command is Command.PUT else []),
        ],
        env={**os.environ, "SHAREBENCH_PASSWORD": server.password},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told_percent(quiet: dict[str, Any], rate: str) -> float:
    """What others are said to have moved during the run, in percent of the link."""
    return float(100 * 8 * quiet["others_link_bytes_per_second_during"] / BITS[rate])


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.parametrize("command", list(Command))
@pytest.mark.parametrize("rate", ["10mbit", "250mbit"])
def test_a_transfer_alone_on_its_link_is_nobody_elses(linked, tmp_path, rate, command):
    _, server = linked(rate)
    quiet = document_of(server, tmp_path, command, rate, SIZES[rate])["quiet"]
    assert told_percent(quiet, rate) < 0.5, quiet
    assert not any("others moved" in why for why in quiet["reasons"]), quiet


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.parametrize("command", list(Command))
@pytest.mark.parametrize("percent", [1, 5])
def test_a_small_competitor_is_told(linked, tmp_path, percent, command):
    link, server = linked("100mbit")
    to, prefix = (link.host, []) if command is Command.PUT else (link.near, link.prefix)
    payload = percent / 100 * BITS["100mbit"] / 8
    with subprocess.Popen(
        [*prefix, sys.executable, "-c", COMPETITOR, to, str(payload)], stdout=subprocess.PIPE
    ) as competitor:
        try:
            assert competitor.stdout
            assert competitor.stdout.readline() == b"ready\n"
            quiet = document_of(server, tmp_path, command, "100mbit", SIZES["100mbit"])["quiet"]
        finally:
            competitor.kill()
    assert told_percent(quiet, "100mbit") == pytest.approx(percent, abs=0.5 if percent == 1 else 1), quiet


@pytest.mark.parametrize("command", list(Command))
@pytest.mark.long
@pytest.mark.alone
def test_the_curve_of_a_run_follows_the_link(linked, command):
    link, server = linked("100mbit")
    size_bytes = 48 * 2**20
    server.make_file("file", os.urandom(size_bytes))
    plan = order_with(
        command=command,
        target=server.target("file" if command is Command.GET else ""),
        secrets=server.secrets(),
        warmups=0,
        runs=1,
        size_bytes=size_bytes,
    )
    runs: list[Run] = []
    began_at = float("inf")  # as early as an event allows: a busy machine hands events out late
    with MeasuringProcess(plan, SeriesControl()) as child:
        for event in child.events():
            if isinstance(event, Progressed):
                began_at = min(began_at, time.monotonic() - event.seconds)
                if event.moved_bytes > size_bytes / 3 and link.rate == "100mbit":
                    changing_at = time.monotonic()
                    link.change_rate("25mbit")
                    changed_at = time.monotonic()
            if isinstance(event, RunFinished):
                runs.append(event.run)
    fast, slow = (PAYLOAD_SHARE * rate / 8 for rate in (100e6, 25e6))
    spans = [span for span in over_time(runs[0].progress) if span.until_seconds > 0.5]
    before = [span.bytes_per_second for span in spans if span.until_seconds < changing_at - began_at - 0.2]
    after = [span.bytes_per_second for span in spans if span.until_seconds > changed_at - began_at + 1]
    assert sum(before) / len(before) == pytest.approx(fast, rel=0.1)
    assert sum(after) / len(after) == pytest.approx(slow, rel=0.1)
    assert sum(rate >= fast for rate in after) <= 1, "but for one that a busy machine hands out late and whole"


@pytest.mark.alone
@pytest.mark.long
def test_ftp_alone_on_its_link_is_nobody_elses(make_link, make_vsftpd, tmp_path):
    server = make_vsftpd(link=make_link("100mbit"))
    quiet = document_of(server, tmp_path, Command.PUT, "100mbit", SIZES["100mbit"])["quiet"]
    assert told_percent(quiet, "100mbit") < 0.5, quiet


@pytest.mark.long
@pytest.mark.parametrize("command", list(Command))
def test_losses_are_seen_from_both_ends(linked, tmp_path, command):
    """A queue of two milliseconds: the server sends much of it again, of which a get hears only what it receives."""
    link, server = linked("100mbit")
    link.change_rate("100mbit", shallow=True)
    document = document_of(server, tmp_path, command, "100mbit", 32 * 2**20)
    found = {finding["key"]: finding["evidence"] for finding in document["findings"]}
    assert ("after a gap" if command is Command.GET else "this client retransmitted") in found["retransmits"]
