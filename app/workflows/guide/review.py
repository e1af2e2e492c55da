"""The review: one table of the runs, in which each can be left out; and that table as it fills in."""

from collections.abc import Iterator
from dataclasses import replace

from app.workflows.guide.choices import Go, GuideChoices, Judge, MethodStep, Option, Page, PageChart, Visit, same_again
from app.workflows.guide.known import GuideContext
from forms import wording
from forms.exporters.text import drawn_table
from forms.findings.series_warnings import advice
from forms.layout import Tone, Toned, pad
from forms.series.report import before_a_change, mark_of, resumed_text, run_table
from forms.series.summary import RunMeasures, RunRow, SeriesSummary, headline, run_form
from storage.records import Phase, RunStatus

_NAME, _SECONDS, _RATE, _SHARE = 9, 9, 11, 8
"""Cells of the columns."""


def review_page(choices: GuideChoices, known: GuideContext) -> Page:
    """The filled form, run by run."""
    if known.series is None:
        return Page(title="Review", why="There is no series to review yet.")
    series = known.series
    form = run_form(series)
    go_on = Go(replace(choices, reviewed=True, step=MethodStep.EXPECTED))
    table = (*_table(form), *_averages(form))
    options = (
        *table,
        Option("Compare with what is expected", go_on if series.measured() else None, advised=True),
        Option("See the whole form", Visit("series", {"series_id": series.id}), "with its chart"),
        Option("Measure the same again", Go(same_again(choices)), "a new series"),
    )
    return Page(
        title="Review: which runs count",
        why=(
            "A run that something else disturbed does not belong in the average. Leave one out only with a reason that"
            " you could tell a colleague; it stays on the form, struck out."
        ),
        headline=headline(form),
        facts=_said(form),
        columns=_line("Run", "Seconds", "Rate", "of link"),
        options=options,
        cursor=len(table),
        chart=PageChart(form=form),
    )


def _said(form: SeriesSummary) -> tuple[Toned, ...]:
    series = form.series
    warnings = tuple(Toned(f"! {said.text}", Tone.CAUTION) for said in advice(series))
    if series.resumed_at:
        warnings = (Toned(f"! Resumed: {resumed_text(series)}", Tone.CAUTION), *warnings)
    shown = (Toned(before_a_change(form.shown)),) if form.shown else ()
    return (*(warnings or (Toned("No problems found.", Tone.GOOD),)), *shown)


def _table(form: SeriesSummary) -> Iterator[Option]:
    for row in form.all_rows:
        mark = mark_of(row)
        title = _measured(row.label, row.measures, form.average_rate)
        if row.run.phase is Phase.WARM_UP or row.run.status is RunStatus.FAILED:
            yield Option(title, None, wording.plain(row.run.error or "") if row.run.error else mark.value, mark=mark)
        elif row.run.status is RunStatus.REJECTED:
            yield Option(title, Judge(row.run.number, RunStatus.VALID), f"left out: {_reason(row)}", mark=mark)
        else:
            hint = f"unusual: {row.unusual}" if row.unusual else ""
            yield Option(title, Judge(row.run.number, RunStatus.REJECTED), hint, mark=mark)


def _reason(row: RunRow) -> str:
    return wording.plain(row.run.reason or "no reason given")


def _averages(form: SeriesSummary) -> Iterator[Option]:
    for name, measures in (
        ("Average", form.average),
        ("Deviation", form.deviation),
        ("With all", form.average_with_rejected),
    ):
        if measures is not None:
            hint = "the average if nothing were left out" if measures is form.average_with_rejected else ""
            yield Option(_measured(name, measures, form.average_rate), None, hint, result=True)


def _measured(name: str, measures: RunMeasures, average: float | None) -> str:
    share = (
        wording.ABSENT if measures.percent_of_link is None else f"{wording.cell_percent(measures.percent_of_link)} %"
    )
    return _line(
        name, wording.cell_seconds(measures.seconds), wording.rate(measures.bytes_per_second, beside=average), share
    )


def _line(name: str, seconds: str, rate: str, share: str) -> str:
    numbers_of = ((seconds, _SECONDS), (rate, _RATE), (share, _SHARE))
    return pad(name, _NAME) + " ".join(pad(text, cells, right=True) for text, cells in numbers_of)


def filling_table(form: SeriesSummary, width: int, height: int) -> str:
    """As much of the table as ``height`` lines show while it fills in: the oldest runs give way.

    What its marks mean is left to the review.
    """
    seen = form.all_rows[-height:] if height > 0 else ()
    warm_ups = tuple(row for row in seen if row.run.phase is Phase.WARM_UP)
    drawn = drawn_table(run_table(replace(form, warm_ups=warm_ups, rows=seen[len(warm_ups) :])), width, ansi=True)
    headings, rows = list(drawn.headings), [line for lines in drawn.rows for line in lines]
    room = height - len(headings)
    if len(rows) > room > 0:
        rows = ["⋮", *rows[len(rows) - room + 1 :]]
    return "\n".join([*headings, *rows])
