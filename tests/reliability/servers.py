"""The servers campaign: the main commands against each server of :mod:`tests.servers.tried_servers`, as a table.

Four versions of Samba, SMB servers that are not Samba or are made as limited as others are, and four FTP servers, these
with and without TLS. A case is one command on one server; what it is refused or says wrongly is a loss with its one
line. ``python -m tests.reliability servers --part 1/10 --results FOLDER``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command_line import QUICK
from tests.release.running import FailedError
from tests.reliability.figures import Clock, Figures, Share
from tests.servers.tried_servers import FILE, RunningServer, ServerKind, TriedServer, tried_servers
from tests.waiting import HANG_SECONDS

EXIT_FAILED = 4
"""Of a measurement, as the contract has it."""
_SMB = frozenset({ServerKind.SAMBA, ServerKind.SMB})
_SAMBA = frozenset({ServerKind.SAMBA})


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCommand:
    """A command that is carried out on each server, and what must be true of its document."""

    words: tuple[str, ...]
    """``{url}``, ``{conf}``, ``{dump}`` and ``{version}`` stand for those of the server."""
    holds: Callable[[Any], bool]
    codes: tuple[int, ...] = (0,)
    """Also those of a verdict that is neither faster nor equal."""
    kinds: frozenset[ServerKind] = frozenset(ServerKind)
    """The servers that it is for."""


def _is_measured(document: Any) -> bool:
    return document["status"] == "complete" and all(run["bytes_per_second"] > 0 for run in document["runs"])


def _is_signed(document: Any) -> bool:
    return _is_measured(document) and document["client"]["signing"] != "none"


def _is_encrypted(document: Any) -> bool:
    return _is_measured(document) and document["client"]["encryption"] != "none"


def _nothing_failed(lines: Any) -> bool:
    return all(line["state"] != "failed" for line in lines)


def _is_loaded(document: Any) -> bool:
    return all(point["requests"] and not point["errors"] for point in document["points"])


def _problems(document: Any) -> set[str]:
    return {finding["key"] for finding in document["findings"] if finding["severity"] == "problem"}


def _is_healthy(document: Any) -> bool:
    """The settings are not judged: those of a Samba that is made limited are harmful, as a diagnosis says."""
    return _problems(document) <= {"settings"}


def _knows_the_settings(document: Any) -> bool:
    settings = next(stage for stage in document["stages"] if stage["name"] == "settings")
    return not _problems(document) and settings["status"] == "complete"


def _has_no_complaint(document: Any) -> bool:
    """Of an untouched configuration. That a Samba was built without profiles is said of it, and is true."""
    return {finding["key"] for finding in document["findings"]} <= {"no-profiling"}


def _has_a_profile(document: Any) -> bool:
    return "smb2_read" in json.dumps(document["environment"])


def _has_pairs(document: Any) -> bool:
    return bool(document["pairs"])


def _is_complete(document: Any) -> bool:
    return bool(document["status"] == "complete")


def _runs(*words: str) -> tuple[str, ...]:
    return ("run", *words, "--runs", "3", "--warmup", "1", "--json", *QUICK)


_FILE_URL = f"{{url}}/{FILE}"
_CONF = ("--smb-conf", "{conf}")
_THROUGH_SSH = ("--server-ssh", "fileserver", *_CONF)
_LOAD = ("--users", "2", "--scenario", "small", "--files", "30", "--duration", "2", "--settle", "0.5")
_TRY = ("try", "aio read size=0", _FILE_URL, "--yes", "--ceiling", "skip", "--within", "2", "--json")
_DIAGNOSE = ("diagnose", "{url}/", "--quick", "--yes", "--json")
_DUMP = ("audit", "--smb-conf", "{dump}", "--json")
_ISOLATE = ("isolate", "{url}/", *_CONF, "--clients", "1", "--rounds", "2", "--seconds", "2", "--json")

COMMANDS: dict[str, TriedCommand] = {
    "get": TriedCommand(words=_runs(_FILE_URL, "--verify"), holds=_is_measured),
    "put": TriedCommand(words=_runs("{url}/", "--put", "--size", "8M", "--verify"), holds=_is_measured),
    "tree": TriedCommand(words=_runs("{url}/", "--put", "--files", "50"), holds=_is_measured),
    "sign": TriedCommand(words=_runs(_FILE_URL, "--sign"), holds=_is_signed, kinds=_SMB),
    "encrypt": TriedCommand(words=_runs(_FILE_URL, "--encrypt"), holds=_is_encrypted, kinds=_SMB),
    "check": TriedCommand(words=("check", _FILE_URL, "--json"), holds=_nothing_failed),
    "load": TriedCommand(words=("load", "{url}/", *_LOAD, "--json"), holds=_is_loaded),
    "diagnose": TriedCommand(words=_DIAGNOSE, holds=_is_healthy, kinds=_SMB),
    "diagnose by ssh": TriedCommand(words=(*_DIAGNOSE, *_THROUGH_SSH), holds=_knows_the_settings, kinds=_SAMBA),
    "audit": TriedCommand(words=("audit", "{url}/", *_CONF, "--json"), holds=_has_no_complaint, kinds=_SAMBA),
    "dump": TriedCommand(words=(*_DUMP, "--samba", "{version}"), holds=_has_no_complaint, kinds=_SAMBA),
    "dump of any": TriedCommand(words=_DUMP, holds=_has_no_complaint, kinds=_SAMBA),
    "profile": TriedCommand(words=_runs(_FILE_URL, "--profile", *_CONF), holds=_has_a_profile, kinds=_SAMBA),
    "isolate": TriedCommand(words=_ISOLATE, holds=_is_complete, kinds=_SAMBA),
    "try": TriedCommand(words=(*_TRY, *_CONF), holds=_has_pairs, codes=(0, 1, 3), kinds=_SAMBA),
    "try by ssh": TriedCommand(words=(*_TRY, *_THROUGH_SSH), holds=_has_pairs, codes=(0, 1, 3), kinds=_SAMBA),
}
"""By the column of the table."""


def commands_of(server: TriedServer) -> list[str]:
    """The columns that a server has."""
    return [name for name, command in COMMANDS.items() if server.kind in command.kinds]


def _carry_out(command: TriedCommand, server: RunningServer, folder: Path) -> subprocess.CompletedProcess[str]:
    places = {"url": server.url, "conf": server.conf, "dump": server.dump, "version": server.version}
    words = [word.format_map(places) for word in command.words]
    environment = {
        **os.environ,
        "SHAREBENCH_DB": str(folder / "notebook.db"),
        "SHAREBENCH_PASSWORD": server.password,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        **server.environment,
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "app", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )


def what_fails(command: TriedCommand, server: RunningServer, folder: Path, *, is_refused: bool = False) -> str:
    """One line on what is wrong with a command on a server; empty if nothing is.

    ``is_refused``: the server cannot do what the command needs, so that one line must say so.
    """
    conf_before = Path(server.conf).read_bytes() if server.conf else b""
    done = _carry_out(command, server, folder)
    errors = [line for line in done.stderr.splitlines() if line.startswith("sharebench: ")]

    if server.conf and Path(server.conf).read_bytes() != conf_before:
        return "smb.conf is not what it was before"
    if "Traceback" in done.stderr:
        return f"a traceback: {done.stderr.strip()[-300:]}"
    if is_refused:
        return "" if done.returncode == EXIT_FAILED and errors else f"exit {done.returncode}, where a refusal is due"
    if done.returncode not in command.codes:
        return f"exit {done.returncode}: {errors[-1] if errors else done.stderr.strip()[-300:]}"

    document = json.loads(done.stdout)
    if command.holds(document):
        return ""
    findings = document.get("findings") if isinstance(document, dict) else None
    return f"the document does not hold what it must: {json.dumps(findings or document)[:600]}"


def campaign(seconds: float, share: Share | None = None) -> Figures:
    """Each command on each server once, and the table at the end."""
    share = share or Share()
    clock = Clock(seconds)
    servers = tried_servers()
    for name in share.of_mine(list(servers)):
        server = servers[name]
        pending = [column for column in commands_of(server) if not share.has(f"{name} | {column}")]
        if not pending or (clock.is_over() and share.figures.counts):
            continue
        try:
            _try_commands(name, server, pending, share)
        except FailedError as error:
            share.figures.losses.append(f"{name}: is not to be had: {error}")
    _print_table(share)
    return share.figures


def _try_commands(name: str, server: TriedServer, columns: list[str], share: Share) -> None:
    with tempfile.TemporaryDirectory(prefix="servers-") as folder, server.start() as running:
        for column in columns:
            is_refused = column in server.refuses
            failure = what_fails(COMMANDS[column], running, Path(folder), is_refused=is_refused)
            figures = Figures()
            figures.counts["commands"] += 1
            if failure:
                figures.losses.append(f"{name} | {column}: {failure}")
            told = {"failure": failure, "note": running.note, "refused": is_refused}
            share.note(f"{name} | {column}", figures, told=told)


def _print_table(share: Share) -> None:
    print("| server |", " | ".join(COMMANDS), "|")
    print("| --- |", " | ".join("---" for _ in COMMANDS), "|")
    for name, server in tried_servers().items():
        columns = commands_of(server)
        cells = [_cell(share.told.get(f"{name} | {column}")) if column in columns else "" for column in COMMANDS]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def _cell(told: dict[str, Any] | None) -> str:
    """``-`` stands for what was not tried yet, nothing for what the server does not have."""
    if told is None:
        return "-"
    if told["failure"]:
        return "no"
    return "refused" if told["refused"] else "ok"
