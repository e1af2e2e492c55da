"""Audits: read and judge a server's settings; nothing is measured or changed. ``file_audit`` judges one smb.conf alone.

Where the server's files can be read (it is this machine, or there is ssh), they are judged line by line; otherwise only
what a session with the server reveals.
"""

from app.audit import path_facts, samba_version, server_answer
from app.audit.audit_result import AuditResult, audit_of
from app.audit.server_session import AuditRequest, open_session, possible_causes
from app.base import errors
from app.server import samba
from app.server.probe import server_facts
from forms.audit.audited_server import AuditedServer
from forms.tuning import conf_file
from storage import looks, records


def audit_server(request: AuditRequest) -> AuditResult:
    """Audit a server from its files and facts if readable, else from a session.

    Raises NoSuchShareError for a share that neither the server lists nor its smb.conf has: the target is mistyped.
    Raises UsageError if the server says that it has another Samba than was told.
    """
    target = request.target
    server_side = server_facts(target, request.ssh, request.smb_conf, all_folders=True)
    told_facts = samba_version.told_facts(server_side.facts, request.samba_version)
    session = open_session(request)
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
        problems = (*problems, f"{looks.NO_SESSION}{session.failure}", *possible_causes(session.failure, facts))
    scope = looks.AuditScope.SESSION if conf is None else looks.AuditScope.SERVER
    return AuditResult(
        audit=audit_of(records.format_target(target), scope, server, unread, problems),
        files=files,
        refused=isinstance(session.failure, errors.LoginError),
    )


def is_mistyped(failure: errors.MeasurementError | None, conf: conf_file.SmbConfFile | None, share: str) -> bool:
    """Whether a session failed because there is no share of that name; one of smb.conf is there, and closed."""
    if not isinstance(failure, errors.NoSuchShareError) or isinstance(failure, errors.ShareNotOpenedError):
        return False
    section = share.strip().lower()
    return conf is None or not any(setting.section == section for setting in conf.settings)
