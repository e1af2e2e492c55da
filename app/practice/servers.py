"""An SMB and an FTP server on this machine to practise on, which move files at a known rate.

Each is a process of its own (``app.practice.server_process``). Their files are made when they start, and removed.
"""

import os
import secrets
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Self

from app.base.child_process import ChildProcess
from app.base.errors import MeasurementError
from app.clients.base import Secrets
from app.practice.serving import ServerOrders, Serving
from forms.findings.path import PRACTICE
from storage.records import Target

HOST = "127.0.0.1"
USER = SHARE = PRACTICE
REPORT = "report.bin"
"""The file that the guide offers first."""
REPORT_BYTES = 16 * 1024 * 1024

_SMALL_FILES: dict[str, bytes | int] = {
    "read me.txt": b"These files are random bytes to practise on; they go away with the practice servers.\n",
    "Projects [2026]/plan & budget.ods": 48_000,
    "Projects [2026]/site photo (1).jpg": 2_400_000,
    "Grüße/100% done.txt": b"Names with spaces, brackets, umlauts and percent signs are measured like any other.\n",
    "archive/backup.tar": 16_000_000,
}
"""The content of each file, or the size of one that is filled with random bytes."""
_END_SECONDS = 2.0
"""How long a server may take to end before it is killed."""


class PracticeServers:
    """Both servers while the ``with`` block lasts; they also end when this process is killed.

    ``smb`` and ``ftp`` are the targets of the report on them; their ports are known inside the block.
    """

    def __init__(self, report_bytes: int = REPORT_BYTES) -> None:
        self._report_bytes = report_bytes
        self._processes: list[ChildProcess] = []
        self._folder: Path | None = None
        self.secrets = Secrets(password=secrets.token_urlsafe(12))
        self.smb = Target(protocol="smb", host=HOST, share=SHARE, path=REPORT, user=USER)
        self.ftp = Target(protocol="ftp", host=HOST, path=f"/{REPORT}", user=USER)

    @property
    def folder(self) -> Path:
        if self._folder is None:
            raise RuntimeError("the practice servers are not running")
        return self._folder

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="sharebench-practice-"))
        try:
            for name, content in {REPORT: self._report_bytes, **_SMALL_FILES}.items():
                path = self.folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else os.urandom(content))

            # Both load their libraries at the same time.
            smb_process = self._start("smb")
            ftp_process = self._start("ftp")
            self.smb = replace(self.smb, port=self._port_of(smb_process))
            self.ftp = replace(self.ftp, port=self._port_of(ftp_process))
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, protocol: str) -> ChildProcess:
        process = ChildProcess("app.practice.server_process", protocol, grace_seconds=_END_SECONDS)
        self._processes.append(process)
        process.say(ServerOrders(folder=str(self.folder), user=USER, password=self.secrets.password or "", share=SHARE))
        return process

    @staticmethod
    def _port_of(process: ChildProcess) -> int:
        serving = next(process.events([Serving]), None)
        if serving is None:
            raise MeasurementError(f"a practice server {process.how_it_ended()}; measure a real server")
        return int(serving.port)

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.cancel()
        for process in self._processes:
            process.close()
        self._processes.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
