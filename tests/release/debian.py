"""A Debian from nothing: made by debootstrap in a folder, from the mirror that this machine's own apt uses."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.release.running import run

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
