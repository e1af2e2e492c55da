"""The page on which a series is reviewed: its table, whose runs can be left out, and what to do with it."""

from collections.abc import Iterator
from dataclasses import replace

from app.guide import page
from app.guide.context import GuideContext
from app.guide.pages import beside, repeating, run_lines
from app.guide.pages.link import correct_options
from app.method import choices as method_choices
from app.method.improvements import SHORT_RUNS
from forms import layout, wording
from forms.findings.series_warnings import advice
from forms.series import summary
from forms.series.head_fields import resumed_text
from forms.series.run_table import mark_of
from forms.series.wording import series_headline
from storage.records import Phase, RunStatus, Series


def review_page(choices: method_choices.GuideChoices, context: GuideContext) -> page.Page:
    series = context.series
    if series is None:
        return page.Page(title="Review", why="There is no series to review yet.")
    sides = beside.measured_sides(choices, context)
    if sides is not None:
        return beside.review_sides(choices, sides)

    form = summary.run_form(series)
    table = (*_run_options(form), *_averages(form))
    again = page.Option(
        "Measure the same again", page.Go(method_choices.same_again(choices)), "opens step 5, where Start begins it"
    )
    return page.step_page(
        method_choices.MethodStep.REVIEW,
        _warnings(series),
        (*table, *_what_to_do(choices, context, series), again),
        headline=tuple(series_headline(form)),
        columns=run_lines.line("Run", "Seconds", "Rate", "of link" if series.link_bits_per_second else ""),
        cursor=len(table),
        chart=page.PageChart(form=form),
    )


def _what_to_do(choices: method_choices.GuideChoices, context: GuideContext, series: Series) -> list[page.Option]:
    """The likeliest first: to compare the series, or a larger file where its runs are too short for that."""
    # `proven_id` is the series of a change whose base this one measures again.
    is_of_change = series.change is not None or choices.proven_id is not None
    # In the round of a change nothing is advised here: a larger file then needs a new base as well, which the page that
    # compares offers. A baseline stays as it is, and a larger file would be no answer beside it.
    is_held_to_its_base = is_of_change or repeating.has_baseline(context.yardsticks)
    advised = () if is_held_to_its_base else (SHORT_RUNS,)
    rounds = repeating.better_rounds(choices, series, advised=advised)
    advised_rounds = [option for option in rounds if option.advised]
    other_rounds = [option for option in rounds if not option.advised]

    go_on = None
    if series.measured():
        go_on = page.Go(replace(choices, reviewed=True, step=method_choices.MethodStep.EXPECTED))
    hint = "" if is_of_change else "baselines, FTP, the link"
    title = repeating.comparing_title(choices, series, context.yardsticks)
    compare = page.Option(title, go_on, hint, advised=not advised_rounds)
    link_options = correct_options(choices, context, series)
    whole_form = page.Option("See the whole form", page.Visit("series", {"series_id": series.id}), "with its chart")
    if advised_rounds:
        return [*advised_rounds, compare, *link_options, *other_rounds, whole_form]
    return [compare, *link_options, whole_form, *rounds]


def _warnings(series: Series) -> tuple[layout.Toned, ...]:
    warnings = [layout.Toned(f"! {warning.text}", layout.Tone.CAUTION) for warning in advice(series)]
    if series.resumed_at:
        warnings.insert(0, layout.Toned(f"! Resumed: {resumed_text(series)}", layout.Tone.CAUTION))
    return tuple(warnings) or (layout.Toned("No problems found.", layout.Tone.GOOD),)


def _run_options(form: summary.SeriesSummary) -> Iterator[page.Option]:
    for row in form.all_rows:
        run = row.run
        mark = mark_of(row)
        act: page.Act | None
        if run.phase is Phase.WARM_UP or run.status is RunStatus.FAILED:
            act = None
            hint = wording.plain(run.error or mark.value)
        elif run.status is RunStatus.REJECTED:
            act = page.Judge(run.number, RunStatus.VALID)
            hint = f"left out: {wording.plain(run.reason or 'no reason given')}"
        else:
            act = page.Judge(run.number, RunStatus.REJECTED)
            hint = f"counts, unusual: {wording.unusual_text(row.unusual)}" if row.unusual else "counts"
        yield page.Option(run_lines.measures_line(row.label, row.measures, form), act, hint, mark=mark, is_value=True)


def _averages(form: summary.SeriesSummary) -> Iterator[page.Option]:
    for name, measures in (
        ("Average", form.average),
        ("Deviation", form.deviation),
        ("With all", form.average_with_rejected),
    ):
        if measures is not None:
            hint = "the average if nothing were left out" if measures is form.average_with_rejected else ""
            yield page.Option(run_lines.measures_line(name, measures, form), None, hint, result=True)
