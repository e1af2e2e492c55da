"""Self-tests and repeats on paper and as JSON: what the set-up can show."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from forms import report, wording
from forms.comparison.document import comparison_document
from forms.comparison.wording import change_figures
from forms.experiments.repeats import COARSE_PERCENT, Repeats, Selftest
from forms.series.origin import origin_fields
from forms.stats.decision import LEAST_RUNS
from storage.json_reader import named
from storage.records import Series, format_target

SELFTEST_SCHEMA = "sharebench/selftest/1"
REPEATS_SCHEMA = "sharebench/repeats/1"

_AVERAGE_COLUMN = ("Average, bytes/sec", report.ReportKind.WHOLE)


def selftest_report(test: Selftest) -> report.Report:
    answer, *more = selftest_sentences(test)
    comparison = test.comparison
    measured = report.Table(
        columns=report.columns_of("Measured", "Series", _AVERAGE_COLUMN),
        rows=(
            report.row_of("first", comparison.base_id, comparison.base_bytes_per_second),
            report.row_of("second", comparison.other_id, comparison.other_bytes_per_second),
        ),
    )

    return report.Report(
        form="self-test",
        title="Self-test: the same thing twice, interleaved",
        name="Self-test",
        fields=_head_fields(test.series, answer),
        tables=(measured, _smallest_changes_table(test)) if test.by_runs else (measured,),
        advice=tuple(more),
        document=partial(selftest_document, test),
    )


def _smallest_changes_table(test: Selftest) -> report.Table:
    return report.Table(
        columns=report.columns_of(
            ("Runs a side", report.ReportKind.WHOLE),
            ("Smallest change shown, %", report.ReportKind.PERCENT),
            "",
        ),
        rows=tuple(
            report.row_of(runs, percent, "this test" if runs == test.runs else "") for runs, percent in test.by_runs
        ),
        caption="Smallest change shown, by number of runs",
    )


def selftest_sentences(test: Selftest) -> list[str]:
    """The answer first, then what explains it."""
    comparison = test.comparison
    sentences = []
    if test.differs:
        sentences.append(
            f"Trust no comparison yet: the same thing, measured twice, came out {comparison.verdict}"
            f" ({change_figures(comparison)}), which chance does at most once in 20 times. Measure again with more"
            " warm-up runs and at a quiet time."
        )

    runs = f"{wording.count(test.runs, 'run')} a side"
    if test.smallest_percent is None:
        sentences.append(f"{runs} can show no change at all: measure at least {LEAST_RUNS}, better ten.")
    else:
        smallest = wording.percent(test.smallest_percent)
        sentences.append(f"With {runs} this setup finds a change of {smallest} nine times in ten.")
        if test.smallest_percent > COARSE_PERCENT:
            sentences.append(
                "More runs help little here: use a larger file, so that each run is longer, and a quiet time."
            )

    if not test.differs and comparison.change_percent is not None:
        sentences.append(f"The same thing, measured twice, came out no different: {change_figures(comparison)}.")
    return sentences


def selftest_document(test: Selftest) -> dict[str, Any]:
    return {
        "schema": SELFTEST_SCHEMA,
        "first": test.comparison.base_id,
        "second": test.comparison.other_id,
        "runs": test.runs,
        "smallest_change_percent": test.smallest_percent,
        "by_runs": [{"runs": runs, "smallest_change_percent": percent} for runs, percent in test.by_runs],
        "comparison": comparison_document(test.comparison),
    }


def repeats_report(repeats: Repeats) -> report.Report:
    answer, *more = repeats_sentences(repeats)
    averages = zip(repeats.series, repeats.averages_bytes_per_second, strict=True)
    rows = [
        report.row_of(str(number), series.id, average) for number, (series, average) in enumerate(averages, start=1)
    ]

    return report.Report(
        form="repeats",
        title="The same thing, one whole series after the other",
        name="Repeats",
        fields=_head_fields(repeats.series, answer) if repeats.series else (),
        tables=(report.Table(columns=report.columns_of("No", "Series", _AVERAGE_COLUMN), rows=tuple(rows)),),
        advice=tuple(more),
        document=partial(_repeats_document, repeats),
    )


def _repeats_document(repeats: Repeats) -> dict[str, Any]:
    return {
        "schema": REPEATS_SCHEMA,
        "series": [series.id for series in repeats.series],
        "averages_bytes_per_second": list(repeats.averages_bytes_per_second),
        **named(repeats, "within_percent", "between_percent", "by_chance_percent", "trend_percent"),
        "smallest_change_percent": repeats.smallest_percent,
    }


def repeats_sentences(repeats: Repeats) -> list[str]:
    """The answer first, then what explains it."""
    if repeats.between_percent is None or repeats.smallest_percent is None:
        return ["One series says nothing about the next: measure at least three, over hours if you can."]

    between = wording.percent(repeats.between_percent)
    smallest = wording.percent(repeats.smallest_percent)
    within = wording.percent(repeats.within_percent)
    by_chance = wording.percent(repeats.by_chance_percent)
    sentences = [
        f"Equal series vary by {between} here: between two of them changes of {smallest} or more show (9 times in 10).",
        f"Their runs vary by {within}, which alone would make the averages vary by {by_chance}.",
        "`compare` uses these repeats for series of the same path, measured no further apart than these.",
    ]
    if repeats.trend_percent is not None:
        way = "rose" if repeats.trend_percent > 0 else "fell"
        trend = wording.percent(abs(repeats.trend_percent))
        sentences.append(
            f"The averages {way} by {trend} from the first series to the last: what is measured later comes out"
            " different by itself. Interleave with `sharebench try` or `sharebench run --versus` where you can; where"
            " you cannot, restore the base and measure it once more at the end."
        )
    return sentences


def _head_fields(series: Sequence[Series], answer: str) -> tuple[report.Field, ...]:
    first = series[0]
    return (
        report.answer_field(answer),
        report.measured_field(f"{first.command} {format_target(first.target, escaped=False)}"),
        *origin_fields(series),
    )
