"""The page on which a series is compared: with its base, with baselines, with another protocol, with the link."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from app.base.errors import UsageError
from app.base.targets import parse_target
from app.comparison.gone_bases import remember_gone
from app.comparison.stored_base import power_of_stored_base
from app.guide import context as guide_context
from app.guide import page as guide_page
from app.guide.pages import before_change, beside, compare_facts, judged_yardsticks, repeating
from app.guide.pages.proof import next_of_proof
from app.guide.pages.proof_facts import change_text
from app.method import choices as method_choices
from app.method import one_change
from app.method.base_repeats import first_repeat, plan_of_step
from app.method.improvements import BUSY_TIME, SHORT_RUNS
from forms import wording
from forms.comparison import wording as words
from forms.comparison.bases import power_sentence
from forms.findings.path import is_practice
from forms.series import summary as series_summary
from forms.stats.decision import Verdict
from forms.stats.settle import Way
from storage import records
from storage.notebook import Notebook
from storage.shared import why_no_baseline_name


def compare_page(choices: method_choices.GuideChoices, context: guide_context.GuideContext) -> guide_page.Page:
    series = context.series
    if series is None:
        return guide_page.Page(title="Compare", why="There is no series to compare yet.")
    sides = beside.measured_sides(choices, context)
    if sides is not None:
        return beside.compare_both(choices, sides)

    form = series_summary.run_form(series)
    judged = judged_yardsticks.judge_yardsticks(context, series)
    page = guide_page.step_page(
        method_choices.MethodStep.EXPECTED,
        [*compare_facts.compare_facts(choices, context, form, judged)],
        _options(choices, context, series, judged),
        chart=_chart(form, judged),
    )
    return replace(page, title=repeating.comparing_title(choices, series, context.yardsticks))


def _chart(
    form: series_summary.SeriesSummary, judged: Sequence[judged_yardsticks.JudgedYardstick]
) -> guide_page.PageChart:
    """The rates, beside the first level that is known."""
    for judgement in judged:
        level = judgement.comparison.base_bytes_per_second
        if level is not None:
            name = wording.plain(judgement.yardstick.name)
            return guide_page.PageChart(form=form, expected_bytes_per_second=level, expected_name=name)
    return guide_page.PageChart(form=form)


def _options(
    choices: method_choices.GuideChoices,
    context: guide_context.GuideContext,
    series: records.Series,
    judged: Sequence[judged_yardsticks.JudgedYardstick],
) -> Iterator[guide_page.Option]:
    answer = judged_yardsticks.answered_question(context, series, judged)
    # What answers a question is a base only where it was named as one.
    repeats = []
    if answer is None or context.kept_as:
        repeats = before_change.repeat_options(choices, context.as_base)
    first_options = _likeliest_options(choices, context, series, judged)
    if context.kept_as and repeats:
        # Who has named it means to change something, and then the base is to be able to answer.
        what_gains_most, *other_repeats = reversed(repeats)
        first_options = [replace(option, advised=False) for option in first_options]
        first_options = [replace(what_gains_most, advised=True), *other_repeats, *first_options]
        repeats = []
    yield from first_options

    yield from _side_by_side(context, series, answer)
    has_ftp = any(yardstick.name == "FTP" for yardstick in context.yardsticks)
    # FTP cannot flush, so that it is nothing to compare a flushed put with.
    if series.target.abilities.is_held_to_yardstick and not has_ftp and not series.flushed:
        yield _measure_over_ftp(context, series)
    yield from _many_users(choices)

    yield from repeats
    yield guide_page.Option(
        "Export the form…", guide_page.Visit("export", {"ids": (series.id,)}), "text, PDF, spreadsheet, …"
    )
    yield _keep_as_baseline(choices, context, series)


def _options_of_answer(
    choices: method_choices.GuideChoices, series: records.Series, answer: judged_yardsticks.JudgedYardstick | None
) -> Iterator[guide_page.Option]:
    """What would settle the answer where that is measured here, its figures, and what is asked to advise rightly."""
    if answer is None:
        return
    comparison = answer.comparison
    figures = _beside_option(answer.yardstick.series.id, answer.yardstick.name, series)
    step = comparison.settle
    if step is not None and step.way is Way.OTHER_AGAIN:
        begin = guide_page.Begin(first_repeat(choices, series, plan_of_step(step)))
        hint = f"finds a change of {wording.percent(step.shows_percent)} nine times in ten"
        yield guide_page.Option(words.other_again_title(step), begin, hint, advised=True)
        yield figures
    else:
        yield replace(figures, hint="the answer with its figures", advised=True)

    if comparison.is_open and not comparison.is_base_gone and comparison.change is None:
        ids = comparison.base_ids

        def note_gone(notebook: Notebook) -> str:
            remember_gone(notebook, ids)
            return "Noted: only the new side is measured again from now on."

        store = guide_page.Store(note_gone, choices)
        yield guide_page.Option("The old side is no longer there", store, "a switch, a disk or a server was replaced")


def _likeliest_options(
    choices: method_choices.GuideChoices,
    context: guide_context.GuideContext,
    series: records.Series,
    judged: Sequence[judged_yardsticks.JudgedYardstick],
) -> list[guide_page.Option]:
    """What the proof of a change leads to; without one, the next round. One of them is recommended."""
    change_next = guide_page.Go(replace(choices, compared=True, step=method_choices.MethodStep.CHANGE))
    options = list(next_of_proof(choices, series, context.proof, context.settled)) or [
        *_first_round(choices, series, judged),
        *change_made_again(choices, series),
        *_options_of_answer(choices, series, judged_yardsticks.answered_question(context, series, judged)),
        guide_page.Option("Change one thing", change_next, "the next round"),
    ]
    advised = next((option for option in options if option.advised), options[0])
    return [replace(option, advised=option is advised) for option in options]


def _keep_as_baseline(
    choices: method_choices.GuideChoices, context: guide_context.GuideContext, series: records.Series
) -> guide_page.Option:
    """To give the series a name as a baseline, and its repeats with it."""
    ids = context.as_base.ids if context.as_base is not None else (series.id,)
    if context.kept_as:
        names = wording.plain(wording.listed([f'"{name}"' for name in context.kept_as]))
        hint = f"is baseline {names}"
    elif len(ids) > 1:
        hint = f"a name for these {len(ids)} series, to compare with"
    else:
        hint = "a name to compare with"
    return guide_page.Option("Keep it as a baseline…", _ask_baseline(choices, ids), hint, is_value=True)


def change_made_again(choices: method_choices.GuideChoices, series: records.Series) -> Iterator[guide_page.Option]:
    """The change that waits until its base was measured with a larger file."""
    name = choices.again_name
    if name is None:
        return
    with suppress(UsageError):  # what was recorded elsewhere may have no such value
        change = records.Change(name=name, value=choices.again_value)
        act = guide_page.Go(one_change.change_one_thing(choices, series, name, choices.again_value))
        yield guide_page.Option(
            f"Make the change again: {change_text(change)}", act, "its base is measured now", advised=True
        )


def _first_round(
    choices: method_choices.GuideChoices, series: records.Series, judged: Sequence[judged_yardsticks.JudgedYardstick]
) -> Iterator[guide_page.Option]:
    """The round that the series' warnings lead to, until there is a verdict beside one of the same protocol."""
    protocol = series.target.protocol
    has_baseline = repeating.has_baseline(judgement.yardstick for judgement in judged)
    if has_baseline or any(judgement.comparison.is_base_gone for judgement in judged):
        # Measured otherwise it would be no answer beside a base that stays as it is.
        return
    of_protocol = [
        judgement.comparison for judgement in judged if judgement.yardstick.series.target.protocol == protocol
    ]
    if is_practice(series) or any(comparison.decided is not Verdict.UNKNOWN for comparison in of_protocol):
        return
    # Who waited for a quiet time already is not told to do so.
    advised = [SHORT_RUNS]
    if choices.quiet is not method_choices.QuietChoice.WAIT:
        advised.append(BUSY_TIME)
    for option in repeating.better_rounds(choices, series, advised=advised):
        if option.advised:
            yield option
            return


def _side_by_side(
    context: guide_context.GuideContext, series: records.Series, answer: judged_yardsticks.JudgedYardstick | None
) -> Iterator[guide_page.Option]:
    proof = context.proof
    if proof and series.id not in {changed_series.id for changed_series in proof.other}:
        pair_of_proof = {"base": proof.base[0].id, "other": proof.other[0].id}
        yield guide_page.Option("Side by side, with and without the change", guide_page.Visit("compare", pair_of_proof))

    # A series that is several yardsticks stands once, where it comes last, by its first name.
    names: dict[str, str] = {}
    for yardstick in reversed(context.yardsticks):
        names[yardstick.series.id] = yardstick.name
    offered_ids: set[str] = set()
    if answer is not None:
        # Its repeats stand on the side of the series itself.
        offered_ids = {answer.yardstick.series.id, *answer.comparison.other_ids}
    for series_id, name in reversed(names.items()):
        if series_id not in offered_ids:
            yield _beside_option(series_id, name, series)


def _beside_option(base_id: str, name: str, series: records.Series) -> guide_page.Option:
    pair = {"base": base_id, "other": series.id}
    return guide_page.Option(f"Side by side with {name}", guide_page.Visit("compare", pair))


def _many_users(choices: method_choices.GuideChoices) -> Iterator[guide_page.Option]:
    target = choices.target
    if target is None or not target.abilities.moves_files or target.abilities.is_local:
        return
    ssh = choices.spec.monitor.server_ssh or ""
    load = guide_page.Visit("load", {"target": records.format_target(target), "ssh": ssh})
    yield guide_page.Option("How many users does it carry?", load, "many at once, in a folder of its own")


def _measure_over_ftp(context: guide_context.GuideContext, series: records.Series) -> guide_page.Option:
    for target in context.practice:
        if target.abilities.is_yardstick and target.host == series.target.host:
            return guide_page.Option("Measure the same over FTP", guide_page.Connect(target), "the practice server")

    user = f"{series.target.user}@" if series.target.user else ""
    server = f"ftp://{user}{series.target.host}/"
    question = guide_page.ask_question("The same server over FTP", _connect_to, server, keep=True)
    return guide_page.Option("Measure the same over FTP…", question, "what disk and network give without Samba")


def _connect_to(text: str) -> guide_page.Connect:
    return guide_page.Connect(parse_target(text))


def _ask_baseline(choices: method_choices.GuideChoices, ids: Sequence[str]) -> guide_page.Ask:
    def take_name(text: str) -> guide_page.Store:
        name = text.strip()
        if problem := why_no_baseline_name(name):
            raise UsageError(problem)

        def set_baseline(notebook: Notebook) -> str:
            notebook.set_baseline(name, *ids)
            power = power_of_stored_base(notebook, ids)
            shows = power_sentence(power) if power is not None else ""
            return f"Kept as baseline {name}. {shows}".rstrip()

        return guide_page.Store(set_baseline, choices)

    return guide_page.ask_question("Baseline", take_name)
