"""An smbd whose whole configuration is in Samba's registry, in a mount namespace that has folders of its own for it.

With ``config backend = registry`` nothing else of smb.conf counts, not even where the registry lies.
"""

import subprocess
from pathlib import Path

from tests.servers.netns import Link
from tests.servers.process import die_with_parent, program, require
from tests.servers.smbd import Smbd

FOLDERS = "/var/lib/samba /run/samba /var/cache/samba"
NEVER_IN_REGISTRY = ("lock directory", "state directory")


class RegistrySmbd(Smbd):
    """A running smbd with ``config backend = registry``."""

    def __init__(self, link: Link | None = None) -> None:
        require("unshare", "nsenter", "net")
        super().__init__(link=link)
        self._holder: subprocess.Popen[bytes] | None = None

    @property
    def inside(self) -> list[str]:
        """What a command begins with to be run where this registry is Samba's."""
        assert self._holder
        return [program("nsenter"), f"--mount=/proc/{self._holder.pid}/ns/mnt", "--"]

    def configure(self) -> None:
        """Write smb.conf as a file, and move it into the registry."""
        super().configure()
        self._end_holder()
        mounts = f"for each in {FOLDERS}; do mkdir -p $each && mount --bind {self.private} $each || exit 1; done"
        self._holder = subprocess.Popen(
            [program("unshare"), "--mount", "sh", "-c", f"{mounts}; echo ready; exec sleep infinity"],
            stdout=subprocess.PIPE,
            preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
        )
        assert self._holder.stdout
        if self._holder.stdout.readline() != b"ready\n":
            raise RuntimeError("no mount namespace can be made here")
        lines = self.conf.read_text().splitlines()
        kept = [line for line in lines if line.partition("=")[0].strip() not in NEVER_IN_REGISTRY]
        (self.root / "registry.conf").write_text("\n".join(kept) + "\n")
        self.conf.write_text("[global]\n    config backend = registry\n")
        self.net("import", str(self.root / "registry.conf"))

    def command(self) -> list[str]:
        """In the namespace."""
        return [*self.inside, *super().command()]

    def net(self, *words: str) -> str:
        """What ``net conf`` prints."""
        done = subprocess.run(
            [*self.inside, program("net"), "-s", str(self.conf), "conf", *words],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def shell_in(self, folder: Path) -> Path:
        """A folder to come first in PATH, in which ``sh`` is one inside the namespace."""
        (folder / "sh").write_text(f'#!/bin/sh\nexec {" ".join(self.inside)} /bin/sh "$@"\n')
        (folder / "sh").chmod(0o755)
        return folder

    def stop(self) -> None:
        super().stop()
        self._end_holder()

    def _end_holder(self) -> None:
        holder, self._holder = self._holder, None
        if holder and holder.stdout:
            holder.kill()
            holder.wait()
            holder.stdout.close()
