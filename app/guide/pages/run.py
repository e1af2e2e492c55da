"""The page from which a series is started, or completed."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from app.guide import page, steps
from app.guide.context import GuideContext, series_of_sides
from app.guide.pages import before_change, beside, changed_settings, link, random_requests
from app.guide.pages.run_facts import run_facts
from app.method import choices as method_choices
from app.method import other_targets, server_question
from app.method.known_ways import keep_typed_ways
from app.series.requests import with_label
from app.series.versus import can_be_paired
from app.server.routes import is_own_address
from forms import wording
from forms.series.report import QUESTIONS
from storage import records


def run_page(choices: method_choices.GuideChoices, context: GuideContext) -> page.Page:
    facts = [*run_facts(choices, context)]
    options = link.start_options(choices, context)
    if context.series is not None:
        facts += _standing(choices, context, context.series)
        options = _options_after(choices, context, context.series)
    choose_file = beside.other_file_option(choices)
    if choose_file is not None:
        options = [choose_file]
    if choices.lacks_other:
        options = beside.lacking_options(choices)
    options += [
        *before_change.leave_option(choices, context.base),
        *changed_settings.reset_option(choices),
        *random_requests.requests_option(choices),
        *link.option_before_run(choices, context),
        *_form_options(choices),
    ]

    return page.step_page(method_choices.MethodStep.RUN, facts, options)


def _standing_of(series: records.Series) -> str:
    """How far the series of this round is."""
    valid_runs = wording.count(len(series.measured()), "valid run")
    if series.status is records.SeriesStatus.COMPLETE:
        return f"Measured: series {series.id}, {valid_runs}."
    ended = "failed" if series.status is records.SeriesStatus.FAILED else f"was {series.status}"
    cause = f": {wording.plain(series.error)}" if series.error else "."
    return f"The series {ended} after {valid_runs}{cause}"


def _standing(choices: method_choices.GuideChoices, context: GuideContext, series: records.Series) -> Iterator[str]:
    """How far the series of this round are; each with the name of its side where there are several."""
    if not choices.others:
        yield _standing_of(series)
        return
    sides = series_of_sides(choices, context)
    for name, side_series in zip(other_targets.side_names(choices), sides, strict=True):
        if side_series is not None:
            yield f"{name}: {_standing_of(side_series)}"


def _options_after(
    choices: method_choices.GuideChoices, context: GuideContext, series: records.Series
) -> list[page.Option]:
    if None in series_of_sides(choices, context):
        return [page.Option("Start anew", page.Simple.START, "all sides, interleaved", advised=True)]
    if not steps.is_measured(choices, context):
        resume_option = page.Option("Resume where it stopped", page.Simple.RESUME, f"series {series.id}", advised=True)
        start_anew = page.Option("Start a new series", page.Simple.START, "the old one stays in the notebook")
        if can_be_paired(series):
            return [resume_option, start_anew]
        # Its sides are compared by pairs.
        alone = replace(resume_option, hint="the base is complete: its runs make no pairs", advised=False)
        return [replace(start_anew, title="Measure all again", advised=True), alone]
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
    if sources:
        return " ".join(sources)
    # A name is not looked up here, since that may take seconds.
    host = choices.target.host if choices.target is not None else ""
    is_here = host == "localhost" or is_own_address(host)
    return "automatic on this machine" if is_here else "not set"


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
