"""A login: smbclient-ng's session on our own connection, and what impacket and Kerberos need below it."""

import contextlib
import hashlib
import os
import re
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, NoReturn

import smbclientng.core.SMBSession as smbclientng_session  # noqa: N813 - a module, not the class
from impacket import nmb, smb3, smbconnection
from impacket.dcerpc.v5 import srvs, transport
from impacket.krb5 import kerberosv5
from impacket.krb5.asn1 import KRB_ERROR
from impacket.krb5.constants import ErrorCodes
from impacket.krb5.kerberosv5 import KerberosError
from impacket.smb3structs import SMB2Packet
from pyasn1.codec.der import decoder
from pyasn1.error import PyAsn1Error
from smbclientng.types.Config import Config
from smbclientng.types.Credentials import Credentials

from app.base.errors import (
    AccessDeniedError,
    ConnectionLostError,
    CorruptedError,
    LoginError,
    MeasurementError,
    ProtocolError,
    SharebenchError,
    UsageError,
)
from app.clients.base import Secrets
from app.clients.smb import negotiate, wire
from app.clients.smb.channel import Channel
from app.clients.smb.wire import ACCESS_DENIED, FRAME_BYTES, SUCCESS, Opcode, Response, place, status_error, status_name
from app.clients.tcp import StallWatch, connect_tcp
from storage.plan import Settings
from storage.records import Target

PORT = 88
_MOST_BYTES = 1 << 20

_KERBEROS_SECONDS: ContextVar[float] = ContextVar("seconds within which a Kerberos server must answer", default=30.0)


def ask_kerberos(request: bytes, host: str, kdc_host: str | None) -> bytes:
    """Replaces impacket's ``sendReceive``, which may block forever. Raises KerberosError for a refusal."""
    server, seconds = kdc_host or host, _KERBEROS_SECONDS.get()
    where = f"Kerberos server {server}:{PORT}"
    watch = StallWatch(seconds, lambda: where)
    with connect_tcp(server, PORT, where, seconds, "a Kerberos server") as sock:
        watch.start()
        try:
            sock.settimeout(watch.left_seconds())
            sock.sendall(struct.pack(">i", len(request)) + request)
            (length,) = struct.unpack(">i", _exactly(sock, 4, watch, where))
            if not 0 < length <= _MOST_BYTES:
                raise ProtocolError(f"{where}: the answer would be {length} bytes long; is it a Kerberos server?")
            return _checked(_exactly(sock, length, watch, where))
        except TimeoutError as error:
            raise watch.error() from error
        except OSError as error:
            raise _hung_up(where) from error


kerberosv5.sendReceive = ask_kerberos


def _exactly(sock: socket.socket, count: int, watch: StallWatch, where: str) -> bytes:
    data = b""
    while len(data) < count:
        watch.check()
        sock.settimeout(watch.left_seconds())
        part = sock.recv(count - len(data))
        if not part:
            raise _hung_up(where)
        data += part
    return data


def _hung_up(where: str) -> LoginError:
    return LoginError(f"{where}: it hung up before it had answered; see its log")


def _checked(answer: bytes) -> bytes:
    try:
        refusal = KerberosError(packet=decoder.decode(answer, asn1Spec=KRB_ERROR())[0])
    except PyAsn1Error:
        return answer
    if refusal.getErrorCode() != ErrorCodes.KDC_ERR_PREAUTH_REQUIRED.value:
        raise refusal
    return answer


_SLOW_BLOCK_BYTES = 1024 * 1024


class ChannelConnection(smb3.SMB3):  # type: ignore[misc]
    """impacket's SMB3 on a :class:`Channel`; its own is slow, checks no answer and knows only AES-CCM and AES-CMAC."""

    def __init__(self, sock: socket.socket, channel: Channel, host: str, port: int, protection: Settings) -> None:
        self.channel = channel
        self.protection = protection
        self.negotiated: negotiate.Negotiated | None = None
        self.is_guest = False
        self.signing: int | None = None
        self._offer = negotiate.Offer(client_guid=os.urandom(16), sign=protection.sign)
        self._login_answer = b""
        session = nmb.NetBIOSTCPSession("sharebench", host, host, sess_port=port, timeout=None, sock=sock)
        address = sock.getpeername()[0]  # a name would be looked up again for each share
        super().__init__(host, address, "", sess_port=port, timeout=channel.stall.seconds, session=session)

    def negotiateSession(self, preferredDialect: Any = None, negSessionResponse: Any = None) -> None:  # noqa: N802, N803, ARG002 - impacket's name
        request = negotiate.negotiate_frame(self._offer)
        try:
            response = self.channel.ask(request)
        except ConnectionLostError as error:
            raise ProtocolError(
                f"{self.channel.where}: the server hangs up on SMB 2; allow that there, or check the port"
            ) from error
        if response.status != SUCCESS:
            raise status_error(response.status, self.channel.where)
        found = negotiate.parse_negotiated(response.message, self.channel.where)
        self.negotiated = found
        self.channel.multi_credit = found.multi_credit
        chained = hashlib.sha512(bytes(64) + bytes(request[FRAME_BYTES:])).digest()
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
        data = bytearray(FRAME_BYTES) + packet.getData()
        charge = packet.fields.get("CreditCharge") or 1
        if not self.channel.multi_credit:
            charge = 1
        command = packet["Command"]
        data[FRAME_BYTES + 36 : FRAME_BYTES + 40] = int(packet["TreeID"]).to_bytes(4, "little")
        sign = command == Opcode.TREE_CONNECT and self._Connection["Dialect"] == wire.SMB_3_1_1
        self.channel.stall.start()
        message_id = self.channel.send(data, charge=charge, sign=sign)
        if command == Opcode.SESSION_SETUP and self._Connection["Dialect"] == wire.SMB_3_1_1:
            chained = self._Session["PreauthIntegrityHashValue"] + data[FRAME_BYTES:]
            self._Session["PreauthIntegrityHashValue"] = hashlib.sha512(chained).digest()
        return message_id

    def recvSMB(self, packetID: int | None = None) -> Any:  # noqa: N802, N803 - impacket's name
        response = self.channel.receive_for(packetID)
        self._bound_sizes()
        data = bytes(response.message)
        if response.command == Opcode.SESSION_SETUP:
            if negotiate.is_old_challenge(data):
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
                f"{self.channel.where}: the server does not know this user (mapped to guest), and the share does not "
                "allow guests; log in as a user that it knows: smb://USER@HOST/SHARE"
            )
        return SMB2Packet(data)

    def login(self, user: str, *more: Any) -> Any:
        done = super().login(user, *more)
        self._protect(anonymous=not user)
        return done

    def kerberosLogin(self, *who: Any, **more: Any) -> Any:  # noqa: N802 - impacket's name
        done = super().kerberosLogin(*who, **more)
        self._protect(anonymous=False)
        return done

    def close_files(self) -> None:
        """Needed because impacket ends its pipes by disconnecting their tree alone."""
        for file_id, opened in list(self._Session["OpenTable"].items()):
            self.close(opened["TreeConnect"], file_id)

    def _protect(self, *, anonymous: bool) -> None:
        found, channel = self.negotiated, self.channel
        assert found is not None
        flags = wire.session_flags(memoryview(self._login_answer))
        self.is_guest = anonymous or bool(flags & (wire.SESSION_IS_GUEST | wire.SESSION_IS_NULL))
        session_key = self._Session["SessionKey"]
        if self.is_guest or not session_key:
            self._refuse_unprotected(found)
            return
        keys = negotiate.Keys(session_key, found.dialect, self._Session["PreauthIntegrityHashValue"], found.cipher)
        algorithm = found.signing if found.dialect >= wire.SMB_3_0 else negotiate.HMAC_SHA256
        channel.signer = negotiate.Signer(algorithm, keys.signing)
        self._check_login()
        if found.cipher is not None:
            channel.sealer = negotiate.Sealer(found.cipher, keys, channel.session_id)
        channel.sign_all = self.protection.sign or found.requires_signing
        channel.seal_all = self.protection.encrypt or bool(flags & wire.SESSION_ENCRYPT)
        if channel.seal_all and channel.sealer is None:
            raise MeasurementError(
                f"{channel.where}: encryption is wanted, and the server offers none with SMB"
                f" {wire.DIALECTS[found.dialect]}; allow it there (smb encrypt, SMB 3), or measure without"
            )
        self.signing = algorithm if channel.sign_all and not channel.seal_all else None

    def _refuse_unprotected(self, found: negotiate.Negotiated) -> None:
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
        tree_id = response.tree_id
        flags = wire.share_flags(response.message)
        if wire.share_type(response.message) == wire.SHARE_IS_PRINTER:
            self.channel.printer_trees.add(tree_id)
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
        """Detect a downgrade to an older dialect (MS-SMB2 3.2.5.5); 3.1.1 does so by itself.

        An old server must still sign its refusal; one that finds a mismatch closes the connection (3.3.5.15.12).
        """
        channel, found = self.channel, self.negotiated
        if found is None or channel.signer is None or found.dialect == wire.SMB_3_1_1:
            return
        changed = f"the negotiation was changed on the way, to SMB {wire.DIALECTS[found.dialect]}"
        try:
            response = channel.ask(negotiate.validate_frame(self._offer, tree_id), sign=True)
        except ConnectionLostError as error:
            why = "as it seems: the server hangs up when it is asked for its own; look for what is in between"
            raise channel.fail(CorruptedError, f"{changed}, {why}") from error
        refused = response.status == ACCESS_DENIED
        if refused or (response.status == SUCCESS and not negotiate.is_validated(response.message, found)):
            raise channel.fail(CorruptedError, f"{changed}; look for what is in between")

    def _bound_sizes(self) -> None:
        assert self.negotiated is not None
        credit = max(1, self.channel.credits) * wire.CREDIT_BYTES if self.negotiated.multi_credit else wire.CREDIT_BYTES
        bound = min(_SLOW_BLOCK_BYTES, credit)
        self._Connection["MaxReadSize"] = min(bound, self.negotiated.max_read_bytes)
        self._Connection["MaxWriteSize"] = min(bound, self.negotiated.max_write_bytes)


_NT_HASH = re.compile(r"[0-9A-Fa-f]{32}")
_NOT_A_FOLDER = 0x80000003
"""Printer, device, pipe and administrative share (MS-SRVS 2.2.2.4)."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Listener:
    """smbclient-ng's logger: keeps errors and drops the rest, which may contain secrets."""

    def __init__(self) -> None:
        self.errors: list[tuple[str, BaseException | None]] = []

    def error(self, message: str) -> None:
        cause = sys.exc_info()[1]
        if isinstance(cause, SharebenchError):
            raise cause
        self.errors.append((_COLOURS.sub("", str(message)), cause))

    def debug(self, *_message: object, **_how: object) -> None:
        """Dropped: it may contain passwords and hashes."""

    info = print = debug

    def session(self, target: Target, secrets: Secrets, timeout_seconds: float) -> Any:
        return smbclientng_session.SMBSession(
            host=target.host,
            port=target.port_number,
            timeout=timeout_seconds,
            credentials=_credentials(target, secrets),
            config=Config(debug=False, no_colors=True),
            logger=self,
        )

    def check_login(self, where: str, *, done: bool) -> None:
        if not done:
            self.check(where)
            raise LoginError(f"{where}: the server refused the login; check the user, the password and the domain")
        self.errors.clear()  # the pipes that it opens besides may be missing

    def check(self, where: str) -> None:
        if self.errors:
            message, cause = self.errors[0]
            self.errors.clear()
            if cause is not None:
                with mapped(where):
                    raise cause
            raise MeasurementError(f"{where}: {message}")


@contextlib.contextmanager
def mapped(where: str) -> Iterator[None]:
    try:
        yield
    except SharebenchError:
        raise
    except KerberosError as error:
        raise _kerberos_error(where, error) from error
    except smb3.SessionError as error:
        raise status_error(error.get_error_code(), where) from error
    except smbconnection.SessionError as error:
        raise status_error(error.getErrorCode(), where) from error
    except nmb.NetBIOSError as error:
        raise ConnectionLostError(
            f"{where}: the connection ended in the middle; check that the server still runs, and measure again"
        ) from error
    except OSError as error:
        raise ConnectionLostError(f"{where}: {error.strerror or error}; check that the server still runs") from error
    except Exception as error:  # impacket raises bare Exception, KeyError, struct.error and more for odd answers
        if _is_our_mistake(error):
            raise
        raise ProtocolError(f"{where}: the server's answer makes no sense ({_words(error)}); see its log") from error


def _is_our_mistake(error: Exception) -> bool:
    """Whether our own code raised it and is wrong; the same of a library may be about what a server answered."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    is_ours = frame.f_globals["__name__"].partition(".")[0] in {"app", "forms", "storage"}
    return is_ours and isinstance(error, TypeError | AttributeError | AssertionError | NameError)


def _words(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - whatever its own __str__ raises, the kind of error remains
        text = ""
    return text or type(error).__name__


def _kerberos_error(where: str, error: BaseException) -> LoginError:
    return LoginError(
        f"{where}: Kerberos does not let this in ({_words(error)}); renew the ticket with kinit, name the server as "
        "its domain does, and check the clocks"
    )


class Session:
    """A login by smbclient-ng; the rest is our own: its pipes cost time, it swallows errors and asks one by one."""

    def __init__(self, target: Target, secrets: Secrets, channel: Channel, settings: Settings) -> None:
        self._where = place(Target(protocol="smb", host=target.host, port=target.port))
        with mapped(self._where):
            self.connection = ChannelConnection(channel.sock, channel, target.host, target.port_number, settings)
        self._host = target.host
        self._listener = Listener()
        self._kerberos = secrets.kerberos
        self._smb = self._listener.session(target, secrets, channel.stall.seconds)
        self._log_in(f"{self._where} as {target.user or 'guest'}")

    @property
    def client(self) -> Any:
        return self._smb.smbClient

    def share_names(self) -> list[str]:
        with mapped(self._where):
            try:
                found = self._enumerated()
            except smbconnection.SessionError as error:  # Samba starts and ends what serves its pipes as needed
                if error.getErrorCode() not in wire.PIPE_LOST:
                    raise
                found = self._enumerated()
            rows = found["InfoStruct"]["ShareInfo"]["Level1"]["Buffer"]
            names = [row["shi1_netname"] for row in rows if not row["shi1_type"] & _NOT_A_FOLDER]
        told = [name.rstrip("\0") for name in names if isinstance(name, str)]  # a share without a name has b""
        return [name for name in told if not name.endswith("$")]

    def _enumerated(self) -> Any:
        client, server = self.client, (self.client.getRemoteName(), self.client.getRemoteHost())
        rpc = transport.SMBTransport(*server, filename="srvsvc", smb_connection=client).get_dce_rpc()
        rpc.connect()
        try:
            rpc.bind(srvs.MSRPC_UUID_SRVS)
            return srvs.hNetrShareEnum(rpc, 1, serverName=f"\\\\{self._host}")
        finally:
            if not self.connection.channel.broken:
                self.connection.close_files()
                rpc.disconnect()

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._smb.close_smb_session()

    def _log_in(self, where: str) -> None:
        waits = _KERBEROS_SECONDS.set(self.connection.channel.stall.seconds)
        try:
            with mapped(where):
                done = _login_on(self.connection)(self._smb)
            self._listener.check_login(where, done=done)
        except AccessDeniedError as error:
            raise LoginError(f"{where}: the server does not admit this user; log in as another one") from error
        except (ConnectionLostError, ProtocolError) as error:
            if isinstance(error.__cause__, smbconnection.SessionError):
                status = status_name(error.__cause__.getErrorCode())
                raise LoginError(f"{where}: the server refused the login with {status}; see its log") from error
            if self._kerberos and error.__cause__ is not None and not self.connection.channel.broken:
                raise _kerberos_error(where, error.__cause__) from error
            raise
        finally:
            _KERBEROS_SECONDS.reset(waits)


def _no_pipes(*_connection: Any) -> NoReturn:
    """Replaces the pipes that smbclient-ng opens at each login: slow, and some servers have none."""
    raise ConnectionError("opened when they are needed")


def _login_on(connection: ChannelConnection) -> Callable[[Any], bool]:
    """smbclient-ng's login on our connection, without its pipes; with other globals, so that many log in at once."""

    def made(**_how: Any) -> smbconnection.SMBConnection:
        return smbconnection.SMBConnection(
            connection.getRemoteName(), connection.getServerIP(), existingConnection=connection
        )

    ours = {
        "SMBConnection": made,
        "is_port_open": lambda *_whom: (True, None),
        "SIDResolver": _no_pipes,
        "transport": SimpleNamespace(SMBTransport=_no_pipes),
    }
    log_in = smbclientng_session.SMBSession.init_smb_session
    return FunctionType(log_in.__code__, {**vars(smbclientng_session), **ours})


def reach(target: Target, timeout_seconds: float, hold: Callable[[socket.socket], None]) -> socket.socket:
    """``hold`` as in :func:`connect_tcp`. Raises UnreachableError."""
    where = place(Target(protocol="smb", host=target.host, port=target.port))
    return connect_tcp(target.host, target.port_number, where, timeout_seconds, "smbd", hold)


def _credentials(target: Target, secrets: Secrets) -> Credentials:
    if secrets.nt_hash and not _NT_HASH.fullmatch(secrets.nt_hash):
        raise UsageError("an NT hash is 32 hexadecimal digits; give those, or the password")
    cache = os.environ.get("KRB5CCNAME", f"/tmp/krb5cc_{os.getuid()}") if secrets.kerberos else None  # noqa: S108 - MIT's own default
    cache = cache.removeprefix("FILE:") if cache else None
    if cache and not Path(cache).is_file():
        raise LoginError(f"smb://{target.host}: no Kerberos ticket in {cache}; get one with kinit, or set KRB5CCNAME")
    if cache:  # smbclient-ng sets it for its login and restores it; of several at once each would undo the others
        os.environ["KRB5CCNAME"] = cache
    return Credentials(
        domain=target.domain or "",
        username=target.user or "",
        password=secrets.password or "",
        hashes=f":{secrets.nt_hash}" if secrets.nt_hash else None,
        use_kerberos=secrets.kerberos,
        ccacheFile=cache,
    )
