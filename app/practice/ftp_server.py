"""The FTP practice server, which is pyftpdlib's."""

import logging
import socket

from app.practice.access import is_of_another_user
from app.practice.serving import Pace, ServerOrders, report_port


def serve_ftp(orders: ServerOrders) -> None:
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import DTPHandler, FTPHandler
    from pyftpdlib.handlers.ftp.dispatchers import PassiveDTP
    from pyftpdlib.servers import FTPServer

    logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)
    authorizer = DummyAuthorizer()
    authorizer.add_user(orders.user, orders.password, orders.folder, perm="elradfmwMT")
    pace = Pace(0)

    class PacedTransfer(DTPHandler):  # type: ignore[misc]
        """A data connection at the practice rate."""

        def __init__(self, connection: socket.socket, handler: FTPHandler) -> None:
            super().__init__(connection, handler)
            pace.begin_transfer()

        def send(self, data: bytes) -> int:
            sent_bytes = int(super().send(data))
            pace.wait(sent_bytes)
            return sent_bytes

        def recv(self, buffer_size: int) -> bytes:
            data: bytes = super().recv(buffer_size)
            pace.wait(len(data))
            return data

    class OwnPassivePort(PassiveDTP):  # type: ignore[misc]
        """The port of one transfer: hangs up on another user of this machine, and goes on listening for ours."""

        def handle_accepted(self, connection: socket.socket, address: tuple[str, int]) -> None:
            if is_of_another_user(address[1], connection.getsockname()[1]):
                connection.close()
                return
            super().handle_accepted(connection, address)

    class OwnServer(FTPServer):  # type: ignore[misc]
        """Hangs up on another user of this machine."""

        def handle_accepted(self, connection: socket.socket, address: tuple[str, int]) -> FTPHandler | None:
            if is_of_another_user(address[1], connection.getsockname()[1]):
                connection.close()
                return None
            return super().handle_accepted(connection, address)

    class OwnHandler(FTPHandler):  # type: ignore[misc]
        dtp_handler = PacedTransfer
        passive_dtp = OwnPassivePort
        use_sendfile = False
        auth_failed_timeout = 0  # refusals come at once, for there is nobody to keep out
        banner = "sharebench practice server"

    OwnHandler.authorizer = authorizer
    server = OwnServer(("127.0.0.1", 0), OwnHandler)
    report_port(server.address[1])
    server.serve_forever(handle_exit=False)
