"""Practice servers at a known rate: SMB and FTP, each a process with orders on stdin and its port on stdout."""

import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from app.base.child_process import ChildProcess, message_of, send
from app.base.errors import MeasurementError
from app.clients.base import Secrets
from app.practice.access import is_of_another_user, let_in_only
from forms.findings.path import PRACTICE, PRACTICE_BYTES_PER_SECOND
from storage.records import Target

HOST = "127.0.0.1"
USER = SHARE = PRACTICE
REPORT = "report.bin"
REPORT_BYTES = 16 * 1024 * 1024

_SMALL_FILES: dict[str, bytes | int] = {
    "read me.txt": b"These files are random bytes to practise on; they go away with the practice servers.\n",
    "Projects [2026]/plan & budget.ods": 48_000,
    "Projects [2026]/site photo (1).jpg": 2_400_000,
    "Grüße/100% done.txt": b"Names with spaces, brackets, umlauts and percent signs are measured like any other.\n",
    "archive/backup.tar": 16_000_000,
}
_END_SECONDS = 2.0


class PracticeServers:
    """Both servers while the ``with`` block lasts; they also end when this process is killed."""

    def __init__(self, report_bytes: int = REPORT_BYTES) -> None:
        self._report_bytes = report_bytes
        self._processes: list[ChildProcess] = []
        self._folder: Path | None = None
        self.secrets = Secrets(password=secrets.token_urlsafe(12))
        self.smb = Target(protocol="smb", host=HOST, share=SHARE, path=REPORT, user=USER)
        self.ftp = Target(protocol="ftp", host=HOST, path=f"/{REPORT}", user=USER)

    @property
    def folder(self) -> Path:
        if self._folder is None:
            raise RuntimeError("the practice servers are not running")
        return self._folder

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="sharebench-practice-"))
        try:
            for name, content in {REPORT: self._report_bytes, **_SMALL_FILES}.items():
                path = self.folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else os.urandom(content))

            # Both load their libraries at the same time.
            smb_process = self._start("smb")
            ftp_process = self._start("ftp")
            self.smb = replace(self.smb, port=self._port_of(smb_process))
            self.ftp = replace(self.ftp, port=self._port_of(ftp_process))
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, protocol: str) -> ChildProcess:
        process = ChildProcess("app.practice.servers", protocol, grace_seconds=_END_SECONDS)
        self._processes.append(process)
        process.say(ServerOrders(folder=str(self.folder), user=USER, password=self.secrets.password or "", share=SHARE))
        return process

    @staticmethod
    def _port_of(process: ChildProcess) -> int:
        serving = next(process.events([Serving]), None)
        if serving is None:
            raise MeasurementError(f"a practice server {process.how_it_ended()}; measure a real server")
        return int(serving.port)

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.cancel()
        for process in self._processes:
            process.close()
        self._processes.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


SMB_REQUEST_SECONDS = 0.003
"""About the time of 64 KiB: smaller requests take as long."""
_CATCH_UP_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOrders:
    folder: str
    user: str
    password: str
    share: str = "practice"


class Pace:
    """Holds all transfers of a server to the practice rate, catching up after a short delay."""

    def __init__(self, least_seconds: float, clock: Any = time) -> None:
        self._least_seconds = least_seconds
        self._clock = clock
        self._free_at = 0.0
        self._lock = threading.Lock()

    def wait(self, size_bytes: int) -> None:
        with self._lock:
            begins_at = max(self._free_at, self._clock.monotonic() - _CATCH_UP_SECONDS)
            self._free_at = begins_at + max(self._least_seconds, size_bytes / PRACTICE_BYTES_PER_SECOND)
            seconds_to_wait = self._free_at - self._clock.monotonic()

        if seconds_to_wait > 0:
            self._clock.sleep(seconds_to_wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    port: int


def report_port(port: int) -> None:
    """Later output of libraries is discarded: it would grow with whatever somebody sends."""
    send(sys.stdout, Serving(port=port))
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  open until the process ends


def end_with_parent(orders: ServerOrders) -> None:
    """Remove the folder and exit when the parent closes stdin, as it does even when killed."""

    def watch() -> None:
        sys.stdin.read()
        shutil.rmtree(orders.folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, daemon=True, name="lifeline").start()


def serve_smb(orders: ServerOrders) -> None:
    from impacket.ntlm import compute_lmhash, compute_nthash
    from impacket.smb3structs import SMB2_READ, SMB2_WRITE
    from impacket.smbserver import SimpleSMBServer

    logging.getLogger("impacket").setLevel(logging.CRITICAL)
    server = SimpleSMBServer(listenAddress="127.0.0.1", listenPort=0)
    server.setSMB2Support(value=True)
    server.addShare(orders.share, orders.folder, "sharebench's practice share")
    server.addCredential(orders.user, 0, compute_lmhash(orders.password), compute_nthash(orders.password))
    server.setSMBChallenge(secrets.token_hex(8))  # impacket's own is the same each time

    smb_server = server.getServer()
    let_in_only(orders.user, smb_server)
    own_port = smb_server.server_address[1]

    def is_ours(_request: Any, address: tuple[str, int]) -> bool:
        return not is_of_another_user(address[1], own_port)

    smb_server.verify_request = is_ours  # socketserver asks it of each connection; impacket makes the server itself
    pace = Pace(SMB_REQUEST_SECONDS)

    def paced(original: Callable[..., Any]) -> Callable[..., Any]:
        def answer(connection: str, smb_server: Any, packet: Any) -> Any:
            reply = original(connection, smb_server, packet)
            pace.wait(max(len(packet["Data"]), len(reply[0][0]["Buffer"])))
            return reply

        return answer

    for command in (SMB2_READ, SMB2_WRITE):
        original = smb_server.hookSmb2Command(command, None)
        smb_server.hookSmb2Command(command, paced(original))
    report_port(own_port)
    server.start()


def serve_ftp(orders: ServerOrders) -> None:
    """One folder for one user."""
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import DTPHandler, FTPHandler
    from pyftpdlib.handlers.ftp.dispatchers import PassiveDTP
    from pyftpdlib.servers import FTPServer

    logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)
    authorizer = DummyAuthorizer()
    authorizer.add_user(orders.user, orders.password, orders.folder, perm="elradfmwMT")
    pace = Pace(0)

    class PacedTransfer(DTPHandler):  # type: ignore[misc]
        def send(self, data: bytes) -> int:
            sent_bytes = int(super().send(data))
            pace.wait(sent_bytes)
            return sent_bytes

        def recv(self, buffer_size: int) -> bytes:
            data: bytes = super().recv(buffer_size)
            pace.wait(len(data))
            return data

    class OwnTransfer(PassiveDTP):  # type: ignore[misc]
        """Listens on, where another user connects to a port that was named to the one who logged in."""

        def handle_accepted(self, connection: socket.socket, address: tuple[str, int]) -> None:
            if is_of_another_user(address[1], connection.getsockname()[1]):
                connection.close()
                return
            super().handle_accepted(connection, address)

    class OwnServer(FTPServer):  # type: ignore[misc]
        def handle_accepted(self, connection: socket.socket, address: tuple[str, int]) -> FTPHandler | None:
            if is_of_another_user(address[1], connection.getsockname()[1]):
                connection.close()
                return None
            return super().handle_accepted(connection, address)

    class OwnHandler(FTPHandler):  # type: ignore[misc]
        dtp_handler = PacedTransfer
        passive_dtp = OwnTransfer
        use_sendfile = False
        auth_failed_timeout = 0  # refusals come at once, for there is nobody to keep out
        banner = "sharebench practice server"

    OwnHandler.authorizer = authorizer
    server = OwnServer(("127.0.0.1", 0), OwnHandler)
    report_port(server.address[1])
    server.serve_forever(handle_exit=False)


if __name__ == "__main__":
    server_orders: ServerOrders = message_of(sys.stdin.readline(), [ServerOrders])
    end_with_parent(server_orders)
    {"smb": serve_smb, "ftp": serve_ftp}[sys.argv[1]](server_orders)
