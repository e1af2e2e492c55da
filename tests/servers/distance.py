"""A link of known distance: packets to a network namespace pass a process that holds each of them back for a while."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

from tests.servers.process import die_with_parent, program, require, unavailable

_COURIER = """
import ctypes, fcntl, heapq, os, select, struct, sys, time

def tun(name):
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1001))  # TUNSETIFF, IFF_TUN | IFF_NO_PI
    return file

name, delay, most_bytes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
near = tun(name)
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x40000000):  # CLONE_NEWNET
    sys.exit("no network namespace")
far = tun("link0")
print("ready", flush=True)
to, waiting, count = {near: far, far: near}, [], 0
while True:
    rest = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
    for file in select.select([near, far], [], [], rest)[0]:
        while True:
            try:
                packet = os.read(file, 65536)
            except OSError:
                break
            if len(packet) > most_bytes:
                continue  # lost, and nobody is told
            count += 1
            heapq.heappush(waiting, (time.monotonic() + delay, count, to[file], packet))
    while waiting and waiting[0][0] <= time.monotonic():
        _, _, file, packet = heapq.heappop(waiting)
        try:
            os.write(file, packet)
        except OSError:
            pass
"""
"""Carries packets between two tun devices, each direction late by so many seconds."""


_numbers = itertools.count(1)
"""Of the links of this process: a device has the name of one of them."""


class FarLink:
    """A point-to-point link of so long a round trip to a network namespace; ``prefix`` starts a program inside it.

    All of it belongs to one process and ends with it. Addresses are of 198.18.0.0/15 (RFC 2544). Both ends have cards
    of ``mtu_bytes``; packets above ``carries_bytes`` get lost, as in a switch without jumbo frames.
    """

    def __init__(self, round_trip_seconds: float, mtu_bytes: int = 1500, carries_bytes: int | None = None) -> None:
        require("ip", "nsenter")
        if not Path("/dev/net/tun").exists():
            unavailable("no /dev/net/tun")
        self.device = self._name = f"sbfar{os.getpid() % 100_000}x{next(_numbers)}"
        self._courier = subprocess.Popen(
            [sys.executable, "-c", _COURIER, self._name, str(round_trip_seconds / 2), str(carries_bytes or mtu_bytes)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
        )
        assert self._courier.stdout is not None
        if self._courier.stdout.readline() != b"ready\n":
            self.close()
            unavailable("tun devices or network namespaces are not permitted here")
        number = self._courier.pid % 0x3FFF
        block = f"198.19.{number >> 6}"
        low = (number & 0x3F) * 4
        self.near, self.host = f"{block}.{low + 1}", f"{block}.{low + 2}"
        self.prefix = [program("nsenter"), f"--net=/proc/{self._courier.pid}/ns/net", "--"]
        try:
            self._run("ip", "address", "add", self.near, "peer", self.host, "dev", self._name)
            self._run("ip", "link", "set", self._name, "mtu", str(mtu_bytes), "txqueuelen", "10000", "up")
            self._run(*self.prefix, "ip", "link", "set", "lo", "up")
            self._run(*self.prefix, "ip", "address", "add", self.host, "peer", self.near, "dev", "link0")
            mtu = ("mtu", str(mtu_bytes))
            self._run(*self.prefix, "ip", "link", "set", "link0", *mtu, "txqueuelen", "10000", "up")
        except subprocess.CalledProcessError as error:
            self.close()
            unavailable(f"no link of known distance: {error.stderr.decode(errors='replace').strip()}")

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run([program(name), *arguments], check=True, capture_output=True)

    def close(self) -> None:
        """End the process, and with it both devices and the namespace."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._courier.pid, 9)
        self._courier.wait()
        if self._courier.stdout:
            self._courier.stdout.close()
