"""Comparisons on paper: a pair side by side, or table B-1 (Using Samba)."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest
from typing import Any

from forms import wording
from forms.comparison import summary
from forms.comparison.blame import with_blame
from forms.comparison.comparison import Comparison, basis_sentence, hint_sentence
from forms.comparison.hiccups import Alternative, OutstandingRun
from forms.layout import Tone, Toned
from forms.report import (
    Bar,
    Cell,
    Chart,
    Field,
    Formula,
    Report,
    ReportKind,
    Role,
    Row,
    Table,
    blank_form,
    cell_at,
    change_formula,
    columns_of,
    fields_of,
    row_of,
    table_of,
)
from forms.series.report import origin_fields, runs_chart
from forms.series.summary import SeriesSummary
from forms.stats.decision import Limits
from forms.stats.readings import read_series
from forms.trial.report import tried_lines
from forms.tuning.differences import prose
from storage.isolation import profile_rounds
from storage.json_reader import named
from storage.records import Series

SCHEMA = "sharebench/comparison/1"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The JSON object of a comparison, unrounded; ``change`` only where one is claimed."""
    found = comparison.variation
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "base": comparison.base_id,
        "other": comparison.other_id,
        **verdict_document(comparison),
        "doubt": comparison.doubt,
        "runs_interval_percent": comparison.runs_interval_percent and list(comparison.runs_interval_percent),
        "level": comparison.limits.level,
        "in_turns": comparison.interleaved,
        "base_series": list(comparison.base_ids),
        "other_series": list(comparison.other_ids),
        "base_average_bytes_per_second": comparison.base_bytes_per_second,
        "other_average_bytes_per_second": comparison.other_bytes_per_second,
        **named(comparison, "base_deviation_bytes_per_second", "other_deviation_bytes_per_second"),
        "base_judged_bytes_per_second": comparison.judged_base_bytes_per_second,
        "other_judged_bytes_per_second": comparison.judged_other_bytes_per_second,
        "left_out_runs": [_run_document(run) for run in comparison.left_out],
        "without_runs": comparison.without and _alternative_document(comparison.without),
        "between_series_percent": found and found.deviation_percent,
        "between_series_degrees_of_freedom": found and found.freedom,
        "equal_series_differ_by_percent": comparison.apart_percent,
        "run_variation_percent": found and 100 * found.run_deviation,
        "history_series": comparison.history_count,
        "history_newest_days": comparison.history_days,
        **named(comparison, "base_wander_percent", "needed_runs"),
        "needed_runs_range": comparison.needed_runs_range and list(comparison.needed_runs_range),
        "needed_series": comparison.needed_series,
        "settle": (way := comparison.settle) and {key: it for key, it in asdict(way).items() if key != "between"},
        "differences": [{"name": d.name, "base": d.base, "other": d.other} for d in comparison.differences],
    }
    if (tried := comparison.tried) is not None:
        document["trial"] = {"experiment": tried.experiment.name, "verdict": tried.verdict}
    if comparison.change is not None:
        document["change"] = {**asdict(comparison.change), "also_changed": list(comparison.change.also_changed)}
    return document


def _run_document(run: OutstandingRun) -> dict[str, Any]:
    return {"series": run.series_id, "run": run.number, "percent_of_others": run.percent}


def _alternative_document(without: Alternative) -> dict[str, Any]:
    decision = without.decision
    return {
        "runs": [_run_document(run) for run in without.runs],
        "verdict": decision.verdict,
        "change_percent": decision.change_percent,
        "interval_percent": decision.interval_percent and list(decision.interval_percent),
    }


def verdict_document(found: Comparison | None) -> dict[str, Any]:
    return {
        "verdict": found and found.verdict,
        "change_percent": found and found.change_percent,
        "interval_percent": found and found.interval_percent and list(found.interval_percent),
        "p_value": found and found.p_value,
    }


FORM = "comparison"
NOT_MEASURED = "n.a."


def comparison_report(shown: Sequence[Series], found: Sequence[summary.ComparisonSummary] | None = None) -> Report:
    """A pair, or the matrix with the base first; ``found`` has comparisons already made."""
    found = summary.comparisons(summary.sides_of([(one,) for one in shown])) if found is None else found
    report = pair_report(found[0]) if len(found) == 1 else _matrix_report(summary.protocol_matrix(shown), found)
    alike = Counter((one.target.host, one.command) for one in shown)
    alone = [
        f"{wording.name_of(one)} is the only {one.command} of its server here: there is nothing to compare it with."
        for one in shown
        if len(shown) > 2 and alike[one.target.host, one.command] == 1
    ]
    return replace(report, advice=(*report.advice, *alone))


def pair_report(form: summary.ComparisonSummary) -> Report:
    comparison, way = form.comparison, form.comparison.settle
    differing = [_properties("What differs", form.differences)] if form.differences else []
    tables = [*differing, _averages(form), replace(_properties("Side by side", form.rows), is_detail=True)]
    report = Report(
        form=FORM, title=f"Comparison: {comparison.title}", name="Comparison",
        fields=(
            *fields_of(
                (wording.VERDICT, f"{comparison.sign} {comparison.headline}", comparison.tone),
                *(("Trial", one.text, one.tone) for one in tried_lines(comparison.tried, lead="")),
                ("Because of", comparison.without.sentence if comparison.without else ""),
                ("Judged by", basis_sentence(comparison)),
                ("To settle it", (way and f"{way.sentence} Command: {way.command_text}") or hint_sentence(comparison)),
            ),
            *origin_fields([one.series for one in (*form.bases, *form.others)]),
        ),
        tables=tuple(tables), advice=form.remarks, drawn=(_chart(form),),
        document=lambda: comparison_document(comparison),
    )  # fmt: skip
    sides = (one.environment.get("path", {}) for one in (form.base.series, form.other.series))
    return with_blame(report, *map(profile_rounds, sides))


def _matrix_report(matrix: summary.ProtocolMatrix, found: Sequence[summary.ComparisonSummary]) -> Report:
    remarks = dict.fromkeys(f"{form.comparison.other_name}: {remark}" for form in found for remark in form.remarks)
    judged = [form.comparison.limits for form in found if form.comparison.interval_percent]
    both = "both" if len(judged) == 2 else f"all {len(judged)}"
    wider = f"some are wider, so that {both} verdicts together are wrong at most once in 20."
    is_wider = any(limits.alpha < Limits().alpha for limits in judged)
    fields: list[Field] = []
    for form in found:
        one = form.comparison
        differing = f" What differs: {prose(one.differences)}." if one.differences and not one.known else ""
        said = (Toned(f"{one.sign} {one.sentence}{differing}", one.tone), *tried_lines(one.tried))
        name = f"{one.other_name} ({form.other.series.command})"
        fields += [Field(name=name, text=line.text, tone=line.tone) for line in said]
    return Report(
        form=FORM,
        title="Comparison of several series",
        name="Comparison",
        fields=(
            *fields,
            *fields_of(("Intervals", wider if is_wider else "")),
            *origin_fields([one for form in found for one in (form.base.series, form.other.series)]),
        ),
        tables=(matrix_table(matrix), _verdicts(found)),
        drawn=(replace(matrix_chart(matrix), in_text=True),),
        advice=tuple(remarks),
        document=lambda: [comparison_document(form.comparison) for form in found],
    )


def blank_comparison_report() -> Report:
    """Table B-1 (Using Samba) to fill in by hand."""
    headings = ("FTP, kB/s", "Untuned Samba, kB/s", "Tuned Samba, kB/s", "% of FTP")
    columns = columns_of("Command", *((heading, ReportKind.WHOLE) for heading in headings))
    blank = blank_form(FORM, "Comparison of several series", ("Server", "Client", "Date"), columns, [None] * 4)
    return replace(blank, name="Comparison")


_AVERAGE, _JUDGED = 3, 5
"""The columns of the averages, and of those that leave out runs that stand out."""


def _averages(form: summary.ComparisonSummary) -> Table:
    """The average of each series and side; where runs are left out, the judged averages beside them."""
    comparison = form.comparison
    has_judged = bool(comparison.left_out)
    rows: list[Row] = []
    last_rows: list[int] = []
    for place, (side, filled) in enumerate((("base", form.bases), ("other", form.others))):
        first_row = len(rows)
        for number, one in enumerate(filled, 1):
            called = side if len(filled) == 1 else f"{side} {number}"
            rows.append(_series_row(called, _name(form, place, number, one), one, has_judged=has_judged))
        if len(filled) > 1:
            side_average = (comparison.base_bytes_per_second, comparison.other_bytes_per_second)[place]
            judged = (comparison.judged_base_bytes_per_second, comparison.judged_other_bytes_per_second)[place]
            rows.append(_mean_row(side, rows[first_row:], first_row, side_average, judged if has_judged else None))
        last_rows.append(len(rows) - 1)

    # The change stands in the row that the other side's average is in, and is computed from the judged averages.
    change = comparison.change_percent
    formula = None if change is None else change_formula(_JUDGED if has_judged else _AVERAGE, *last_rows)
    rows = [replace(row, cells=(*row.cells, Cell())) for row in rows[:-1]] + [
        replace(rows[-1], cells=(*rows[-1].cells, Cell(value=change, formula=formula)))
    ]
    headings = ["Valid runs", "Average, bytes/sec", "Deviation, bytes/sec", *["Judged, bytes/sec"] * has_judged]
    columns = columns_of(
        "Side", "Series", *((heading, ReportKind.WHOLE) for heading in headings), ("Change", ReportKind.SIGNED)
    )
    caption = "Averages of the valid runs"
    if has_judged:
        caption += "; judged are those without runs that stand out"
    return Table(columns=columns, rows=tuple(rows), caption=caption)


def _series_row(side: str, name: str, one: SeriesSummary, *, has_judged: bool) -> Row:
    average = one.average.bytes_per_second if one.average else None
    deviation = one.deviation.bytes_per_second if one.deviation else None
    rates = one.series.rates()
    judged = [read_series(rates).average if rates else None] if has_judged else []
    return row_of(side, name, len(one.series.measured()), average, deviation, *judged)


def _mean_row(side: str, of_series: Sequence[Row], first_row: int, average: float | None, judged: float | None) -> Row:
    """The mean of a side's series, by formulas of the rows above."""
    runs = sum(int(row.cells[2].value or 0) for row in of_series)
    places = range(first_row, first_row + len(of_series))
    cells = [_mean_cell(_AVERAGE, places, average), Cell()]
    if judged is not None:
        cells.append(_mean_cell(_JUDGED, places, judged))
    return row_of(f"{side}, mean", f"mean of {len(of_series)} repeats", runs, *cells, role=Role.RESULT)


def _mean_cell(column: int, rows: Sequence[int], mean: float | None) -> Cell:
    if mean is None:
        return Cell()
    summed = "+".join(f"{{{place}}}" for place in range(len(rows)))
    references = tuple(cell_at(column, row) for row in rows)
    return Cell(value=mean, formula=Formula(template=f"({summed})/{len(rows)}", references=references))


_STANDS = {True: "differs", False: "same", None: ""}


def _properties(caption: str, rows: Sequence[summary.ComparisonRow]) -> Table:
    stands = any(r.differs is not None for r in rows)
    return Table(
        columns=columns_of("", "Base", "Other", *(["Setting"] if stands else [])),
        rows=tuple(
            row_of(r.name, r.base, r.other, *([_STANDS[r.differs]] if stands else []))
            for r in rows
            if r.base or r.other
        ),
        caption=caption,
    )


def _sides(form: summary.ComparisonSummary) -> Iterator[tuple[str, SeriesSummary, str, Tone]]:
    """Its side and number, the series, its name and the tone of its bars."""
    sides = ("base", form.bases, Tone.FAINT), ("other", form.others, form.comparison.tone)
    for side, (name, filled, tone) in enumerate(sides):
        for number, one in enumerate(filled, 1):
            yield name if len(filled) == 1 else f"{name} {number}", one, _name(form, side, number, one), tone


def _name(form: summary.ComparisonSummary, side: int, number: int, one: SeriesSummary) -> str:
    if number == 1:
        return (form.comparison.base_name, form.comparison.other_name)[side]
    return wording.name_of(one.series, beside=(form.other, form.base)[side].series)


def alternating_runs(sides: Iterable[Sequence[Bar]]) -> Chart:
    """The runs of both sides alternate, so that a chart that is too low for all shows as many of either side."""
    bars = tuple(bar for turn in zip_longest(*sides) for bar in turn if bar)
    return Chart(title="Rate of each run", unit="bytes/sec", bars=bars)


def runs_of_both(form: summary.ComparisonSummary) -> Chart:
    return alternating_runs(
        [
            replace(bar, name=f"{name}{' run' * name[-1].isdecimal()} {bar.name}", tone=tone)
            for bar in runs_chart(one).bars
        ]
        for name, one, _, tone in _sides(form)
    )


def _chart(form: summary.ComparisonSummary) -> Chart | None:
    bars = tuple(
        Bar(
            name=f"{name}: {called}",
            value=one.average.bytes_per_second if one.average else None,
            interval=interval_of(form.comparison, one),
            tone=tone,
        )
        for name, one, called, tone in _sides(form)
    )
    if any(bar.value is None for bar in bars):
        return None
    beside, intervals = "with their 95 % intervals", "95 % interval"
    if form.comparison.apart_percent:
        beside, intervals = "and where 19 of 20 such series would lie", "19 of 20 such series"
    return Chart(
        title=f"Averages, {beside}",
        unit="bytes/sec",
        bars=bars,
        source=(int(bool(form.differences)), _AVERAGE),
        intervals=intervals,
    )


def interval_of(found: Comparison, one: SeriesSummary) -> tuple[float, float] | None:
    """Where an equal series would lie, in bytes/s; by the runs alone where interleaved."""
    if found.apart_percent is None or one.average is None or one.average.bytes_per_second is None:
        return one.confidence
    factor = (1 + found.apart_percent / 100) ** math.sqrt(0.5)
    return one.average.bytes_per_second / factor, one.average.bytes_per_second * factor


def matrix_chart(matrix: summary.ProtocolMatrix) -> Chart:
    bars = tuple(
        Bar(name=f"{row.name} {name}", value=cell.bytes_per_second)
        for row in matrix.rows
        for name, cell in zip(matrix.columns, row.cells, strict=True)
        if cell and cell.bytes_per_second
    )
    return Chart(title="Average throughput", unit="bytes/sec", bars=bars)


def matrix_table(matrix: summary.ProtocolMatrix) -> Table:
    """Averages with half their 95 % intervals, in MB/s, or kB/s where one is below 1 MB/s."""
    rates = [cell.bytes_per_second for row in matrix.rows for cell in row.cells if cell and cell.bytes_per_second]
    factor, unit = (1e3, "kB/s") if rates and min(rates) < 1e6 else (1e6, "MB/s")
    headings = []
    for name in matrix.columns:
        headings += [f"{name}, {unit}", "±", *(["% of FTP"] if matrix.has_ftp and name != summary.FTP else [])]
    return Table(
        columns=columns_of("Command", *((heading, ReportKind.DECIMAL) for heading in headings)),
        rows=tuple(_row(matrix, index, factor) for index in range(len(matrix.rows))),
        caption="Averages; ± is what the runs of each tell: series measured again differ by more",
    )


def _row(matrix: summary.ProtocolMatrix, index: int, factor: float) -> Row:
    row = matrix.rows[index]
    cells = [Cell(value=row.name)]
    for name, cell in zip(matrix.columns, row.cells, strict=True):
        rate = cell.bytes_per_second if cell else None
        half = cell.half_width_bytes_per_second if cell else None
        here = len(cells)
        cells += [Cell(value=NOT_MEASURED if rate is None else rate / factor), Cell(value=half and half / factor)]
        if matrix.has_ftp and name != summary.FTP:
            share = cell.percent_of_ftp if cell else None  # FTP's average is the first after the names
            formula = Formula(template="100*{0}/{1}", references=(cell_at(here, index), cell_at(1, index)))
            cells.append(Cell(value=share, formula=None if share is None else formula))
    return Row(cells=tuple(cells))


def _verdicts(found: Sequence[summary.ComparisonSummary]) -> Table:
    compared = [form.comparison for form in found]
    needed = [("Runs needed", ReportKind.WHOLE, lambda one: one.needed_runs)]
    return table_of(
        compared,
        ("Series", ReportKind.TEXT, lambda one: one.other_name),
        ("Against", ReportKind.TEXT, lambda one: one.base_name),
        ("Verdict", ReportKind.TEXT, lambda one: f"{one.sign} {one.word}"),
        ("Change", ReportKind.SIGNED, lambda one: one.change_percent),
        ("from", ReportKind.SIGNED, lambda one: one.interval_percent and one.interval_percent[0]),
        ("to", ReportKind.SIGNED, lambda one: one.interval_percent and one.interval_percent[1]),
        *(needed if any(one.needed_runs for one in compared) else []),
        caption="Verdicts, with the 95 % interval of the change",
    )
