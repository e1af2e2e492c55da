"""impacket's SMB 3 connection on our :class:`Channel`, which protects what it sends and checks what it receives.

impacket does the login and connects to shares. It calls ``negotiateSession``, ``sendSMB`` and ``recvSMB``, which are
replaced here; its state is in ``_Connection`` and ``_Session``.
"""

import hashlib
import socket
from typing import Any

from impacket import nmb, ntlm, smb3
from impacket.smb3structs import SMB2Packet
from impacket.spnego import SPNEGO_NegTokenInit, SPNEGO_NegTokenResp, TypesMech

from app.base import errors
from app.clients.smb import imitation, negotiate, protection, session_requests, wire
from app.clients.smb.channel import Channel
from app.clients.smb.share_refusals import share_refusal
from storage.plan import Settings

_NTLM = TypesMech["NTLMSSP - Microsoft NTLM Security Support Provider"]
_SLOW_BLOCK_BYTES = 1024 * 1024
"""What impacket reads at a time, for digests: more costs memory and moves it no faster."""
_ANSWER_BYTES_AT: dict[int, int] = {wire.Opcode.QUERY_DIRECTORY: 28, wire.Opcode.QUERY_INFO: 4, wire.Opcode.IOCTL: 44}
"""Where a request of impacket's, behind its header, limits the answer (MS-SMB2 2.2.33, 2.2.37, 2.2.31)."""


class ChannelConnection(smb3.SMB3):  # type: ignore[misc]
    """Replaces impacket's own transport, which is slow, checks no answer and knows only AES-CCM and AES-CMAC."""

    def __init__(self, sock: socket.socket, channel: Channel, host: str, port: int, settings: Settings) -> None:
        """``settings`` say whether to sign or encrypt where the server does not ask for it."""
        self.channel = channel
        self.settings = settings
        self.negotiated: negotiate.Negotiated | None = None
        """None before the server has answered."""
        self.is_guest = False
        """Whether the session is a guest's or anonymous, and so cannot be protected."""
        self.named_user = ""
        """Who is to be logged in by name; empty where nobody is named, who becomes a guest."""
        self.signing: int | None = None
        """The algorithm by which requests are signed; None where they are not."""
        self._offer = imitation.offer_of(settings)
        self._login_answer = b""
        """The last answer to SESSION_SETUP: its signature can be checked once the login has given a key."""
        self._failure: errors.SharebenchError | None = None
        """The first error, raised again for whatever impacket still sends."""

        session = nmb.NetBIOSTCPSession("sharebench", host, host, sess_port=port, timeout=None, sock=sock)
        address = sock.getpeername()[0]  # a name would be looked up again for each share
        super().__init__(host, address, "", sess_port=port, timeout=channel.stall.seconds, session=session)

    def negotiateSession(self, preferredDialect: Any = None, negSessionResponse: Any = None) -> None:  # noqa: N802, N803 - impacket's name
        request = negotiate.negotiate_frame(self._offer)
        try:
            response = self.channel.ask(request)
        except errors.ConnectionLostError as error:
            raise errors.HungUpError(
                f"{self.channel.where}: the server hung up before it answered; it may speak no SMB 2 or newer, refuse "
                "this address (hosts allow, hosts deny), have too many sessions (max smbd processes), or be no SMB "
                "server: its log tells which"
            ) from error
        if response.status == wire.NOT_SUPPORTED:
            raise errors.ProtocolError(f"{self.channel.where}: {imitation.no_common_dialect_text(self.settings)}")
        if response.status != wire.SUCCESS:
            raise wire.status_error(response.status, self.channel.where)

        negotiated = negotiate.parse_negotiated(response.message, self.channel.where)
        self.negotiated = negotiated
        self.channel.multi_credit = negotiated.multi_credit
        self.channel.most_read_bytes = negotiated.max_read_bytes
        self.channel.most_write_bytes = negotiated.max_write_bytes
        self.channel.most_answer_bytes = min(wire.CREDIT_BYTES, negotiated.max_transact_bytes)

        preauth_hash = _chained_hash(bytes(64), bytes(request[wire.FRAME_BYTES :]))
        self._Connection.update(
            PreauthIntegrityHashValue=_chained_hash(preauth_hash, response.message),
            Dialect=negotiated.dialect,
            ServerGuid=negotiated.server_guid,
            GSSNegotiateToken=negotiated.token,
            MaxTransactSize=negotiated.max_transact_bytes,
            SupportsMultiCredit=negotiated.multi_credit,
            RequireSigning=True,  # makes impacket's NTLM exchange a session key
            SupportsEncryption=False,  # ours
        )
        self.RequireMessageSigning = self.settings.sign or negotiated.requires_signing
        self._bound_sizes()

    def sendSMB(self, packet: Any) -> int:  # noqa: N802 - impacket's name
        # impacket closes files and trees whatever happened: on a connection that failed it would wait once more, and
        # another error would hide the first.
        if self._failure is not None:
            raise self._failure

        data = bytearray(wire.FRAME_BYTES) + packet.getData()
        data[wire.FRAME_BYTES + 36 : wire.FRAME_BYTES + 40] = int(packet["TreeID"]).to_bytes(4, "little")
        charge = packet.fields.get("CreditCharge") or 1
        if not self.channel.multi_credit:
            charge = 1

        command = packet["Command"]
        self._bound_answer(command, data)
        self.channel.stall.start()
        message_id = self.channel.send(
            data, charge=charge, sign=self._is_newest and command == wire.Opcode.TREE_CONNECT
        )

        if command == wire.Opcode.SESSION_SETUP:
            self._add_to_hash(data[wire.FRAME_BYTES :])
        return message_id

    def recvSMB(self, packetID: int | None = None) -> Any:  # noqa: N802, N803 - impacket's name
        try:
            _response, message = self._receive(packetID)
        except errors.SharebenchError as error:
            self._failure = error
            raise
        return SMB2Packet(message)

    def login(self, user: str, password: str, domain: str = "", lmhash: str = "", nthash: str = "") -> bool:
        """By NTLM. The requests are ours, since impacket takes most of a login's processor time to make packets.

        Raises impacket's SessionError for a login that is refused.
        """
        self._Session["PreauthIntegrityHashValue"] = self._Connection["PreauthIntegrityHashValue"]
        greeting = ntlm.getNTLMSSPType1(self._Connection["ClientName"], domain, signingRequired=True)
        offered = SPNEGO_NegTokenInit()
        offered["MechTypes"] = [_NTLM]
        offered["MechToken"] = greeting.getData()
        answer = self._set_up_session(offered.getData(), expected_status=wire.MORE_PROCESSING_REQUIRED)
        self._add_to_hash(answer)

        challenge = SPNEGO_NegTokenResp(session_requests.security_token(answer))["ResponseToken"]
        hashes = _hash(lmhash), _hash(nthash)
        proof, session_key = ntlm.getNTLMSSPType3(greeting, challenge, user, password, domain, *hashes)
        proven = SPNEGO_NegTokenResp()
        proven["ResponseToken"] = proof.getData()
        self._set_up_session(proven.getData(), expected_status=wire.SUCCESS)

        self._Session["SessionKey"] = session_key
        self._protect(anonymous=not user)
        return True

    def forget_login(self) -> None:
        """Have the next login begin a session of its own, after one that was refused."""
        self._Session["SessionID"] = 0
        self.channel.session_id = 0
        self._login_answer = b""
        self._failure = None

    def open_share(self, share: str) -> int:
        """The id of the tree. Raises the error for a share that the server refuses."""
        request = session_requests.tree_connect(self.getServerIP(), share)
        response, _message = self._ask(request, sign=self._is_newest)
        if response.status != wire.SUCCESS:
            raise self.channel.refusal(response.status)
        return response.tree_id

    def log_off(self) -> None:
        self._ask(session_requests.LOGOFF)

    def kerberosLogin(self, *who: Any, **more: Any) -> Any:  # noqa: N802 - impacket's name
        is_done = super().kerberosLogin(*who, **more)
        self._protect(anonymous=False)
        return is_done

    def close_files(self) -> None:
        """Needed because impacket leaves its pipes open, or ends them by disconnecting their tree alone."""
        for file_id, opened in list(self._Session["OpenTable"].items()):
            self.close(opened["TreeConnect"], file_id)

    @property
    def _is_newest(self) -> bool:
        """Whether the dialect is the one whose login and tree connects are always signed."""
        return bool(self._Connection["Dialect"] == wire.SMB_3_1_1)

    def _set_up_session(self, token: bytes, *, expected_status: int) -> bytes:
        """The answer to one step of the login, which is part of the hash unless it is the last."""
        request = session_requests.session_setup(token, requires_signing=self.RequireMessageSigning)
        response, message = self._ask(request, is_hashed=True)
        if response.status != expected_status:
            raise smb3.SessionError(response.status)
        return message

    def _ask(
        self, request: wire.Request, *, sign: bool = False, is_hashed: bool = False
    ) -> tuple[wire.Response, bytes]:
        message = wire.frame(*request)
        self.channel.stall.start()
        message_id = self.channel.send(message, sign=sign)
        if is_hashed:
            self._add_to_hash(message[wire.FRAME_BYTES :])
        return self._receive(message_id)

    def _receive(self, message_id: int | None) -> tuple[wire.Response, bytes]:
        """An answer, and a copy of its message, since the next request reuses the buffer; taking note may need one."""
        response = self.channel.receive_for(message_id)
        message = bytes(response.message)
        self._take_note(response, message)
        return response, message

    def _add_to_hash(self, message: wire.View) -> None:
        """One more message of the login, which the keys of SMB 3.1.1 depend on."""
        if self._is_newest:
            preauth_hash = self._Session["PreauthIntegrityHashValue"]
            self._Session["PreauthIntegrityHashValue"] = _chained_hash(preauth_hash, message)

    def _take_note(self, response: wire.Response, message: bytes) -> None:
        """Note in the channel what impacket does not look at in an answer."""
        self._bound_sizes()
        if response.status in wire.SESSION_OVER:
            self.channel.broken = True

        if response.command == wire.Opcode.SESSION_SETUP:
            self._take_login_answer(response, message)
        elif response.command == wire.Opcode.TREE_CONNECT and response.status == wire.SUCCESS:
            self._open_tree(response)
        elif response.command == wire.Opcode.TREE_CONNECT:
            refusal = share_refusal(response.status, self.channel.where, self.named_user, is_guest=self.is_guest)
            if refusal is not None:
                raise refusal

    def _take_login_answer(self, response: wire.Response, message: bytes) -> None:
        if negotiate.is_old_challenge(message):
            raise errors.LoginError(
                f"{self.channel.where}: the server knows NTLMv1 alone, which gives passwords away; allow NTLMv2 there"
            )
        self._login_answer = message
        self._Session["SessionID"] = response.session_id
        self.channel.session_id = response.session_id

    def _protect(self, *, anonymous: bool) -> None:
        """After the login: have the channel sign and encrypt what has to be. Raises where it cannot."""
        negotiated = self.negotiated
        assert negotiated is not None
        flags = wire.session_flags(memoryview(self._login_answer))
        self.is_guest = anonymous or bool(flags & (wire.SESSION_IS_GUEST | wire.SESSION_IS_NULL))
        session_key = self._Session["SessionKey"]
        if self.is_guest or not session_key:
            self._refuse_unprotected(negotiated)
            return

        channel = self.channel
        preauth_hash = self._Session["PreauthIntegrityHashValue"]
        keys = protection.Keys(session_key, negotiated.dialect, preauth_hash, negotiated.cipher)
        algorithm = negotiated.signing if negotiated.dialect >= wire.SMB_3_0 else protection.HMAC_SHA256
        channel.signer = protection.Signer(algorithm, keys.signing)
        self._check_login()

        if negotiated.cipher is not None:
            channel.sealer = protection.Sealer(negotiated.cipher, keys, channel.session_id)
        channel.sign_all = self.settings.sign or negotiated.requires_signing
        channel.seal_all = self.settings.encrypt or bool(flags & wire.SESSION_ENCRYPT)
        if channel.seal_all and channel.sealer is None:
            raise errors.MeasurementError(
                f"{channel.where}: encryption is wanted, and the server offers none with SMB"
                f" {wire.DIALECTS[negotiated.dialect]}; allow it there (smb encrypt, SMB 3), or measure without"
            )
        self.signing = algorithm if channel.sign_all and not channel.seal_all else None

    def _refuse_unprotected(self, negotiated: negotiate.Negotiated) -> None:
        """Raises LoginError where a session without protection is not what was asked for, or not allowed there."""
        if self.settings.sign or self.settings.encrypt:
            raise errors.LoginError(
                f"{self.channel.where}: a guest session can be neither signed nor encrypted; log in as a user, or "
                "measure without signing and encryption"
            )
        if negotiated.requires_signing:
            raise errors.LoginError(
                f"{self.channel.where}: the server requires signing, which a guest cannot do; log in as a user"
            )

    def _check_login(self) -> None:
        """Raises CorruptedError unless the login's answer is signed with the key of the session."""
        where = self.channel.where
        answer = bytearray(self._login_answer)
        header = wire.parse_header(memoryview(answer))
        if not header.flags & wire.FLAG_SIGNED:
            if self._Connection["Dialect"] == wire.SMB_3_1_1:
                raise errors.CorruptedError(f"{where}: the login's answer is not signed; look for what is in between")
            return

        signature = bytes(answer[48:64])
        answer[48:64] = bytes(16)
        assert self.channel.signer is not None
        if self.channel.signer.sign(header.message_id, answer, from_server=True) != signature:
            raise errors.CorruptedError(
                f"{where}: the login's signature does not match; look for what is in between, or check the password"
            )

    def _open_tree(self, response: wire.Response) -> None:
        tree_id = response.tree_id
        if wire.share_type(response.message) == wire.SHARE_IS_PRINTER:
            self.channel.printer_trees.add(tree_id)

        wants_encryption = bool(wire.share_flags(response.message) & wire.SHARE_ENCRYPT)
        self._validate(tree_id)  # reuses the buffer of the response
        if not wants_encryption:
            return
        if self.channel.sealer is None:
            raise errors.MeasurementError(
                f"{self.channel.where}: the share wants encryption, which this session cannot do; log in as a user, "
                "and allow SMB 3 there"
            )
        self.channel.sealed_trees.add(tree_id)

    def _validate(self, tree_id: int) -> None:
        """Detect a downgrade to an older dialect (MS-SMB2 3.2.5.5); 3.1.1 does so by itself.

        An old server must still sign its refusal; one that finds a mismatch closes the connection (3.3.5.15.12).
        """
        channel = self.channel
        negotiated = self.negotiated
        if negotiated is None or channel.signer is None or negotiated.dialect == wire.SMB_3_1_1:
            return

        change = f"the negotiation was changed on the way, to SMB {wire.DIALECTS[negotiated.dialect]}"
        try:
            response = channel.ask(negotiate.validate_frame(self._offer, tree_id), sign=True)
        except errors.ConnectionLostError as error:
            reason = "as it seems: the server hangs up when it is asked for its own; look for what is in between"
            raise channel.fail(errors.CorruptedError, f"{change}, {reason}") from error

        is_refused = response.status == wire.ACCESS_DENIED
        is_other = response.status == wire.SUCCESS and not negotiate.is_validated(response.message, negotiated)
        if is_refused or is_other:
            raise channel.fail(errors.CorruptedError, f"{change}; look for what is in between")

    def _bound_answer(self, command: int, data: bytearray) -> None:
        """Have impacket ask for no longer answer than the server gives: it would be refused."""
        at = _ANSWER_BYTES_AT.get(command)
        if at is None or self.negotiated is None:
            return
        start = wire.FRAME_BYTES + wire.HEADER_BYTES + at
        field = slice(start, start + 4)
        asked_bytes = int.from_bytes(data[field], "little")
        data[field] = min(asked_bytes, self.negotiated.max_transact_bytes).to_bytes(4, "little")

    def _bound_sizes(self) -> None:
        """Keep impacket's blocks within the credits that there are."""
        negotiated = self.negotiated
        assert negotiated is not None
        credits_to_use = max(1, self.channel.credits) if negotiated.multi_credit else 1
        most_bytes = min(_SLOW_BLOCK_BYTES, credits_to_use * wire.CREDIT_BYTES)
        self._Connection["MaxReadSize"] = min(most_bytes, negotiated.max_read_bytes)
        self._Connection["MaxWriteSize"] = min(most_bytes, negotiated.max_write_bytes)


def _hash(digits: str) -> bytes | str:
    """As impacket takes it: an empty text stands for none."""
    return bytes.fromhex(digits) if digits else ""


def _chained_hash(previous: bytes, message: wire.View) -> bytes:
    """The preauthentication integrity hash after one more message (MS-SMB2 3.2.5.2)."""
    return hashlib.sha512(previous + message).digest()
