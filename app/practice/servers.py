"""Practice servers: SMB and FTP on free loopback ports, with a temporary folder of files."""

import os
import secrets
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Self

from app.child_process import ChildProcess
from app.clients.base import Secrets
from app.errors import MeasurementError
from app.messages import line_of
from app.practice.child import ServerOrders
from forms.findings.finding import PRACTICE
from storage.records import Target

HOST = "127.0.0.1"
USER = SHARE = PRACTICE
REPORT = "report.bin"
REPORT_BYTES = 16 * 1024 * 1024

_SMALL_FILES: dict[str, bytes | int] = {
    "read me.txt": b"These files are random bytes to practise on; they go away with the practice servers.\n",
    "Projects [2026]/plan & budget.ods": 48_000,
    "Projects [2026]/site photo (1).jpg": 2_400_000,
    "Grüße/100% done.txt": b"Names with spaces, brackets, umlauts and percent signs are measured like any other.\n",
    "archive/backup.tar": 16_000_000,
}
"""Content, or size in bytes, by relative path."""
_END_SECONDS = 2.0


class PracticeServers:
    """Both servers while the ``with`` block lasts; they also end when this process is killed."""

    def __init__(self, report_bytes: int = REPORT_BYTES) -> None:
        self._report_bytes = report_bytes
        self._processes: list[ChildProcess] = []
        self._folder: Path | None = None
        self.secrets = Secrets(password=secrets.token_urlsafe(12))
        self.smb = Target(protocol="smb", host=HOST, share=SHARE, path=REPORT, user=USER)
        """The port is known inside the block."""
        self.ftp = Target(protocol="ftp", host=HOST, path=f"/{REPORT}", user=USER)

    @property
    def folder(self) -> Path:
        if self._folder is None:
            raise RuntimeError("the practice servers are not running")
        return self._folder

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="sharebench-practice-"))
        try:
            self._fill()
            ports = [self._port_of(process) for process in (self._start("smb"), self._start("ftp"))]
        except BaseException:
            self._stop()
            raise
        self.smb, self.ftp = (replace(one, port=port) for one, port in zip((self.smb, self.ftp), ports, strict=True))
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _fill(self) -> None:
        for name, content in {REPORT: self._report_bytes, **_SMALL_FILES}.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else os.urandom(content))

    def _start(self, protocol: str) -> ChildProcess:
        process = ChildProcess("app.practice.child", protocol, grace_seconds=_END_SECONDS)
        self._processes.append(process)
        orders = ServerOrders(folder=str(self.folder), user=USER, password=self.secrets.password or "", share=SHARE)
        process.say(line_of(orders))
        return process

    @staticmethod
    def _port_of(process: ChildProcess) -> int:
        if (line := next(process.lines(), None)) is None:
            raise MeasurementError(f"a practice server {process.how_it_ended()}; measure a real server")
        return int(line)

    def _stop(self) -> None:
        for process in self._processes:
            process.cancel()
        for process in self._processes:
            process.close()
        self._processes.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
