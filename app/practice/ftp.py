"""The embedded FTP server, in a process of its own: ``python -m app.practice.ftp``."""

import logging

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

from app.practice.lifeline import end_with_parent, report_port, take_orders


class Handler(FTPHandler):  # type: ignore[misc]  # pyftpdlib has no types
    """A conversation with one client; refusals come at once, for there is nobody to keep out."""

    auth_failed_timeout = 0
    banner = "sharebench practice server"


def main() -> None:
    """Serve one folder to one user for reading and writing, and to anonymous users for reading."""
    orders = take_orders()
    end_with_parent(orders)
    logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)
    authorizer = DummyAuthorizer()
    authorizer.add_user(orders.user, orders.password, orders.folder, perm="elradfmwMT")
    authorizer.add_anonymous(orders.folder, perm="elr")
    Handler.authorizer = authorizer
    server = FTPServer(("127.0.0.1", 0), Handler)
    report_port(server.address[1])
    server.serve_forever(handle_exit=False)


if __name__ == "__main__":
    main()
