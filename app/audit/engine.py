"""Audits: read and judge a server's settings, or one smb.conf; nothing is measured or changed."""

import glob
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.errors import LoginError, MeasurementError, NoSuchShareError, UsageError
from app.clients.base import Secrets, make_client
from app.clients.tcp import TcpInfo
from app.server import smbd
from app.server.facts import server_facts
from app.server.shell import Answer
from app.server.smbd import loadable_modules
from forms.audit.judge import AuditedServer, judge
from forms.findings.path import FAR_SECONDS
from forms.tuning.smb_conf import read_conf
from storage.looks import Audit, AuditScope
from storage.plan import Settings
from storage.records import FactValue, Target, format_target, new_series_id, utc_now

MOST_BYTES = 16 << 20
MOST_INCLUDES = 200
_NUL_SHARE = 0.01
"""A larger share of NUL bytes means a binary file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    target: Target
    ssh: str | None = None
    smb_conf: str | None = None
    """Path on the server, if not its smbd's default."""
    settings: Settings = field(default_factory=Settings)
    secrets: Callable[[], Secrets | None] = lambda: None
    """Login to inspect the session; None to skip that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    audit: Audit
    files: Mapping[str, str] = field(default_factory=dict)
    refused: bool = False


def audit_server(request: AuditRequest) -> AuditResult:
    """Audit a server from its files and facts if readable, else from a session. Raises NoSuchShareError."""
    target = request.target
    found = server_facts(target, request.ssh, request.smb_conf)
    session, failure = _session_facts(request)
    facts: dict[str, FactValue] = {**found.facts, **session, **_path_facts(target)}
    facts |= derived_facts(facts)
    answer = found.answer
    path = str(facts.get("smb.conf.path", ""))
    sections = answer.sections if answer else {}
    files = {name.removeprefix("conf:"): text for name, text in sections.items() if name.startswith("conf:")}
    if answer and (registry := answer.text("registry")):
        files["registry"] = registry
    readable = path in files
    server = AuditedServer(conf=read_conf(path, files) if readable else None, path=path, facts=facts)
    if answer is not None and readable:
        server = _with_what_samba_knows(server, answer, target)
    scope = AuditScope.SERVER if readable else AuditScope.SESSION
    problems = (*found.problems, *([f"no session: {failure}"] if failure else []))
    audit = _audit(format_target(target), scope, server, problems)
    return AuditResult(audit=audit, files=files, refused=isinstance(failure, LoginError))


def audit_file(path: Path) -> AuditResult:
    """Audit a local smb.conf or ``testparm`` output. Raises UsageError if it cannot be read."""
    files = {str(path): read_configuration(path)}
    problems = list(_read_includes(str(path), files))
    conf = read_conf(str(path), files)
    modes = {name: Path(name).stat().st_mode & 0o7777 for name in files}
    server = AuditedServer(conf=conf, path=str(path), modes=modes)
    return AuditResult(audit=_audit(str(path), AuditScope.FILE, server, tuple(problems)), files=files)


def read_configuration(path: Path) -> str:
    """The text of a configuration file. Raises UsageError if it is none."""
    try:
        if not path.is_file():
            reason = "is a folder" if path.is_dir() else "is no file" if path.exists() else "is not on this machine"
            raise UsageError(f"cannot read {path}: it {reason}; name an smb.conf")
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"cannot read {path}: it is larger than {MOST_BYTES >> 20} MiB")
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if content.count(0) > _NUL_SHARE * len(content):
        raise UsageError(f"cannot read {path}: it is no text file; name an smb.conf")
    return content.decode("utf-8", errors="surrogateescape")


def _read_includes(path: str, files: dict[str, str]) -> "list[str]":
    """Adds readable included files to ``files``; returns the failures, one line each."""
    problems: list[str] = []
    while len(files) < MOST_INCLUDES:
        missing = [name for name in read_conf(path, files).missing_includes if name not in files]
        readable = [name for name in missing if not glob.has_magic(name) and Path(name).is_file()]
        added = False
        for name in readable:
            try:
                files[name] = read_configuration(Path(name))
                added = True
            except UsageError as error:
                problems.append(str(error))
                files[name] = ""
        if not added:
            return problems
    return [*problems, f"{path} includes more than {MOST_INCLUDES} files; the rest was not read"]


def _with_what_samba_knows(server: AuditedServer, answer: Answer, target: Target) -> AuditedServer:
    scopes = smbd.parse_scopes(answer.text("scopes"))
    modes = {
        name.removeprefix("mode:"): int(text.strip(), 8)
        for name, text in answer.sections.items()
        if name.startswith("mode:") and text.strip().isdecimal()
    }
    names = (answer.text("names") or "").splitlines()
    return replace(
        server,
        global_names=scopes.for_server if scopes else frozenset(),
        share_names=scopes.for_share if scopes else frozenset(),
        modules=frozenset(loadable_modules(answer)),
        modes=modes,
        names_in_shares={(target.share or "").lower(): names} if names else {},
    )


def _session_facts(request: AuditRequest) -> tuple[dict[str, FactValue], MeasurementError | None]:
    secrets = request.secrets()
    if secrets is None:
        return {}, None
    try:
        with closing(make_client(request.target, "sharebench", secrets, request.settings, 1 << 20)) as client:
            client.connect()
            agreed, path = client.facts(), client.facts_of_path()
    except NoSuchShareError:
        raise
    except MeasurementError as error:
        return {}, error
    facts: dict[str, FactValue | None] = {
        "session.dialect": agreed.dialect,
        "session.signing": agreed.signing,
        "session.encryption": agreed.encryption,
        "mtu.path_bytes": path.get("mtu.path_bytes"),
    }
    return {name: value for name, value in facts.items() if value}, None


def _path_facts(target: Target) -> dict[str, FactValue]:
    """``lookup.seconds``, of a name, and ``path.far``, by the round trip that the kernel saw."""
    begun = time.monotonic()
    try:
        addresses = socket.getaddrinfo(target.host, target.port_number, type=socket.SOCK_STREAM)
    except OSError:
        return {}
    seconds = round(time.monotonic() - begun, 3)
    family, kind, protocol, _, address = addresses[0]
    facts: dict[str, FactValue] = {} if address[0] == target.host else {"lookup.seconds": seconds}
    with socket.socket(family, kind, protocol) as probe:
        probe.settimeout(3)
        try:
            probe.connect(address)
        except OSError:
            return facts
        if (seen := TcpInfo.of_socket(probe)) and seen.round_trip_seconds is not None:
            facts["path.far"] = "yes" if seen.round_trip_seconds >= FAR_SECONDS else "no"
    return facts


def derived_facts(facts: Mapping[str, FactValue]) -> dict[str, FactValue]:
    more: dict[str, FactValue] = {}
    size, free = facts.get("filesystem.size_bytes"), facts.get("filesystem.free_bytes")
    if isinstance(size, int) and isinstance(free, int) and size > 0:
        more["filesystem.free_percent"] = round(100 * free / size, 1)
    sent, carried = facts.get("link.mtu_bytes"), facts.get("mtu.path_bytes")
    if isinstance(sent, int) and isinstance(carried, int) and facts.get("link.interface") != "lo":
        more["mtu.lost_bytes"] = max(0, sent - carried)
    return more


def _audit(subject: str, scope: AuditScope, server: AuditedServer, problems: tuple[str, ...]) -> Audit:
    return Audit(
        id=new_series_id(),
        created_at=utc_now(),
        subject=subject,
        scope=scope,
        settings=server.conf.settings if server.conf else (),
        facts=dict(server.facts),
        findings=judge(server),
        problems=problems,
    )
