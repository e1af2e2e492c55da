"""Disks in trouble, for those who may mount: a small one, one that gives errors when it is told to, and a slow one."""

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


@contextmanager
def slow_disk(dirty_bytes: int, bytes_per_second: int) -> Iterator[Path | None]:
    """A disk that takes so much into memory at once and then what it can write; None where nobody may make one."""
    throttle = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
    with small_disk(512 * 1024) as place, ExitStack() as stack:
        if place is None or not os.access(throttle, os.W_OK):
            yield None
            return
        device, folder = place / "device", place.with_name(f"{place.name}-mounted")
        with device.open("wb") as file:
            file.truncate(8 << 30)  # a diagnosis uses a tenth of what is free
        folder.mkdir()
        stack.callback(folder.rmdir)
        made = _done("mkfs.ext4", "-q", "-O", "^has_journal", device)
        if not made or not _done("mount", "-o", "loop,noinit_itable", device, folder):
            yield None
            return
        stack.callback(_unmount, folder)
        folder.chmod(0o777)
        number = folder.stat().st_dev
        where = f"{os.major(number)}:{os.minor(number)}"
        try:
            memory = Path("/sys/class/bdi") / where
            (memory / "strict_limit").write_text("1")
            (memory / "max_bytes").write_text(str(dirty_bytes))
            stack.callback(throttle.write_text, f"{where} 0")
            throttle.write_text(f"{where} {bytes_per_second}")
        except OSError:
            yield None
            return
        yield folder
