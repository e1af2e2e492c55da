"""The embedded SMB server, in a process of its own: ``python -m app.practice.smb``.

impacket's server is for practice: it is slow, asks for one 64 KiB block at a time, and cannot be stopped from inside.
"""

import logging

from impacket.ntlm import compute_lmhash, compute_nthash
from impacket.smbserver import SimpleSMBServer

from app.practice.lifeline import end_with_parent, report_port, take_orders


def main() -> None:
    """Serve one share to one user, and to guests, until the parent ends."""
    orders = take_orders()
    end_with_parent(orders)
    logging.getLogger("impacket").setLevel(logging.CRITICAL)
    server = SimpleSMBServer(listenAddress="127.0.0.1", listenPort=0)
    server.setSMB2Support(value=True)
    server.addShare(orders.share, orders.folder, "sharebench's practice share")
    server.addCredential(orders.user, 0, compute_lmhash(orders.password), compute_nthash(orders.password))
    report_port(server.getServer().server_address[1])
    server.start()


if __name__ == "__main__":
    main()
