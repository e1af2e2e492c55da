"""Comparisons on paper: a pair side by side, or table B-1 (Using Samba); and as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from typing import Any

from forms import wording
from forms.comparison import hiccups, matrix_report, pair_tables, summary
from forms.comparison import wording as words
from forms.comparison.blame_report import with_blame
from forms.comparison.comparison import Comparison
from forms.comparison.matrix import ProtocolMatrix, protocol_matrix
from forms.comparison.remarks import comparison_remarks
from forms.comparison.summary import ComparisonSummary
from forms.layout import Toned
from forms.report import Field, Report, ReportKind, basis_field, blank_form, columns_of, fields_of, verdict_field
from forms.series.origin import origin_fields
from forms.stats.decision import Limits
from forms.trial.report import tried_lines
from forms.tuning.differences import differences_prose
from storage.isolation import profile_rounds
from storage.records import Series

SCHEMA = "sharebench/comparison/1"
FORM = "comparison"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The JSON object of a comparison, unrounded; ``change`` only where one is claimed."""
    variation = comparison.variation
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "base": comparison.base_id,
        "other": comparison.other_id,
        **verdict_document(comparison),
        "doubt": comparison.doubt,
        "probably": comparison.leaning,
        "direction_probability": comparison.direction_probability,
        "runs_interval_percent": comparison.runs_interval_percent and list(comparison.runs_interval_percent),
        "level": comparison.limits.level,
        "in_turns": comparison.interleaved,
        "base_series": list(comparison.base_ids),
        "other_series": list(comparison.other_ids),
        "base_average_bytes_per_second": comparison.base_bytes_per_second,
        "other_average_bytes_per_second": comparison.other_bytes_per_second,
        "base_deviation_bytes_per_second": comparison.base_deviation_bytes_per_second,
        "other_deviation_bytes_per_second": comparison.other_deviation_bytes_per_second,
        "base_judged_bytes_per_second": comparison.judged_base_bytes_per_second,
        "other_judged_bytes_per_second": comparison.judged_other_bytes_per_second,
        "left_out_runs": [_run_document(run) for run in comparison.left_out],
        "without_runs": comparison.without and _alternative_document(comparison.without),
        "between_series_percent": variation and variation.deviation_percent,
        "between_series_degrees_of_freedom": variation and variation.freedom,
        "equal_series_differ_by_percent": comparison.apart_percent,
        "run_variation_percent": variation and 100 * variation.run_deviation,
        "history_series": comparison.history_count,
        "history_newest_days": comparison.history_days,
        "base_wander_percent": comparison.base_wander_percent,
        "needed_runs": comparison.needed_runs,
        "needed_runs_range": comparison.needed_runs_range and list(comparison.needed_runs_range),
        "needed_series": comparison.needed_series,
        "settle": _settling_document(comparison),
        "differences": [
            {"name": difference.name, "base": difference.base, "other": difference.other}
            for difference in comparison.differences
        ],
    }
    if comparison.tried is not None:
        document["trial"] = {"experiment": comparison.tried.experiment.name, "verdict": comparison.tried.verdict}
    if comparison.change is not None:
        document["change"] = {**asdict(comparison.change), "also_changed": list(comparison.change.also_changed)}
    return document


def _settling_document(comparison: Comparison) -> dict[str, Any] | None:
    if comparison.settle is None:
        return None
    document = asdict(comparison.settle)
    del document["between"]  # for people: "differences" has it as data
    return document


def _run_document(run: hiccups.OutstandingRun) -> dict[str, Any]:
    return {"series": run.series_id, "run": run.number, "percent_of_others": run.percent}


def _alternative_document(without: hiccups.Alternative) -> dict[str, Any]:
    decision = without.decision
    return {
        "runs": [_run_document(run) for run in without.runs],
        "verdict": decision.verdict,
        "change_percent": decision.change_percent,
        "interval_percent": decision.interval_percent and list(decision.interval_percent),
    }


def verdict_document(comparison: Comparison | None) -> dict[str, Any]:
    """The verdict with its figures; all null where nothing was compared."""
    return {
        "verdict": comparison and comparison.verdict,
        "change_percent": comparison and comparison.change_percent,
        "interval_percent": comparison and comparison.interval_percent and list(comparison.interval_percent),
        "p_value": comparison and comparison.p_value,
    }


def comparison_report(all_series: Sequence[Series], forms: Sequence[ComparisonSummary] | None = None) -> Report:
    """A pair, or the matrix with the base first; ``forms`` are comparisons already made."""
    if forms is None:
        forms = summary.comparisons(summary.sides_of([(series,) for series in all_series]))
    report = pair_report(forms[0]) if len(forms) == 1 else _matrix_report(protocol_matrix(all_series), forms)
    if len(all_series) <= 2:
        return report

    counts = Counter((series.target.host, series.command) for series in all_series)
    unpaired = [
        f"{wording.name_of(series)} is the only {series.command} of its server here: there is nothing to compare it"
        " with."
        for series in all_series
        if counts[series.target.host, series.command] == 1
    ]
    return replace(report, advice=(*report.advice, *unpaired))


def pair_report(form: ComparisonSummary) -> Report:
    comparison = form.comparison
    differing = pair_tables.difference_rows(form)
    tables = [pair_tables.properties_table("What differs", differing)] if differing else []
    tables.append(pair_tables.averages_table(form))
    tables.append(replace(pair_tables.properties_table("Side by side", pair_tables.side_by_side(form)), is_detail=True))

    report = Report(
        form=FORM,
        title=f"Comparison: {words.comparison_title(comparison)}",
        name="Comparison",
        fields=(
            *fields_of(
                verdict_field(f"{comparison.sign} {words.comparison_headline(comparison)}", comparison.tone),
                *(("Trial", line.text, line.tone) for line in tried_lines(comparison.tried, lead="")),
                ("Because of", words.alternative_sentence(comparison.without) if comparison.without else ""),
                basis_field(words.basis_sentence(comparison)),
                ("To settle it", _settling_text(comparison)),
            ),
            *origin_fields([series_summary.series for series_summary in (*form.bases, *form.others)]),
        ),
        tables=tuple(tables),
        advice=comparison_remarks(form),
        drawn=(pair_tables.averages_chart(form, table=1 if differing else 0),),
        document=partial(comparison_document, comparison),
    )

    base_rounds = profile_rounds(form.base.series.environment.get("path", {}))
    other_rounds = profile_rounds(form.other.series.environment.get("path", {}))
    return with_blame(report, base_rounds, other_rounds)


def _settling_text(comparison: Comparison) -> str | None:
    step = comparison.settle
    if step is None:
        return words.hint_sentence(comparison)
    return f"{words.settling_sentence(step)} Command: {words.settling_commands(step)}"


def _matrix_report(matrix: ProtocolMatrix, forms: Sequence[ComparisonSummary]) -> Report:
    fields: list[Field] = []
    remarks: list[str] = []
    for form in forms:
        fields += _verdict_fields(form)
        remarks += (f"{form.comparison.other_name}: {remark}" for remark in comparison_remarks(form))

    all_series = chain.from_iterable((form.base.series, form.other.series) for form in forms)
    return Report(
        form=FORM,
        title="Comparison of several series",
        name="Comparison",
        fields=(
            *fields,
            *fields_of(("Intervals", _joint_intervals_text(forms))),
            *origin_fields(list(all_series)),
        ),
        tables=(matrix_report.matrix_table(matrix), matrix_report.verdicts_table(forms)),
        drawn=(replace(matrix_report.matrix_chart(matrix), in_text=True),),
        # Comparisons with one base share what is to be said of it.
        advice=tuple(dict.fromkeys(remarks)),
        document=partial(_matrix_document, forms),
    )


def _matrix_document(forms: Sequence[ComparisonSummary]) -> list[dict[str, Any]]:
    return [comparison_document(form.comparison) for form in forms]


def _verdict_fields(form: ComparisonSummary) -> list[Field]:
    comparison = form.comparison
    text = f"{comparison.sign} {words.comparison_sentences(comparison)}"
    if comparison.differences and not comparison.known:
        text += f" What differs: {differences_prose(comparison.differences)}."
    lines = (Toned(text, comparison.tone), *tried_lines(comparison.tried))
    name = f"{comparison.other_name} ({form.other.series.command})"
    return [Field(name=name, text=line.text, tone=line.tone) for line in lines]


def _joint_intervals_text(forms: Sequence[ComparisonSummary]) -> str:
    """That intervals are wider because several verdicts hold together; empty where none is."""
    judged = [form.comparison.limits for form in forms if form.comparison.interval_percent]
    if not any(limits.alpha < Limits().alpha for limits in judged):
        return ""
    all_verdicts = "both" if len(judged) == 2 else f"all {len(judged)}"
    return f"some are wider, so that {all_verdicts} verdicts together are wrong at most once in 20."


def blank_comparison_report() -> Report:
    """Table B-1 (Using Samba) to fill in by hand."""
    headings = ("FTP, kB/s", "Untuned Samba, kB/s", "Tuned Samba, kB/s", "% of FTP")
    columns = columns_of("Command", *((heading, ReportKind.WHOLE) for heading in headings))
    blank = blank_form(FORM, "Comparison of several series", ("Server", "Client", "Date"), columns, [None] * 4)
    return replace(blank, name="Comparison")
