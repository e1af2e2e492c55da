"""The servers campaign: the main commands against each server that Debian carries, as a table.

Four versions of Samba and four FTP servers, these with and without TLS. A case is one command on one
server; what it is refused or says wrongly is a loss with its one line. ``python -m tests.reliability servers --part
1/10 --results FOLDER``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storage.records import format_target
from tests.command_line import MIB, QUICK
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.debian_servers import pinned_servers, server_root
from tests.servers.other_ftp import OTHER_FTP_SERVERS, OtherFtpServer
from tests.servers.other_smbd import OtherSmbd
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd

FILE = "big.iso"
SECONDS_OF_A_COMMAND = 400.0
INSTALLED_SAMBA, INSTALLED_FTP = "samba installed", "vsftpd"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A server as a command meets it."""

    url: str
    """Of a folder with ``big.iso``, without a slash at its end."""
    password: str
    conf: str = ""
    """Its smb.conf, as it is on the server itself."""
    environment: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """What a reader has to know of its version."""
    has_no_profile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCommand:
    """A command that is carried out on each server, and what must be true of its document."""

    words: tuple[str, ...]
    """``{url}`` and ``{conf}`` stand for those of the server."""
    holds: Callable[[Any], bool]
    codes: tuple[int, ...] = (0,)
    """Also those of a verdict that is neither faster nor equal."""
    is_of_smb: bool = False
    is_on_the_server: bool = False
    """Whether it needs the programs of a Samba."""


def _is_measured(document: Any) -> bool:
    return document["status"] == "complete" and all(run["bytes_per_second"] > 0 for run in document["runs"])


def _runs(*words: str) -> tuple[str, ...]:
    return ("run", *words, "--runs", "3", "--warmup", "1", "--json", *QUICK)


_LOAD = ("--users", "2", "--scenario", "small", "--files", "30", "--duration", "2", "--settle", "0.5")

COMMANDS: dict[str, TriedCommand] = {
    "get": TriedCommand(words=_runs("{url}/big.iso", "--verify"), holds=_is_measured),
    "put": TriedCommand(words=_runs("{url}/", "--put", "--size", "8M", "--verify"), holds=_is_measured),
    "tree": TriedCommand(words=_runs("{url}/", "--put", "--files", "50"), holds=_is_measured),
    "sign": TriedCommand(
        words=_runs("{url}/big.iso", "--sign"),
        holds=lambda document: _is_measured(document) and document["client"]["signing"] != "none",
        is_of_smb=True,
    ),
    "encrypt": TriedCommand(
        words=_runs("{url}/big.iso", "--encrypt"),
        holds=lambda document: _is_measured(document) and document["client"]["encryption"] != "none",
        is_of_smb=True,
    ),
    "check": TriedCommand(
        words=("check", "{url}/big.iso", "--json"),
        holds=lambda lines: all(line["state"] != "failed" for line in lines),
    ),
    "load": TriedCommand(
        words=("load", "{url}/", *_LOAD, "--json"),
        holds=lambda document: all(point["requests"] and not point["errors"] for point in document["points"]),
    ),
    "diagnose": TriedCommand(
        words=("diagnose", "{url}/", "--quick", "--yes", "--json"),
        holds=lambda document: not any(finding["severity"] == "problem" for finding in document["findings"]),
        is_of_smb=True,
    ),
    "audit": TriedCommand(
        words=("audit", "{url}/", "--smb-conf", "{conf}", "--json"),
        holds=lambda document: {finding["key"] for finding in document["findings"]} <= {"no-profiling"},
        is_of_smb=True,
        is_on_the_server=True,
    ),
    "profile": TriedCommand(
        words=_runs("{url}/big.iso", "--profile", "--smb-conf", "{conf}"),
        holds=lambda document: "smb2_read" in json.dumps(document["environment"]),
        is_of_smb=True,
        is_on_the_server=True,
    ),
    "isolate": TriedCommand(
        words=(
            *("isolate", "{url}/", "--smb-conf", "{conf}", "--clients", "1", "--rounds", "2", "--seconds", "2"),
            "--json",
        ),
        holds=lambda document: document["status"] == "complete",
        is_of_smb=True,
        is_on_the_server=True,
    ),
    "try": TriedCommand(
        words=(
            *("try", "aio read size=0", "{url}/big.iso", "--smb-conf", "{conf}", "--yes", "--ceiling", "skip"),
            *("--within", "2", "--json"),
        ),
        holds=bool,
        codes=(0, 1, 3),
        is_of_smb=True,
        is_on_the_server=True,
    ),
}
"""By the column of the table."""


WITHOUT_PROFILE = "samba 4.13"
"""Debian built it without: one line that says so is what its profile must come to."""


def server_names() -> list[str]:
    """Of all servers: the rows of the table."""
    sambas = [name for name in pinned_servers() if name.startswith("samba")]
    ftp_servers = [INSTALLED_FTP, *OTHER_FTP_SERVERS]
    with_tls = [f"{name} (TLS)" for name in ftp_servers]
    return [INSTALLED_SAMBA, *sambas, *ftp_servers, *with_tls]


def commands_of(server: str) -> list[str]:
    """The columns that a server has."""
    is_smb = server.startswith("samba")
    return [name for name, command in COMMANDS.items() if is_smb or not command.is_of_smb]


@contextmanager
def running(server: str) -> Iterator[RunningServer]:
    """Start a server, with a file on it, and stop it at the end."""
    name = server.removesuffix(" (TLS)")
    if server.startswith("samba"):
        smbd = Smbd() if server == INSTALLED_SAMBA else OtherSmbd(server_root(pinned_servers()[server]))
        note = smbd.server_root.note if isinstance(smbd, OtherSmbd) else ""
        path = {"PATH": f"{smbd.path}:{os.environ['PATH']}"} if isinstance(smbd, OtherSmbd) else {}
        try:
            smbd.start()
            smbd.make_file(FILE, os.urandom(8 * MIB))
            url = format_target(smbd.target()).rstrip("/")
            yield RunningServer(
                url=url,
                password=smbd.password,
                conf=str(smbd.conf),
                environment=path,
                note=note,
                has_no_profile=server == WITHOUT_PROFILE,
            )
        finally:
            smbd.stop()
        return

    has_tls = server != name
    ftp_server: Vsftpd | OtherFtpServer
    if name == INSTALLED_FTP:
        ftp_server = Vsftpd(tls="explicit" if has_tls else None)
    else:
        ftp_server = OTHER_FTP_SERVERS[name](server_root(pinned_servers()[name]), tls=has_tls)
    try:
        ftp_server.start()
        ftp_server.make_file(FILE, os.urandom(8 * MIB))
        trusted = {"SSL_CERT_FILE": str(ftp_server.root / "certificate.pem")} if has_tls else {}
        url = format_target(ftp_server.target()).rstrip("/")
        yield RunningServer(url=url, password=ftp_server.password, environment=trusted)
    finally:
        ftp_server.stop()


def what_fails(command: TriedCommand, server: RunningServer, folder: Path) -> str:
    """One line on what is wrong with a command on a server; empty if nothing is."""
    words = [word.format(url=server.url, conf=server.conf) for word in command.words]
    environment = {
        **os.environ,
        "SHAREBENCH_DB": str(folder / "notebook.db"),
        "SHAREBENCH_PASSWORD": server.password,
        **server.environment,
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "app", *words],
        env={**environment, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_OF_A_COMMAND,
    )
    said = [line for line in done.stderr.splitlines() if line.startswith("sharebench: ")]
    if server.has_no_profile and "--profile" in words and done.returncode == 4 and "profiling" in done.stderr:
        return ""
    if done.returncode not in command.codes:
        return f"exit {done.returncode}: {said[-1] if said else done.stderr.strip()[-300:]}"
    if not command.holds(json.loads(done.stdout)):
        return f"the document does not hold what it must: {done.stdout[:300]}"
    return ""


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """Each command on each server once, and the table at the end."""
    share, clock = share or Share(), Clock(seconds)
    for server in share.of_mine(server_names()):
        left = [name for name in commands_of(server) if not share.has(f"{server} | {name}")]
        if not left or (clock.is_over() and share.figures.counts):
            continue
        with tempfile.TemporaryDirectory(prefix="servers-") as folder, running(server) as started:
            for name in left:
                failure = what_fails(COMMANDS[name], started, Path(folder))
                found = Figures()
                found.counts["commands"] += 1
                if failure:
                    found.losses.append(f"{server} | {name}: {failure}")
                share.note(f"{server} | {name}", found, told={"failure": failure, "note": started.note})
    _print_table(share)
    return share.figures


def _print_table(share: Share) -> None:
    print("| server |", " | ".join(COMMANDS), "|")
    print("| --- |", " | ".join("---" for _ in COMMANDS), "|")
    for server in server_names():
        cells = []
        for name in COMMANDS:
            told = share.told.get(f"{server} | {name}")
            cells.append("-" if told is None else "no" if told["failure"] else "ok")
        print(f"| {server} |", " | ".join(cells), "|", flush=True)
