"""``sharebench audit``: a server's harmful and useless settings."""

from dataclasses import replace

import click

from app.audit import audit_result
from app.audit.options import audit_of_options
from app.base import errors
from app.cli import console, declare, moved, notebooks, option_values, run_options, targets
from app.comparison.audit_form import audit_form
from app.recording.spec import SeriesSpec
from app.trial.command import try_command
from forms.audit import remedies
from forms.audit.report import audit_document
from storage import looks

_PASSED_TO_TRY = (
    "yes",
    "allow_restart",
    "kerberos",
    "sign",
    "encrypt",
    "server_ssh",
    "smb_conf",
    "timeout_seconds",
    "ceiling",
)
"""The parameters of this command that those of `try` take over."""

# Exit codes.
_HARMFUL = 1
_UNREADABLE = 3


@declare.command("audit")
@targets.target_argument(required=False)
@click.option("--fix", is_flag=True, help="Print the proposed edits as a unified diff; nothing is written.")
@click.option("--try", "tested", is_flag=True, help="Test the costliest finding: change it, measure it, restore it.")
@click.option("--yes", is_flag=True, help="Answer the question of --try with yes, for scripts.")
@click.option(
    "--allow-restart", is_flag=True, help="Let --try restart smbd if the setting needs it; ends all sessions."
)
@declare.option(
    "--samba",
    "VERSION",
    "Judge for this version of Samba, such as 4.22, where the server does not tell it.",
    option_values.parse_samba_version,
    name="samba_version",
    default="",
)
@declare.option("--label", "TEXT", "Short name of the recording.", default="")
@declare.option("--question", "TEXT", "Question that the audit is meant to answer.", default="")
@declare.measuring_options("Print the audit as JSON.")
@run_options.series_options("sign", "encrypt", "ceiling", *run_options.OF_THE_SERVER)
def audit_command(
    context: click.Context,
    /,
    target: str | None,
    fix: bool,
    tested: bool,
    as_json: bool,
    spec: SeriesSpec,
    kerberos: bool,
    samba_version: str,
    label: str,
    question: str,
    **_passed_to_try: object,
) -> int:
    """Find harmful and useless settings of a server, without measuring.

    Reads smb.conf with its includes, the kernel, the disks and the network cards, on this machine or through
    --server-ssh, and names what is harmful, contradictory, risky, misplaced, useless or worth trying. Nothing is
    changed. Without TARGET, --smb-conf FILE is a file on this machine: an smb.conf, or what testparm -sv prints.

    Exit codes: 0 nothing harmful, 1 something harmful, 3 the settings, or a part of them, could not be read.
    """
    notebooks.check_can_store(context)
    result = audit_of_options(context, target, spec, kerberos=kerberos, samba_version=samba_version)
    audit = replace(result.audit, label=label, question=question)
    moved.store(context, looks.recording_of(audit))
    with notebooks.open_notebook(context) as notebook:
        report = audit_form(notebook, audit)

    if as_json:
        console.answer_json(audit_document(audit))
    elif fix:
        _answer_edits(result)
    else:
        console.answer_report(report)

    if tested:
        return _try_costliest(context, audit, target)
    if audit.scope is looks.AuditScope.SESSION:
        return _UNREADABLE
    if audit.count(looks.Ruling.HARMFUL):
        return _HARMFUL
    # Nothing harmful was read; what was not read may be.
    return _UNREADABLE if audit.unread else 0


def _answer_edits(result: audit_result.AuditResult) -> None:
    """Print the edits as a diff; how many findings have none is said beside it."""
    findings = result.audit.findings
    diff = remedies.proposed_diff(findings, result.files)
    if diff:
        console.answer_for_programs(diff)
    else:
        console.say("sharebench: no edit is proposed")

    number = len(remedies.findings_left_to_decide(findings))
    if number:
        have = "finding has" if number == 1 else "findings have"
        console.say(
            f"sharebench: {number} {have} no edit, since a person has to decide: audit without --fix names them"
        )


def _try_costliest(context: click.Context, audit: looks.Audit, target: str | None) -> int:
    """Test the first remedy; returns the exit code of `try`. Raises UsageError."""
    if target is None:
        raise errors.UsageError("--try measures a server: name its TARGET")
    remedy = next(iter(remedies.remedies(audit.findings)), None)
    if remedy is None:
        raise errors.UsageError("nothing to test: no finding names a value that sharebench may change")

    setting = f"{remedy.name}={remedy.value}"
    console.say(f"sharebench: testing {setting} in place of {remedy.finding.value}")
    options = {name: context.params[name] for name in _PASSED_TO_TRY}
    return int(context.invoke(try_command, setting=setting, target=target, **options))
