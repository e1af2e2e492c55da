"""The audit that the options of ``sharebench audit`` ask for."""

import click

from app.audit import audit_result, engine, file_audit, server_session
from app.audit.configuration_files import refuse_as_target
from app.base import errors
from app.base.targets import parse_target
from app.cli import logins
from app.clients.base import Secrets
from app.recording.spec import SeriesSpec


def audit_of_options(
    context: click.Context, target: str | None, spec: SeriesSpec, *, kerberos: bool, samba_version: str
) -> audit_result.AuditResult:
    if target is None:
        if not spec.monitor.smb_conf:
            raise errors.UsageError("name a TARGET, or a file with --smb-conf FILE")
        return file_audit.audit_file(spec.monitor.smb_conf, samba_version)

    refuse_as_target(target)
    place = parse_target(target)

    def ask_for_secrets() -> Secrets | None:
        try:
            _, secrets = logins.secrets_for(context, place, kerberos=kerberos)
        except errors.LoginError:
            return None
        return secrets

    request = server_session.AuditRequest(
        target=place,
        ssh=spec.monitor.server_ssh,
        secrets=ask_for_secrets,
        smb_conf=spec.monitor.smb_conf,
        settings=spec.settings,
        samba_version=samba_version,
    )
    return engine.audit_server(request)
