"""One page for somebody else: a form below its answer, cut to what a page holds (``sharebench report``).

The page begins with fields of its own: the answer, how sure it is, the question, and what was measured. Then come the
form's fields, tables, charts, results and advice, as far as there is room.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from forms import report, wording
from forms.comparison import wording as words
from forms.comparison.pair_report import TO_SETTLE
from forms.comparison.remarks import weaknesses
from forms.comparison.several import answers, sentences
from forms.comparison.summary import ComparisonSummary, series_of
from forms.experiments.report import steps_report
from forms.experiments.summary import ExperimentSummary
from forms.layout import Tone
from forms.series import wording as series_wording
from forms.series.run_table import run_table
from forms.series.summary import SeriesSummary
from storage.records import Series

# What fits on an A4 page beside a chart.

_MOST_ROWS = 20
"""Rows of all tables together."""

_MOST_FIELDS = 10
"""Lines above the tables."""

_MOST_FIELDS_OF_SEVERAL = 17
"""Above the tables of several series, which have no tables of runs: those say what was measured, for a customer."""

_MOST_RESULTS = 4
"""Lines below them."""

_MOST_ADVICE = 3
_MOST_LETTERS = 600
"""Letters of one field or piece of advice: people write longer notes than the sentences of a form are."""

_ROWS_BESIDE_TWO_CHARTS = 8
"""Of more rows there is room for one chart only."""

_BYTES_A_SECOND = ", bytes/sec"
_MEGABYTES_A_SECOND = ", MB/s"

_OF_A_PAGE = frozenset(
    {
        report.FieldRole.ANSWER,
        report.FieldRole.ONE_OF_ANSWERS,
        report.FieldRole.BASIS,
        report.FieldRole.QUESTION,
        report.FieldRole.MEASURED,
    }
)
"""Fields of a form that the page's own replace, where it has them."""


def series_page(summary: SeriesSummary, form: report.Report) -> report.Report:
    """The page of one series; ``form`` is its form."""
    rate = wording.rate(summary.counted_rate)
    operations = wording.operations_text(summary.series, summary.counted_rate)
    average = f"{operations}, {rate}" if operations else rate
    share_text = series_wording.share_of_link(summary)
    of_link = f", {share_text}" if share_text else ""

    how_sure = "One valid run: its variation is unknown."
    if summary.counted and summary.counted.confidence:
        low, high = summary.counted.confidence
        how_sure = f"The mean lies between {wording.rate(max(0.0, low))} and {wording.rate(high)}, 19 times in 20."
        if summary.counted.left_out:
            how_sure += f" Without {series_wording.left_out_text(summary.counted)}."
    answer = f"{summary.series.command} {average}{of_link}."
    return one_page(form, [summary.series], question=summary.series.question, answer=answer, how_sure=how_sure)


def comparison_page(
    comparisons: Sequence[ComparisonSummary],
    form: report.Report,
    neighbours: Sequence[ComparisonSummary] = (),
) -> report.Report:
    """Two series or more: the verdicts, what they are judged by, and the runs of both where there are two.

    ``neighbours`` are comparisons of each of several with the one measured before it: where there are any, what changed
    from one to the next comes first, in the order of time, as whoever is handed the page asks for that.
    """
    comparisons = answers.in_order_of_page(comparisons, neighbours)
    all_series = series_of(comparisons)
    first = comparisons[0]
    run_tables: list[report.Table] = []
    if len(comparisons) == 1:
        names = first.comparison.names
        sides = (*first.bases, *first.others)
        run_tables = [_runs_table(series_summary, names[series_summary.series.id]) for series_summary in sides]
        form = _without_the_past(form, first)

    verdicts: Iterable[report.Field] = ()
    if len(comparisons) > 1:
        verdicts = answers.verdict_fields_of_page(comparisons, neighbours)
        form = replace(form, fields=(*answers.settling_fields_of_page(comparisons), *form.fields))
    tables = (*form.tables[:1], *run_tables, *form.tables[1:])
    if len(comparisons) > 1:
        tables = tuple(map(in_megabytes, form.tables))
    return one_page(
        replace(form, tables=tables),
        all_series,
        question=next((series.question for series in all_series if series.question), ""),
        answer=_answer_of_comparisons(comparisons, neighbours),
        verdicts=verdicts,
        tone=answers.tone_of_answer(comparisons, neighbours),
        how_sure=_basis_of_comparisons(comparisons, neighbours),
        most_fields=_MOST_FIELDS if len(comparisons) == 1 else _MOST_FIELDS_OF_SEVERAL,
    )


def in_megabytes(table: report.Table) -> report.Table:
    """The table with its rates as people read them: MB/s, in place of the bytes a second of the form on paper."""
    columns = list(table.columns)
    places = [place for place, column in enumerate(columns) if column.heading.endswith(_BYTES_A_SECOND)]
    for place in places:
        heading = columns[place].heading.removesuffix(_BYTES_A_SECOND) + _MEGABYTES_A_SECOND
        columns[place] = replace(columns[place], heading=heading, kind=report.ReportKind.DECIMAL)

    rows = []
    for row in table.rows:
        cells = list(row.cells)
        for place in places:
            value = cells[place].value if place < len(cells) else None
            if isinstance(value, (int, float)):
                cells[place] = replace(cells[place], value=value / 1e6)
        rows.append(replace(row, cells=tuple(cells)))
    return replace(table, columns=tuple(columns), rows=tuple(rows))


def _without_the_past(form: report.Report, compared: ComparisonSummary) -> report.Report:
    """The form without advice that whoever is handed the page cannot follow: to restore what stood weeks before."""
    step = compared.comparison.settle
    if step is None or not step.needs_past:
        return form
    return replace(form, fields=tuple(field for field in form.fields if field.name != TO_SETTLE))


def _answer_of_comparisons(comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]) -> str:
    """The verdict and what weakens it; of several one sentence on all of them, and what explains them."""
    if len(comparisons) > 1:
        return sentences.answer_of_several(comparisons, neighbours)
    comparison = comparisons[0].comparison
    answer = [words.comparison_headline(comparison), words.full_links_sentence(comparison)]
    return " ".join(filter(None, [*answer, *weaknesses(comparisons[0])]))


def _basis_of_comparisons(comparisons: Sequence[ComparisonSummary], neighbours: Sequence[ComparisonSummary]) -> str:
    """What the verdicts are judged by; the form of several says in a field of its own what is left out."""
    if len(comparisons) > 1:
        return answers.basis_text(comparisons, neighbours)
    return words.basis_sentence(comparisons[0].comparison) or ""


def experiment_page(summary: ExperimentSummary, newest: SeriesSummary) -> report.Report:
    """An experiment: what all changes were worth together, each step, and the runs of the last one."""
    form = steps_report(summary)
    totals = [gain.comparison for gain in summary.gains if gain.comparison and gain.counted]
    in_all = " ".join(f"{words.comparison_clause(total)} in all." for total in totals)
    all_series = [step.series for step in summary.steps]
    return one_page(
        replace(form, tables=(*form.tables, _runs_table(newest, wording.name_of(newest.series)))),
        all_series,
        question=next((series.question for series in all_series if series.question), ""),
        answer=in_all or "No change is in force.",
        tone=totals[0].tone if totals else Tone.FAINT,
        how_sure=next(filter(None, map(words.basis_sentence, totals)), ""),
    )


def one_page(
    form: report.Report,
    series: Sequence[Series] = (),
    *,
    question: str,
    answer: str,
    verdicts: Iterable[report.Field] = (),
    tone: Tone = Tone.PLAIN,
    how_sure: str = "",
    most_fields: int = _MOST_FIELDS,
) -> report.Report:
    """The form below what is said of it, cut to what a page holds; a table that is cut says how many rows it had.

    ``verdicts`` are further answers, on one subject each; they take no room from the fields of the form.
    """
    further = [replace(field, text=wording.plain(field.text)) for field in verdicts]
    own_fields = [
        report.answer_field(wording.plain(answer), tone),
        *further,
        report.Field(name="How sure", text=wording.plain(how_sure)),
        report.question_field(wording.plain(question)),
        report.measured_field(wording.plain(_measured_text(series)) if series else ""),
        report.Field(name="Site", text=_sites_text(series)),
    ]
    top = [field for field in own_fields if field.text]
    replaced = _OF_A_PAGE - {field.role for field in own_fields if not field.text}
    others = [field for field in form.fields if field.role not in replaced]

    tables = tuple(_cut_tables(form.tables))
    rows = sum(len(table.rows) for table in tables)
    charts = form.charts[: 1 if rows > _ROWS_BESIDE_TWO_CHARTS else 2]
    return replace(
        form,
        title=_title_with_place(form.title, series),
        # What the page says itself is whole: a verdict without its end may say the opposite.
        fields=(*top, *(_shortened_field(field) for field in others[: most_fields + len(further) - len(top)])),
        tables=tables,
        results=tuple(_shortened_field(field) for field in form.results[:_MOST_RESULTS]),
        advice=tuple(_shortened(text) for text in form.advice[:_MOST_ADVICE]),
        drawn=charts,
    )


def _cut_tables(tables: Sequence[report.Table]) -> Iterator[report.Table]:
    """The tables from the first on, as far as they fit; one that is cut says so in its caption.

    Its averages and sums stay: the page would have their parts alone.
    """
    room = _MOST_ROWS
    for table in tables:
        if room <= 0:
            return
        results = [row for row in table.rows if row.role is report.Role.RESULT]
        others = [row for row in table.rows if row.role is not report.Role.RESULT]
        kept_others = others[: max(0, room - len(results))]
        caption = table.caption
        rows = table.rows
        if len(kept_others) < len(others):
            caption = f"{table.caption or 'Rows'}: the first {len(kept_others)} of {len(others)}"
            rows = (*kept_others, *results)
        # Caption and headings take two rows.
        room -= len(rows) + 2
        yield replace(table, rows=rows, caption=caption)


def _shortened_field(field: report.Field) -> report.Field:
    return replace(field, text=_shortened(field.text))


def _shortened(text: str) -> str:
    """The whole words that a page has room for, which says so where there are more."""
    if len(text) <= _MOST_LETTERS:
        return text
    kept, _, _ = text[:_MOST_LETTERS].rpartition(" ")
    return f"{kept or text[:_MOST_LETTERS]} … (shortened: the form has all {len(text):,} letters)"


def _runs_table(series_summary: SeriesSummary, name: str) -> report.Table:
    return replace(run_table(series_summary), caption=f"Runs of {name}")


def _sites_text(all_series: Sequence[Series]) -> str:
    """Where it was measured, as the settings file of each measuring machine says."""
    sites = dict.fromkeys(str(series.environment.get("client", {}).get("measured.site", "")) for series in all_series)
    return wording.plain("; ".join(filter(None, sites)))


def _title_with_place(title: str, all_series: Sequence[Series]) -> str:
    """The title with the one server and file that was measured: a page is read by whoever did not choose them."""
    places = {wording.place(series.target).removeprefix("smb://") for series in all_series}
    place = places.pop() if len(places) == 1 else ""
    return title if place in title else f"{title} on {place}"


def _measured_text(all_series: Sequence[Series]) -> str:
    paths = dict.fromkeys(
        f"{series.command} {wording.place(series.target)} with {series.client.name}" for series in all_series
    )
    runs = sum(len(series.measured()) for series in all_series)
    days = sorted(series.created_at[:10] for series in all_series)
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return f"{'; '.join(paths)}: {wording.count(runs, 'run')} in {len(all_series)} series, {span}."
