"""The server end of iperf3."""

from __future__ import annotations

from pathlib import Path

from storage.records import Target
from tests.servers.netns import Link
from tests.servers.process import ServerProcess, program, require


class Iperf3Server(ServerProcess):
    """A running ``iperf3 -s``; it serves one test at a time."""

    name = "iperf3"

    def __init__(self, link: Link | None = None) -> None:
        require("iperf3", root=False)
        super().__init__(link)

    def command(self) -> list[str]:
        return [program("iperf3"), "-s", "-B", self.host, "-p", str(self.port)]

    def target(self) -> Target:
        """The bare TCP path to this server."""
        return Target(protocol="iperf3", host=self.host, port=self.port)

    def listens(self) -> bool:
        """Whether the kernel has the socket listening; a connection to try it would be taken for a test."""
        sockets = Path(f"/proc/{self.pid}/net/tcp").read_text().splitlines()[1:]
        return any(f":{self.port:04X} " in line.split("00000000:0000")[0] and " 0A " in line for line in sockets)
