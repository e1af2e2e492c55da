"""The client for ``ftp://`` and ``ftps://``: ftplib for the control connection, own code for the data; its ceiling."""

import builtins
import ftplib
import hashlib
import os
import posixpath
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from app import __version__
from app.base import errors
from app.clients import base
from app.clients.ftp.control import ControlConnection, connect, parse_line, parse_mlsd, reply_error
from app.clients.tcp import StallWatch, TcpInfo, connection_error, far_process, one_line, waiting_bytes
from storage.plan import Settings
from storage.records import ClientFacts, Command, Target, format_target

TICK_SECONDS = 0.1
WAITS = (BlockingIOError, TimeoutError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_LINE_BYTES = 8192
_LOW_WATER_BYTES = 128 * 1024
_PROBE_BYTES, _SWIFT_BYTES_PER_SECOND = 16 * 1024 * 1024, 500e6


def receive_all(
    data: socket.socket, buffer: memoryview, size_bytes: int, meter: base.Meter, into: base.Sink | None = None
) -> tuple[int, float]:
    """Read until ``size_bytes`` or the server closes. Returns the bytes received and the clock at the last one."""
    received, receive, advance = 0, data.recv_into, meter.advance
    stages = _low_water(data, len(buffer), size_bytes, meter.clock)
    stage_end = next(stages)
    while received < size_bytes:
        while received >= stage_end:
            stage_end = next(stages)
        try:
            count = receive(buffer)
        except WAITS:
            advance(received)
            continue
        if not count:
            break
        if into is not None:
            into(received, buffer[:count])
        received += count
        advance(received)
    return received, meter.clock()


def _low_water(data: socket.socket, block_bytes: int, size_bytes: int, clock: Callable[[], float]) -> Iterator[int]:
    """Yields the byte up to which to receive next, and sets the socket's low water mark before each but the first.

    On a fast path, waking for each piece that the server sends costs half as much again; on a slow one, and at the
    end of the file, ``recv`` must not wait for more than is there.
    """
    began = clock()
    if data.gettimeout() is None and size_bytes > _PROBE_BYTES + block_bytes:
        yield _PROBE_BYTES
        if _SWIFT_BYTES_PER_SECOND * (clock() - began) < _PROBE_BYTES:
            data.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, _LOW_WATER_BYTES)
            yield size_bytes - block_bytes
            data.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
    yield size_bytes


def send_all(data: socket.socket, content: base.Content, block_bytes: int, meter: base.Meter) -> None:
    sent, size_bytes, send = 0, content.size_bytes, data.send
    meter.arrived = lambda handed_bytes: max(0, handed_bytes - waiting_bytes(data))
    while sent < size_bytes:
        block = content.block(sent, min(block_bytes, size_bytes - sent))
        try:
            sent += send(block)
        except WAITS:
            meter.advance(sent)  # nothing went out; TLS wants the same block once more
            continue
        meter.advance(sent)


def has_ended(data: socket.socket, buffer: memoryview, stall: StallWatch) -> bool:
    """Whether the server closes instead of sending more. Raises StalledError when it does neither."""
    stall.start()
    while True:
        try:
            return not data.recv_into(buffer)
        except WAITS:
            stall.check()
        except OSError:
            return True


def receive_lines(data: socket.socket, buffer: memoryview, stall: StallWatch, where: str) -> Iterator[tuple[str, int]]:
    """Lines of a folder list with their length in bytes; invalid UTF-8 is preserved."""
    received, rest = 0, b""
    stall.start()
    while True:
        try:
            count = data.recv_into(buffer)
        except WAITS:
            stall.check()
            continue
        received += count
        *lines, rest = (rest + bytes(buffer[:count])).split(b"\n") if count else (rest, b"")
        for line in lines:
            yield line.rstrip(b"\r").decode("utf-8", "surrogateescape"), len(line) + 1
        if not count:
            return
        if len(rest) > _LINE_BYTES:
            raise errors.ProtocolError(f"{where}: the server's list of files makes no sense; see its log")
        stall.moved(received)


def wait_in_ticks(sock: socket.socket) -> None:
    """The kernel ends ``recv`` and ``send`` after a tick, which saves a ``poll`` before each call."""
    sock.settimeout(None)
    if isinstance(sock, ssl.SSLSocket) or not os.get_blocking(sock.fileno()):
        sock.settimeout(TICK_SECONDS)  # TLS would try again for ever after the kernel's; gevent's sockets never see it
        return
    timeout = struct.pack("ll", 0, int(TICK_SECONDS * 1_000_000))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)


DEFAULT_BLOCK_BYTES = 1024 * 1024
_POLITE_SECONDS = 1.0


class FTPClient(base.OneByOne):
    """A data connection for each transfer; passive, binary, TLS with protected data."""

    has_handles = False

    def __init__(self, target: Target, secrets: base.Secrets, settings: Settings) -> None:
        self.target = target
        self._secrets = secrets
        self._settings = settings
        self._block_bytes = min(settings.block_bytes or DEFAULT_BLOCK_BYTES, base.MAX_BLOCK_BYTES)
        self._buffer = base.receive_buffer(self._block_bytes)
        self._path_in_use = ""
        self._stall = StallWatch(settings.timeout_seconds, lambda: self._where(self._path_in_use))
        self._control: ControlConnection | None = None
        self._data: socket.socket | None = None

    def connect(self) -> None:
        self._linked()

    def facts(self) -> ClientFacts:
        cipher, block = self._linked().cipher_name(), self._block_bytes
        return ClientFacts(name=base.OWN, version=__version__, encryption=cipher, block_bytes=block, in_flight=1)

    def list(self, path: str) -> builtins.list[base.DirectoryEntry]:
        path = path or "/"
        listing = base.Listing(self._where(path))
        with self._using(path) as control, self._stall.stage(base.LISTING_TIMEOUTS * self._stall.seconds):
            try:
                control.cwd(path)
            except ftplib.error_perm as error:
                raise errors.NoSuchFileError(
                    f"{self._where(path)}: there is no such folder, or this user may not see it; check the path"
                ) from error
            standard = "MLST" in control.features or "MLSD" in control.features
            parse = parse_mlsd if standard else parse_line
            # our files begin with a dot, and many a LIST hides those; a server that does not know -a finds nothing
            for command in ("MLSD",) if standard else ("LIST -a", "LIST"):
                with self._data_connection(control) as opened:
                    data = self._begin(control, opened, command)
                    for line, line_bytes in receive_lines(data, self._buffer, self._stall, self._where(path)):
                        listing.add(parse(line), line_bytes)
                    control.end_of_data(data)
                self._finish(control, path)
                if listing.entries:
                    break
        return listing.entries

    def size(self, path: str) -> int:
        with self._using(path) as control:
            return self._size(control, path)

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        with self._using(path) as control:
            size_bytes = self._size(control, path)
            if not size_bytes:
                raise errors.NotAFileError(f"{self._where(path)}: the file is empty; name one with something in it")
            began = time.perf_counter()
            with self._data_connection(control) as opened:
                self._stall.start()
                started = meter.start(look=self._stall.moved)
                data = self._begin(control, opened, f"RETR {path}")
                received, ended = receive_all(data, self._buffer, size_bytes, meter, into)
                traffic = TcpInfo.of(data)
                closing = time.perf_counter()
                if received > size_bytes or (received == size_bytes and not has_ended(data, self._buffer, self._stall)):
                    raise errors.CorruptedError(
                        f"{self._where(path)}: more came than the {size_bytes} bytes that the server had named; "
                        "measure a file that nobody writes to"
                    )
                control.end_of_data(data)
            self._finish(control, path)
            closed = time.perf_counter()
            if received < size_bytes:
                raise errors.ConnectionLostError(
                    f"{self._where(path)}: only {received} of {size_bytes} bytes arrived; look at the server's log"
                )
            return base.Transfer(
                size_bytes=received,
                seconds=ended - started,
                open_seconds=started - began,
                close_seconds=closed - closing,
                traffic=traffic,
            )

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        """Timed from the server's 150 (file open, as SMB's CREATE is not counted either) to its 226 (complete)."""
        with self._using(path) as control:
            if control.has(path):
                raise errors.AccessDeniedError(
                    f"{self._where(path)}: there is a file already, and none is replaced; name another folder"
                )
            began = time.perf_counter()
            with self._data_connection(control) as opened:
                self._stall.start()
                try:
                    data = self._begin(control, opened, f"STOR {path}")
                except ftplib.error_perm as error:
                    raise self._cannot_store(control, path, error) from error
                self._stall.start()
                started = meter.start(look=self._stall.moved)
                try:
                    send_all(data, content, self._block_bytes, meter)
                    control.end_of_data(data)
                except (ConnectionError, ssl.SSLError) as error:
                    raise self._refused_in_transfer(control, path, error) from error
                while not control.has_said_something(TICK_SECONDS) and waiting_bytes(data):
                    meter.advance(content.size_bytes)
                self._finish(control, path)
                ended = meter.clock()
                traffic = TcpInfo.of(data)
            self._check_stored(control, path, content.size_bytes)
            return base.Transfer(
                size_bytes=content.size_bytes, seconds=ended - started, open_seconds=started - began, traffic=traffic
            )

    def check_stored(self, path: str, size_bytes: int) -> None:
        with self._using(path) as control:
            self._check_stored(control, path, size_bytes)

    def digest(self, path: str) -> str:
        sha, read_bytes = hashlib.sha256(), 0
        with self._using(path) as control:
            size_bytes = self._size(control, path)
            self._stall.start()

            def take(block: bytes) -> None:
                nonlocal read_bytes
                read_bytes += len(block)
                if read_bytes > size_bytes:
                    raise errors.CorruptedError(f"{self._where(path)}: the file became longer; measure a file at rest")
                self._stall.moved(read_bytes)
                sha.update(block)

            control.unfinished = True
            control.retrbinary(f"RETR {path}", take)
            control.unfinished = False
        return sha.hexdigest()

    def remove(self, path: str) -> None:
        with self._using(path) as control:
            try:
                control.delete(path)
            except ftplib.error_perm as error:
                if control.has(path):
                    raise errors.AccessDeniedError(
                        f"{self._where(path)}: the server does not let this user remove it; remove it by hand"
                    ) from error

    def facts_of_path(self) -> dict[str, str | int | float]:
        with self._using("") as control:
            return control.path_facts()

    def _no_handles(self, *_: Any) -> NoReturn:
        raise errors.UsageError(
            f"{self._where()}: FTP has no open files: read and write whole ones, or take an smb:// or file:// target"
        )

    open = read_at = write_at = close_file = _no_handles

    def query(self, path: str) -> base.FileStatus:
        with self._using(path) as control:
            if control.is_folder(path):
                return base.FileStatus(size_bytes=0, is_folder=True)
        return base.FileStatus(size_bytes=self.size(path), is_folder=False)

    def free_bytes(self, _path: str) -> int | None:
        return None

    def rename(self, path: str, new_path: str) -> None:
        """Fails if the name is taken, as far as the server can say."""
        with self._using(path) as control:
            if control.has(new_path):
                raise errors.AccessDeniedError(
                    f"{self._where(new_path)}: there is a file already, and none is replaced; name another"
                )
            control.rename(path, new_path)

    def make_folder(self, path: str) -> None:
        with self._using(path) as control:
            control.mkd(path)

    def remove_folder(self, path: str) -> None:
        with self._using(path) as control:
            try:
                control.rmd(path)
            except ftplib.error_perm:
                if control.is_folder(path):
                    raise

    def read_file(self, path: str, size_bytes: int) -> int:
        return min(size_bytes, self.get(path, base.Meter(threading.Event())).size_bytes)

    def write_file(self, path: str, data: memoryview, mode: base.OpenMode = base.OpenMode.CREATE) -> None:
        if mode is base.OpenMode.REPLACE:
            self.remove(path)
        self.put(path, _Given(data), base.Meter(threading.Event()))

    def abort(self) -> None:
        for sock in (self._data, self._control.sock if self._control else None):
            if sock is not None:
                with suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        control, self._control = self._control, None
        if control is None:
            return
        with suppress(OSError, EOFError, ftplib.Error, errors.MeasurementError):
            with self._stall.stage(_POLITE_SECONDS):
                control.quit()
        control.close()

    def _where(self, path: str = "") -> str:
        return format_target(replace(self.target, path=path), login=False, escaped=False)

    def _linked(self) -> ControlConnection:
        if self._control is None:
            self._control = connect(self.target, self._secrets, self._stall, self._where())
        return self._control

    @contextmanager
    def _using(self, path: str) -> Iterator[ControlConnection]:
        where = self._where(path)
        if "\r" in path or "\n" in path or "\0" in path:
            raise errors.NoSuchFileError(f"{where!r}: no FTP server takes line ends in a name; name another file")
        control = self._linked()
        self._path_in_use = path
        try:
            yield control
        except ftplib.Error as error:
            if isinstance(error, ftplib.error_reply) or str(error).startswith("421"):
                self._drop()
            raise reply_error(error, where) from error
        except (OSError, EOFError) as error:
            self._drop()
            raise connection_error(error, where, self._settings.timeout_seconds) from error
        except BaseException as error:
            if control.unfinished or isinstance(error, (errors.ProtocolError, errors.StalledError)):
                self._drop()
            raise
        finally:
            self._path_in_use = ""

    def _drop(self) -> None:
        control, self._control = self._control, None
        if control is not None:
            with suppress(OSError):
                control.close()

    def _size(self, control: ControlConnection, path: str) -> int:
        if not control.knows_size:
            raise errors.MeasurementError(
                f"{self._where(path)}: the server has no SIZE, so it cannot say how long the file is; use another one"
            )
        try:
            return control.size(path)
        except ftplib.error_perm as error:
            if control.is_folder(path):
                raise errors.NotAFileError(
                    f"{self._where(path)}: that is a folder, not a file; name a file in it"
                ) from error
            if str(error).startswith("550"):
                raise errors.NoSuchFileError(
                    f"{self._where(path)}: there is no such file; check the name, case counts"
                ) from error
            raise

    def _check_stored(self, control: ControlConnection, path: str, size_bytes: int) -> None:
        """A server answers 226 for a part if the data connection was cut."""
        if not control.knows_size:
            return
        try:
            stored_bytes = control.size(path)
        except ftplib.error_perm as error:
            raise errors.AccessDeniedError(
                f"{self._where(path)}: the server does not show what it stored ({one_line(str(error))}), so nobody "
                "knows whether it has all; let this user read there"
            ) from error
        if stored_bytes != size_bytes:
            raise errors.ConnectionLostError(
                f"{self._where(path)}: the server stored {stored_bytes} of {size_bytes} bytes and called that "
                "complete; look for what cuts connections in between"
            )

    def _cannot_store(self, control: ControlConnection, path: str, error: ftplib.error_perm) -> errors.MeasurementError:
        if not str(error).startswith(("550", "553")):
            return reply_error(error, self._where(path))
        folder = posixpath.dirname(path) or "/"
        if not control.is_folder(folder):
            return errors.NoSuchFileError(
                f"{self._where(folder)}: there is no such folder; make it, or name another one"
            )
        return errors.AccessDeniedError(
            f"{self._where(folder)}: the server does not let this user write there; check the folder's rights and the "
            "server's settings (vsftpd: write_enable)"
        )

    @contextmanager
    def _data_connection(self, control: ControlConnection) -> Iterator[socket.socket]:
        control.unfinished = True
        self._data = control.open_data(self._settings.timeout_seconds)
        try:
            yield self._data
        finally:
            self._data.close()
            self._data = None

    def _begin(self, control: ControlConnection, data: socket.socket, command: str) -> socket.socket:
        try:
            control.begin(command)
        except ftplib.Error:
            control.unfinished = False
            raise
        self._data = control.protect(data)
        wait_in_ticks(self._data)
        return self._data

    def _refused_in_transfer(self, control: ControlConnection, path: str, error: OSError) -> errors.MeasurementError:
        try:
            control.voidresp()
        except ftplib.Error as reply:
            control.unfinished = False
            return reply_error(reply, self._where(path), storing=True)
        except (OSError, EOFError):
            pass
        return connection_error(error, self._where(path), self._settings.timeout_seconds)

    def _finish(self, control: ControlConnection, path: str) -> None:
        try:
            control.voidresp()
        except ftplib.Error as error:
            control.unfinished = False
            raise reply_error(error, self._where(path), storing=True) from error
        control.unfinished = False


class _Given(base.Content):
    def __init__(self, data: memoryview) -> None:
        self.size_bytes = len(data)
        self._data = data

    def block(self, offset: int, length: int) -> memoryview:
        return self._data[offset : offset + length]


_TIMEOUT_SECONDS = 30.0
_DONE = b"226"


def ceiling_seconds(facts: ClientFacts, command: Command, size_bytes: int) -> float:
    """A get takes the faster of two ways to send: which is cheaper to receive, the kernel decides."""
    ways = [_send_content]
    if command is Command.GET and not facts.encryption:
        ways.append(_send_file)
    return min(_transfer_seconds(facts, command, size_bytes, way) for way in ways)


def _transfer_seconds(
    facts: ClientFacts, command: Command, size_bytes: int, send: Callable[[socket.socket, int], None]
) -> float:
    block_bytes = facts.block_bytes or base.MAX_BLOCK_BYTES
    server_side = _context(ssl.PROTOCOL_TLS_SERVER) if facts.encryption else None

    def answer(sock: socket.socket) -> None:
        data = server_side.wrap_socket(sock, server_side=True) if server_side else sock
        if command is Command.GET:
            send(data, size_bytes)
        else:
            receive_all(data, base.receive_buffer(block_bytes), size_bytes, base.Meter(threading.Event()))
            data.sendall(_DONE)
        data.recv(1)

    with far_process(answer) as sock:
        data: socket.socket = _context(ssl.PROTOCOL_TLS_CLIENT).wrap_socket(sock) if server_side else sock
        wait_in_ticks(data)
        stall = StallWatch(_TIMEOUT_SECONDS, lambda: "the calibration")
        buffer, content = base.receive_buffer(block_bytes), base.Content(size_bytes)
        meter = base.Meter(threading.Event())
        started = meter.start(look=stall.moved)
        if command is Command.GET:
            _, ended = receive_all(data, buffer, size_bytes, meter)
            return ended - started
        send_all(data, content, block_bytes, meter)
        receive_all(data, buffer, len(_DONE), base.Meter(threading.Event()))
        return meter.clock() - started


def _send_content(data: socket.socket, size_bytes: int) -> None:
    send_all(data, base.Content(size_bytes), base.MAX_BLOCK_BYTES, base.Meter(threading.Event()))


def _send_file(data: socket.socket, size_bytes: int) -> None:
    file = os.memfd_create("sharebench", os.MFD_CLOEXEC)
    os.write(file, base.Content(base.MAX_BLOCK_BYTES).block(0, base.MAX_BLOCK_BYTES))
    left = size_bytes
    while left:
        start = (size_bytes - left) % base.MAX_BLOCK_BYTES
        left -= os.sendfile(data.fileno(), file, start, min(left, base.MAX_BLOCK_BYTES - start))


def _context(side: int) -> ssl.SSLContext:
    """TLS without certificates: nobody but our own process is at the other end."""
    context = ssl.SSLContext(side)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ADH-AES256-GCM-SHA384:@SECLEVEL=0")
    if side == ssl.PROTOCOL_TLS_SERVER:
        context.load_dh_params(str(Path(__file__).with_name("ffdhe2048.pem")))  # RFC 7919, appendix A.1
    return context
