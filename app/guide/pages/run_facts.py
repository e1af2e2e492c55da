"""What the page before a measurement says of it: the place, the change, what is moved."""

from collections.abc import Iterator

from app.guide import steps
from app.guide.context import GuideContext
from app.guide.pages import before_change, beside, changed_settings, link, proof_facts, random_requests
from app.guide.prospect import prospect_of
from app.method import choices as method_choices
from app.method import one_change
from forms import layout, wording
from forms.series.put_end import put_end
from forms.tuning.catalogue import acts_on
from forms.tuning.change_evidence import unknown_name
from forms.tuning.own_setting import own_setting
from forms.tuning.smb_conf import spelling
from storage import records


def run_facts(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[str | layout.Toned]:
    """What will be measured, how long that takes, and what was not looked at yet."""
    for left in context.left:
        yield layout.Toned(f"! An interrupted trial left {left}: R in the notebook restores it.", layout.Tone.CAUTION)
    yield from _what_is_measured(choices)
    yield from beside.others_facts(choices)
    yield from changed_settings.changed_facts(choices)
    yield from link.facts_before_run(choices, context)
    yield f"What will happen: {prospect_of(choices, context)}"
    yield from beside.power_fact(choices)

    skipped_steps = [
        step
        for step in (method_choices.MethodStep.QUIET, method_choices.MethodStep.WARM_UP)
        if not steps.is_done(choices, context, step)
    ]
    if skipped_steps:
        names = wording.listed([steps.TITLES[step].lower() for step in skipped_steps])
        yield f"Not looked at yet: {names}; the recommended choice is taken."
    if choices.quiet is method_choices.QuietChoice.WAIT:
        yield "First it waits for a quiet time, at most 10 minutes. Press 3 to choose otherwise."
    yield from _facts_of_change(choices, context)


def _facts_of_change(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[str | layout.Toned]:
    yield from before_change.repeat_fact(choices, context.base)
    if choices.interleaved:
        yield proof_facts.turn_text(choices, context)

    name = choices.spec.lineage.change_name
    if name and not choices.interleaved:
        yield from _what_is_changed(choices, context, name)
    if name:
        yield from _warnings_of_change(choices, name)
    elif choices.again_name:
        change = proof_facts.change_text(records.Change(name=choices.again_name, value=choices.again_value))
        yield f"This is the base. {change} is offered after it, to be compared."

    if not choices.interleaved:
        yield from proof_facts.what_to_set(choices, context)


def _what_is_changed(choices: method_choices.GuideChoices, context: GuideContext, name: str) -> Iterator[str]:
    if context.base:
        yield f"Base: {wording.name_of(context.base)}."
    change = records.Change(name=name, value=choices.spec.lineage.change_value)
    who = "make it on the server now, then start; the guide checks whether it took effect"
    if name in one_change.OWN_CHANGES:
        who = "applied automatically"
    yield f"Change: {proof_facts.change_text(change)} ({who})."


def _warnings_of_change(choices: method_choices.GuideChoices, name: str) -> Iterator[layout.Toned]:
    is_sambas = choices.target is not None and choices.target.abilities.through_samba and own_setting(name) is None
    if is_sambas and (problem := unknown_name(spelling(name), {})):
        yield layout.Toned(
            f"! {wording.plain(problem)} Ignore this if it is no setting of Samba's.", layout.Tone.CAUTION
        )
    if acts_on(name) not in {None, choices.spec.command}:
        other = "put" if choices.spec.command is records.Command.GET else "get"
        yield layout.Toned(
            f"! It acts on a {other} alone: measure one, before and after the change.", layout.Tone.CAUTION
        )


def _what_is_measured(choices: method_choices.GuideChoices) -> Iterator[str]:
    if choices.target is None:
        return
    yield from random_requests.requests_fact(choices)
    place = wording.plain(records.format_target(choices.target))
    size = wording.file_size(choices.run_bytes) if choices.run_bytes is not None else "?"
    command = choices.spec.command
    if not choices.target.abilities.moves_files:
        yield f"To measure: {command} of {size} at {place}."
    elif choices.makes_file:
        yield f"To measure: {command} of {size} at {place}, with a file made for it and removed afterwards."
    else:
        yield f"To measure: {command} of {wording.plain(choices.file or '')} ({size}) at {place}."

    end = put_end(command, choices.target, flushed=choices.spec.settings.flush)
    if end:
        yield f"Each put is timed {end}."
