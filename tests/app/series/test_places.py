"""``run --from A --from B``: several machines measure one server, interleaved, and the slow leg is named."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from forms.quick.limits import FULL_LINK_PERCENT, PATH_SHARE
from tests.command_line import QUICK, Inside
from tests.servers.machines import Machine, installed, run, ssh_to
from tests.servers.netns import PAYLOAD_SHARE
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd


@pytest.mark.long
def test_a_dead_machine_is_named_and_the_other_measures(tmp_path: Path, smbd: Smbd, place: Sshd):
    script = place.path / "sharebench"
    script.write_text(installed())
    script.chmod(0o755)
    inside = Inside(tmp_path / "notebook.db", smbd.password)
    url = f"smb://{smbd.user}@{smbd.host}:{smbd.port}/{smbd.share}"
    counts = ("--runs", "3", "--warmup", "0", "--make-file", "--size", "1M", *QUICK)
    done = inside("run", url, "--from", "nohost.invalid", "--from", "fileserver", "--json", *counts)
    assert done.returncode == 4
    assert "nohost.invalid" in done.stderr.splitlines()[-1]

    document = json.loads(done.stdout)
    assert document["schema"] == "sharebench/places/1"
    dead, alive = document["places"]
    assert (dead["from"], dead["series_id"], dead["average_bytes_per_second"]) == ("nohost.invalid", None, None)
    assert dead["error"]
    assert (alive["from"], alive["error"]) == ("fileserver", None)
    assert alive["average_bytes_per_second"] > 0
    assert document["slow_leg"] is None
    series = inside.json("show", alive["series_id"], "--json")
    assert series["status"] == "complete"
    assert series["label"] == "fileserver"


def test_machines_that_cannot_be_reached_are_named_and_each_reason_is_told_once(tmp_path: Path):
    inside = Inside(tmp_path / "notebook.db", "x")
    hosts = ("--from", "nohost.invalid", "--from", "other.invalid")
    done = inside("run", "smb://u@nas/share/file", *hosts, "--json", *QUICK)
    assert done.returncode == 4
    last_line = done.stderr.splitlines()[-1]
    assert "nohost.invalid, other.invalid" in last_line
    assert "no host of that name" not in last_line
    for place in json.loads(done.stdout)["places"]:
        assert place["error"].startswith("no host of that name is known")


def test_options_that_a_table_has_no_room_for_are_refused(tmp_path: Path):
    inside = Inside(tmp_path / "notebook.db", "x")
    several = ("--from", "a", "--from", "b")
    for options in (("--until", "2"), ("--experiment", "x"), ("--reject-unusual",), ("--versus", "--block 1M")):
        assert "--from" in inside.fails(2, "run", "smb://u@nas/share/file", *several, *options)


@pytest.mark.long
def test_random_requests_and_a_quick_test_are_made_by_a_far_machine(
    tmp_path: Path, common_address: str, machines: list[Machine], make_smbd, monkeypatch: pytest.MonkeyPatch
):
    server = make_smbd()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{ssh_to(machines, tmp_path / 'bin')}:{os.environ['PATH']}")
    inside = Inside(tmp_path / "notebook.db", server.password)
    url = f"smb://{server.user}@{common_address}:{server.port}/{server.share}"
    _fast, middle, _slow = machines

    one_by_one = ("--random", "--make-file", "--size", "1M", "--in-flight", "1", "--seconds", "1")
    counts = ("--runs", "3", "--warmup", "0", *QUICK)
    series = inside.json("run", url, "--from", middle.name, *one_by_one, *counts, "--json")
    assert [timed_run["status"] for timed_run in series["runs"]] == ["valid"] * 3
    for timed_run in series["runs"]:
        assert timed_run["request_figures"]["p50_seconds"] >= middle.least_round_trip_seconds
    assert series["link_bits_per_second"] == middle.bits_per_second

    quick = inside.json("quick", url, "--from", middle.name, "--size", "64M", "--seconds", "1", "--json")
    assert quick["link_bits_per_second"] == middle.bits_per_second
    assert quick["loopback"] is False
    lines = {figures["name"]: figures for figures in quick["figures"]}
    for direction in ("read", "write"):
        for name, least_percent in (("SEQ1M Q8", FULL_LINK_PERCENT), ("SEQ1M Q1", 100 * PATH_SHARE)):
            line = lines[f"{name} {direction}"]
            # A busy machine may forward the packets of that link later than the link does.
            is_held_up = 100 * 8 * line["bytes_per_second"] / middle.bits_per_second < least_percent
            assert line["limit"] == "link" or is_held_up, line
            assert line["allowed"]["limit"] in {"link", "client"}
        line = lines[f"RND4K Q1 {direction}"]
        is_held_up = line["operations_per_second"] * middle.least_round_trip_seconds < PATH_SHARE
        assert line["limit"] == "round trip" or is_held_up, line
    assert not [path for path in server.folder.iterdir() if path.name.startswith(".sharebench-")]


_CONNECT = """
import socket, sys, time
seconds = []
for _ in range(15):
    began = time.perf_counter()
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10).close()
    seconds.append(time.perf_counter() - began)
print(min(seconds))
"""


def least_echo_seconds(machine: Machine, address: str, port: int) -> float:
    """The least time from a SYN of that machine to the answer of the server's kernel."""
    return float(
        run(machine.link.prefix[0], *machine.link.prefix[1:], sys.executable, "-c", _CONNECT, address, str(port))
    )


@pytest.mark.alone
def test_three_machines_are_told_apart_in_one_call(
    tmp_path: Path, common_address: str, machines: list[Machine], make_smbd, monkeypatch: pytest.MonkeyPatch
):
    server = make_smbd()
    (tmp_path / "bin").mkdir()
    dead = f"198.19.{128 + os.getpid() % 100}.2"
    run("ip", "route", "add", dead, "dev", machines[1].link.device)
    folder = ssh_to(machines, tmp_path / "bin", dead)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    file = server.folder / "file"
    file.write_bytes(os.urandom(32 * 2**20))
    file.chmod(0o644)

    inside = Inside(tmp_path / "notebook.db", server.password)
    url = f"smb://{server.user}@{common_address}:{server.port}/{server.share}/file"
    hosts = [word for machine in machines for word in ("--from", machine.name)]
    done = inside("run", url, "--from", "dead", *hosts, "--json", "--runs", "3", "--warmup", "0", *QUICK)
    assert done.returncode == 4
    assert "dead" in done.stderr.splitlines()[-1]

    document = json.loads(done.stdout)
    assert document["slow_leg"] == "slow"
    dead_place, *places = document["places"]
    assert dead_place["error"]
    assert [measured["link_bits_per_second"] for measured in places] == [10**9, 10**8, 10**7]
    assert [measured["limit"] for measured in places[1:]] == ["link", "link"]

    for machine, measured in zip(machines, places, strict=True):
        share = 8 * measured["average_bytes_per_second"] / (PAYLOAD_SHARE * machine.bits_per_second)
        # How near the fast one comes to its link depends on the processor here: its lower bound is for a quiet machine.
        least_share = 0.95 if machine.bits_per_second <= 10**8 else 0.5
        assert least_share <= share <= 1.05, (machine.name, share)

        echo_seconds = least_echo_seconds(machine, common_address, server.port)
        difference = abs(measured["round_trip_seconds"] - echo_seconds)
        assert difference <= max(0.1 * echo_seconds, 0.001), (
            machine.name,
            measured["round_trip_seconds"],
            echo_seconds,
        )
    rates = [measured["average_bytes_per_second"] for measured in places]
    assert rates == sorted(rates, reverse=True)
