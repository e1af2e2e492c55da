"""The single steps that can follow a look at a server: each leads to a screen, or back to a complaint."""

from collections.abc import Iterator
from dataclasses import replace

from app.base.errors import SharebenchError
from app.base.targets import parse_target
from app.method.next_steps import NextStep
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.same_again import typed_as_it_was
from forms.tuning.trial_rules import is_tried
from forms.wording import plain
from storage.looks import Audit, AuditScope, Diagnosis
from storage.records import Target, format_target, moment_beside


def after_explanation(explained: ExplainedComplaint, audit: Audit) -> Iterator[NextStep]:
    """Try the setting where there is a way to the server; else diagnose again once somebody has set it."""
    if audit.scope is AuditScope.SERVER and is_tried(explained.entry):
        yield try_setting(explained.entry.parameter, explained.value)

    target = explained.diagnosis.target
    share = plain(target.share or target.host)
    name = f"Diagnose {share} again, once `{explained.line}` is set"
    again = diagnose_again(explained.diagnosis, name)
    yield again
    how_to_set = read_about(explained.entry.name, target)
    yield replace(
        how_to_set,
        name=f"How to set `{explained.line}`, and what it risks",
        arguments={**how_to_set.arguments, "afterwards": again},
    )


def diagnose_again(diagnosis: Diagnosis, name: str = "Diagnose again") -> NextStep:
    """As it was asked for: its form, filled in."""
    return NextStep(name=name, screen="diagnosis", arguments={**typed_as_it_was(diagnosis)})


def audited_target(audit: Audit) -> Target | None:
    """None where the audit comes from elsewhere and names none."""
    try:
        return parse_target(audit.subject)
    except SharebenchError:
        return None


def compare_with(before: Diagnosis, diagnosis: Diagnosis) -> NextStep:
    when = moment_beside(before.created_at, diagnosis.created_at)
    name = f"Compare with the diagnosis before, {when}"
    return NextStep(name=name, screen="compared", arguments={"ids": (before.id, diagnosis.id)})


def see_settings(target: str) -> NextStep:
    name = "See all that was found in the settings: audit"
    return NextStep(name=name, screen="audit", arguments={"target": target})


def ask_administrator(text: str) -> NextStep:
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
        arguments["looked_at"] = format_target(looked_at)
    return NextStep(name=f"Read about {entry}", screen="entry", arguments=arguments)


def try_setting(name: str, value: str) -> NextStep:
    setting = f"{name} = {value}"
    return NextStep(name=f"Try {setting}", screen="trial", arguments={"setting": setting})


def read_settings_by_ssh(target: Target) -> NextStep:
    """Audit the server with the line filled in by which its settings can be read."""
    return NextStep(
        name="Read the server's settings, where you have ssh to it: audit",
        screen="audit",
        arguments={"target": format_target(target), "ssh": target.host},
    )
