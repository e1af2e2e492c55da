"""What can be done next after a look at a server: an audit of its settings, or a diagnosis of what users wait for."""

from collections.abc import Iterator

from app.base.errors import SharebenchError
from app.base.targets import parse_target
from app.method.next_steps import NextStep
from forms.audit.remedies import remedies
from forms.diagnosis.next_act import advised_act
from forms.findings.finding import NextAct
from storage.looks import Audit, AuditScope, Diagnosis
from storage.records import Target, format_target


def after_audit(audit: Audit) -> Iterator[NextStep]:
    """Read the settings where that failed; try the costliest remedy."""
    if audit.scope is AuditScope.SESSION:
        target = _audited_target(audit)
        if target is not None:
            yield _read_settings_by_ssh(target)

    for remedy in remedies(audit.findings)[:1]:
        yield _try_setting(remedy.name, remedy.value)


def _audited_target(audit: Audit) -> Target | None:
    """None where the audit comes from elsewhere and names none."""
    try:
        return parse_target(audit.subject)
    except SharebenchError:
        return None


def after_diagnosis(diagnosis: Diagnosis) -> Iterator[NextStep]:
    """What its gravest finding names; nothing where that is no act of sharebench."""
    advised = advised_act(diagnosis)
    if advised is None:
        return

    target = format_target(diagnosis.target)
    match advised.act:
        case NextAct.ISOLATE:
            name = "Find the limit: disk, network or Samba"
            yield NextStep(name=name, screen="isolation", arguments={"target": target})
        case NextAct.TRY:
            parameter, _, value = advised.setting.partition("=")
            yield _try_setting(parameter, value)
        case NextAct.CATALOGUE:
            yield read_about(advised.entry)
        case NextAct.AUDIT if advised.needs_ssh:
            yield _read_settings_by_ssh(diagnosis.target)
        case NextAct.AUDIT:
            name = "See all that was found in the settings: audit"
            yield NextStep(name=name, screen="audit", arguments={"target": target})


def read_about(entry: str) -> NextStep:
    """Open the catalogue at the entry of that name."""
    return NextStep(name=f"Read about {entry}", screen="entry", arguments={"entry": entry})


def _try_setting(name: str, value: str) -> NextStep:
    setting = f"{name} = {value}"
    return NextStep(name=f"Try {setting}", screen="trial", arguments={"setting": setting})


def _read_settings_by_ssh(target: Target) -> NextStep:
    """Audit the server with the line filled in by which its settings can be read."""
    return NextStep(
        name="Read the server's settings by ssh: audit",
        screen="audit",
        arguments={"target": format_target(target), "ssh": target.host},
    )
