"""An SMB server that shares no code with Samba nor with our client: the crate ``smb-server``, served by a few lines.

It stands in for appliances. It is built with cargo into ``.servers`` beside the sources, from the crates that
``independent_smb/Cargo.lock`` pins.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from storage.records import Target
from tests.release.running import FailedError
from tests.servers.debian_servers import CACHE
from tests.servers.process import ServerProcess, missing, program

SOURCES = Path(__file__).with_name("independent_smb")
VERSION = "0.8.0"
"""Of the crate ``smb-server``."""
_BUILT = CACHE / "independent-smb"


def _cargo() -> str:
    """Its path, also where rustup's folder is not on the PATH. Raises FailedError."""
    of_rustup = Path.home() / ".cargo/bin/cargo"
    if not missing("cargo"):
        return program("cargo")
    if of_rustup.exists():
        return str(of_rustup)
    raise FailedError("cargo is not installed")


def build(within_seconds: float | None = None) -> Path:
    """The program, built where it is not yet: on two processors that takes a minute or two.

    Raises FailedError, also where it takes longer than ``within_seconds``.
    """
    words = [_cargo(), "build", "--release", "--locked", "--quiet", "--target-dir", str(_BUILT)]
    try:
        done = subprocess.run(
            words,
            cwd=SOURCES,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=within_seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"cargo took longer than {within_seconds:g} s") from error

    if done.returncode:
        raise FailedError(f"cargo: exit {done.returncode}: {done.stderr.strip()[-2000:]}")
    return _BUILT / "release/independent-smb"


class IndependentSmb(ServerProcess):
    """A running server with the share ``bench`` for the user ``bench``.

    Its options: ``signed`` requires signing; ``no-leases`` grants none; ``no-notify`` refuses to watch folders;
    ``small`` takes requests of 64 KiB at most.
    """

    name = "independent-smb"
    share = "bench"
    user = "bench"
    password = "Correct-Horse 9"

    def __init__(self, built: Path, *options: str) -> None:
        super().__init__()
        self.folder = self.root / "bench"
        self.folder.mkdir()
        self._built = built
        self._options = options

    def command(self) -> list[str]:
        settings = [f"INDEPENDENT_SMB_PASSWORD={self.password}"]
        return ["env", *settings, str(self._built), str(self.port), str(self.folder), self.user, *self._options]

    def make_file(self, name: str, content: bytes) -> Path:
        """A file on the share."""
        path = self.folder / name
        path.write_bytes(content)
        return path

    def target(self, path: str = "") -> Target:
        """A target on the share."""
        return Target(protocol="smb", host=self.host, port=self.port, share=self.share, path=path, user=self.user)
