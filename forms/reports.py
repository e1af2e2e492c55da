"""Reports of series: filled forms after an overview, and blank forms."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from forms import layout, wording
from forms.comparison.report import blank_comparison_report
from forms.comparison.summary import ComparisonSummary
from forms.comparison.wording import basis_sentence, comparison_clause, comparison_headline
from forms.experiments.report import blank_experiment_report, steps_report
from forms.experiments.summary import ExperimentSummary
from forms.layout import Tone
from forms.report import Field, Report, ReportKind, Table, table_of
from forms.series.listing import series_lines
from forms.series.report import blank_series_report, series_report
from forms.series.run_table import run_table
from forms.series.summary import SeriesSummary, run_form
from forms.worksheets.report import blank_bottleneck_report, blank_users_report
from storage.records import Series, to_minute


def _overview_report(series: Sequence[Series]) -> Report:
    table = table_of(
        enumerate(series_lines(series, {one.id: one.rates() for one in series}), start=1),
        ("No", ReportKind.TEXT, lambda each: str(each[0])),
        ("Series", ReportKind.TEXT, lambda each: each[1].label or each[1].what),
        ("What", ReportKind.TEXT, lambda each: f"{each[1].series.command} {each[1].what}"),
        (wording.when_heading(), ReportKind.TEXT, lambda each: to_minute(each[1].series.created_at)),
        ("Runs", ReportKind.TEXT, lambda each: each[1].runs_text),
        ("Average, bytes/sec", ReportKind.WHOLE, lambda each: each[1].average_bytes_per_second),
        ("Deviation, %", ReportKind.PERCENT, lambda each: each[1].deviation_percent),
        ("% of link", ReportKind.PERCENT, lambda each: each[1].percent_of_link),
    )
    return Report(form="overview", title=f"{len(series)} series", name="Overview", tables=(table,), is_front_page=True)


BLANK_FORMS = {
    "comparison": blank_comparison_report,
    "experiment": blank_experiment_report,
    "bottleneck": blank_bottleneck_report,
    "clients": blank_users_report,
}


def series_reports(series: Sequence[Series]) -> list[Report]:
    front = [_overview_report(series)] if len(series) > 1 else []
    return [*front, *(series_report(run_form(one)) for one in series)]


def blank_report(form: str, *, link_bits_per_second: int | None = None) -> Report:
    """The empty form ``run`` or one of BLANK_FORMS. Raises KeyError for another name."""
    return blank_series_report(link_bits_per_second) if form == "run" else BLANK_FORMS[form]()


_ROWS, _FIELDS, _RESULTS, _REMARKS, _CELLS = 20, 10, 4, 3, 200
"""What fits on an A4 page beside a chart: rows of all tables, lines above and below, remarks, letters."""
_ROWS_BESIDE_TWO_CHARTS = 8
_ANSWERED = frozenset({"Question", "Answer", "Verdict", "Judged by", "Measured"})
"""Fields of a form that the page's own replace, where it has them."""


def series_page(form: SeriesSummary, report: Report) -> Report:
    average, sure = wording.rate(form.average_rate), form.confidence
    share = form.average.percent_of_link if form.average else None
    link = form.series.link_bits_per_second
    of_link = f", {wording.percent(share)} of a {wording.link_rate(link)} link" if share else ""
    known = "One valid run: its variation is unknown."
    if sure:
        ends = wording.rate(max(0.0, sure[0])), wording.rate(sure[1])
        known = f"The mean lies between {ends[0]} and {ends[1]}, 19 times in 20."
    answer = f"{form.series.command} {average}{of_link}."
    return one_page(report, [form.series], question=form.series.question, answer=answer, how_sure=known)


def comparison_page(found: Sequence[ComparisonSummary], report: Report) -> Report:
    """Two series or more: the first verdict, what it is judged by, and the runs of both."""
    first = found[0]
    forms = [*first.bases[:1], *first.others[:1]]
    runs = tuple(_runs(form) for form in forms) if len(found) == 1 else ()
    return one_page(
        replace(report, tables=(*report.tables[:1], *runs, *report.tables[1:])),
        [form.series for form in forms],
        question=next((form.series.question for form in forms if form.series.question), ""),
        answer=" ".join(comparison_headline(one.comparison) for one in found),
        tone=first.comparison.tone,
        how_sure=basis_sentence(first.comparison) or "",
    )


def experiment_page(summary: ExperimentSummary, newest: SeriesSummary) -> Report:
    """An experiment: what all changes were worth together, each step, and the runs of the last one."""
    report = steps_report(summary)
    totals = [gain.comparison for gain in summary.gains if gain.comparison and gain.counted]
    in_all = [f"{comparison_clause(one)} in all." for one in totals]
    series = [step.series for step in summary.steps]
    return one_page(
        replace(report, tables=(*report.tables, _runs(newest))),
        series,
        question=next((one.question for one in series if one.question), ""),
        answer=" ".join(in_all) or "No change is in force.",
        tone=totals[0].tone if totals else Tone.FAINT,
        how_sure=next(filter(None, map(basis_sentence, totals)), ""),
    )


def one_page(
    report: Report,
    series: Sequence[Series] = (),
    *,
    question: str,
    answer: str,
    tone: Tone = Tone.PLAIN,
    how_sure: str = "",
) -> Report:
    """The form below what is said of it, cut to what a page holds; whatever is cut is counted."""
    measured = _measured(series) if series else ""
    own = (("Answer", answer), ("How sure", how_sure), ("Question", question), ("Measured", measured))
    tones = {"Answer": tone}
    top = [Field(name=name, text=wording.plain(text), tone=tones.get(name, Tone.PLAIN)) for name, text in own if text]
    kept = _ANSWERED - {name for name, text in own if not text}
    rest = [one for one in report.fields if one.name not in kept]
    tables = tuple(_cut_tables(report.tables))
    rows = sum(len(table.rows) for table in tables)
    return replace(
        report,
        fields=tuple(_short(one) for one in (*top, *rest[: _FIELDS - len(top)])),
        tables=tables,
        results=tuple(_short(one) for one in report.results[:_RESULTS]),
        advice=tuple(layout.cut(text, _CELLS) for text in report.advice[:_REMARKS]),
        drawn=report.charts[: 1 if rows > _ROWS_BESIDE_TWO_CHARTS else 2],
    )


def _cut_tables(tables: Sequence[Table]) -> Iterator[Table]:
    left = _ROWS
    for table in tables:
        if left <= 0:
            return
        kept, count = table.rows[:left], len(table.rows)
        note = f"{table.caption or 'Rows'}: the first {len(kept)} of {count}" if len(kept) < count else table.caption
        left -= len(kept) + 2
        yield replace(table, rows=kept, caption=note)


def _short(field: Field) -> Field:
    return replace(field, text=layout.cut(field.text, _CELLS))


def _runs(form: SeriesSummary) -> Table:
    return replace(run_table(form), caption=f"Runs of {wording.name_of(form.series)}")


def _measured(series: Sequence[Series]) -> str:
    ways = dict.fromkeys(f"{one.command} {wording.place(one.target)} with {one.client.name}" for one in series)
    runs = sum(len(one.measured()) for one in series)
    days = sorted(one.created_at[:10] for one in series)
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return f"{'; '.join(ways)}: {wording.count(runs, 'run')} in {len(series)} series, {span}."
