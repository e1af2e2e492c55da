"""The smbd of another release of Debian, started like the one that is installed."""

from __future__ import annotations

import shlex

from tests.servers.debian_servers import ServerRoot
from tests.servers.smbd import Options, Smbd

_PROGRAMS = ("smbd", "smbpasswd", "smbcontrol", "smbstatus", "testparm", "pdbedit")
"""What the tests and sharebench call on a server."""


class OtherSmbd(Smbd):
    """A running smbd of a root; ``path`` has its programs, for sharebench on the server itself."""

    def __init__(
        self, root: ServerRoot, global_options: Options | None = None, share_options: Options | None = None
    ) -> None:
        super().__init__(global_options, share_options)
        self.server_root = root
        self.path = self.root / "bin"
        self._make_programs()

    def _make_programs(self) -> None:
        """A script for each, of its name, that runs it in the root."""
        self.path.mkdir()
        for name in _PROGRAMS:
            places = [f"/usr/{folder}/{name}" for folder in ("bin", "sbin")]
            inside = next((place for place in places if (self.server_root.path / place[1:]).exists()), "")
            if not inside:
                continue

            wrapper = self.path / name
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(self.server_root.command(inside))} "$@"\n')
            wrapper.chmod(0o755)

    def program(self, name: str) -> str:
        return str(self.path / name)

    @property
    def databases(self) -> str:
        """Each version makes its own."""
        return self.server_root.version
