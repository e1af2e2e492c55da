"""A proxy before an FTPS server: it cannot read what passes, so its data ports are the server's, at another address."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable

from tests.app.clients.ftp.proxy import FtpProxy, Script, unchanged
from tests.servers.process import free_port
from tests.servers.vsftpd import Vsftpd, write_certificate

HOSTS = tuple(f"127.0.3.{number}" for number in range(1, 9))
"""An address of the loopback for each proxy that stands at the same time."""
DATA_PORTS = 10


def ftps_server() -> Vsftpd:
    """A server that takes data connections on few ports, with a certificate for the proxies' addresses."""
    first = free_port() // 4 + 10_000  # below the ports that connections come from
    server = Vsftpd({"pasv_min_port": str(first), "pasv_max_port": str(first + DATA_PORTS - 1)}, tls="explicit")
    write_certificate(server.root / "certificate.pem", server.host, *HOSTS)
    return server


class FtpsProxy(FtpProxy):
    """Calls the scripts with whatever comes at a time, encrypted or not, and says whether the password was readable."""

    def __init__(
        self,
        server: Vsftpd,
        host: str,
        replies: Script = unchanged,
        commands: Script = unchanged,
        down: Script = unchanged,
        up: Script = unchanged,
    ) -> None:
        self.host = host
        self.leaked = False
        self._password = server.password.encode()
        self._commands_script = commands
        super().__init__(server.host, server.port, replies, self._watched, down, up)
        first = int(server.options["pasv_min_port"])
        for port in range(first, first + DATA_PORTS):
            self._stand_at(port, (server.host, port), data=True)

    def _watched(self, piece: bytes) -> Iterable[bytes]:
        self.leaked = self.leaked or self._password in piece or b"PASS " in piece
        return self._commands_script(piece)

    def _listen(self, server: tuple[str, int], *, data: bool) -> int:
        return self._stand_at(0, server, data=data)

    def _stand_at(self, port: int, server: tuple[str, int], *, data: bool) -> int:
        listener = socket.create_server((self.host, port))
        self._sockets.append(listener)
        threading.Thread(target=self._accept, args=(listener, server, data), daemon=True).start()
        found: int = listener.getsockname()[1]
        return found

    def _lines(self, source: socket.socket, sink: socket.socket, script: Script) -> None:
        """All that passes, as it comes: of what is encrypted there are no lines."""
        self._pour(source, sink, self._replies if script == self._passive_replies else script)
