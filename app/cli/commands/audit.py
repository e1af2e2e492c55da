"""``sharebench audit``: is this server set up wrong?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.cli import common
from app.cli.commands.trial import try_command
from app.cli.run_options import chosen, series_options, target_argument
from app.clients.base import Secrets
from app.errors import LoginError, UsageError
from app.subjects.audit import AuditRequest, AuditResult, audit_file, audit_server
from app.targets import parse_target
from app.workflows.compare import audit_form
from forms.audit.report import audit_document, proposed_diff, remedies
from storage.looks import AuditScope, Ruling, recording_of

PASSED = (
    "yes", "allow_restart", "kerberos", "sign", "encrypt", "server_ssh", "smb_conf", "timeout_seconds", "ceiling",
)  # fmt: skip
HARMFUL, UNREADABLE = 1, 3
"""Exit codes."""


@common.command("audit")
@target_argument(required=False)
@click.option("--fix", is_flag=True, help="Print the proposed edits as a unified diff; nothing is written.")
@click.option("--try", "tested", is_flag=True, help="Test the costliest finding: change it, measure it, restore it.")
@click.option("--yes", is_flag=True, help="Answer the question of --try with yes, for scripts.")
@click.option(
    "--allow-restart", is_flag=True, help="Let --try restart smbd if the setting needs it; ends all sessions."
)
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON.")
@common.option("--label", "TEXT", "Short name of the recording.", default="")
@common.option("--question", "TEXT", "Question that the audit is meant to answer.", default="")
@common.login_options
@common.options_of_all
@series_options("sign", "encrypt", "server_ssh", "smb_conf", "timeout_seconds", "ceiling")
def audit_command(
    context: click.Context, /, target: str | None, fix: bool, tested: bool, as_json: bool, **choices: Any
) -> int:
    """Find harmful and useless settings of a server, without measuring.

    Reads smb.conf with its includes, the kernel, the disks and the network cards, on this machine or through
    --server-ssh, and names what is harmful, contradictory, risky, misplaced, useless or worth trying. Nothing is
    changed. Without TARGET, --smb-conf FILE is a file on this machine.

    Exit codes: 0 nothing harmful, 1 something harmful, 3 the settings could not be read.
    """
    result = _audited(context, target, choices)
    audit = replace(result.audit, label=choices["label"], question=choices["question"])
    with common.notebook(context, make=True) as notebook:
        notebook.add_recording(recording_of(audit))
        report = audit_form(notebook, audit)
    if as_json:
        common.answer_json(audit_document(audit))
    elif fix:
        common.answer(proposed_diff(audit.findings, result.files).rstrip("\n"))
    else:
        common.answer_report(report)
    if tested:
        if target is None:
            raise UsageError("--try measures a server: name its TARGET")
        found = remedies(audit.findings)
        if not found:
            raise UsageError("nothing to test: no finding names a value that sharebench may change")
        setting = f"{found[0].name}={found[0].value}"
        common.say(f"sharebench: testing {setting} in place of {found[0].finding.value}")
        passed = {name: choices[name] for name in PASSED}
        code: int = context.invoke(try_command, setting=setting, target=target, **passed)
        return code
    if audit.scope is AuditScope.SESSION:
        return UNREADABLE
    return HARMFUL if audit.count(Ruling.HARMFUL) else 0


def _audited(context: click.Context, target: str | None, choices: dict[str, Any]) -> AuditResult:
    if target is None:
        if not choices["smb_conf"]:
            raise UsageError("name a TARGET, or a file with --smb-conf FILE")
        return audit_file(Path(choices["smb_conf"]))
    place = parse_target(target)

    def secrets() -> Secrets | None:
        try:
            return common.secrets_for(context, place, kerberos=choices["kerberos"])[1]
        except LoginError:
            return None

    options = chosen(choices)
    request = AuditRequest(
        target=place, ssh=options.server_ssh, smb_conf=options.smb_conf, settings=options.settings, secrets=secrets
    )
    return audit_server(request)
