"""What can be done next after a look at a server: an audit of its settings, or a diagnosis of what users wait for."""

from collections.abc import Iterator

from app.method import look_steps
from app.method.next_steps import NextStep
from forms.audit.remedies import remedies
from forms.diagnosis import admin_request
from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.answer_since import is_gone_since
from forms.diagnosis.change_sentences import would_another_tell
from forms.diagnosis.change_since import change_since
from forms.diagnosis.chosen_complaint import COMPLAINTS, chosen_complaint
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.next_act import AdvisedAct, advised_act
from forms.findings.finding import NextAct
from storage.looks import Audit, AuditScope, Diagnosis
from storage.records import format_target


def after_audit(audit: Audit, earlier: object = None) -> Iterator[NextStep]:
    """Ask for the settings where they could not be read; try the costliest remedy.

    ``earlier`` is a complaint that a setting fits, if any: then what comes first is to prove that.
    """
    if isinstance(earlier, ExplainedComplaint):
        yield from look_steps.after_explanation(earlier, audit)

    if audit.scope is AuditScope.SESSION:
        target = look_steps.audited_target(audit)
        if target is not None:
            yield look_steps.ask_administrator(admin_request.settings_request(target))
            yield look_steps.read_settings_by_ssh(target)

    for remedy in remedies(audit.findings)[:1]:
        yield look_steps.try_setting(remedy.name, remedy.value)


def after_diagnosis(diagnosis: Diagnosis, earlier: object = None) -> Iterator[NextStep]:
    """What its gravest finding names, where that can be done; then the settings that can be why.

    ``earlier`` is a diagnosis of the same complaint, if any: then what changed since comes first.
    """
    target = format_target(diagnosis.target)
    before = earlier if isinstance(earlier, Diagnosis) else None
    change = change_since(before, diagnosis) if before is not None else None
    if before is not None and change is not None:
        yield look_steps.compare_with(before, diagnosis)
    is_surer_again = change is not None and would_another_tell(change)
    if is_surer_again:
        yield look_steps.diagnose_again(diagnosis, "Diagnose again, to be surer of the change")
    advised = advised_act(diagnosis, before)
    if advised is not None:
        yield _step_of_act(advised, diagnosis)

    complaint = chosen_complaint(diagnosis)
    entries = admin_request.entries_about(complaint)
    if complaint is not None and entries:
        about = COMPLAINTS[complaint].subject.lower()
        name = f"Read about {len(entries)} settings that matter to {about}: the catalogue"
        arguments = {"first": entries, "about": about, "looked_at": target}
        yield NextStep(name=name, screen="catalogue", arguments=arguments)
    else:
        arguments = {"looked_at": target}
        yield NextStep(name="Choose a setting to try: the catalogue", screen="catalogue", arguments=arguments)

    are_settings_read = diagnosis.audit is not None and diagnosis.audit.scope is not AuditScope.SESSION
    is_gone = before is not None and is_gone_since(diagnosis, before)
    if not are_settings_read and not is_gone:
        yield look_steps.read_settings_by_ssh(diagnosis.target)
    elif are_settings_read and (advised is None or advised.act is not NextAct.AUDIT):
        yield NextStep(
            name="See all that was found in the settings: audit", screen="audit", arguments={"target": target}
        )
    if not is_surer_again:
        yield look_steps.diagnose_again(diagnosis)


def _step_of_act(advised: AdvisedAct, diagnosis: Diagnosis) -> NextStep:
    target = format_target(diagnosis.target)
    match advised.act:
        case NextAct.ISOLATE:
            name = "Find the limit: disk, network or Samba"
            return NextStep(name=name, screen="isolation", arguments={"target": target})
        case NextAct.TRY:
            parameter, _, value = advised.setting.partition("=")
            return look_steps.try_setting(parameter, value)
        case NextAct.CATALOGUE:
            return look_steps.read_about(advised.entry, diagnosis.target)
        case NextAct.ASK:
            text = admin_request.request_text(diagnosis, diagnosis_answer(diagnosis).text)
            return look_steps.ask_administrator(text)
        case NextAct.AUDIT:
            return look_steps.see_settings(target)
