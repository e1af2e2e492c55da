"""The stage of the settings: the audit of the server, as `sharebench audit` makes it, and who keeps it busy."""

from dataclasses import replace

from app.audit import engine, server_session
from app.base.errors import SharebenchError
from app.clients import base
from app.diagnosis.spec import DiagnosisRequest
from app.server.sessions.busiest import facts_of_busy_server
from storage import looks, records


def with_audit(diagnosis: looks.Diagnosis, request: DiagnosisRequest) -> looks.Diagnosis:
    """The diagnosis with the audit, or with the stage as failed where the server cannot be audited."""

    def secrets() -> base.Secrets:
        return request.secrets

    # From here, wherever the rest is measured: by the way into the server that this machine has.
    audit_request = server_session.AuditRequest(
        target=request.target,
        ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        settings=request.settings,
        secrets=secrets,
    )
    try:
        audit = engine.audit_server(audit_request).audit
    except SharebenchError as error:
        failed_stage = looks.Stage(name=looks.StageName.SETTINGS, status=records.SeriesStatus.FAILED, error=str(error))
        return replace(diagnosis.with_stage(failed_stage), audit=None)

    # Where the server's files could be read, so can its sessions be.
    busy_facts: records.Facts = {}
    if audit.scope is looks.AuditScope.SERVER:
        busy_facts = facts_of_busy_server(request.target.port_number, request.server_ssh, request.smb_conf)
    stage = looks.Stage(name=looks.StageName.SETTINGS, facts=busy_facts)
    return replace(diagnosis.with_stage(stage), audit=audit)
