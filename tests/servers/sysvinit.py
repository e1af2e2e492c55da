"""Debian's own smbd, started by /etc/init.d/smbd in namespaces where no systemd is, with files of its own."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import psutil

from tests.servers.process import die_with_parent, program, require, unavailable

SCRIPT = Path("/etc/init.d/smbd")
_CONFIGURATION = """[global]
    interfaces = lo
    bind interfaces only = yes
    disable netbios = yes
    load printers = no
    printing = bsd
    printcap name = /dev/null
    disable spoolss = yes
"""
_START = """
mount --make-rprivate / && ip link set lo up && mount -t tmpfs none /run && mkdir -p /run/samba /run/lock || exit 1
mount --bind {root} /etc/samba || exit 1
for folder in /var/lib/samba /var/cache/samba /var/log/samba; do mount -t tmpfs none $folder || exit 1; done
mkdir /var/lib/samba/private
service smbd start >&2 </dev/null && echo ready && exec sleep infinity
"""


class SysvSmbd:
    """A running smbd whose smb.conf is /etc/samba/smb.conf there; the test is skipped where none can be had."""

    conf = "/etc/samba/smb.conf"

    def __init__(self) -> None:
        require("unshare", "nsenter", "ip", "smbd", "service")
        if not SCRIPT.exists():
            unavailable(f"there is no {SCRIPT}")
        self.root = Path(tempfile.mkdtemp(prefix="sharebench-sysv-"))
        self.root.chmod(0o755)
        (self.root / "smb.conf").write_text(_CONFIGURATION)
        words = ("--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
        self._process = subprocess.Popen(
            [program("unshare"), *words, "sh", "-c", _START.format(root=self.root)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
        )  # fmt: skip

    def start(self, folder: Path) -> None:
        """Wait until it runs, and make ``folder`` one to come first in PATH, in which ``sh`` is one there."""
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            self.stop()
            unavailable("no smbd can be started in namespaces here")
        (there,) = psutil.Process(self._process.pid).children()
        inside = f"{program('nsenter')} -t {there.pid} --mount --net --pid --"
        (folder / "sh").write_text(f'#!/bin/sh\nexec {inside} /bin/sh "$@"\n')
        (folder / "sh").chmod(0o755)

    def stop(self) -> None:
        """End it with all that it started."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        shutil.rmtree(self.root, ignore_errors=True)
