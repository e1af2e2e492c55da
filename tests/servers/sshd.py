"""An sshd with keys of its own, and the ``ssh`` that has one of them."""

from __future__ import annotations

import getpass
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from app import __version__
from tests.servers.distance import FarLink
from tests.servers.netns import Link
from tests.servers.process import ServerProcess, program, require, unavailable

SEPARATION_FOLDER = Path("/run/sshd")
"""Every sshd needs it. Where the system has none, it is made, and left to those of other tests and processes."""


class Sshd(ServerProcess):
    """A running sshd that lets this user in with a key of its own, and an ``ssh`` that has that key."""

    name = "sshd"

    def __init__(self, link: Link | FarLink | None = None) -> None:
        require("sshd", "ssh", "ssh-keygen")
        try:
            SEPARATION_FOLDER.mkdir(mode=0o755, exist_ok=True)
        except OSError:
            unavailable(f"sshd needs {SEPARATION_FOLDER}, which only root can make")
        super().__init__(link)
        for key in ("host_key", "user_key"):
            words = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(self.root / key)]
            subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
        shutil.copy(self.root / "user_key.pub", self.root / "authorized_keys")
        self.path = self.root / "bin"
        self.path.mkdir()

    def configure(self) -> None:
        (self.root / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress {self.host}\nHostKey {self.root}/host_key\n"
            f"AuthorizedKeysFile {self.root}/authorized_keys\nStrictModes no\nUsePAM no\nPidFile none\n"
            f'SetEnv "PATH={self.path}:/usr/sbin:/usr/bin:/sbin:/bin" "HOME={self.root}"\n'
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
        )
        host_key = (self.root / "host_key.pub").read_text()
        (self.root / "known_hosts").write_text(f"[{self.host}]:{self.port} {host_key}")
        (self.root / "ssh_config").write_text(
            f"Host fileserver\n  HostName {self.host}\n  Port {self.port}\n  User {getpass.getuser()}\n"
            f"Host *\n  IdentityFile {self.root}/user_key\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.root}/known_hosts\n  GlobalKnownHostsFile none\n"
        )
        wrapper = self.path / "ssh"
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.root}/ssh_config "$@"\n')
        wrapper.chmod(0o755)

    def allow_python(self) -> None:
        """Let this test's Python, without its libraries, be found there by its usual name."""
        python = self.path / f"python{sys.version_info.major}.{sys.version_info.minor}"
        python.write_text(f'#!/bin/sh\nexec {sys._base_executable} "$@"\n')  # type: ignore[attr-defined]
        python.chmod(0o755)

    @contextmanager
    def login_shell(self, script: str) -> Iterator[None]:
        """Within this, commands are run by this script of sh, which has them in ``$SSH_ORIGINAL_COMMAND``."""
        shell = self.root / "login_shell"
        shell.write_text(f"#!/bin/sh\n{script}\n")
        shell.chmod(0o755)
        keys = self.root / "authorized_keys"
        usual_keys = keys.read_text()
        keys.write_text(f'command="{shell}" {usual_keys}')
        try:
            yield
        finally:
            keys.write_text(usual_keys)

    @property
    def carried(self) -> Path:
        """Where ``--from`` puts the program."""
        return self.root / ".cache" / "sharebench" / __version__

    def processes(self) -> list[psutil.Process]:
        """Those that were started through ssh: their HOME is ours."""
        processes = []
        for process in psutil.process_iter():
            try:
                is_ours = process.environ().get("HOME") == str(self.root)
            except psutil.Error:
                continue
            if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
        return processes

    def command(self) -> list[str]:
        return [program("sshd"), "-D", "-e", "-f", str(self.root / "sshd_config")]
