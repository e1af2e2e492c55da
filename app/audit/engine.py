"""Audits: read and judge a server's settings, or one smb.conf; nothing is measured or changed.

Where the server's files can be read (it is this machine, or there is ssh), they are judged line by line; otherwise only
what a session with the server reveals.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from app.audit import configuration_files, path_facts, samba_version, server_answer
from app.base import errors
from app.clients import refusals
from app.clients.base import Secrets
from app.clients.registry import make_client
from app.server import samba
from app.server.probe import server_facts
from forms.audit import share_access, testparm_dump
from forms.audit.audited_server import AuditedServer
from forms.audit.judge import gravest_first, judge
from forms.audit.share_findings import share_findings
from forms.tuning import conf_file, unread_wording
from storage import looks, records
from storage.plan import Settings

_TCP_BYTES = 1 << 20
"""For a target without files, of which nothing is sent here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Which server is audited, and how it is reached."""

    target: records.Target
    ssh: str | None = None
    """``[USER@]HOST``; None for a server on this machine, or one whose files nobody can read."""
    smb_conf: str | None = None
    """Path on the server, if not its smbd's default."""
    samba_version: str = ""
    """For a server that does not tell it, as ``4.22``; empty if unknown."""
    settings: Settings = field(default_factory=Settings)
    secrets: Callable[[], Secrets | None] | None = None
    """Asks for the login to inspect the session; None, from it or in its place, to skip that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """What an audit says, and what is not stored with it."""

    audit: looks.Audit
    files: Mapping[str, str] = field(default_factory=dict)
    """The texts of smb.conf and what it includes, by path; empty where they could not be read."""
    refused: bool = False
    """Whether the server refused the login, so that it was audited without a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What a session reveals of a server, or why there was none; neither where none was asked for."""

    facts: Mapping[str, records.FactValue] = field(default_factory=dict)
    failure: errors.MeasurementError | None = None


def audit_server(request: AuditRequest) -> AuditResult:
    """Audit a server from its files and facts if readable, else from a session.

    Raises NoSuchShareError for a share that neither the server lists nor its smb.conf has: the target is mistyped.
    Raises UsageError if the server says that it has another Samba than was told.
    """
    target = request.target
    server_side = server_facts(target, request.ssh, request.smb_conf, all_folders=True)
    told_facts = samba_version.told_facts(server_side.facts, request.samba_version)
    session = _open_session(request)
    facts = {**told_facts, **server_side.facts, **session.facts, **path_facts.path_facts(target)}
    facts |= path_facts.derived_facts(facts)

    # None where nobody can read the server's files.
    answer = server_side.answer
    files = samba.configuration_files(answer) if answer else {}
    # Files of another server of this machine are none of this one's.
    path = samba.started_path(answer) if answer and "smb.conf.path" in facts else ""
    conf = conf_file.read_conf(path, files) if path in files else None
    server = AuditedServer(conf=conf, path=path, facts=facts)
    if answer is not None and conf is not None:
        server = server_answer.with_what_samba_knows(server, answer, target)

    if is_mistyped(session.failure, conf, target.share or ""):
        assert session.failure is not None
        raise session.failure

    unread = samba.unread_texts(answer, conf) if conf and answer else []
    problems = tuple(problem for problem in server_side.problems if problem not in unread)
    if session.failure:
        problems = (*problems, f"no session: {session.failure}", *_possible_causes(session.failure, facts))
    scope = looks.AuditScope.SESSION if conf is None else looks.AuditScope.SERVER
    return AuditResult(
        audit=_audit_of(records.format_target(target), scope, server, unread, problems),
        files=files,
        refused=isinstance(session.failure, errors.LoginError),
    )


def _possible_causes(failure: errors.MeasurementError, facts: records.Facts) -> list[str]:
    """What the settings say of why there was no session, in one text; what is certain is a finding."""
    settings = refusals.settings_that_may_refuse(failure, facts)
    return [share_access.possible_text(settings)] if settings else []


def is_mistyped(failure: errors.MeasurementError | None, conf: conf_file.SmbConfFile | None, share: str) -> bool:
    """Whether a session failed because there is no share of that name; one of smb.conf is there, and closed."""
    if not isinstance(failure, errors.NoSuchShareError) or isinstance(failure, errors.ShareNotOpenedError):
        return False
    section = share.strip().lower()
    return conf is None or not any(setting.section == section for setting in conf.settings)


def audit_file(file_name: str, told_version: str = "") -> AuditResult:
    """Audit a local smb.conf or ``testparm`` output, for a version of Samba such as ``4.22`` if that is known.

    Raises UsageError if the file cannot be read.
    """
    path = str(Path(file_name))
    files = {path: configuration_files.read_configuration(Path(path))}
    unread = configuration_files.read_includes(path, files)
    conf = conf_file.read_conf(path, files)
    unread += unread_wording.texts_of_copy(conf, configuration_files.files_per_client(conf, files))
    if testparm_dump.is_dump(conf.settings):
        unread.append(unread_wording.LOG_LEVEL_OF_DUMP)
    modes = {name: Path(name).stat().st_mode & 0o7777 for name in files}
    facts = samba_version.facts_of_file(conf, told_version)
    server = AuditedServer(conf=conf, path=path, is_copy=True, modes=modes, facts=facts)
    return AuditResult(audit=_audit_of(path, looks.AuditScope.FILE, server, unread), files=files)


def _open_session(request: AuditRequest) -> _Session:
    """Log in and out again, for what the two agree on."""
    secrets = request.secrets() if request.secrets else None
    if secrets is None:
        return _Session()

    try:
        with closing(make_client(request.target, "sharebench", secrets, request.settings, _TCP_BYTES)) as client:
            client.connect()
            agreed = client.facts()
            facts_of_path = client.facts_of_path()
    except errors.MeasurementError as error:
        return _Session(failure=error)

    facts: dict[str, records.FactValue | None] = {
        "session.dialect": agreed.dialect,
        "session.signing": agreed.signing,
        "session.encryption": agreed.encryption,
        "mtu.path_bytes": facts_of_path.get("mtu.path_bytes"),
    }
    return _Session(facts={name: value for name, value in facts.items() if value})


def _audit_of(
    subject: str,
    scope: looks.AuditScope,
    server: AuditedServer,
    unread: Sequence[str],
    problems: tuple[str, ...] = (),
) -> looks.Audit:
    return looks.Audit(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        subject=subject,
        scope=scope,
        settings=server.conf.settings if server.conf else (),
        facts=dict(server.facts),
        findings=gravest_first([*share_findings(server.facts), *judge(server)]),
        unread=tuple(unread),
        problems=problems,
    )
