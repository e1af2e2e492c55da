"""``run --from A --from B``: several machines measure one server, interleaved, and the slow leg is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from forms.quick.limits import FULL_LINK_PERCENT, PATH_SHARE
from tests.command_line import QUICK, ROOT, Inside
from tests.servers.distance import FarLink
from tests.servers.netns import PAYLOAD_SHARE, Link
from tests.servers.process import program, require_root
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


def installed() -> str:
    """The text of a ``sharebench`` that is this checkout's."""
    return f'#!/bin/sh\ncd "{ROOT}"\nexec "{sys.executable}" -m app "$@"\n'


@dataclass
class Machine:
    name: str
    link: Link | FarLink
    sshd: Sshd
    bits_per_second: int
    least_round_trip_seconds: float


@pytest.fixture
def address() -> Iterator[str]:
    """One of this machine that all namespaces reach, below RFC 2544's range for benchmarks."""
    require_root("network namespaces")
    address = f"198.18.{128 + os.getpid() % 100}.{1 + os.getpid() % 250}"
    run("ip", "address", "add", f"{address}/32", "dev", "lo")
    yield address
    run("ip", "address", "del", f"{address}/32", "dev", "lo")


def run(name: str, *words: str) -> str:
    return subprocess.run([program(name), *words], check=True, capture_output=True, text=True).stdout


def shape(machine_link: FarLink, rate: str) -> None:
    """Shape both ends; what is more than a burst waits for 100 ms at most."""
    tbf = ("root", "tbf", "rate", rate, "burst", "32kb", "latency", "100ms")
    run("tc", "qdisc", "replace", "dev", machine_link.device, *tbf)
    run(*machine_link.prefix, "tc", "qdisc", "replace", "dev", "link0", *tbf)
    run("ip", "route", "replace", machine_link.host, "dev", machine_link.device, "congctl", "cubic")


@pytest.fixture
def machines(address: str) -> Iterator[list[Machine]]:
    """Three machines, each in a network namespace with an sshd: near and fast, farther and slower, far and slow."""
    with ExitStack() as stack:
        fast = Link("1gbit")
        stack.callback(fast.close)
        middle = FarLink(0.010)
        stack.callback(middle.close)
        shape(middle, "100mbit")
        slow = FarLink(0.050)
        stack.callback(slow.close)
        shape(slow, "10mbit")

        found = []
        for name, link, bits_per_second, least_seconds in (
            ("fast", fast, 10**9, 0.0),
            ("middle", middle, 10**8, 0.010),
            ("slow", slow, 10**7, 0.050),
        ):
            words = ("ip", "route", "add", address, "via", link.near, "dev", "link0", "congctl", "cubic")
            run(*link.prefix, program(words[0]), *words[1:])
            sshd = Sshd(link)
            stack.callback(sshd.stop)
            sshd.start()
            script = sshd.path / "sharebench"
            script.write_text(installed())
            script.chmod(0o755)
            found.append(Machine(name, link, sshd, bits_per_second, least_seconds))
        yield found


def ssh_to(machines: list[Machine], folder: Path, dead: str) -> Path:
    """A folder with an ``ssh`` that knows all of them, and one that never answers."""
    parts = [f"Host dead\n  HostName {dead}\n  Port 22\n"]
    for machine in machines:
        sshd = machine.sshd
        parts.append(
            f"Host {machine.name}\n  HostName {sshd.host}\n  Port {sshd.port}\n  IdentityFile {sshd.root}/user_key\n"
            f"  UserKnownHostsFile {sshd.root}/known_hosts\n"
        )
    parts.append("Host *\n  IdentitiesOnly yes\n  GlobalKnownHostsFile none\n")
    (folder / "ssh_config").write_text("".join(parts))
    ssh = folder / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {program("ssh")} -F {folder}/ssh_config "$@"\n')
    ssh.chmod(0o755)
    return folder


@pytest.mark.long
def test_random_requests_and_a_quick_test_are_made_by_a_far_machine(
    tmp_path: Path, address: str, machines: list[Machine], make_smbd, monkeypatch: pytest.MonkeyPatch
):
    server = make_smbd()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{ssh_to(machines, tmp_path / 'bin', 'nohost.invalid')}:{os.environ['PATH']}")
    inside = Inside(tmp_path / "notebook.db", server.password)
    url = f"smb://{server.user}@{address}:{server.port}/{server.share}"
    _fast, middle, _slow = machines

    one_by_one = ("--random", "--make-file", "--size", "1M", "--in-flight", "1", "--seconds", "1")
    counts = ("--runs", "3", "--warmup", "0", *QUICK)
    series = inside.json("run", url, "--from", middle.name, *one_by_one, *counts, "--json")
    assert [run["status"] for run in series["runs"]] == ["valid"] * 3
    for run in series["runs"]:
        assert run["request_figures"]["p50_seconds"] >= middle.least_round_trip_seconds
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
    tmp_path: Path, address: str, machines: list[Machine], make_smbd, monkeypatch: pytest.MonkeyPatch
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
    url = f"smb://{server.user}@{address}:{server.port}/{server.share}/file"
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

        echo_seconds = least_echo_seconds(machine, address, server.port)
        difference = abs(measured["round_trip_seconds"] - echo_seconds)
        assert difference <= max(0.1 * echo_seconds, 0.001), (
            machine.name,
            measured["round_trip_seconds"],
            echo_seconds,
        )
    rates = [measured["average_bytes_per_second"] for measured in places]
    assert rates == sorted(rates, reverse=True)
