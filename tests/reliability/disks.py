"""Disks in trouble, for those who may mount: one of a few hundred KiB, and one that gives errors when it is told to."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path


def _done(*words: str | Path) -> bool:
    """Whether the command went well."""
    if shutil.which(words[0]) is None:
        return False
    return subprocess.run(words, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def _unmount(folder: Path) -> None:
    if not _done("umount", folder):
        _done("umount", "--lazy", folder)


@contextmanager
def small_disk(kib: int) -> Iterator[Path | None]:
    """A disk in memory of so many KiB; None where nobody may mount one."""
    folder = Path(tempfile.mkdtemp(prefix="sharebench-disk-"))
    mounted = os.getuid() == 0 and _done("mount", "-t", "tmpfs", "-o", f"size={kib}k", "sharebench", folder)
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            _unmount(folder)
        folder.rmdir()


@dataclass(frozen=True, slots=True)
class FailingDisk:
    """A file system on a device whose sectors lie in a file, on a disk in memory that can be filled."""

    folder: Path
    device: Path

    @property
    def _filler(self) -> Path:
        return self.device.with_name("filler")

    def fail_writes(self) -> None:
        """Have the device give an I/O error for each sector that was not written before."""
        with contextlib.suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def work_again(self) -> None:
        """Have it take everything."""
        self._filler.unlink(missing_ok=True)

    def fail_reads(self, file: Path) -> None:
        """Have the device give an I/O error for most of what is read, of that file too."""
        subprocess.run(["sync", "-f", file], check=True)
        os.truncate(self.device, self.device.stat().st_size // 16)
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def failing_disk(mib: int = 12) -> Iterator[FailingDisk | None]:
    """A disk that works until it is told to fail; None where nobody may make one."""
    with small_disk(mib * 1024) as place, ExitStack() as stack:
        if place is None:
            yield None
            return
        device, folder = place / "device", place.with_name(f"{place.name}-mounted")
        with device.open("wb") as file:
            file.truncate(4 * mib << 20)
        folder.mkdir()
        stack.callback(folder.rmdir)
        made = _done("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", device)
        if not made or not _done("mount", "-o", "loop", device, folder):
            yield None
            return
        stack.callback(_unmount, folder)
        yield FailingDisk(folder, device)
