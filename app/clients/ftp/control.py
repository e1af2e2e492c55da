"""FTP's control connection: ftplib with limits on replies and on time, and with TLS session reuse for data.

ftplib calls ``getline``, ``getmultiline``, ``getresp``, ``putline``, ``makepasv`` and ``ntransfercmd``, which are
replaced here.
"""

import contextlib
import ftplib
import re
import select
import socket
import ssl
from typing import Any

from app.base.errors import ProtocolError, UnreachableError, UsageError
from app.clients import tcp, tcp_info
from app.clients.base import Secrets
from app.clients.ftp import refusals
from app.clients.ftp.refusals import IMPLICIT_PORT
from app.clients.stall_watch import StallWatch
from storage.plan import DEFAULT_TIMEOUT_SECONDS
from storage.records import Target

_LINE_BYTES = 8192
_REPLY_BYTES = 65536
"""The longest line of a reply, and the longest reply: a longer one may have no end."""
_SIZE_REPLY = re.compile(r"213 +([0-9]{1,18})\s*")
_PORT = re.compile(r"(?<![0-9])(?:[0-9]{1,3},){4}([0-9]{1,3}),([0-9]{1,3})(?![0-9])")
"""In the reply to PASV: the address in four bytes, which is not used, and the port in two."""
_EXTENDED_PORT = re.compile(r"\(\|\|\|([0-9]{1,5})\|\)")
"""In the reply to EPSV."""


class ControlConnection(ftplib.FTP):
    """A conversation in UTF-8; invalid bytes are preserved. The welcome has been read once this is made.

    ``stall`` limits how long a reply may take: ``getresp`` starts its clock, and ``getline`` waits for what is left.
    What sends a command raises ftplib's errors for a refusal: ``error_perm`` for a reply of 5xx, ``error_temp`` of 4xx.
    """

    def __init__(
        self,
        sock: socket.socket,
        host: str,
        context: ssl.SSLContext | None,
        stall: StallWatch,
        where: str,
        *,
        implicit: bool,
    ) -> None:
        super().__init__(encoding="utf-8")
        self.host = host
        """Of ftplib: the name in the server's certificate."""
        self.timeout = sock.gettimeout()
        """Of ftplib: in seconds, for data connections."""
        self.context = context
        self.stall = stall
        self.features: frozenset[str] = frozenset()
        """What FEAT names, in capital letters; filled in by ``learn_features``."""
        self.knows_size = True
        """Whether the server has SIZE."""
        self.unfinished = False
        """Whether a transfer is under way, whose last reply has not been read; kept by whoever transfers."""
        self.reused: bool | None = None
        """Whether the last data connection reused the TLS session; None before one, or without TLS."""

        self.last_command = ""
        """The one that was sent last, such as ``RETR``."""

        self.sock: Any = self._wrapped(sock) if implicit else sock
        self.af = sock.family
        self._where = where
        self._received = bytearray()
        """Read from the socket, and not taken as a line yet."""
        self.welcome = self.getresp()

    def _wrapped(self, sock: socket.socket, session: ssl.SSLSession | None = None) -> socket.socket:
        if self.context is None:
            return sock
        return self.context.wrap_socket(sock, server_hostname=self.host, session=session)

    def getresp(self) -> str:
        self.stall.start()
        return super().getresp()

    def getmultiline(self) -> str:
        """A whole reply: one line, or those from ``123-`` to the one that begins with ``123`` and a blank."""
        line = self.getline()
        code = line[:3]
        # A server of another protocol: SSH's "SSH-2.0-…" would be the first of many lines.
        if not (code.isascii() and code.isdecimal()):
            raise ftplib.error_proto(line)  # noqa: S321  ftplib's exception, no call into the network
        lines = [line]
        length = len(line)
        is_last = line[3:4] != "-"
        while not is_last:
            line = self.getline()
            lines.append(line)
            length += len(line)
            if length > _REPLY_BYTES:
                raise self._endless()
            is_last = line[:3] == code and line[3:4] != "-"
        return "\n".join(lines)

    def getline(self) -> str:
        """The next line, without its end. Raises EOFError where the server has hung up."""
        while (end := self._received.find(b"\n")) < 0:
            if len(self._received) > _LINE_BYTES:
                raise self._endless()
            self.sock.settimeout(self.stall.left_seconds())
            part = self.sock.recv(_LINE_BYTES)
            if not part:
                raise EOFError
            self._received += part

        line = self._received[:end].rstrip(b"\r")
        del self._received[: end + 1]
        return line.decode("utf-8", "surrogateescape")

    def _endless(self) -> ProtocolError:
        return ProtocolError(f"{self._where}: the server's reply has no end; is it an FTP server, and on that port?")

    def putline(self, line: str) -> None:
        if "\r" in line or "\n" in line:
            raise ValueError("line ends cannot be sent")
        self.last_command = line.partition(" ")[0].upper()
        self.sock.sendall(line.encode("utf-8", "surrogateescape") + b"\r\n")

    def secure(self) -> None:
        """Protect this connection by TLS from now on; for a server that does not begin with TLS."""
        self.voidcmd("AUTH TLS")
        if self._received:
            raise ProtocolError(f"{self._where}: something was said before TLS began; look for what is in between")
        self.sock.settimeout(self.stall.left_seconds())
        self.sock = self._wrapped(self.sock)

    def learn_features(self) -> None:
        """FEAT (RFC 2389); a server that does not know it has no features."""
        with contextlib.suppress(ftplib.error_perm):
            lines = self.sendcmd("FEAT").splitlines()[1:-1]
            self.features = frozenset(line.split()[0].upper() for line in lines if line.split())

        if "UTF8" in self.features:
            with contextlib.suppress(ftplib.error_perm):
                self.sendcmd("OPTS UTF8 ON")

        if "SIZE" not in self.features:
            try:
                self.sendcmd("SIZE /")
            except (ftplib.error_perm, ftplib.error_temp) as error:
                # Any other refusal is about the folder, and comes from a server that knows the command.
                self.knows_size = not re.match(r"50[0-4]", str(error))

    def makepasv(self) -> tuple[str, int]:
        """Ask for a port for data: (address, port). It uses the server's own address, whatever it announces."""
        reply = self._passive_reply()
        match = (_PORT if reply.startswith("227") else _EXTENDED_PORT).search(reply)

        port = 0
        if match and reply[:2] == "22":  # 227 to PASV, 229 to EPSV
            # PASV gives the port in two bytes, EPSV in one number.
            for number in match.groups():
                port = 256 * port + int(number)
        if not 0 < port < 65536:
            raise ProtocolError(
                f"{self._where}: the server names no port for data ({tcp.one_line(reply, 60)}); see its log"
            )
        return self.sock.getpeername()[0], port

    def _passive_reply(self) -> str:
        """What the server says to PASV, and where it refuses that or the address is IPv6, to EPSV."""
        if self.af == socket.AF_INET:
            with contextlib.suppress(ftplib.error_perm):
                return self.sendcmd("PASV")
        try:
            return self.sendcmd("EPSV")
        except ftplib.error_perm as error:
            raise refusals.passive_refusal(error, self._where) from error

    def open_data(self, timeout_seconds: float) -> socket.socket:
        """A data connection, not yet protected: ``begin`` sends the command first, then ``protect`` begins TLS."""
        address, port = self.makepasv()
        try:
            sock = socket.create_connection((address, port), timeout_seconds)
        except OSError as error:
            raise refusals.no_data_connection(error, self._where, port, timeout_seconds) from error
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def protect(self, sock: socket.socket) -> socket.socket:
        """Begin TLS on a data connection, where this one has it; with its TLS session, as vsftpd requires."""
        if self.context is None:
            return sock
        protected = self._wrapped(sock, self.sock.session)
        self.reused = bool(getattr(protected, "session_reused", False))
        return protected

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        """For ftplib's lists: the data connection, and no size. It is always from the beginning, so not at ``rest``."""
        sock = self.open_data(self.timeout or DEFAULT_TIMEOUT_SECONDS)
        try:
            self.begin(cmd)
            return self.protect(sock), None
        except BaseException:
            sock.close()
            raise

    def begin(self, command: str) -> None:
        """Send a command that transfers; raises ``error_reply`` where the server does not announce the data."""
        reply = self.sendcmd(command)
        if not reply.startswith("1"):
            raise ftplib.error_reply(reply)  # noqa: S321  ftplib's exception, no call into the network

    def has_said_something(self, seconds: float) -> bool:
        """Whether there is something of a reply to read, or it comes within that time; it reads nothing."""
        if self._received or (isinstance(self.sock, ssl.SSLSocket) and self.sock.pending()):
            return True

        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return bool(poll.poll(1000 * seconds))

    def end_of_data(self, sock: socket.socket) -> None:
        """Say on a data connection that nothing more comes from this side; its other errors show in the next reply."""
        if isinstance(sock, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):
                sock.settimeout(self.timeout)
                sock.unwrap()
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_WR)

    def size(self, filename: str) -> int:
        """In bytes. Raises ProtocolError for a reply without a number, ftplib's errors for a refusal."""
        reply = self.sendcmd(f"SIZE {filename}")
        match = _SIZE_REPLY.fullmatch(reply)
        if match is None:
            raise ProtocolError(
                f"{self._where}{filename}: the server does not say how long the file is ({tcp.one_line(reply, 60)}); "
                "use another one"
            )
        return int(match[1])

    def has(self, path: str) -> bool:
        """Whether there is a file; by its size, so only a server that has SIZE can tell."""
        try:
            self.size(path)
        except ftplib.error_perm:
            return False
        return True

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder that this user may enter; it is the current one then."""
        return self.refusal_to_enter(path) is None

    def refusal_to_enter(self, path: str) -> ftplib.error_perm | None:
        """The refusal of a folder; None where it can be entered, and is the current one then."""
        try:
            self.cwd(path)
        except ftplib.error_perm as error:
            return error
        return None

    def cipher_name(self) -> str | None:
        """The version of TLS and its cipher; None without TLS."""
        if not isinstance(self.sock, ssl.SSLSocket):
            return None

        cipher = self.sock.cipher()
        cipher_name = cipher[0] if cipher else ""
        return f"{self.sock.version()} {cipher_name}".strip()

    def path_facts(self) -> dict[str, str | int | float]:
        facts: dict[str, str | int | float] = {
            "ftp.banner": tcp.one_line(self.welcome[4:] if self.welcome else ""),
            "local_address": self.sock.getsockname()[0],
            "peer_address": self.sock.getpeername()[0],
            **tcp_info.connection_facts(tcp_info.TcpInfo.of_socket(self.sock)),
        }
        with contextlib.suppress(ftplib.error_perm, ftplib.error_temp):
            facts |= tcp_info.request_facts(self._do_nothing, tcp_info.TcpInfo.of_socket(self.sock))

        if not self.knows_size:
            facts["ftp.size"] = "no"
        if self.reused is not None:
            facts["tls.session_reused"] = int(self.reused)
        return facts

    def _do_nothing(self) -> None:
        self.voidcmd("NOOP")


def connect(target: Target, secrets: Secrets, stall: StallWatch, where: str) -> ControlConnection:
    """Logged in, binary mode. Raises UnreachableError, LoginError, ProtocolError."""
    if secrets.password and re.search(r"[\r\n]", secrets.password):
        raise UsageError("a password for FTP cannot contain line ends")

    timeout_seconds = stall.seconds
    sock = tcp.connect_tcp(target.host, target.port_number, where, timeout_seconds, "an FTP server")
    context = ssl.create_default_context() if target.abilities.has_tls else None
    with contextlib.ExitStack() as undo:
        undo.callback(sock.close)
        try:
            implicit = context is not None and target.port_number == IMPLICIT_PORT
            control = ControlConnection(sock, target.host, context, stall, where, implicit=implicit)
        except (OSError, EOFError, ftplib.Error) as error:
            raise refusals.no_welcome(error, where, timeout_seconds) from error

        undo.callback(control.close)
        try:
            with stall.stage(timeout_seconds):
                _prepare(control, target, secrets, where)
        except ftplib.Error as error:
            raise refusals.reply_error(error, where, command=control.last_command) from error
        except (OSError, EOFError) as error:
            raise tcp.connection_error(error, where, timeout_seconds) from error
        undo.pop_all()
    return control


def _prepare(control: ControlConnection, target: Target, secrets: Secrets, where: str) -> None:
    """Log in, in the order that RFC 4217 asks for: TLS, the user, the protection of data."""
    has_tls = target.abilities.has_tls
    if has_tls and target.port_number != IMPLICIT_PORT:
        try:
            control.secure()
        except ftplib.error_perm as error:
            raise UnreachableError(
                f"{where}: the server offers no TLS ({tcp.one_line(str(error))}); measure ftp:// instead"
            ) from error

    _log_in(control, target, secrets, where)
    if has_tls:
        control.voidcmd("PBSZ 0")
        control.voidcmd("PROT P")
    control.learn_features()
    control.voidcmd("TYPE I")


def _log_in(control: ControlConnection, target: Target, secrets: Secrets, where: str) -> None:
    try:
        control.login(target.user or "", (target.user and secrets.password) or "")
    except ftplib.error_perm as error:
        raise refusals.login_refusal(error, where, target.user or "", command=control.last_command) from error
