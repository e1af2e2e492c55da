"""FTP's control connection: ftplib with limits on replies and with TLS session reuse for data."""

import contextlib
import ftplib
import re
import select
import socket
import ssl
from typing import Any

from app.base.errors import (
    ConnectionLostError,
    LoginError,
    MeasurementError,
    NoSpaceError,
    ProtocolError,
    UnreachableError,
    UsageError,
)
from app.clients import tcp
from app.clients.base import DirectoryEntry, Secrets
from storage.records import Target

_FULL = re.compile(
    r"no space|disk.{0,20}full|quota|exceeded storage|insufficient (storage|disk)|\[Errno 28\]", re.IGNORECASE
)
_LOCAL_WRITE = re.compile(r"writ.{0,20}(local )?file", re.IGNORECASE)
"""vsftpd's ``426 Failure writing to local file.`` gives no reason; a full disk is the usual one."""

_REPLIES = tcp.refusals("ftp")


def reply_error(error: ftplib.Error, where: str, *, storing: bool = False) -> MeasurementError:
    said = tcp.one_line(str(error))
    if _FULL.search(said):
        return NoSpaceError(f"{where}: the server's disk or quota is full ({said}); {tcp.SPACE_ADVICE}")
    if storing and said.startswith(("426", "451")) and _LOCAL_WRITE.search(said):
        return NoSpaceError(
            f"{where}: the server cannot write on, its disk or quota is most likely full ({said}); {tcp.SPACE_ADVICE}"
        )
    kind, advice = _REPLIES.get(said[:3], (ProtocolError, "look that up in the server's log"))
    return kind(f"{where}: the server said: {said}; {advice}")


_UNIX = re.compile(
    r"(?P<kind>[-dlbcps])[-rwxsStTl+.@]{9,10}\s+\d+\s+\S+\s+(?:\S+\s+)??(?P<size>[0-9]{1,18})\s+"
    r"(?P<date>[A-Z][a-z]{2}\s+\d{1,2}\s+(?:\d{4}|\d{1,2}:\d{2}))\s(?P<name>.+)"
)
_DOS = re.compile(
    r"\d{2}-\d{2}-\d{2,4}\s+\d{1,2}:\d{2}(?:[AP]M)?\s+(?:(?P<folder><DIR>)|(?P<size>[0-9]{1,18}))\s+(?P<name>.+)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"[0-9]{1,18}")
_MODIFIED = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)")


def parse_mlsd(line: str) -> DirectoryEntry | None:
    """One MLSD line (RFC 3659 7.2); None for the folder itself and its parent."""
    raw, _, name = line.partition(" ")
    facts = {key.lower(): value for key, _, value in (part.partition("=") for part in raw.split(";"))}
    kind = facts.get("type", "file").lower()
    if kind in {"cdir", "pdir"} or not name:
        return None
    size, is_folder = facts.get("size", ""), kind == "dir"
    size_bytes = int(size) if _SIZE.fullmatch(size) and not is_folder else 0
    modified = _MODIFIED.match(facts.get("modify", ""))
    modified_at = "{}-{}-{}T{}:{}:{}Z".format(*modified.groups()) if modified else ""
    return DirectoryEntry(name=name, is_folder=is_folder, size_bytes=size_bytes, modified_at=modified_at)


def parse_line(line: str) -> DirectoryEntry | None:
    """One LIST line; None for a line such as ``total 12``. Its time is dropped: LIST does not tell the time zone."""
    if match := _UNIX.fullmatch(line):
        name = match["name"].partition(" -> ")[0] if match["kind"] == "l" else match["name"]
        is_folder = match["kind"] == "d"
        return DirectoryEntry(name=name, is_folder=is_folder, size_bytes=0 if is_folder else int(match["size"]))
    if match := _DOS.fullmatch(line):
        return DirectoryEntry(name=match["name"], is_folder=bool(match["folder"]), size_bytes=int(match["size"] or 0))
    return None


IMPLICIT_PORT = 990
"""TLS begins at once on this port; elsewhere AUTH TLS asks for it (RFC 4217)."""
_LINE_BYTES = 8192
_REPLY_BYTES = 65536
_SIZE_REPLY = re.compile(r"213 +([0-9]{1,18})\s*")
_PORT = re.compile(r"(?<![0-9])(?:[0-9]{1,3},){4}([0-9]{1,3}),([0-9]{1,3})(?![0-9])")
_EXTENDED_PORT = re.compile(r"\(\|\|\|([0-9]{1,5})\|\)")


class ControlConnection(ftplib.FTP):
    """Conversation in UTF-8; invalid bytes are preserved."""

    def __init__(
        self,
        sock: socket.socket,
        host: str,
        context: ssl.SSLContext | None,
        stall: tcp.StallWatch,
        where: str,
        *,
        implicit: bool,
    ) -> None:
        super().__init__(encoding="utf-8")
        self.host = host
        self.timeout = sock.gettimeout()
        self.context = context
        self.stall = stall
        self.features: frozenset[str] = frozenset()
        self.knows_size = True
        self.unfinished = False
        self.reused: bool | None = None
        self.sock: Any = self._wrapped(sock) if implicit else sock
        self.af = sock.family
        self._where = where
        self._received = bytearray()
        self.welcome = self.getresp()

    def _wrapped(self, sock: socket.socket, session: ssl.SSLSession | None = None) -> socket.socket:
        if self.context is None:
            return sock
        return self.context.wrap_socket(sock, server_hostname=self.host, session=session)

    def getresp(self) -> str:
        self.stall.start()
        return super().getresp()

    def getmultiline(self) -> str:
        lines = [self.getline()]
        code, length = lines[0][:3], len(lines[0])
        more = lines[0][3:4] == "-"
        while more:
            lines.append(self.getline())
            length += len(lines[-1])
            if length > _REPLY_BYTES:
                raise self._endless()
            more = lines[-1][:3] != code or lines[-1][3:4] == "-"
        return "\n".join(lines)

    def getline(self) -> str:
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
        self.sock.sendall(line.encode("utf-8", "surrogateescape") + b"\r\n")

    def secure(self) -> None:
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
                self.knows_size = not re.match(r"50[0-4]", str(error))

    def makepasv(self) -> tuple[str, int]:
        """Uses the server's own address, whatever it announces."""
        extended = self.af != socket.AF_INET
        reply = self.sendcmd("EPSV" if extended else "PASV")
        match = (_EXTENDED_PORT if extended else _PORT).search(reply)
        numbers = [int(number) for number in match.groups()] if match and reply[:2] == "22" else []
        port = numbers[0] if len(numbers) == 1 else 256 * numbers[0] + numbers[1] if numbers else 0
        if not 0 < port < 65536:
            raise ProtocolError(
                f"{self._where}: the server names no port for data ({tcp.one_line(reply, 60)}); see its log"
            )
        return self.sock.getpeername()[0], port

    def open_data(self, timeout_seconds: float) -> socket.socket:
        sock = socket.create_connection(self.makepasv(), timeout_seconds)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def protect(self, sock: socket.socket) -> socket.socket:
        """Reuses the control connection's TLS session, as vsftpd requires."""
        if self.context is None:
            return sock
        protected = self._wrapped(sock, self.sock.session)
        self.reused = bool(getattr(protected, "session_reused", False))
        return protected

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        sock = self.open_data(self.timeout or 30.0)
        try:
            self.begin(cmd)
            return self.protect(sock), None
        except BaseException:
            sock.close()
            raise

    def begin(self, command: str) -> None:
        reply = self.sendcmd(command)
        if not reply.startswith("1"):
            raise ftplib.error_reply(reply)  # noqa: S321  ftplib's exception, no call into the network

    def has_said_something(self, seconds: float) -> bool:
        if self._received or (isinstance(self.sock, ssl.SSLSocket) and self.sock.pending()):
            return True
        waiting = select.poll()
        waiting.register(self.sock, select.POLLIN)
        return bool(waiting.poll(1000 * seconds))

    def end_of_data(self, sock: socket.socket) -> None:
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
        try:
            self.size(path)
        except ftplib.error_perm:
            return False
        return True

    def is_folder(self, path: str) -> bool:
        try:
            self.cwd(path)
        except ftplib.error_perm:
            return False
        return True

    def cipher_name(self) -> str | None:
        if not isinstance(self.sock, ssl.SSLSocket):
            return None
        cipher = self.sock.cipher()
        return f"{self.sock.version()} {cipher[0] if cipher else ''}".strip()

    def path_facts(self) -> dict[str, str | int | float]:
        facts: dict[str, str | int | float] = {
            "ftp.banner": tcp.one_line(self.welcome[4:] if self.welcome else ""),
            "local_address": self.sock.getsockname()[0],
            "peer_address": self.sock.getpeername()[0],
            **tcp.connection_facts(tcp.TcpInfo.of(self.sock)),
        }
        with contextlib.suppress(ftplib.error_perm, ftplib.error_temp):
            facts |= tcp.request_facts(lambda: self.voidcmd("NOOP"))
        if not self.knows_size:
            facts["ftp.size"] = "no"
        if self.reused is not None:
            facts["tls.session_reused"] = int(self.reused)
        return facts


def connect(target: Target, secrets: Secrets, stall: tcp.StallWatch, where: str) -> ControlConnection:
    """Logged in, binary mode. Raises UnreachableError, LoginError, ProtocolError."""
    if secrets.password and re.search(r"[\r\n]", secrets.password):
        raise UsageError("a password for FTP cannot contain line ends")
    port = target.port_number
    secure, timeout_seconds = target.abilities.has_tls, stall.seconds
    sock = tcp.connect_tcp(target.host, port, where, timeout_seconds, "an FTP server")
    context = ssl.create_default_context() if secure else None
    with contextlib.ExitStack() as undo:
        undo.callback(sock.close)
        try:
            implicit = secure and port == IMPLICIT_PORT
            control = ControlConnection(sock, target.host, context, stall, where, implicit=implicit)
        except (OSError, EOFError, ftplib.Error) as error:
            raise _no_welcome(error, where, timeout_seconds) from error
        undo.callback(control.close)
        try:
            with stall.stage(timeout_seconds):
                if secure and port != IMPLICIT_PORT:
                    try:
                        control.secure()
                    except ftplib.error_perm as error:
                        raise UnreachableError(
                            f"{where}: the server offers no TLS ({tcp.one_line(str(error))}); measure ftp:// instead"
                        ) from error
                _log_in(control, target, secrets, where)
                if secure:
                    control.voidcmd("PBSZ 0")
                    control.voidcmd("PROT P")
                control.learn_features()
                control.voidcmd("TYPE I")
        except ftplib.Error as error:
            raise reply_error(error, where) from error
        except (OSError, EOFError) as error:
            raise tcp.connection_error(error, where, timeout_seconds) from error
        undo.pop_all()
    return control


def _log_in(control: ControlConnection, target: Target, secrets: Secrets, where: str) -> None:
    try:
        control.login(target.user or "", (target.user and secrets.password) or "")
    except ftplib.error_perm as error:
        said = tcp.one_line(str(error))
        who = target.user or "anonymous"
        advice = "check the user and the password" if target.user else "name a user: ftp://USER@HOST/PATH"
        if re.search("encrypt|TLS|SSL", said):
            advice = "measure ftps:// instead"
        raise LoginError(f"{where}: the server refused {who} ({said}); {advice}") from error


def _no_welcome(error: Exception, where: str, timeout_seconds: float) -> MeasurementError:
    if isinstance(error, ftplib.Error):
        return UnreachableError(f"{where}: the server takes no connection now ({tcp.one_line(str(error))}); try later")
    if isinstance(error, TimeoutError):
        return UnreachableError(
            f"{where}: connected, but no greeting within {timeout_seconds:g} s; is it an FTP server, and on that port?"
        )
    found = tcp.connection_error(error, where, timeout_seconds)
    if isinstance(found, ConnectionLostError):
        return UnreachableError(
            f"{where}: the server hung up without a greeting; is it an FTP server, and on that port?"
        )
    return found
