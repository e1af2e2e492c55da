"""A systemd of its own, process 1 of namespaces of its own, without any unit but those that a test starts."""

import contextlib
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from tests.servers.process import program, require
from tests.waiting import HANG_SECONDS

SYSTEMD = Path("/lib/systemd/systemd")
_TARGETS = ("quiet", "basic", "sysinit", "sockets", "timers", "shutdown")
_START = """
mount --make-rprivate /
mount -t cgroup2 none {root}/groups && cd {root}/groups && mkdir {name} && echo $$ >{name}/cgroup.procs || exit 1
exec unshare --cgroup --pid --ipc --uts --net --fork --kill-child --mount-proc sh -c '
hostname files
mount -t tmpfs none /run
mount --bind /etc /etc && mount -o remount,ro,bind /etc
umount -l /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup || exit 1
ip link add card0 type veth peer name card1
export container=sharebench SYSTEMD_UNIT_PATH={root}/units
exec {systemd} --system --unit=quiet.target --log-target=null --show-status=false'
"""
_REMOVE = "mount -t cgroup2 none {root}/groups && find {root}/groups/{name} -depth -type d -exec rmdir {{}} +"


class Systemd:
    """A running systemd with the network cards ``card0`` and ``card1``; the test is skipped where none can be had."""

    def __init__(self) -> None:
        require("unshare", "nsenter", "ip")
        if not SYSTEMD.exists():
            pytest.skip("systemd is not installed")
        self.root = Path(tempfile.mkdtemp(prefix="sharebench-systemd-"))
        (self.root / "groups").mkdir()
        (self.root / "units").mkdir()
        for name in _TARGETS:
            (self.root / "units" / f"{name}.target").write_text("[Unit]\nDescription=nothing\n")
        script = _START.format(root=self.root, name=self.root.name, systemd=SYSTEMD)
        self._process = subprocess.Popen(
            [program("unshare"), "--mount", "sh", "-c", script], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.inside: list[str] = []

    def start(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + HANG_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(psutil.Error):
                for child in psutil.Process(self._process.pid).children():
                    self.inside = [
                        program("nsenter"), "-t", str(child.pid), "--mount", "--pid", "--ipc", "--uts", "--net",
                        "--cgroup", "--",
                    ]  # fmt: skip
                    if child.name() == "systemd" and "Version=" in self.run("systemctl", "show", "--property=Version"):
                        return
            time.sleep(0.05)
        self.stop()
        pytest.skip("no systemd can be started in namespaces here")

    def run(self, *words: str) -> str:
        """What a command there prints."""
        return subprocess.run([*self.inside, *words], capture_output=True, text=True, check=False).stdout

    def shell_in(self, folder: Path) -> Path:
        """A folder to come first in PATH, in which ``sh`` is one there."""
        (folder / "sh").write_text(f'#!/bin/sh\nexec {" ".join(self.inside)} /bin/sh "$@"\n')
        (folder / "sh").chmod(0o755)
        return folder

    def stop(self) -> None:
        """End it with all that it started."""
        self._process.kill()
        self._process.wait()
        for _ in range(50):  # its processes leave their control groups as they end
            script = _REMOVE.format(root=self.root, name=self.root.name)
            if (
                subprocess.run(
                    [program("unshare"), "--mount", "sh", "-c", script], check=False, capture_output=True
                ).returncode
                == 0
            ):
                break
            time.sleep(0.02)
        shutil.rmtree(self.root, ignore_errors=True)
