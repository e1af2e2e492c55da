"""An embedded server in its own process: ``python -m app.practice.child smb`` or ``ftp``.

Reads orders from stdin, prints its port, and ends at EOF on stdin. impacket's SMB server is slow and handles one 64 KiB
block at a time.
"""

import json
import logging
import os
import shutil
import sys
import threading
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOrders:
    """What an embedded server serves, and to whom."""

    folder: str
    user: str
    password: str
    share: str = "practice"

    def to_line(self) -> str:
        return json.dumps(asdict(self))


def report_port(port: int) -> None:
    """Later output of libraries is discarded."""
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  open until the process ends


def end_with_parent(orders: ServerOrders) -> None:
    """Remove the folder and exit when the parent closes stdin, as it does even when killed."""

    def watch() -> None:
        sys.stdin.read()
        shutil.rmtree(orders.folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, daemon=True, name="lifeline").start()


def serve_smb(orders: ServerOrders) -> None:
    """One share, for one user and guests."""
    from impacket.ntlm import compute_lmhash, compute_nthash  # noqa: PLC0415  for SMB alone
    from impacket.smbserver import SimpleSMBServer  # noqa: PLC0415

    logging.getLogger("impacket").setLevel(logging.CRITICAL)
    server = SimpleSMBServer(listenAddress="127.0.0.1", listenPort=0)
    server.setSMB2Support(value=True)
    server.addShare(orders.share, orders.folder, "sharebench's practice share")
    server.addCredential(orders.user, 0, compute_lmhash(orders.password), compute_nthash(orders.password))
    report_port(server.getServer().server_address[1])
    server.start()


def serve_ftp(orders: ServerOrders) -> None:
    """One folder: read-write for one user, read-only for anonymous users."""
    from pyftpdlib.authorizers import DummyAuthorizer  # noqa: PLC0415  for FTP alone
    from pyftpdlib.handlers import FTPHandler  # noqa: PLC0415
    from pyftpdlib.servers import FTPServer  # noqa: PLC0415

    logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)
    authorizer = DummyAuthorizer()
    authorizer.add_user(orders.user, orders.password, orders.folder, perm="elradfmwMT")
    authorizer.add_anonymous(orders.folder, perm="elr")
    FTPHandler.authorizer = authorizer
    FTPHandler.auth_failed_timeout = 0  # refusals come at once, for there is nobody to keep out
    FTPHandler.banner = "sharebench practice server"
    server = FTPServer(("127.0.0.1", 0), FTPHandler)
    report_port(server.address[1])
    server.serve_forever(handle_exit=False)


if __name__ == "__main__":
    raw: dict[str, Any] = json.loads(sys.stdin.readline())
    given = ServerOrders(**raw)
    end_with_parent(given)
    {"smb": serve_smb, "ftp": serve_ftp}[sys.argv[1]](given)
