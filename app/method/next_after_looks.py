"""What can be done next after a look at a server: an audit of its settings, or a diagnosis of what users wait for."""

from collections.abc import Iterator
from dataclasses import replace

from app.base.errors import SharebenchError
from app.base.targets import parse_target
from app.method.next_steps import NextStep
from forms.audit.remedies import remedies
from forms.diagnosis import admin_request
from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.change_since import change_since
from forms.diagnosis.chosen_complaint import COMPLAINTS, chosen_complaint
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.next_act import AdvisedAct, advised_act
from forms.findings.finding import NextAct
from forms.tuning.trial_rules import is_tried
from forms.wording import plain
from storage.looks import Audit, AuditScope, Diagnosis
from storage.records import Target, format_target, moment_beside


def after_audit(audit: Audit, explained: ExplainedComplaint | None = None) -> Iterator[NextStep]:
    """Ask for the settings where they could not be read; try the costliest remedy.

    What comes first is to prove that a setting is why something is slow, where one fits a diagnosis.
    """
    if explained is not None:
        yield from _after_explanation(explained, audit)

    if audit.scope is AuditScope.SESSION:
        target = _audited_target(audit)
        if target is not None:
            yield _ask_administrator(admin_request.settings_request(target))
            yield _read_settings_by_ssh(target)

    for remedy in remedies(audit.findings)[:1]:
        yield _try_setting(remedy.name, remedy.value)


def _after_explanation(explained: ExplainedComplaint, audit: Audit) -> Iterator[NextStep]:
    """Try the setting where there is a way to the server; else diagnose again once somebody has set it."""
    if audit.scope is AuditScope.SERVER and is_tried(explained.entry):
        yield _try_setting(explained.entry.parameter, explained.value)

    target = explained.diagnosis.target
    share = plain(target.share or target.host)
    name = f"Diagnose {share} again, once `{explained.line}` is set: what changed?"
    yield diagnose_again(explained.diagnosis, name)
    yield replace(read_about(explained.entry.name, target), name=f"How to set `{explained.line}`, and what it risks")


def diagnose_again(diagnosis: Diagnosis, name: str = "Diagnose again") -> NextStep:
    """The same share, and the same complaint."""
    arguments: dict[str, object] = {"target": format_target(diagnosis.target)}
    complaint = chosen_complaint(diagnosis)
    if complaint is not None:
        arguments["complaint"] = complaint.value
    return NextStep(name=name, screen="diagnosis", arguments=arguments)


def _audited_target(audit: Audit) -> Target | None:
    """None where the audit comes from elsewhere and names none."""
    try:
        return parse_target(audit.subject)
    except SharebenchError:
        return None


def after_diagnosis(diagnosis: Diagnosis, before: Diagnosis | None = None) -> Iterator[NextStep]:
    """What its gravest finding names, where that can be done; then the settings that can be why.

    Where the same complaint was diagnosed ``before``, what changed since comes first.
    """
    target = format_target(diagnosis.target)
    if before is not None and change_since(before, diagnosis) is not None:
        yield _compare_with(before, diagnosis)
    advised = advised_act(diagnosis)
    if advised is not None:
        yield _step_of_act(advised, diagnosis)

    complaint = chosen_complaint(diagnosis)
    entries = admin_request.entries_about(complaint)
    if complaint is not None and entries:
        about = COMPLAINTS[complaint].subject.lower()
        name = f"Read about {len(entries)} settings that matter to {about}: the catalogue"
        arguments = {"first": entries, "about": about, "looked_at": diagnosis.target}
        yield NextStep(name=name, screen="catalogue", arguments=arguments)
    else:
        arguments = {"looked_at": diagnosis.target}
        yield NextStep(name="Choose a setting to try: the catalogue", screen="catalogue", arguments=arguments)

    are_settings_read = diagnosis.audit is not None and diagnosis.audit.scope is not AuditScope.SESSION
    if not are_settings_read:
        yield _read_settings_by_ssh(diagnosis.target)
    elif advised is None or advised.act is not NextAct.AUDIT:
        yield NextStep(
            name="See all that was found in the settings: audit", screen="audit", arguments={"target": target}
        )
    yield diagnose_again(diagnosis)


def _compare_with(before: Diagnosis, diagnosis: Diagnosis) -> NextStep:
    when = moment_beside(before.created_at, diagnosis.created_at)
    name = f"Compare with the diagnosis before, {when}"
    return NextStep(name=name, screen="comparison", arguments={"base": before.id, "other": diagnosis.id})


def _step_of_act(advised: AdvisedAct, diagnosis: Diagnosis) -> NextStep:
    target = format_target(diagnosis.target)
    match advised.act:
        case NextAct.ISOLATE:
            name = "Find the limit: disk, network or Samba"
            return NextStep(name=name, screen="isolation", arguments={"target": target})
        case NextAct.TRY:
            parameter, _, value = advised.setting.partition("=")
            return _try_setting(parameter, value)
        case NextAct.CATALOGUE:
            return read_about(advised.entry, diagnosis.target)
        case NextAct.ASK:
            text = admin_request.request_text(diagnosis, diagnosis_answer(diagnosis).text)
            return _ask_administrator(text)
        case NextAct.AUDIT:
            return _see_settings(target)


def _see_settings(target: str) -> NextStep:
    name = "See all that was found in the settings: audit"
    return NextStep(name=name, screen="audit", arguments={"target": target})


def _ask_administrator(text: str) -> NextStep:
    """Show a text to send to who has access to the server."""
    return NextStep(
        name="Ask who administers the server: a text to send",
        screen="request",
        arguments={"text": text},
    )


def read_about(entry: str, looked_at: Target | None = None) -> NextStep:
    """Open the catalogue at the entry of that name, for that share if one is named."""
    arguments: dict[str, object] = {"entry": entry}
    if looked_at is not None:
        arguments["looked_at"] = looked_at
    return NextStep(name=f"Read about {entry}", screen="entry", arguments=arguments)


def _try_setting(name: str, value: str) -> NextStep:
    setting = f"{name} = {value}"
    return NextStep(name=f"Try {setting}", screen="trial", arguments={"setting": setting})


def _read_settings_by_ssh(target: Target) -> NextStep:
    """Audit the server with the line filled in by which its settings can be read."""
    return NextStep(
        name="Read the server's settings, where you have ssh to it: audit",
        screen="audit",
        arguments={"target": format_target(target), "ssh": target.host},
    )
