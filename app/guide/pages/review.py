"""The page on which a series is reviewed: its table, whose runs can be left out, and what to do with it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.guide import page
from app.guide.context import GuideContext
from app.guide.pages import beside, repeating, run_lines
from app.guide.pages.link import correct_options
from app.method import choices as method_choices
from app.method import improvements
from forms import layout, wording
from forms.findings.path import is_practice
from forms.findings.series_warnings import advice
from forms.series import summary
from forms.series import wording as series_wording
from forms.series.head_fields import resumed_text
from forms.series.run_table import mark_of
from storage import records

_LEFT_OUT_ALREADY = (
    "What stands out is left out of the answer above already: nothing has to be done about it. Leave another run out"
    " only with a reason that you could tell a colleague; it stays on the form, struck out."
)


def review_page(choices: method_choices.GuideChoices, context: GuideContext) -> page.Page:
    series = context.series
    if series is None:
        return page.Page(title="Review", why="There is no series to review yet.")
    sides = beside.measured_sides(choices, context)
    if sides is not None:
        return beside.review_sides(choices, sides)

    form = summary.run_form(series)
    left_out = form.counted is not None and bool(form.counted.left_out)
    table = (*_run_options(form), *_averages(form))
    rounds = repeating.better_rounds(choices, series, advised=_reasons_to_repeat(choices, context, series))
    again = page.Option(
        "Measure the same again", page.Go(method_choices.same_again(choices)), "opens step 5, where Start begins it"
    )
    review = page.step_page(
        method_choices.MethodStep.REVIEW,
        _facts(choices, context, series, rounds),
        (*table, *_what_to_do(choices, context, series, rounds), again),
        headline=tuple(series_wording.series_headline(form)),
        columns=run_lines.line("Run", "Seconds", "Rate", "of link" if series.link_bits_per_second else ""),
        cursor=len(table),
        chart=page.PageChart(form=form),
    )
    return replace(review, why=_LEFT_OUT_ALREADY) if left_out else review


def _is_of_change(choices: method_choices.GuideChoices, series: records.Series) -> bool:
    # `proven_id` is the series of a change whose base this one measures again.
    return series.change is not None or choices.proven_id is not None


def _reasons_to_repeat(
    choices: method_choices.GuideChoices, context: GuideContext, series: records.Series
) -> tuple[str, ...]:
    """The keys of the warnings for which it is advised to measure again, before the series is compared."""
    # In the round of a change nothing is advised here: a larger file then needs a new base as well, which the page that
    # compares offers. A baseline stays as it is, and a larger file would be no answer beside it.
    if _is_of_change(choices, series) or repeating.has_baseline(context.yardsticks):
        return ()

    # Where there is something to compare with, the answer says what a busy time means for it. Who waited for a quiet
    # time already is not told to do so.
    protocol = series.target.protocol
    has_comparison = any(yardstick.series.target.protocol == protocol for yardstick in context.yardsticks)
    has_waited = choices.quiet is method_choices.QuietChoice.WAIT
    if has_comparison or has_waited or is_practice(series):
        return (improvements.SHORT_RUNS,)
    return (improvements.SHORT_RUNS, improvements.BUSY_TIME)


def _what_to_do(
    choices: method_choices.GuideChoices, context: GuideContext, series: records.Series, rounds: Sequence[page.Option]
) -> list[page.Option]:
    """The likeliest first: to compare the series, or to measure it again where that is advised."""
    advised_rounds = [option for option in rounds if option.advised]
    other_rounds = [option for option in rounds if not option.advised]

    go_on = None
    if series.measured():
        go_on = page.Go(replace(choices, reviewed=True, step=method_choices.MethodStep.EXPECTED))
    title = repeating.comparing_title(choices, series, context.yardsticks)
    # Where the title does not say what it is compared with, the hint does.
    hint = "baselines, FTP, the link" if title == repeating.WITH_EXPECTED else ""
    compare = page.Option(title, go_on, hint, advised=not advised_rounds)
    link_options = correct_options(choices, context, series)
    whole_form = page.Option("See the whole form", page.Visit("series", {"series_id": series.id}), "with its chart")
    if advised_rounds:
        return [*advised_rounds, compare, *link_options, *other_rounds, whole_form]
    return [compare, *link_options, whole_form, *rounds]


def _facts(
    choices: method_choices.GuideChoices, context: GuideContext, series: records.Series, rounds: Sequence[page.Option]
) -> tuple[layout.Toned, ...]:
    """What is advised, and what is to be known of the series: one advice, which the choice with the star carries out.

    Where the series is to be compared, its warnings are remarks, without what they advise by themselves.
    """
    resumed = f"Resumed: {resumed_text(series)}" if series.resumed_at else ""
    warnings = advice(series)
    if not (warnings or resumed):
        return (layout.Toned("No problems found.", layout.Tone.GOOD),)

    lead: tuple[layout.Toned, ...] = ()
    reasons: tuple[str, ...] = ()
    if any(option.advised for option in rounds):
        reasons = _reasons_to_repeat(choices, context, series)
    elif series.measured():
        title = repeating.comparing_title(choices, series, context.yardsticks)
        lead = (layout.Toned(f"Next: {title[0].lower()}{title[1:]}. About this series:"),)
    else:
        reasons = tuple(warning.key for warning in warnings)

    advising = [warning for warning in warnings if warning.key in reasons]
    remarks = [warning.remark or warning.text for warning in warnings if warning not in advising]
    texts = [resumed, *(warning.text for warning in advising), *remarks]
    return (*lead, *(layout.Toned(f"! {text}", layout.Tone.CAUTION) for text in texts if text))


def _run_options(form: summary.SeriesSummary) -> Iterator[page.Option]:
    left_out_numbers = {number for number, _ in form.counted.left_out} if form.counted else set[int]()
    for row in form.all_rows:
        run = row.run
        mark = mark_of(row)
        act: page.Act | None
        if run.phase is records.Phase.WARM_UP or run.status is records.RunStatus.FAILED:
            act = None
            hint = wording.plain(run.error or mark.value)
        elif run.status is records.RunStatus.REJECTED:
            act = page.Judge(run.number, records.RunStatus.VALID)
            hint = f"left out: {wording.plain(run.reason or 'no reason given')}"
        else:
            act = page.Judge(run.number, records.RunStatus.REJECTED)
            hint = "not in the answer" if run.number in left_out_numbers else "counts"
            if row.unusual:
                hint += f", unusual: {wording.unusual_text(row.unusual)}"
        yield page.Option(run_lines.measures_line(row.label, row.measures, form), act, hint, mark=mark, is_value=True)


def _averages(form: summary.SeriesSummary) -> Iterator[page.Option]:
    # The answer at the top is another one where it leaves runs out.
    all_runs = f"of {series_wording.all_runs_of(form.series)}" if series_wording.all_runs_text(form) else ""
    for name, measures in (
        ("Average", form.average),
        ("Deviation", form.deviation),
        ("With all", form.average_with_rejected),
    ):
        if measures is not None:
            hint = all_runs if measures is form.average else ""
            if measures is form.average_with_rejected:
                hint = "the average if nothing were left out"
            yield page.Option(run_lines.measures_line(name, measures, form), None, hint, result=True)
