"""Samba's smbd with a configuration, a user database and a log of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import psutil

from app.clients.base import Secrets
from storage.records import Target
from tests.servers.distance import FarLink
from tests.servers.netns import Link
from tests.servers.process import ServerProcess, program, require

UNIX_USER = "daemon"
"""Owns the shares; a user of every Linux system, to whom ``username map`` leads the Samba user."""

Options = Mapping[str, str]

_DATABASES = ("passdb.tdb", "secrets.tdb", "account_policy.tdb", "group_mapping.tdb")
_databases: dict[str, dict[str, bytes]] = {}
"""By whose programs made them: the user's and the machine's, made by the first server of this process and copied for
all others: making them takes half as long as smbd takes to start, and waits for the disk again and again."""


class Smbd(ServerProcess):
    """A running smbd: the share ``bench`` for the user ``bench``, the share ``open`` for guests.

    Nothing of the system is changed: the user database is private, and the user name is mapped to one that every
    system has, so that no account is made.
    """

    name = "smbd"
    share = "bench"
    guest_share = "open"
    user = "bench"
    password = "Correct-Horse 9"
    running: ClassVar[dict[str, Smbd]] = {}
    """Those that this process started, by their ports."""

    def __init__(
        self,
        global_options: Options | None = None,
        share_options: Options | None = None,
        link: Link | FarLink | None = None,
    ) -> None:
        require("smbd", "smbpasswd", "smbcontrol")
        super().__init__(link)
        self.conf = self.root / "smb.conf"
        self.folder = self._make_folder("bench")
        self.guest_folder = self._make_folder("open")
        self.private = self.root / "private"
        self.private.mkdir()
        self.global_options = dict(global_options or {})
        self.share_options = dict(share_options or {})
        self.more_shares: dict[str, Options] = {}
        self._has_user = False

    def _make_folder(self, name: str) -> Path:
        folder = self.root / name
        folder.mkdir()
        shutil.chown(folder, UNIX_USER)
        folder.chmod(0o777)
        return folder

    @property
    def databases(self) -> str:
        """Whose programs make the databases."""
        return "installed"

    def program(self, name: str) -> str:
        """The path of one of Samba's programs."""
        return program(name)

    def command(self) -> list[str]:
        return [self.program("smbd"), "-F", "--no-process-group", "-s", str(self.conf), "-l", str(self.private)]

    def start(self) -> None:
        super().start()
        self.running[str(self.port)] = self

    def kill(self) -> None:
        self.running.pop(str(self.port), None)
        super().kill()

    def stop(self) -> None:
        self.running.pop(str(self.port), None)
        self.end_helpers()
        super().stop()

    def end_helpers(self) -> None:
        """End samba-dcerpcd, which smbd starts on demand in a session of its own and which outlives it."""
        option = f"--configfile={self.conf}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if option in words and Path(os.fsdecode(words[0])).name.startswith(("samba-dcerpcd", "rpcd_")):
                    os.kill(int(folder.name), signal.SIGKILL)

    def helpers(self) -> list[psutil.Process]:
        """The samba-dcerpcd that smbd starts for its pipes: it outlives smbd, and is known by its configuration."""
        mine = f"--configfile={self.conf}"
        return [p for p in psutil.process_iter(["cmdline"]) if mine in (p.info["cmdline"] or [])]

    def configure(self) -> None:
        self._write_conf()
        if not self._has_user:
            (self.private / "users.map").write_text(f"{UNIX_USER} = {self.user}\n")
            if self.databases not in _databases:
                self._make_user()
                _databases[self.databases] = {name: (self.private / name).read_bytes() for name in _DATABASES}
            for name, content in _databases[self.databases].items():
                (self.private / name).write_bytes(content)
                (self.private / name).chmod(0o600)
            self._has_user = True

    def _make_user(self) -> None:
        self.add_user(UNIX_USER)

    def add_user(self, name: str) -> None:
        """Let one more of this system's users log in, with the same password."""
        subprocess.run(
            [self.program("smbpasswd"), "-c", str(self.conf), "-a", "-s", name],
            input=f"{self.password}\n{self.password}\n".encode(),
            check=True,
            capture_output=True,
        )

    def _write_conf(self) -> None:
        private = str(self.private)
        interfaces = f"lo {self.link.host}/30" if self.link else "lo"
        common = {
            "server role": "standalone server",
            "workgroup": "BENCH",
            "netbios name": "BENCHSERVER",
            "interfaces": interfaces,
            "bind interfaces only": "yes",
            "disable netbios": "yes",
            "smb ports": str(self.port),
            "private dir": private,
            "lock directory": private,
            "state directory": private,
            "cache directory": private,
            "pid directory": private,
            "ncalrpc dir": f"{private}/ncalrpc",
            "log file": f"{private}/log.smbd",
            "passdb backend": f"tdbsam:{private}/passdb.tdb",
            "username map": f"{private}/users.map",
            "map to guest": "Bad User",
            "guest account": "nobody",
            "load printers": "no",
            "printing": "bsd",
            "printcap name": "/dev/null",
            "disable spoolss": "yes",
        }
        shares: dict[str, Options] = {
            "global": common | self.global_options,
            self.share: {"path": str(self.folder), "read only": "no"} | self.share_options,
            self.guest_share: {"path": str(self.guest_folder), "read only": "no", "guest ok": "yes"},
            **self.more_shares,
        }
        lines = []
        for section, options in shares.items():
            lines.append(f"[{section}]")
            lines += [f"    {name} = {value}" for name, value in options.items()]
        self.conf.write_text("\n".join(lines) + "\n")

    def rewrite_conf(self, global_options: Options | None = None, share_options: Options | None = None) -> None:
        """Change options in the file and have smbd read it again; open sessions keep what they negotiated."""
        self.global_options.update(global_options or {})
        self.share_options.update(share_options or {})
        self._write_conf()
        self.reload()

    def reload(self) -> None:
        """Have smbd read its configuration again."""
        subprocess.run(
            [self.program("smbcontrol"), "-s", str(self.conf), "smbd", "reload-config"], check=True, capture_output=True
        )

    def make_file(self, name: str, content: bytes) -> Path:
        """A file on the share that the user may read and write."""
        path = self.folder / name
        path.write_bytes(content)
        shutil.chown(path, UNIX_USER)
        return path

    def target(self, path: str = "", *, guest: bool = False) -> Target:
        """A target on the share, or on the guests' share without a user."""
        return Target(
            protocol="smb",
            host=self.host,
            port=self.port,
            share=self.guest_share if guest else self.share,
            path=path,
            user=None if guest else self.user,
        )

    def secrets(self) -> Secrets:
        """The user's password."""
        return Secrets(password=self.password)


class SupervisedSmbd(Smbd):
    """An smbd that is started again whenever it ends, as ``runsv`` of runit does."""

    def command(self) -> list[str]:
        """The supervisor, known by its process name."""
        runsv = self.root / "runsv"
        runsv.write_text('#!/bin/sh\ntrap exit TERM\nwhile :; do setsid "$@" & wait; done\n')
        runsv.chmod(0o755)
        return [str(runsv), *super().command()]
