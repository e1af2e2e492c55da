"""The SMB practice server, which is impacket's."""

import logging
import secrets
from collections.abc import Callable
from typing import Any

from app.practice.access import is_of_another_user
from app.practice.serving import Pace, ServerOrders, report_port
from app.practice.smb_login import let_in_only

SMB_REQUEST_SECONDS = 0.003
"""About the time of 64 KiB at the practice rate: smaller requests take as long."""


def serve_smb(orders: ServerOrders) -> None:
    from impacket.ntlm import compute_lmhash, compute_nthash
    from impacket.smb3structs import SMB2_CREATE, SMB2_READ, SMB2_WRITE
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
        """The handler of READ or WRITE that impacket has, slowed down to the practice rate."""

        def answer(connection: str, smb_server: Any, packet: Any) -> Any:
            reply = original(connection, smb_server, packet)
            pace.wait(max(len(packet["Data"]), len(reply[0][0]["Buffer"])))
            return reply

        return answer

    def opening(original: Callable[..., Any]) -> Callable[..., Any]:
        """The handler of CREATE that impacket has: with it a transfer begins."""

        def answer(connection: str, smb_server: Any, packet: Any) -> Any:
            reply = original(connection, smb_server, packet)
            pace.begin_transfer()
            return reply

        return answer

    original_create = smb_server.hookSmb2Command(SMB2_CREATE, None)
    smb_server.hookSmb2Command(SMB2_CREATE, opening(original_create))

    for command in (SMB2_READ, SMB2_WRITE):
        original = smb_server.hookSmb2Command(command, None)
        smb_server.hookSmb2Command(command, paced(original))
    report_port(own_port)
    server.start()
