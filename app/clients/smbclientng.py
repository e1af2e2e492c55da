"""``--client smbclient-ng``: that program's own session and transfers, timed from outside.

It is a Python library as well, so that no other process runs. Its methods say nothing until they return, and log errors
instead of raising them.
"""

import contextlib
import ntpath
import shutil
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from impacket.nmb import NetBIOSTimeout
from smbclientng.core.SMBSession import SMBSession

from app.base import errors
from app.clients import base, external, programs, smbclientng_work, tcp, tcp_info
from app.clients.smb import credentials, smbclientng_session, wire
from app.clients.smb import session as smb_session
from app.clients.smb.client import SMBClient
from app.clients.smb.impacket_errors import mapped
from storage import records
from storage.plan import Settings

_LOOK_SECONDS = 0.05
_LOGIN_TIMEOUTS = 10
"""A whole login may take this many times ``--timeout``: a server that sends a byte now and then would never end it."""


class SmbclientNgClient(external.ExternalClient):
    """Times the whole of ``get_file`` or ``put_file``; whether they worked is seen by what arrived."""

    def __init__(self, target: records.Target, secrets: base.Secrets, settings: Settings) -> None:
        if settings.sign or settings.encrypt:
            raise errors.UsageError(
                "smbclient-ng decides itself about signing and encryption; ask for neither", options="--sign, --encrypt"
            )
        super().__init__(SMBClient(target, secrets, settings), secrets, settings)
        self._session: Any = None
        self._listener = smbclientng_session.Listener()
        self._folder: Path | None = None
        self._last_source: tuple[base.Content, Path] | None = None

    def connect(self) -> None:
        """Our own client logs in first, because its errors are clearer."""
        self._own.connect()
        if self._session is not None:
            return

        where = wire.place(self.target, "")
        self._listener = smbclientng_session.Listener()
        with mapped(where), smbclientng_work.silence():
            session = SMBSession(
                host=self.target.host,
                port=self.target.port_number,
                timeout=self._settings.timeout_seconds,
                credentials=credentials.login_credentials(self.target, self._secrets),
                config=smbclientng_session.quiet_config(),
                logger=self._listener,
            )
            is_done = self._log_in(session, where)
        if not is_done:
            self._listener.check(where)
            raise smb_session.refused_login(where)

        self._listener.forget()  # the pipes that it opens besides may be missing
        session.smb_share = self.target.share
        self._session = session

    def facts(self) -> records.ClientFacts:
        self.connect()
        connection = self._session.smbClient.getSMBServer()
        dialect = connection.getDialect()

        # impacket tells in no public method whether it signs and encrypts.
        session_state = getattr(connection, "_Session", {})
        encrypts = bool(session_state["SessionFlags"] & wire.SESSION_ENCRYPT)
        # Only where the server requires encryption does impacket leave out to sign.
        requires_encryption = self._own.facts().encryption not in {None, "none"}
        signs = bool(session_state["SigningActivated"]) and not requires_encryption
        is_smb_3 = isinstance(dialect, int) and dialect >= wire.SMB_3_0
        algorithm = "aes-cmac" if is_smb_3 else "hmac-sha256"

        return records.ClientFacts(
            name="smbclient-ng",
            version=version("smbclientng"),
            dialect=wire.DIALECTS.get(dialect, str(dialect)),
            signing=algorithm if signs else "none",
            encryption="aes-128-ccm" if encrypts else "none",
            block_bytes=int(connection.getIOCapabilities()["MaxReadSize"]),
            in_flight=1,
        )

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        self.connect()
        where = wire.place(self.target, path)
        remote = _remote_path(path)
        size_bytes = self._size_to_get(path, where)
        local = self._local_folder() / ntpath.basename(remote)

        def get_file() -> None:
            self._session.get_file(path=remote)

        try:
            seconds = self._time(get_file, where, meter, lambda: smbclientng_work.size_of(local))
            received_bytes = smbclientng_work.size_of(local)
        finally:
            local.unlink(missing_ok=True)

        if received_bytes != size_bytes:
            self._fail(where, f"only {received_bytes} of {size_bytes} bytes arrived")
        return base.Transfer(size_bytes=size_bytes, seconds=seconds)

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        self.connect()
        where = wire.place(self.target, path)
        remote = _remote_path(path)
        self._must_be_new(path, where)
        source = self._source_named(ntpath.basename(remote), content)

        def put_file() -> None:
            self._session.put_file(localpath=source.name)

        self._session.smb_cwd = ntpath.dirname(remote)
        try:
            seconds = self._time(put_file, where, meter, lambda: smbclientng_work.position_in(source))
        finally:
            if self._session is not None:
                self._session.smb_cwd = ""

        stored_bytes = 0
        with contextlib.suppress(errors.NoSuchFileError):
            stored_bytes = self._own.size(path)
        if stored_bytes != content.size_bytes:
            self._fail(where, f"only {stored_bytes} of {content.size_bytes} bytes were stored")
        return base.Transfer(size_bytes=stored_bytes, seconds=seconds)

    def abort(self) -> None:
        super().abort()
        self._hang_up()

    def close(self) -> None:
        session = self._session
        self._session = None
        if session is not None:
            with contextlib.suppress(Exception):  # whatever fails while leaving is too late to matter
                session.close_smb_session()

        folder = self._folder
        self._folder = None
        self._last_source = None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        super().close()

    def _local_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="sharebench-smbclient-ng-"))
        return self._folder

    def _source_named(self, name: str, content: base.Content) -> Path:
        """A local file of that name with the content: ``put_file`` takes the remote name from it."""
        path = self._local_folder() / name
        try:
            if self._last_source is not None and self._last_source[0] is content:
                self._last_source[1].rename(path)
            else:
                with path.open("wb") as file:
                    file.writelines(content.blocks())
        except OSError as error:
            raise tcp.file_error(error, str(path)) from error
        self._last_source = (content, path)
        return path

    def _log_in(self, session: Any, where: str) -> bool:
        """Whether the login succeeded. Abandoned if nothing comes from the server for ``--timeout``.

        Computing on this side takes none of that time. Raises StalledError.
        """
        timeout_seconds = self._settings.timeout_seconds
        login = smbclientng_work.WatchedCall[object](session.init_smb_session)
        last_progress = self._login_progress(session)
        moved_at = began_at = time.monotonic()

        while not login.has_ended(_LOOK_SECONDS):
            now = time.monotonic()
            progress = self._login_progress(session)
            if progress != last_progress:
                last_progress = progress
                moved_at = now
            if now - moved_at > timeout_seconds:
                raise _login_stalled(where, timeout_seconds)
            if now - began_at > _LOGIN_TIMEOUTS * timeout_seconds:
                raise errors.StalledError(
                    f"{where}: smbclient-ng's login was not done within {_LOGIN_TIMEOUTS * timeout_seconds:g} s; look "
                    "at the server and the network, or allow it more time"
                )

        try:
            return bool(login.result())
        except NetBIOSTimeout as error:
            raise _login_stalled(where, timeout_seconds) from error

    def _login_progress(self, session: Any) -> tuple[int, int]:
        """The steps that smbclient-ng told its logger of, and the segments received since it has a connection."""
        received_segments = 0
        if session.smbClient is not None:
            info = tcp_info.TcpInfo.of_socket(session.smbClient.getSMBServer().get_socket())
            if info is not None:
                received_segments = info.segments.received
        return self._listener.heard, received_segments

    def _time(self, transfer: Callable[[], None], where: str, meter: base.Meter, moved: Callable[[], int]) -> float:
        """The seconds that the transfer takes; ``moved`` tells meanwhile how many bytes it has moved."""
        self._listener.forget()

        def run_to_end() -> float:
            with mapped(where):
                transfer()
            return meter.clock()

        with contextlib.chdir(self._local_folder()), smbclientng_work.silence():
            started_at = meter.start()
            call = smbclientng_work.WatchedCall(run_to_end)
            try:
                programs.watch(call.has_ended, moved, where, meter, self._settings.timeout_seconds)
            except BaseException:
                self._hang_up()
                call.has_ended(self._settings.timeout_seconds)
                self._session = None
                raise
        return call.result() - started_at

    def _hang_up(self) -> None:
        session = self._session
        if session is not None:
            with contextlib.suppress(Exception):  # a connection that is gone already is what is wanted
                session.smbClient.getSMBServer().get_socket().shutdown(2)

    def _fail(self, where: str, shortfall: str) -> None:
        self._session = None
        self._listener.check(where)
        raise errors.ConnectionLostError(
            f"{where}: {shortfall}, and smbclient-ng does not say why; measure with another client"
        )


def _login_stalled(where: str, timeout_seconds: float) -> errors.StalledError:
    return errors.StalledError(
        f"{where}: smbclient-ng's login got no answer for {timeout_seconds:g} s; look at the server and the network, "
        "or allow it more time"
    )


def _remote_path(path: str) -> str:
    return path.replace("/", "\\").strip("\\")
