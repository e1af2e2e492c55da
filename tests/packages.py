"""Where the programs that the tests start come from on Debian, and what to say where they are missing.

Only the standard library is imported, since proofs read this before anything is installed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "acl": ("setfacl",),
    "chromium": ("chromium",),
    "cups-client": ("lpadmin", "lpstat"),
    "cups-daemon": ("cupsd",),
    "curl": ("curl",),
    "dbench": ("dbench", "tbench"),
    "gcc": ("cc",),
    "git": ("git",),
    "iperf3": ("iperf3",),
    "iproute2": ("ip", "tc"),
    "libreoffice-calc-nogui": ("soffice",),
    "openssh-client": ("ssh", "ssh-keygen"),
    "openssh-server": ("sshd",),
    "procps": ("ps", "sysctl"),
    "prometheus-node-exporter": ("prometheus-node-exporter",),
    "samba": ("net", "smbcontrol", "smbd", "smbpasswd", "smbstatus", "testparm"),
    "samba-testsuite": ("smbtorture",),
    "samba-vfs-modules": (),
    "smbclient": ("smbclient",),
    "sqlite3": ("sqlite3",),
    "systemd": ("systemctl", "systemd-analyze"),
    "vsftpd": ("vsftpd",),
}
"""Each package with the programs of it that a test may ask for. What every Debian has is not here."""

ONLY_FOR_CAMPAIGNS = frozenset({"cups-client", "cups-daemon", "samba-testsuite"})
"""What `make test` and `make long` start nothing of, though `python -m tests.reliability` or a benchmark does."""

SUMMARY_START = "tests skipped: "

_PACKAGE_OF = {program: package for package, programs in PACKAGES.items() for program in programs}


def package_of(program: str) -> str:
    """The package to install, which has the program's own name where we know of no other."""
    return _PACKAGE_OF.get(program, program)


def install_line(packages: Iterable[str] = PACKAGES.keys() - ONLY_FOR_CAMPAIGNS) -> str:
    """The command that installs these packages."""
    return f"apt install {' '.join(sorted(packages))}"


def summary(skipped: Sequence[Iterable[str]], without_root: int) -> str:
    """One line: how many tests need which packages; empty where none was skipped for that.

    ``skipped`` has the programs that each of the tests lacked, ``without_root`` is how many only root can run.
    """
    sentences = []
    if skipped:
        counts = Counter(package for programs in skipped for package in {package_of(name) for name in programs})
        named = ", ".join(f"{package} {count}" for package, count in sorted(counts.items()))
        sentences.append(f"{len(skipped)} need packages ({named}): {install_line(counts)}")
    if without_root:
        sentences.append(f"{without_root} need root")
    return f"{SUMMARY_START}{'; '.join(sentences)}" if sentences else ""
