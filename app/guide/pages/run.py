"""The page from which a series is started, or completed."""

from collections.abc import Iterator
from dataclasses import replace

from app.guide.context import GuideContext
from app.guide.page import Ask, Go, Option, Page, Simple, ask_question, step_page
from app.guide.pages.proof import change_text, turn_text, what_to_set
from app.guide.prospect import prospect_of
from app.guide.steps import TITLES, is_done
from app.method.choices import OWN_CHANGES, GuideChoices, MethodStep, QuietChoice, same_again
from app.method.server_question import SERVER_QUESTION, SERVER_QUESTION_TEXT, typed_server, with_typed_server
from app.series.requests import with_label
from forms import wording
from forms.layout import Tone, Toned
from forms.series.put_end import put_end
from forms.series.report import QUESTIONS
from forms.tuning.catalogue import acts_on
from forms.tuning.change_evidence import own_setting, unknown_name
from forms.tuning.smb_conf import spelling
from storage.records import Change, Command, Series, SeriesStatus, format_target


def run_page(choices: GuideChoices, context: GuideContext) -> Page:
    facts = [*_facts(choices, context)]
    options = [Option("Start", Simple.START, "Enter; the form fills in as runs end", advised=True)]
    if context.series is not None:
        facts.append(_standing_of(context.series))
        options = _options_after(choices, context.series)
    return step_page(MethodStep.RUN, facts, [*options, *_form_options(choices)])


def _facts(choices: GuideChoices, context: GuideContext) -> Iterator[str | Toned]:
    for left in context.left:
        yield Toned(f"! An interrupted trial left {left}: R in the notebook restores it.", Tone.CAUTION)
    yield from _what_is_measured(choices)
    yield f"What will happen: {prospect_of(choices, context)}"

    skipped_steps = [step for step in (MethodStep.QUIET, MethodStep.WARM_UP) if not is_done(choices, context, step)]
    if skipped_steps:
        names = wording.listed([TITLES[step].lower() for step in skipped_steps])
        yield f"Not looked at yet: {names}; the recommended choice is taken."
    if choices.quiet is QuietChoice.WAIT:
        yield "First it waits for a quiet time, at most 10 minutes. Press 3 to choose otherwise."
    yield from _facts_of_change(choices, context)


def _facts_of_change(choices: GuideChoices, context: GuideContext) -> Iterator[str | Toned]:
    if choices.interleaved:
        yield turn_text(choices, context)

    name = choices.spec.lineage.change_name
    if name and not choices.interleaved:
        yield from _what_is_changed(choices, context, name)
    if name:
        yield from _warnings_of_change(choices, name)
    elif choices.again_name:
        change = change_text(Change(name=choices.again_name, value=choices.again_value))
        yield f"This is the base. {change} is offered after it, to be compared."

    if not choices.interleaved:
        yield from what_to_set(choices, context)


def _what_is_changed(choices: GuideChoices, context: GuideContext, name: str) -> Iterator[str]:
    if context.base:
        yield f"Base: {wording.name_of(context.base)}."
    change = Change(name=name, value=choices.spec.lineage.change_value)
    who = "make it on the server now, then start; the guide checks whether it took effect"
    if name in OWN_CHANGES:
        who = "applied automatically"
    yield f"Change: {change_text(change)} ({who})."


def _warnings_of_change(choices: GuideChoices, name: str) -> Iterator[Toned]:
    is_sambas = choices.target is not None and choices.target.abilities.through_samba and own_setting(name) is None
    if is_sambas and (problem := unknown_name(spelling(name), {})):
        yield Toned(f"! {wording.plain(problem)} Ignore this if it is no setting of Samba's.", Tone.CAUTION)
    if acts_on(name) not in {None, choices.spec.command}:
        other = "put" if choices.spec.command is Command.GET else "get"
        yield Toned(f"! It acts on a {other} alone: measure one, before and after the change.", Tone.CAUTION)


def _what_is_measured(choices: GuideChoices) -> Iterator[str]:
    if choices.target is None:
        return
    place = wording.plain(format_target(choices.target))
    size = wording.file_size(choices.run_bytes) if choices.run_bytes is not None else "?"
    if block_bytes := choices.spec.settings.block_bytes:
        size += f" in requests of {wording.typed_size(block_bytes)}"

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


def _standing_of(series: Series) -> str:
    valid_runs = wording.count(len(series.measured()), "valid run")
    if series.status is SeriesStatus.COMPLETE:
        return f"Measured: series {series.id}, {valid_runs}."
    ended = "failed" if series.status is SeriesStatus.FAILED else f"was {series.status}"
    cause = f": {wording.plain(series.error)}" if series.error else "."
    return f"The series {ended} after {valid_runs}{cause}"


def _options_after(choices: GuideChoices, series: Series) -> list[Option]:
    if series.status is not SeriesStatus.COMPLETE:
        return [
            Option("Resume where it stopped", Simple.RESUME, f"series {series.id}", advised=True),
            Option("Start a new series", Simple.START, "the old one stays in the notebook"),
        ]
    review = Go(replace(choices, step=MethodStep.REVIEW))
    return [
        Option("Review it", review, "the next step", advised=True),
        Option("Measure the same again", Go(same_again(choices)), "a new series"),
    ]


def _form_options(choices: GuideChoices) -> Iterator[Option]:
    """What else stands on the form, each with what it is now."""
    if choices.target is not None and choices.target.abilities.has_share:
        ask_server = _ask_server(choices)
        yield Option("Read the server's settings…", ask_server, _settings_source(choices), is_value=True)
    label = wording.plain(choices.spec.texts.label) or "none"
    yield Option("A label for the form…", _ask_label(choices), label, is_value=True)
    question = wording.plain(choices.spec.texts.question) or "none"
    yield Option("The question to answer…", _ask_form_question(choices), question, is_value=True)


def _settings_source(choices: GuideChoices) -> str:
    monitor = choices.spec.monitor
    sources = []
    if monitor.server_ssh:
        sources.append(f"by ssh from {wording.plain(monitor.server_ssh)}")
    if monitor.smb_conf:
        sources.append(f"from {wording.plain(monitor.smb_conf)}")
    return " ".join(sources) or "by itself, if local"


def _ask_server(choices: GuideChoices) -> Ask:
    def take_server(text: str) -> Go:
        return Go(replace(with_typed_server(choices, text), step=MethodStep.RUN))

    return Ask(heading=SERVER_QUESTION, text=SERVER_QUESTION_TEXT, then=take_server, value=typed_server(choices))


def _ask_label(choices: GuideChoices) -> Ask:
    label = choices.spec.texts.label

    def take_label(text: str) -> Go:
        is_new = choices.has_new_label or (choices.series_id is not None and text != label)
        spec = with_label(choices.spec, text)
        return Go(replace(choices, spec=spec, has_new_label=is_new, step=MethodStep.RUN))

    return ask_question("Label", take_label, label)


def _ask_form_question(choices: GuideChoices) -> Ask:
    def take_question(text: str) -> Go:
        number = int(text) if text.isdecimal() else 0
        question = QUESTIONS[number - 1] if 1 <= number <= len(QUESTIONS) else text
        texts = replace(choices.spec.texts, question=question)
        return Go(replace(choices, spec=replace(choices.spec, texts=texts), step=MethodStep.RUN))

    usual_questions = " ".join(f"{number}: {question}" for number, question in enumerate(QUESTIONS, 1))
    question = ask_question("Question", take_question, choices.spec.texts.question)
    return replace(question, text=f"{question.text} {usual_questions}")
