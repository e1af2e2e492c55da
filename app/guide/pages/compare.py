"""The page on which a series is compared: with its base, with baselines, with another protocol, with the link."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.guide import context as guide_context
from app.guide import page as guide_page
from app.guide.pages import before_change, beside, compare_facts, judged_yardsticks, repeating
from app.guide.pages.answer.options import likeliest_options
from app.guide.pages.keep_baseline import keep_as_baseline
from app.guide.pages.measured_beside import many_users, measure_over_ftp, side_by_side
from app.method import choices as method_choices
from forms import wording
from forms.series import summary as series_summary
from storage import records


def compare_page(choices: method_choices.GuideChoices, context: guide_context.GuideContext) -> guide_page.Page:
    series = context.series
    if series is None:
        return guide_page.Page(title="Compare", why="There is no series to compare yet.")
    sides = beside.measured_sides(choices, context)
    if sides is not None:
        return beside.compare_sides(choices, sides)

    form = series_summary.run_form(series)
    judged = judged_yardsticks.judge_yardsticks(context, series)
    page = guide_page.step_page(
        method_choices.MethodStep.EXPECTED,
        [*compare_facts.compare_facts(choices, context, form, judged)],
        _options(choices, context, series, judged),
        chart=_chart(form, judged),
    )
    title = repeating.comparing_title(choices, series, context.yardsticks)
    has_answer = judged_yardsticks.has_answer(context, series, judged)
    return replace(page, title=title, begins_with_answer=has_answer and not context.kept_as)


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
    first_options = likeliest_options(choices, context, series, judged)
    if context.kept_as and repeats:
        # Who has named it means to change something, and then the base is to be able to answer.
        what_gains_most, *other_repeats = reversed(repeats)
        first_options = [replace(option, advised=False) for option in first_options]
        first_options = [replace(what_gains_most, advised=True), *other_repeats, *first_options]
        repeats = []
    yield from first_options

    yield from side_by_side(context, series, answer)
    has_ftp = any(yardstick.name == "FTP" for yardstick in context.yardsticks)
    # FTP cannot flush, so that it is nothing to compare a flushed put with.
    if series.target.abilities.is_held_to_yardstick and not has_ftp and not series.flushed:
        yield measure_over_ftp(context, series)
    yield from many_users(choices)

    yield from repeats
    yield guide_page.Option(
        "Export the form…", guide_page.Visit("export", {"ids": (series.id,)}), "text, PDF, spreadsheet, …"
    )
    yield keep_as_baseline(choices, context, series)
