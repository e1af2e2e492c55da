"""A Debian, or some packages of one, in a folder: from the mirror that this machine's own apt uses."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.release.running import FailedError, run

_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_MIRROR = re.compile(r"^(?:URIs:|deb)\s+(?:\[[^]]*\]\s*)?(https?://\S+)", re.MULTILINE)
_PIP_SETTING = re.compile(
    r"^[\w:]*\.(index-url|extra-index-url|trusted-host|proxy|timeout|default-timeout)='(.*)'$", re.MULTILINE
)
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")

_ENTER = Path(__file__).with_name("enter.sh")


class DebianRoot:
    """A root folder in which commands are carried out, with or without pseudo-terminals."""

    def __init__(self, folder: Path, release: str, packages: Sequence[str] = (), *, has_terminals: bool = True) -> None:
        self.path = folder / "root"
        self._folder = folder
        self._has_terminals = has_terminals
        mirror = apt_mirror()
        run(
            folder,
            "debootstrap",
            "--variant=minbase",
            *([f"--include={','.join(packages)}"] if packages else ()),
            release,
            self.path,
            *([mirror] if mirror else ()),
            PATH=os.environ["PATH"],
        )
        shutil.copy("/etc/resolv.conf", self.path / "etc/resolv.conf")
        if mirror:
            (self.path / "etc/apt/sources.list").write_text(f"deb {mirror} {release} main\n")

        # No package starts its servers here: they would outlive the root.
        policy = self.path / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)

        self.environment = {name: os.environ[name] for name in _PROXIES if name in os.environ} | pip_settings()
        if _CERTIFICATES.exists():  # the machine's own, where it reaches the registry through a proxy
            shutil.copy(_CERTIFICATES, self.path / "proof-certificates.crt")
            self.environment["PIP_CERT"] = "/proof-certificates.crt"

    def command(self, user: str, environment: Mapping[str, str], *words: str) -> list[str]:
        """The words that carry out a command in this root as a user, and with no other environment than this."""
        settings = [f"{name}={value}" for name, value in {**self.environment, **environment}.items()]
        return [
            *("unshare", "--mount", "--propagation", "private", "sh", str(_ENTER)),
            *(str(self.path), "yes" if self._has_terminals else "no", user),
            *("env", "-i", *settings, *words),
        ]

    def run(self, user: str, environment: Mapping[str, str], *words: str) -> str:
        """What a command says. Raises FailedError."""
        return run(self._folder, *self.command(user, environment, *words), PATH=os.environ["PATH"])


def fetch_packages(
    folder: Path, release: str, packages: Sequence[str], within_seconds: float | None = None
) -> list[Path]:
    """The archives of packages of a release and of all that they depend on, fetched into the folder.

    By an apt that knows nothing of what is installed here, and checks the archive's signatures. Raises FailedError,
    also where one of its two steps takes longer than that.
    """
    mirror = apt_mirror()
    if mirror is None:
        raise FailedError("the apt of this machine names no mirror of Debian")
    for name in ("state/lists/partial", "cache/archives/partial", "preferences.d"):
        (folder / "apt" / name).mkdir(parents=True)
    (folder / "apt/status").write_text("")
    (folder / "apt/sources.list").write_text(f"deb {mirror} {release} main\n")

    settings = {
        "Dir::State": "state",
        "Dir::State::status": "status",
        "Dir::Cache": "cache",
        "Dir::Etc::sourcelist": "sources.list",
        "Dir::Etc::sourceparts": "no-parts",
        "Dir::Etc::preferencesparts": "preferences.d",
    }
    time_limit = ["timeout", f"{within_seconds:g}"] if within_seconds else []
    words = [*time_limit, "apt-get", "-o", "APT::Sandbox::User=root"]
    for setting, place in settings.items():
        words += ["-o", f"{setting}={folder / 'apt' / place}"]
    proxies = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    run(folder, *words, "update", **proxies)
    download = ("install", "--yes", "--no-install-recommends", "--download-only")
    run(folder, *words, *download, *packages, **proxies)
    return sorted((folder / "apt/cache/archives").glob("*.deb"))


def unpack(archives: Iterable[Path], root: Path) -> None:
    """Lay the files of packages into a root; no script of theirs is run. Raises FailedError."""
    root.mkdir()
    for archive in archives:
        run(root, "dpkg", "-x", archive, root)

    # Newer packages have all in /usr, and the links to it are made by another one.
    for name in ("bin", "sbin", "lib", "lib64"):
        if not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")


def name_and_version(archive: Path) -> tuple[str, str]:
    """Of a package, by the name of its archive: ``samba``, ``2:4.17.12+dfsg-0+deb12u4``."""
    name, version, _architecture = archive.name.split("_")
    return name, version.replace("%3a", ":")


def sha256(archive: Path) -> str:
    """In hexadecimal digits."""
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def apt_mirror() -> str | None:
    """The first mirror in this machine's apt sources."""
    files = [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt/sources.list.d").glob("debian.sources")]
    mirrors = (mirror for path in files if (mirror := mirror_in(path.read_text())))
    return next(mirrors, None)


def mirror_in(sources: str) -> str | None:
    """The first mirror that a file of apt's sources names, in either of its formats. Source: sources.list(5)."""
    mirror = _MIRROR.search(sources)
    return mirror[1] if mirror else None


def pip_settings() -> dict[str, str]:
    """Where this machine's pip finds its packages, as environment variables of another pip."""
    words = [sys.executable, "-m", "pip", "config", "list"]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return pip_variables(printed)


def pip_variables(config: str) -> dict[str, str]:
    """The environment variables that say what `pip config list` printed, as far as it concerns the index."""
    return {f"PIP_{name.upper().replace('-', '_')}": value for name, value in _PIP_SETTING.findall(config)}
