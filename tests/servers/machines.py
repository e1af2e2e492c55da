"""Several machines that measure one server, each in a network namespace of its own, at its own distance."""

from __future__ import annotations

import getpass
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.command_line import ROOT
from tests.servers.distance import FarLink
from tests.servers.netns import Link
from tests.servers.process import program, require_root
from tests.servers.sshd import Sshd


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
def common_address() -> Iterator[str]:
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
def machines(common_address: str) -> Iterator[list[Machine]]:
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
            words = ("ip", "route", "add", common_address, "via", link.near, "dev", "link0", "congctl", "cubic")
            run(*link.prefix, program(words[0]), *words[1:])
            sshd = Sshd(link)
            stack.callback(sshd.stop)
            sshd.start()
            script = sshd.path / "sharebench"
            script.write_text(installed())
            script.chmod(0o755)
            found.append(Machine(name, link, sshd, bits_per_second, least_seconds))
        yield found


def ssh_to(machines: list[Machine], folder: Path, dead: str = "nohost.invalid") -> Path:
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


@pytest.fixture
def two_hosts(place: Sshd) -> tuple[str, str]:
    """Two names of one machine that can measure for us, for what takes no real distance."""
    script = place.path / "sharebench"
    script.write_text(installed())
    script.chmod(0o755)
    return "fileserver", f"{getpass.getuser()}@fileserver"


def ssh_to_measure(process_id: int, host: str, module: str) -> psutil.Process:
    """The ssh, of that process, that leads to our module on that machine."""
    children = psutil.Process(process_id).children(recursive=True)
    to_host = [child for child in children if child.name() == "ssh" and host in child.cmdline()]
    (ssh,) = [child for child in to_host if any(module in word for word in child.cmdline())]
    return ssh
