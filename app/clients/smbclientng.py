"""``--client smbclient-ng``: its own session and its own transfer, as they are."""

import contextlib
import ntpath
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from app.base.errors import ConnectionLostError, NoSuchFileError, UsageError
from app.clients.base import Content, Meter, Secrets, Sink, Transfer
from app.clients.programs import ExternalClient, watch
from app.clients.smb.client import SMBClient
from app.clients.smb.session import Listener, mapped
from app.clients.smb.wire import DIALECTS, place
from app.clients.tcp import StallWatch, file_error
from storage.plan import Settings
from storage.records import ClientFacts, Target

_ENCRYPTS = 0x0004
_Result = TypeVar("_Result")


class SmbclientNgClient(ExternalClient):
    """The whole of ``get_file`` or ``put_file`` is timed; they only log errors: what arrived tells if they worked."""

    def __init__(self, target: Target, secrets: Secrets, settings: Settings) -> None:
        if settings.sign or settings.encrypt:
            raise UsageError(
                "smbclient-ng decides itself about signing and encryption; ask for neither", options="--sign, --encrypt"
            )
        super().__init__(SMBClient(target, secrets, settings), secrets, settings)
        self._session: Any = None
        self._listener = Listener()
        self._folder: Path | None = None
        self._sent: tuple[Content, Path] | None = None

    def connect(self) -> None:
        """Our own client logs in first, because its errors are clearer."""
        self._own.connect()
        if self._session is not None:
            return
        where = place(self.target, "")
        self._listener = Listener()
        with mapped(where), _silence():
            session = self._listener.session(self.target, self._secrets, self._settings.timeout_seconds)
            done = self._within_timeout(session.init_smb_session, where)
        self._listener.check_login(where, done=done)
        session.smb_share = self.target.share
        self._session = session

    def facts(self) -> ClientFacts:
        self.connect()
        server = self._session.smbClient.getSMBServer()
        session, connection = getattr(server, "_Session", {}), getattr(server, "_Connection", {})
        dialect = self._session.smbClient.getDialect()
        encrypts = bool(session["SessionFlags"] & _ENCRYPTS)
        required = self._own.facts().encryption not in {None, "none"}  # then alone does impacket leave out to sign
        signs = bool(session["SigningActivated"]) and not required
        algorithm = "aes-cmac" if isinstance(dialect, int) and dialect >= 0x0300 else "hmac-sha256"
        return ClientFacts(
            name="smbclient-ng",
            version=version("smbclientng"),
            dialect=DIALECTS.get(dialect, str(dialect)),
            signing=algorithm if signs else "none",
            encryption="aes-128-ccm" if encrypts else "none",
            block_bytes=int(connection["MaxReadSize"]),
            in_flight=1,
        )

    def get(self, path: str, meter: Meter, into: Sink | None = None) -> Transfer:  # noqa: ARG002  bytes go to a file
        self.connect()
        where, remote = place(self.target, path), _remote(path)
        size_bytes = self._size_to_get(path, where)
        local = self._local_folder() / ntpath.basename(remote)
        try:
            seconds = self._timed(lambda: self._session.get_file(path=remote), where, meter, lambda: _size_of(local))
            received = _size_of(local)
        finally:
            local.unlink(missing_ok=True)
        if received != size_bytes:
            self._failed(where, f"only {received} of {size_bytes} bytes arrived")
        return Transfer(size_bytes=size_bytes, seconds=seconds)

    def put(self, path: str, content: Content, meter: Meter) -> Transfer:
        self.connect()
        where, remote = place(self.target, path), _remote(path)
        self._must_be_new(path, where)
        source = self._source_named(ntpath.basename(remote), content)
        self._session.smb_cwd = ntpath.dirname(remote)
        try:
            seconds = self._timed(
                lambda: self._session.put_file(localpath=source.name), where, meter, lambda: _position_in(source)
            )
        finally:
            self._session.smb_cwd = ""
        stored = 0
        with contextlib.suppress(NoSuchFileError):
            stored = self._own.size(path)
        if stored != content.size_bytes:
            self._failed(where, f"only {stored} of {content.size_bytes} bytes were stored")
        return Transfer(size_bytes=stored, seconds=seconds)

    def abort(self) -> None:
        super().abort()
        self._hang_up()

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(Exception):  # whatever fails while leaving is too late to matter
                session.close_smb_session()
        folder, self._folder, self._sent = self._folder, None, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        super().close()

    def _local_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="sharebench-smbclient-ng-"))
        return self._folder

    def _source_named(self, name: str, content: Content) -> Path:
        path = self._local_folder() / name
        try:
            if self._sent is not None and self._sent[0] is content:
                self._sent[1].rename(path)
            else:
                with path.open("wb") as file:
                    file.writelines(content.blocks())
        except OSError as error:
            raise file_error(error, str(path)) from error
        self._sent = (content, path)
        return path

    def _within_timeout(self, log_in: Callable[[], bool], where: str) -> bool:
        """Its login waits again after every byte; one that takes too long is abandoned."""
        _, outcome = _started(log_in)
        try:
            return bool(outcome.result(self._settings.timeout_seconds))
        except TimeoutError as error:
            if outcome.done():
                raise
            raise StallWatch(self._settings.timeout_seconds, lambda: where).error() from error

    def _timed(self, transfer: Callable[[], None], where: str, meter: Meter, moved: Callable[[], int]) -> float:
        self._listener.errors.clear()

        def work() -> float:
            with mapped(where):
                transfer()
            return meter.clock()

        with contextlib.chdir(self._local_folder()), _silence():
            started = meter.start()
            worker, ended = _started(work)
            try:
                watch(lambda seconds: _has_ended(worker, seconds), moved, where, meter, self._settings.timeout_seconds)
            except BaseException:
                self._hang_up()
                worker.join(self._settings.timeout_seconds)
                self._session = None
                raise
        return ended.result() - started

    def _hang_up(self) -> None:
        session = self._session
        if session is not None:
            with contextlib.suppress(Exception):  # a connection that is gone already is what is wanted
                session.smbClient.getSMBServer()._NetBIOSSession.get_socket().shutdown(2)  # noqa: SLF001

    def _failed(self, where: str, what: str) -> None:
        self._session = None
        self._listener.check(where)
        raise ConnectionLostError(f"{where}: {what}, and smbclient-ng does not say why; measure with another client")


def _started(work: Callable[[], _Result]) -> tuple[threading.Thread, Future[_Result]]:
    """The work in a thread that may be abandoned, and what becomes of it."""
    outcome: Future[_Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001  handed on to the thread that waits
            outcome.set_exception(error)

    worker = threading.Thread(target=run, name="smbclient-ng", daemon=True)
    worker.start()
    return worker, outcome


def _has_ended(worker: threading.Thread, seconds: float) -> bool:
    worker.join(seconds)
    return not worker.is_alive()


def _remote(path: str) -> str:
    return path.replace("/", "\\").strip("\\")


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _position_in(path: Path) -> int:
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.readlink() == path:
                text = Path(f"/proc/self/fdinfo/{entry.name}").read_text(encoding="ascii")
                return int(text.split("pos:")[1].split()[0])
    return 0


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        yield
