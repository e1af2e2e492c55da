"""A link of known speed: a network namespace behind a veth pair whose ends are shaped by ``tc tbf``."""

from __future__ import annotations

import contextlib
import os
import subprocess

from tests.servers.process import die_with_parent, program, require, unavailable

PAYLOAD_SHARE = 1448 / 1514
"""Payload over tbf's bytes, for 1500-byte packets with TCP timestamps: 1448 of 1514 bytes of an Ethernet frame."""

BURSTS = {"100mbit": "64kb", "1gbit": "512kb"}
"""What tbf lets through at once: some milliseconds' worth, or a busy machine's late timers would slow the link down.
The first burst of a transfer passes unshaped: it must be small beside the file."""


def can_make_namespaces() -> bool:
    """Whether this user may make network namespaces."""
    return subprocess.run([program("unshare"), "--net", "true"], capture_output=True, check=False).returncode == 0


def _shape(rate: str, burst: str | None = None, *, shallow: bool = False) -> list[str]:
    burst, queue = ("5kb", "2ms") if shallow else (burst or BURSTS.get(rate, "128kb"), "100ms")
    return ["root", "tbf", "rate", rate, "burst", burst, "latency", queue]


class Link:
    """A point-to-point link to a network namespace; ``prefix`` starts a program inside it.

    The namespace belongs to a process of ours and ends with it, and the veth pair with the namespace: nothing stays,
    even after kill -9. Addresses are of 198.18.0.0/15, which RFC 2544 reserves for benchmarks. TCP across it uses
    CUBIC, which fills any link, whatever the system's own choice is: BBR now and then slows down to probe. A greater
    ``burst`` makes up for a machine that stands still for a moment, and takes as long at the beginning to be used up.
    """

    def __init__(self, rate: str, burst: str | None = None) -> None:
        require("ip", "tc", "unshare", "nsenter", "sleep")
        self.rate = rate
        self._holder = subprocess.Popen(
            [program("unshare"), "--net", "sh", "-c", "echo ready; exec sleep infinity"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != b"ready\n":
            self.close()
            unavailable("network namespaces are not permitted here")
        # Four addresses a link; the process id keeps links of parallel tests apart.
        number = self._holder.pid % 0x7FFF
        block = f"198.{18 + (number >> 14)}.{(number >> 6) & 0xFF}"
        low = (number & 0x3F) * 4
        self.near, self.host = f"{block}.{low + 1}", f"{block}.{low + 2}"
        self.prefix = [program("nsenter"), f"--net=/proc/{self._holder.pid}/ns/net", "--"]
        self.device = name = f"sbench{self._holder.pid}"
        shape = _shape(rate, burst)
        try:
            self._run(
                "ip", "link", "add", name, "type", "veth", "peer", "name", "link0", "netns", str(self._holder.pid)
            )
            self._run("ip", "address", "add", f"{self.near}/30", "dev", name)
            self._run("ip", "link", "set", name, "up")
            self._run("tc", "qdisc", "add", "dev", name, *shape)
            self._inside("ip", "link", "set", "lo", "up")
            self._inside("ip", "address", "add", f"{self.host}/30", "dev", "link0")
            self._inside("ip", "link", "set", "link0", "up")
            self._inside("tc", "qdisc", "add", "dev", "link0", *shape)
            self._run("ip", "route", "replace", f"{self.host}/32", "dev", name, "congctl", "cubic")
            self._inside("ip", "route", "replace", f"{self.near}/32", "dev", "link0", "congctl", "cubic")
        except subprocess.CalledProcessError as error:
            self.close()
            unavailable(f"no link of known speed: {error.stderr.decode(errors='replace').strip()}")

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run([program(name), *arguments], check=True, capture_output=True)

    def _inside(self, name: str, *arguments: str) -> None:
        subprocess.run([*self.prefix, program(name), *arguments], check=True, capture_output=True)

    def change_rate(self, rate: str, *, shallow: bool = False) -> None:
        """Shape both ends to another rate, as if a cable had lost a pair; connections go on.

        A ``shallow`` queue of two milliseconds loses what comes in bursts.
        """
        self.rate = rate
        shape = _shape(rate, shallow=shallow)
        self._run("tc", "qdisc", "replace", "dev", self.device, *shape)
        self._inside("tc", "qdisc", "replace", "dev", "link0", *shape)

    def close(self) -> None:
        """End the namespace, and with it the link."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._holder.pid, 9)
        self._holder.wait()
        if self._holder.stdout:
            self._holder.stdout.close()
