"""One practice server, as a process: ``python -m app.practice.server_process smb`` or ``ftp``.

It reads its orders from stdin, says on stdout on which port it serves, and ends when stdin is closed. impacket and
pyftpdlib serve; what is added here is the practice rate, and that only the user who started it may connect.
"""

import sys

from app.base.messages import message_of
from app.practice.serving import ServerOrders, end_with_parent


def serve(protocol: str) -> None:
    """Serve as the orders say until they end; ``protocol`` is a key of ``_SERVERS``."""
    orders: ServerOrders = message_of(sys.stdin.readline(), [ServerOrders])
    end_with_parent(orders)
    _SERVERS[protocol](orders)


def _serve_smb(orders: ServerOrders) -> None:
    from app.practice.smb_server import serve_smb

    serve_smb(orders)


def _serve_ftp(orders: ServerOrders) -> None:
    from app.practice.ftp_server import serve_ftp

    serve_ftp(orders)


_SERVERS = {"smb": _serve_smb, "ftp": _serve_ftp}


if __name__ == "__main__":
    serve(sys.argv[1])
