"""Servers of other releases of Debian, or that are not installed here: their packages, laid out in a folder each.

Nothing of this machine is changed. The packages come from the mirror that its own apt uses, are checked by the
archive's signatures, and stay in ``.servers`` beside the sources. ``pinned_servers.toml`` says what they were when the
campaign ``servers`` was carried out last.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.release.debian import fetch_packages, name_and_version, sha256, unpack
from tests.servers.process import program, require

CACHE = Path(__file__).resolve().parents[2] / ".servers"
PINNED = Path(__file__).with_name("pinned_servers.toml")

_ENTER = """\
for name in dev proc sys tmp; do
    mkdir -p "$0/$name" && mount --rbind "/$name" "$0/$name" || exit
done
exec chroot "$0" "$@"
"""
"""What a program of a root sees of this machine: its devices, processes and the folders of tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedServer:
    """A server of a release of Debian, as it was tried last."""

    name: str
    """Such as ``samba 4.22``."""
    release: str
    package: str
    """The package of the server; what it depends on comes with it."""
    version: str
    sha256: str
    also: tuple[str, ...] = ()
    """Packages that it does not depend on."""


def pinned_servers() -> dict[str, PinnedServer]:
    """By name."""
    tables = tomllib.loads(PINNED.read_text())
    return {
        name: PinnedServer(
            name=name,
            release=table["release"],
            package=table["package"],
            version=table["version"],
            sha256=table["sha256"],
            also=tuple(table.get("also", ())),
        )
        for name, table in tables.items()
    }


class UnexpectedPackageError(Exception):
    """A package has the version that is pinned, and other bytes."""


@dataclass(frozen=True, slots=True)
class ServerRoot:
    """The folder that a server's packages are laid out in."""

    path: Path
    version: str
    """Of the server's package, ``2:4.22.11+dfsg-0+deb13u1``."""
    pinned: PinnedServer

    def command(self, *words: str) -> list[str]:
        """The words that carry out a program of this root; it sees the folders of tests by the names they have here."""
        return [program("unshare"), "--mount", "--propagation", "private", "sh", "-c", _ENTER, str(self.path), *words]

    @property
    def note(self) -> str:
        """What a reader of results has to know of the version; empty where it is the pinned one."""
        if self.version == self.pinned.version:
            return ""
        return f"{self.pinned.release} has {self.version} now; {self.pinned.version} is pinned"


def server_root(pinned: PinnedServer, within_seconds: float | None = None) -> ServerRoot:
    """The root of a server, fetched and laid out once.

    Raises FailedError where it cannot be fetched, or not within that time, and UnexpectedPackageError.
    """
    require("apt-get", "dpkg", "unshare", "mount", "chroot")
    place = CACHE / pinned.name.replace(" ", "-")
    if not (place / "version").exists():
        _lay_out(pinned, place, within_seconds)
    return ServerRoot(place / "root", (place / "version").read_text(), pinned)


def _lay_out(pinned: PinnedServer, place: Path, within_seconds: float | None) -> None:
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="fetched-") as name:
        made = Path(name)
        archives = fetch_packages(made, pinned.release, (pinned.package, *pinned.also), within_seconds)
        version = _checked_version(pinned, archives)
        unpack(archives, made / "root")
        shutil.rmtree(made / "apt")
        _make_ready(made / "root")
        (made / "version").write_text(version)

        # What another process laid out meanwhile is as good.
        with contextlib.suppress(OSError):
            made.rename(place)
            made.mkdir()


def _checked_version(pinned: PinnedServer, archives: Sequence[Path]) -> str:
    """The version that was fetched. Where it is the pinned one, so are its bytes."""
    archive = next(archive for archive in archives if name_and_version(archive)[0] == pinned.package)
    version = name_and_version(archive)[1]
    if version == pinned.version and sha256(archive) != pinned.sha256:
        raise UnexpectedPackageError(f"{pinned.package} {version} of {pinned.release} has SHA-256 {sha256(archive)}")
    return version


def _make_ready(root: Path) -> None:
    """What scripts of the packages would have made, and the users of this machine."""
    for name in ("etc/samba", "var/lib/samba/private", "var/cache/samba", "var/log/samba", "run/samba"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("passwd", "group", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
