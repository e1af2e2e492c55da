"""Practice servers: SMB and FTP on free loopback ports, with a temporary folder of files."""

import contextlib
import secrets
import select
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from app.child_process import own_command, own_environment
from app.clients.base import MAX_BLOCK_BYTES, Content, Secrets
from app.errors import MeasurementError
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
_READY_SECONDS = 30.0


class PracticeServers:
    """Both servers while the ``with`` block lasts; they also end when this process is killed."""

    def __init__(self, report_bytes: int = REPORT_BYTES) -> None:
        self._report_bytes = report_bytes
        self._processes: list[subprocess.Popen[str]] = []
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
            started = [self._start("smb"), self._start("ftp")]
            smb_port, ftp_port = (_port_of(process) for process in started)
        except BaseException:
            self._stop()
            raise
        self.smb = replace(self.smb, port=smb_port)
        self.ftp = replace(self.ftp, port=ftp_port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _fill(self) -> None:
        for name, content in {REPORT: self._report_bytes, **_SMALL_FILES}.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                _write_random(path, content)

    def _start(self, protocol: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            own_command("app.practice.child", protocol),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            env=own_environment(),
        )
        self._processes.append(process)
        assert process.stdin is not None
        orders = ServerOrders(folder=str(self.folder), user=USER, password=self.secrets.password or "", share=SHARE)
        process.stdin.write(orders.to_line() + "\n")
        process.stdin.flush()
        return process

    def _stop(self) -> None:
        for process in self._processes:
            with contextlib.suppress(OSError):
                if process.stdin:
                    process.stdin.close()
        for process in self._processes:
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
        self._processes.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], _READY_SECONDS)
    line = process.stdout.readline() if readable else ""
    if not line.strip().isdecimal():
        raise MeasurementError(
            "the practice servers do not start; see `python -m app.practice.child smb`, or measure a real server"
        )
    return int(line)


def _write_random(path: Path, size_bytes: int) -> None:
    content = Content(size_bytes)
    with path.open("wb") as file:
        for offset in range(0, size_bytes, MAX_BLOCK_BYTES):
            file.write(content.block(offset, min(MAX_BLOCK_BYTES, size_bytes - offset)))
