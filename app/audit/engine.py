"""Audits: read and judge a server's settings, or one smb.conf; nothing is measured or changed."""

import glob
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base import errors
from app.clients.base import Secrets
from app.clients.registry import make_client
from app.clients.tcp_info import TcpInfo
from app.server import smbd
from app.server.facts import server_facts
from app.server.shell import Answer
from forms.audit.judge import AuditedServer, judge
from forms.findings.path import FAR_SECONDS
from forms.tuning.smb_conf import read_conf
from storage import records
from storage.looks import Audit, AuditScope
from storage.plan import Settings
from storage.records import FactValue, Target

MOST_BYTES = 16 << 20
MOST_INCLUDES = 200
_NUL_SHARE = 0.01
"""A larger share of NUL bytes means a binary file."""
_CONNECT_SECONDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Which server is audited, and how it is reached."""

    target: Target
    ssh: str | None = None
    """``[USER@]HOST``; None for a server on this machine, or one whose files nobody can read."""
    smb_conf: str | None = None
    """Path on the server, if not its smbd's default."""
    settings: Settings = field(default_factory=Settings)
    secrets: Callable[[], Secrets | None] | None = None
    """Asks for the login to inspect the session; None, from it or in its place, to skip that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """What an audit says, and what is not stored with it."""

    audit: Audit
    files: Mapping[str, str] = field(default_factory=dict)
    """The texts of smb.conf and what it includes, by path; empty where they could not be read."""
    refused: bool = False
    """Whether the server refused the login, so that it was audited without a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What a session reveals of a server, or why there was none; neither where none was asked for."""

    facts: Mapping[str, FactValue] = field(default_factory=dict)
    failure: errors.MeasurementError | None = None


def audit_server(request: AuditRequest) -> AuditResult:
    """Audit a server from its files and facts if readable, else from a session. Raises NoSuchShareError."""
    target = request.target
    server_side = server_facts(target, request.ssh, request.smb_conf)
    session = _open_session(request)
    facts = {**server_side.facts, **session.facts, **_path_facts(target)}
    facts |= derived_facts(facts)

    answer = server_side.answer
    files = _configuration_files(answer) if answer else {}
    path = str(facts.get("smb.conf.path", ""))
    conf = read_conf(path, files) if path in files else None
    server = AuditedServer(conf=conf, path=path, facts=facts)
    if answer is not None and conf is not None:
        server = _with_what_samba_knows(server, answer, target)

    problems = server_side.problems
    if session.failure:
        problems = (*problems, f"no session: {session.failure}")
    scope = AuditScope.SESSION if conf is None else AuditScope.SERVER
    return AuditResult(
        audit=_audit_of(records.format_target(target), scope, server, problems),
        files=files,
        refused=isinstance(session.failure, errors.LoginError),
    )


def _configuration_files(answer: Answer) -> dict[str, str]:
    """The files that the server sent, by path, and its registry."""
    files = {name.removeprefix("conf:"): text for name, text in answer.sections.items() if name.startswith("conf:")}
    registry = answer.text("registry")
    if registry:
        files["registry"] = registry
    return files


def _with_what_samba_knows(server: AuditedServer, answer: Answer, target: Target) -> AuditedServer:
    """With what the answer says of that Samba's parameters and modules, of its files' modes, and of the share."""
    scopes = smbd.parse_scopes(answer.text("scopes"))
    modes = {
        name.removeprefix("mode:"): int(text.strip(), 8)
        for name, text in answer.sections.items()
        if name.startswith("mode:") and text.strip().isdecimal()
    }
    names = (answer.text("names") or "").splitlines()
    share = (target.share or "").lower()
    return replace(
        server,
        global_names=scopes.for_server if scopes else frozenset(),
        share_names=scopes.for_share if scopes else frozenset(),
        modules=frozenset(smbd.loadable_modules(answer)),
        modes=modes,
        names_in_shares={share: names} if names else {},
    )


def audit_file(path: Path) -> AuditResult:
    """Audit a local smb.conf or ``testparm`` output. Raises UsageError if it cannot be read."""
    files = {str(path): read_configuration(path)}
    problems = _read_includes(str(path), files)
    conf = read_conf(str(path), files)
    modes = {name: Path(name).stat().st_mode & 0o7777 for name in files}
    server = AuditedServer(conf=conf, path=str(path), modes=modes)
    return AuditResult(audit=_audit_of(str(path), AuditScope.FILE, server, tuple(problems)), files=files)


def read_configuration(path: Path) -> str:
    """The text of a configuration file. Raises UsageError if it is none."""
    try:
        if not path.is_file():
            raise errors.UsageError(f"cannot read {path}: it {_why_no_file(path)}; name an smb.conf")
        if path.stat().st_size > MOST_BYTES:
            raise errors.UsageError(f"cannot read {path}: it is larger than {MOST_BYTES >> 20} MiB")
        content = path.read_bytes()
    except OSError as error:
        raise errors.UsageError(f"cannot read {path}: {error.strerror}") from error

    if content.count(0) > _NUL_SHARE * len(content):
        raise errors.UsageError(f"cannot read {path}: it is no text file; name an smb.conf")
    return content.decode("utf-8", errors="surrogateescape")


def _why_no_file(path: Path) -> str:
    if path.is_dir():
        return "is a folder"
    return "is no file" if path.exists() else "is not on this machine"


def _read_includes(path: str, files: dict[str, str]) -> list[str]:
    """Adds readable included files to ``files``; returns the failures, one line each."""
    problems: list[str] = []
    while len(files) < MOST_INCLUDES:
        missing = [name for name in read_conf(path, files).missing_includes if name not in files]
        readable = [name for name in missing if not glob.has_magic(name) and Path(name).is_file()]
        was_added = False
        for name in readable:
            try:
                files[name] = read_configuration(Path(name))
                was_added = True
            except errors.UsageError as error:
                problems.append(str(error))
                files[name] = ""  # so that it is not tried again

        # What was added may include further files.
        if not was_added:
            return problems
    return [*problems, f"{path} includes more than {MOST_INCLUDES} files; the rest was not read"]


def _open_session(request: AuditRequest) -> _Session:
    """Log in and out again. Raises NoSuchShareError."""
    secrets = request.secrets() if request.secrets else None
    if secrets is None:
        return _Session()

    try:
        with closing(make_client(request.target, "sharebench", secrets, request.settings, 1 << 20)) as client:
            client.connect()
            agreed = client.facts()
            path_facts = client.facts_of_path()
    except errors.NoSuchShareError:
        raise
    except errors.MeasurementError as error:
        return _Session(failure=error)

    facts: dict[str, FactValue | None] = {
        "session.dialect": agreed.dialect,
        "session.signing": agreed.signing,
        "session.encryption": agreed.encryption,
        "mtu.path_bytes": path_facts.get("mtu.path_bytes"),
    }
    return _Session(facts={name: value for name, value in facts.items() if value})


def _path_facts(target: Target) -> dict[str, FactValue]:
    """``lookup.seconds``, of a name, and ``path.far``, by the round trip that the kernel saw."""
    begun = time.monotonic()
    try:
        addresses = socket.getaddrinfo(target.host, target.port_number, type=socket.SOCK_STREAM)
    except OSError:
        return {}
    seconds = round(time.monotonic() - begun, 3)

    family, kind, protocol, _, address = addresses[0]
    facts: dict[str, FactValue] = {}
    if address[0] != target.host:
        facts["lookup.seconds"] = seconds
    with socket.socket(family, kind, protocol) as probe:
        probe.settimeout(_CONNECT_SECONDS)
        try:
            probe.connect(address)
        except OSError:
            return facts
        connection = TcpInfo.of_socket(probe)

    if connection and connection.round_trip_seconds is not None:
        facts["path.far"] = "yes" if connection.round_trip_seconds >= FAR_SECONDS else "no"
    return facts


def derived_facts(facts: Mapping[str, FactValue]) -> dict[str, FactValue]:
    """The share of the file system that is free, and by how much the path's MTU is smaller than the link's."""
    derived: dict[str, FactValue] = {}
    size = facts.get("filesystem.size_bytes")
    free = facts.get("filesystem.free_bytes")
    if isinstance(size, int) and isinstance(free, int) and size > 0:
        derived["filesystem.free_percent"] = round(100 * free / size, 1)

    link_mtu = facts.get("link.mtu_bytes")
    path_mtu = facts.get("mtu.path_bytes")
    is_loopback = facts.get("link.interface") == "lo"
    if isinstance(link_mtu, int) and isinstance(path_mtu, int) and not is_loopback:
        derived["mtu.lost_bytes"] = max(0, link_mtu - path_mtu)
    return derived


def _audit_of(subject: str, scope: AuditScope, server: AuditedServer, problems: tuple[str, ...]) -> Audit:
    return Audit(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        subject=subject,
        scope=scope,
        settings=server.conf.settings if server.conf else (),
        facts=dict(server.facts),
        findings=judge(server),
        problems=problems,
    )
