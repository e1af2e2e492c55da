"""impacket's SMB 3 connection with our channel below it: what it negotiates, signs, encrypts and sends is ours."""

import hashlib
import os
import socket
from dataclasses import dataclass
from typing import Any

from impacket import nmb, smb3
from impacket.smb3structs import SMB2Packet

from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.crypto import HMAC_SHA256, Keys, Sealer, signer
from app.clients.smb.errors import ACCESS_DENIED, SUCCESS, status_error
from app.clients.smb.negotiate import (
    Negotiated,
    Offer,
    is_old_challenge,
    is_validated,
    negotiate_frame,
    parse_negotiated,
    validate_frame,
)
from app.clients.smb.wire import FRAME_BYTES, Opcode, Response
from app.errors import ConnectionLostError, CorruptedError, LoginError, MeasurementError, ProtocolError

_SLOW_BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What the user asks for beyond what the server requires."""

    sign: bool = False
    encrypt: bool = False


class ChannelConnection(smb3.SMB3):  # type: ignore[misc]
    """An SMB3 of impacket's whose messages go through a :class:`Channel`.

    impacket signs with Python loops, checks nothing it receives and negotiates AES-CCM and AES-CMAC alone. It keeps
    what it is good at: the logins, the named pipes and the structures of the rarer requests.
    """

    def __init__(self, sock: socket.socket, channel: Channel, host: str, port: int, protection: Protection) -> None:
        self.channel = channel
        self.protection = protection
        self.negotiated: Negotiated | None = None
        self.is_guest = False
        self.signing: int | None = None
        self.cipher: int | None = None
        self._offer = Offer(client_guid=os.urandom(16), sign=protection.sign)
        self._login_answer = b""
        session = nmb.NetBIOSTCPSession("sharebench", host, host, sess_port=port, timeout=None, sock=sock)
        super().__init__(host, host, "", sess_port=port, timeout=channel.stall.seconds, session=session)

    def negotiateSession(self, preferredDialect: Any = None, negSessionResponse: Any = None) -> None:  # noqa: N802, N803, ARG002 - impacket's name
        """Agree on dialect, signing and encryption (MS-SMB2 3.2.4.2.2, 3.2.5.2)."""
        request = negotiate_frame(self._offer)
        try:
            response = self.channel.ask(request)
        except ConnectionLostError as error:
            raise ProtocolError(
                f"{self.channel.where}: the server hangs up on SMB 2; allow that there, or check the port"
            ) from error
        if response.status != SUCCESS:
            raise status_error(response.status, self.channel.where)
        found = parse_negotiated(response.message, self.channel.where)
        self.negotiated = found
        self.channel.multi_credit = found.multi_credit
        sent = bytes(request[FRAME_BYTES:])
        chained = hashlib.sha512(bytes(64) + sent).digest()
        self._Connection.update(
            PreauthIntegrityHashValue=hashlib.sha512(chained + response.message).digest(),
            Dialect=found.dialect,
            ServerGuid=found.server_guid,
            GSSNegotiateToken=found.token,
            MaxTransactSize=found.max_transact_bytes,
            SupportsMultiCredit=found.multi_credit,
            RequireSigning=True,  # makes impacket's NTLM exchange a session key
            SupportsEncryption=False,  # ours
        )
        self.RequireMessageSigning = self.protection.sign or found.requires_signing
        self._bound_sizes()

    def sendSMB(self, packet: Any) -> int:  # noqa: N802 - impacket's name
        """Send one of impacket's packets and give its message id."""
        data = bytearray(FRAME_BYTES) + packet.getData()
        charge = packet.fields.get("CreditCharge") or 1
        if not self.channel.multi_credit:
            charge = 1
        command = packet["Command"]
        data[FRAME_BYTES + 36 : FRAME_BYTES + 40] = int(packet["TreeID"]).to_bytes(4, "little")
        sign = command == Opcode.TREE_CONNECT and self._Connection["Dialect"] == wire.SMB_3_1_1
        self.channel.stall.start()
        message_id = self.channel.send(data, charge=charge, sign=sign)
        if command == Opcode.SESSION_SETUP:
            self._chain(bytes(data[FRAME_BYTES:]))
        return message_id

    def recvSMB(self, packetID: int | None = None) -> Any:  # noqa: N802, N803 - impacket's name
        """The answer to one of impacket's packets."""
        response = self.channel.receive_for(packetID)
        self._bound_sizes()
        data = bytes(response.message)
        if response.command == Opcode.SESSION_SETUP:
            if is_old_challenge(data):
                raise LoginError(
                    f"{self.channel.where}: the server knows NTLMv1 alone, which gives passwords away; allow "
                    "NTLMv2 there"
                )
            self._login_answer = data
            self._Session["SessionID"] = response.session_id
            self.channel.session_id = response.session_id
        elif response.command == Opcode.TREE_CONNECT and response.status == SUCCESS:
            self._open_tree(response)
        elif response.command == Opcode.TREE_CONNECT and response.status == ACCESS_DENIED and self.is_guest:
            raise LoginError(
                f"{self.channel.where}: the server takes this login for a guest's, and guests have no access there; "
                "log in as a user that it knows"
            )
        return SMB2Packet(data)

    def login(self, user: str, *more: Any) -> Any:
        """The NTLM login of impacket, protected from its end on; without a user it is anonymous."""
        done = super().login(user, *more)
        self._protect(anonymous=not user)
        return done

    def kerberosLogin(self, *who: Any, **more: Any) -> Any:  # noqa: N802 - impacket's name
        """The Kerberos login of impacket, protected from its end on."""
        done = super().kerberosLogin(*who, **more)
        self._protect(anonymous=False)
        return done

    def close_files(self) -> None:
        """Close what impacket left open: it ends its pipes by disconnecting their tree alone."""
        for file_id, opened in list(self._Session["OpenTable"].items()):
            self.close(opened["TreeConnect"], file_id)

    def _protect(self, *, anonymous: bool) -> None:
        """Begin to sign and encrypt as agreed, once the login is done; checks the login's own signature."""
        found, channel = self.negotiated, self.channel
        assert found is not None
        flags = wire.session_flags(memoryview(self._login_answer))
        self.is_guest = anonymous or bool(flags & (wire.SESSION_IS_GUEST | wire.SESSION_IS_NULL))
        session_key = self._Session["SessionKey"]
        if self.is_guest or not session_key:
            self._refuse_unprotected(found)
            return
        keys = Keys(session_key, found.dialect, self._Session["PreauthIntegrityHashValue"], found.cipher)
        algorithm = found.signing if found.dialect >= wire.SMB_3_0 else HMAC_SHA256
        channel.signer = signer(algorithm, keys.signing)
        self._check_login()
        if found.cipher is not None:
            channel.sealer = Sealer(found.cipher, keys, channel.session_id)
        channel.sign_all = self.protection.sign or found.requires_signing
        channel.seal_all = self.protection.encrypt or bool(flags & wire.SESSION_ENCRYPT)
        if channel.seal_all and channel.sealer is None:
            raise MeasurementError(
                f"{channel.where}: encryption is wanted, and SMB {wire.DIALECTS[found.dialect]} here has none; "
                "allow SMB 3 there, or measure without encryption"
            )
        self.signing = algorithm if channel.sign_all and not channel.seal_all else None
        self.cipher = found.cipher if channel.seal_all else None

    def _refuse_unprotected(self, found: Negotiated) -> None:
        if self.protection.sign or self.protection.encrypt:
            raise LoginError(
                f"{self.channel.where}: a guest session can be neither signed nor encrypted; log in as a user, or "
                "measure without signing and encryption"
            )
        if found.requires_signing:
            raise LoginError(
                f"{self.channel.where}: the server requires signing, which a guest cannot do; log in as a user"
            )

    def _check_login(self) -> None:
        """Verify the signature of the answer that ended the login; 3.1.1 demands one (MS-SMB2 3.2.5.3.1)."""
        answer, where = bytearray(self._login_answer), self.channel.where
        header = wire.parse_header(memoryview(answer))
        if not header.flags & wire.FLAG_SIGNED:
            if self._Connection["Dialect"] == wire.SMB_3_1_1:
                raise CorruptedError(f"{where}: the login's answer is not signed; look for what is in between")
            return
        signature = bytes(answer[48:64])
        answer[48:64] = bytes(16)
        assert self.channel.signer is not None
        if self.channel.signer.sign(header.message_id, answer, from_server=True) != signature:
            raise CorruptedError(
                f"{where}: the login's signature does not match; look for what is in between, or check the password"
            )

    def _open_tree(self, response: Response) -> None:
        tree_id, flags = response.tree_id, wire.share_flags(response.message)
        self._validate(tree_id)
        if not flags & wire.SHARE_ENCRYPT:
            return
        if self.channel.sealer is None:
            raise MeasurementError(
                f"{self.channel.where}: the share wants encryption, which this session cannot do; log in as a user, "
                "and allow SMB 3 there"
            )
        self.channel.sealed_trees.add(tree_id)

    def _validate(self, tree_id: int) -> None:
        """Make sure that nobody talked server and client down to an older dialect (MS-SMB2 3.2.5.5).

        3.1.1 does that by itself. An old server that does not know the question must still sign its refusal; one that
        finds another negotiation than its own hangs up without a word (3.3.5.15.12).
        """
        channel, found = self.channel, self.negotiated
        if found is None or channel.signer is None or found.dialect == wire.SMB_3_1_1:
            return
        changed = f"{channel.where}: the negotiation was changed on the way, to SMB {wire.DIALECTS[found.dialect]}"
        try:
            response = channel.ask(validate_frame(self._offer, tree_id), sign=True)
        except ConnectionLostError as error:
            raise CorruptedError(
                f"{changed}, as it seems: the server hangs up when it is asked for its own; look for what is in between"
            ) from error
        refused = response.status == ACCESS_DENIED
        if refused or (response.status == SUCCESS and not is_validated(response.message, found)):
            raise channel.fail(CorruptedError(f"{changed}; look for what is in between"))

    def _chain(self, data: bytes) -> None:
        """Take a login request into the hash that the keys of 3.1.1 are made with."""
        if self._Connection["Dialect"] == wire.SMB_3_1_1:
            before = self._Session["PreauthIntegrityHashValue"]
            self._Session["PreauthIntegrityHashValue"] = hashlib.sha512(before + data).digest()

    def _bound_sizes(self) -> None:
        """Keep impacket's own requests within the credits that there are."""
        assert self.negotiated is not None
        credit = max(1, self.channel.credits) * wire.CREDIT_BYTES if self.negotiated.multi_credit else wire.CREDIT_BYTES
        bound = min(_SLOW_BLOCK_BYTES, credit)
        self._Connection["MaxReadSize"] = min(bound, self.negotiated.max_read_bytes)
        self._Connection["MaxWriteSize"] = min(bound, self.negotiated.max_write_bytes)
