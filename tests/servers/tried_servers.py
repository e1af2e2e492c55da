"""The servers that sharebench is tried on: the rows of the campaign ``servers``, each started with one file on it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from app.practice.servers import PracticeServers
from storage.records import Target, format_target
from tests.servers import independent_smb
from tests.servers.debian_servers import pinned_servers, server_root
from tests.servers.independent_smb import IndependentSmb
from tests.servers.other_ftp import OTHER_FTP_SERVERS, OtherFtpServer
from tests.servers.other_smbd import OtherSmbd
from tests.servers.smbd import Smbd
from tests.servers.sshd import Sshd
from tests.servers.vsftpd import Vsftpd

FILE = "big.iso"
FILE_BYTES = 8 * 1024**2


class ServerKind(Enum):
    """What a server is, on which depends what can be asked of it."""

    SAMBA = "its settings can be read and changed"
    SMB = "an SMB server without settings"
    FTP = "an FTP server"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A server as a command meets it."""

    url: str
    """Of a folder with :data:`FILE`, without a slash at its end."""
    password: str
    conf: str = ""
    """Its smb.conf, as it is on the server itself."""
    version: str = ""
    """Of its Samba, such as ``4.22``."""
    dump: str = ""
    """A file of what its own ``testparm -sv`` prints."""
    environment: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """What a reader has to know of its version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedServer:
    """A server that the commands are carried out on."""

    kind: ServerKind
    start: Callable[[], AbstractContextManager[RunningServer]]
    """Raises FailedError where its program is not to be had."""
    refuses: frozenset[str] = frozenset()
    """The commands that must come to one clear line, since the server cannot do what they need."""


def _url(target: Target) -> str:
    return format_target(target).rstrip("/")


@contextmanager
def _samba(make: Callable[[], Smbd]) -> Iterator[RunningServer]:
    """An smbd, with an sshd by which its machine is reached as ``fileserver``."""
    smbd = make()
    sshd = Sshd()
    try:
        smbd.start()
        smbd.make_file(FILE, os.urandom(FILE_BYTES))
        sshd.start()

        folders = [str(sshd.path)]
        note = ""
        if isinstance(smbd, OtherSmbd):
            folders.append(str(smbd.path))
            note = smbd.server_root.note
            for wrapper in smbd.path.iterdir():
                (sshd.path / wrapper.name).symlink_to(wrapper)

        dump = smbd.root / "dump.conf"
        words = [smbd.program("testparm"), "-sv", str(smbd.conf)]
        dump.write_bytes(subprocess.run(words, check=True, capture_output=True).stdout)
        yield RunningServer(
            url=_url(smbd.target()),
            password=smbd.password,
            conf=str(smbd.conf),
            version=_samba_version(smbd),
            dump=str(dump),
            environment={"PATH": os.pathsep.join([*folders, os.environ["PATH"]])},
            note=note,
        )
    finally:
        sshd.stop()
        smbd.stop()


def _samba_version(smbd: Smbd) -> str:
    printed = subprocess.run([smbd.program("smbd"), "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"\d+\.\d+", printed)
    assert version, printed
    return version[0]


def _other_smbd(name: str) -> OtherSmbd:
    return OtherSmbd(server_root(pinned_servers()[name]))


@contextmanager
def _independent(*options: str) -> Iterator[RunningServer]:
    server = IndependentSmb(independent_smb.build(), *options)
    try:
        server.start()
        server.make_file(FILE, os.urandom(FILE_BYTES))
        yield RunningServer(url=_url(server.target()), password=server.password)
    finally:
        server.stop()


@contextmanager
def _practice() -> Iterator[RunningServer]:
    """Impacket's server, as fast as practice is."""
    with PracticeServers() as servers:
        (servers.folder / FILE).write_bytes(os.urandom(FILE_BYTES))
        url = _url(servers.smb).removesuffix(f"/{servers.smb.path}")
        yield RunningServer(url=url, password=servers.secrets.password or "")


@contextmanager
def _ftp(make: Callable[[], Vsftpd | OtherFtpServer]) -> Iterator[RunningServer]:
    server = make()
    try:
        server.start()
        server.make_file(FILE, os.urandom(FILE_BYTES))
        trusted = {"SSL_CERT_FILE": str(server.root / "certificate.pem")} if server.tls else {}
        yield RunningServer(url=_url(server.target()), password=server.password, environment=trusted)
    finally:
        server.stop()


def _vsftpd(*, tls: bool) -> Vsftpd:
    return Vsftpd(tls="explicit" if tls else None)


def _other_ftp(name: str, *, tls: bool) -> OtherFtpServer:
    return OTHER_FTP_SERVERS[name](server_root(pinned_servers()[name]), tls=tls)


LIMITED_SAMBAS: dict[str, dict[str, str]] = {
    "samba, SMB 2.0.2": {"server max protocol": "SMB2_02"},
    "samba, SMB 3.0": {"server max protocol": "SMB3_00"},
    "samba, 1 credit": {"smb2 max credits": "1"},
    "samba, 16 KiB": {"smb2 max read": "16384", "smb2 max write": "16384", "smb2 max trans": "16384"},
    "samba, no oplocks": {"smb2 leases": "no", "oplocks": "no", "change notify": "no", "ea support": "no"},
}
"""The installed Samba, made as limited as other servers are."""
INDEPENDENT = f"smb-server {independent_smb.VERSION}"


def tried_servers() -> dict[str, TriedServer]:
    """By name, in the order of the table."""
    servers = {"samba installed": TriedServer(kind=ServerKind.SAMBA, start=partial(_samba, Smbd))}
    for name in pinned_servers():
        if name.startswith("samba"):
            # Debian built this one without profiles.
            refuses = frozenset({"profile"}) if name == "samba 4.13" else frozenset()
            make = partial(_other_smbd, name)
            servers[name] = TriedServer(kind=ServerKind.SAMBA, start=partial(_samba, make), refuses=refuses)

    for name, options in LIMITED_SAMBAS.items():
        refuses = frozenset({"encrypt"}) if name.endswith("2.0.2") else frozenset()
        make_limited = partial(Smbd, options)
        servers[name] = TriedServer(kind=ServerKind.SMB, start=partial(_samba, make_limited), refuses=refuses)

    servers["impacket"] = TriedServer(kind=ServerKind.SMB, start=_practice, refuses=frozenset({"encrypt"}))
    limits = ("no-leases", "no-notify", "small")
    for name, chosen in {"": (), ", limited": limits, ", signed": ("signed",)}.items():
        servers[f"{INDEPENDENT}{name}"] = TriedServer(kind=ServerKind.SMB, start=partial(_independent, *chosen))

    for has_tls in (False, True):
        suffix = " (TLS)" if has_tls else ""
        servers[f"vsftpd{suffix}"] = TriedServer(
            kind=ServerKind.FTP, start=partial(_ftp, partial(_vsftpd, tls=has_tls))
        )
        for name in OTHER_FTP_SERVERS:
            make_ftp = partial(_other_ftp, name, tls=has_tls)
            servers[f"{name}{suffix}"] = TriedServer(kind=ServerKind.FTP, start=partial(_ftp, make_ftp))
    return servers
