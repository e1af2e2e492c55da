"""The page from which a series is started, or completed."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from app.guide import page, steps
from app.guide.context import GuideContext
from app.guide.pages import before_change, beside, changed_settings, link, proof_facts, random_requests
from app.guide.prospect import prospect_of
from app.method import choices as method_choices
from app.method import one_change, second_target, server_question
from app.method.known_ways import keep_typed_ways
from app.series.requests import with_label
from forms import wording
from forms.layout import Tone, Toned
from forms.series.put_end import put_end
from forms.series.report import QUESTIONS
from forms.tuning.catalogue import acts_on
from forms.tuning.change_evidence import unknown_name
from forms.tuning.own_setting import own_setting
from forms.tuning.smb_conf import spelling
from storage import records


def run_page(choices: method_choices.GuideChoices, context: GuideContext) -> page.Page:
    facts = [*_facts(choices, context)]
    options = link.start_options(choices, context)
    if context.series is not None:
        facts += _standing(choices, context, context.series)
        options = _options_after(choices, context, context.series)
    choose_file = beside.second_file_option(choices)
    if choose_file is not None:
        options = [choose_file]
    options += [
        *before_change.leave_option(choices, context.base),
        *changed_settings.reset_option(choices),
        *random_requests.requests_option(choices),
        *link.option_before_run(choices, context),
        *_form_options(choices),
    ]
    return page.step_page(method_choices.MethodStep.RUN, facts, options)


def _facts(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[str | Toned]:
    """What will be measured, how long that takes, and what was not looked at yet."""
    for left in context.left:
        yield Toned(f"! An interrupted trial left {left}: R in the notebook restores it.", Tone.CAUTION)
    yield from _what_is_measured(choices)
    yield from beside.second_facts(choices)
    yield from changed_settings.changed_facts(choices)
    yield from link.facts_before_run(choices, context)
    yield f"What will happen: {prospect_of(choices, context)}"

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


def _facts_of_change(choices: method_choices.GuideChoices, context: GuideContext) -> Iterator[str | Toned]:
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


def _warnings_of_change(choices: method_choices.GuideChoices, name: str) -> Iterator[Toned]:
    is_sambas = choices.target is not None and choices.target.abilities.through_samba and own_setting(name) is None
    if is_sambas and (problem := unknown_name(spelling(name), {})):
        yield Toned(f"! {wording.plain(problem)} Ignore this if it is no setting of Samba's.", Tone.CAUTION)
    if acts_on(name) not in {None, choices.spec.command}:
        other = "put" if choices.spec.command is records.Command.GET else "get"
        yield Toned(f"! It acts on a {other} alone: measure one, before and after the change.", Tone.CAUTION)


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


def _standing_of(series: records.Series) -> str:
    """How far the series of this round is."""
    valid_runs = wording.count(len(series.measured()), "valid run")
    if series.status is records.SeriesStatus.COMPLETE:
        return f"Measured: series {series.id}, {valid_runs}."
    ended = "failed" if series.status is records.SeriesStatus.FAILED else f"was {series.status}"
    cause = f": {wording.plain(series.error)}" if series.error else "."
    return f"The series {ended} after {valid_runs}{cause}"


def _standing(choices: method_choices.GuideChoices, context: GuideContext, series: records.Series) -> Iterator[str]:
    """How far the series of this round are; each with the name of its side where there are two."""
    if choices.beside is None:
        yield _standing_of(series)
        return
    own_name, other_name = second_target.side_names(choices)
    yield f"{own_name}: {_standing_of(series)}"
    if context.beside is not None:
        yield f"{other_name}: {_standing_of(context.beside)}"


def _options_after(
    choices: method_choices.GuideChoices, context: GuideContext, series: records.Series
) -> list[page.Option]:
    if choices.beside is not None and context.beside is None:
        return [page.Option("Start anew", page.Simple.START, "both sides, interleaved", advised=True)]
    if not steps.is_measured(choices, context):
        return [
            page.Option("Resume where it stopped", page.Simple.RESUME, f"series {series.id}", advised=True),
            page.Option("Start a new series", page.Simple.START, "the old one stays in the notebook"),
        ]
    review = page.Go(replace(choices, step=method_choices.MethodStep.REVIEW))
    return [
        page.Option("Review it", review, "the next step", advised=True),
        page.Option(
            "Measure the same again", page.Go(method_choices.same_again(choices)), "opens step 5, where Start begins it"
        ),
    ]


def _form_options(choices: method_choices.GuideChoices) -> Iterator[page.Option]:
    """What else stands on the form, each with what it is now."""
    if choices.target is not None and choices.target.abilities.has_share:
        ask_server = _ask_server(choices)
        yield page.Option("Read the server's settings…", ask_server, _settings_source(choices), is_value=True)
    label = wording.plain(choices.spec.texts.label) or "none"
    yield page.Option("A label for the form…", _ask_label(choices), label, is_value=True)
    question = wording.plain(choices.spec.texts.question) or "none"
    yield page.Option("The question to answer…", _ask_form_question(choices), question, is_value=True)


def _settings_source(choices: method_choices.GuideChoices) -> str:
    monitor = choices.spec.monitor
    sources = []
    if monitor.server_ssh:
        sources.append(f"by ssh from {wording.plain(monitor.server_ssh)}")
    if monitor.smb_conf:
        sources.append(f"from {wording.plain(monitor.smb_conf)}")
    return " ".join(sources) or "automatic on this machine"


def _ask_server(choices: method_choices.GuideChoices) -> page.Ask:
    def take_server(text: str) -> page.Store:
        typed = server_question.with_typed_server(choices, text)
        return page.Store(partial(keep_typed_ways, choices=typed), replace(typed, step=method_choices.MethodStep.RUN))

    return page.Ask(
        heading=server_question.SERVER_QUESTION,
        text=server_question.SERVER_QUESTION_TEXT,
        then=take_server,
        value=server_question.typed_server(choices),
    )


def _ask_label(choices: method_choices.GuideChoices) -> page.Ask:
    label = choices.spec.texts.label

    def take_label(text: str) -> page.Go:
        is_new = choices.has_new_label or (choices.series_id is not None and text != label)
        spec = with_label(choices.spec, text)
        return page.Go(replace(choices, spec=spec, has_new_label=is_new, step=method_choices.MethodStep.RUN))

    return page.ask_question("Label", take_label, label)


def _ask_form_question(choices: method_choices.GuideChoices) -> page.Ask:
    def take_question(text: str) -> page.Go:
        number = int(text) if text.isdecimal() else 0
        question = QUESTIONS[number - 1] if 1 <= number <= len(QUESTIONS) else text
        texts = replace(choices.spec.texts, question=question)
        return page.Go(replace(choices, spec=replace(choices.spec, texts=texts), step=method_choices.MethodStep.RUN))

    usual_questions = " ".join(f"{number}: {question}" for number, question in enumerate(QUESTIONS, 1))
    question = page.ask_question("Question", take_question, choices.spec.texts.question)
    return replace(question, text=f"{question.text} {usual_questions}")
