"""The form of a series on paper (Using Samba, tables B-6, B-7 and B-9), filled or blank.

From the top: the answer, the fields about what was measured (``head_fields.py``), the table of runs
(``run_table.py``), the results below it, and the warnings and findings.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from forms import report, verdict_wording, wording
from forms.findings import rules_series, series_warnings
from forms.findings.finding import Finding
from forms.layout import Tone
from forms.series import head_fields, random_requests
from forms.series import run_table as run_tables
from forms.series import wording as series_wording
from forms.series.document import series_document
from forms.series.summary import SeriesSummary
from forms.stats import shown as shown_changes
from forms.stats.before_change import BasePower
from storage import records

FORM = "run form"
BLANK_TITLE = "Measurement form"

_SUSTAINED_DIFFERS = 0.005
"""From this relative difference on both rates are shown: the mean of the runs' rates, in which fast runs weigh more,
and the sustained rate, all bytes over all seconds.
"""

_WARNED_BY = {"busy": "busy", "client-ceiling": "ceiling", "above-link": "link"}
"""The key of the warning that says the same as a finding, by the key of the finding."""

QUESTIONS = (
    "Are files and print jobs served faster than by the older version?",
    "How much memory does an idle user take?",
    "Where is the limit that users report?",
)
"""IBM Redpaper 2004: state the question before measuring."""


def series_report(series_summary: SeriesSummary, power: BasePower | None = None) -> report.Report:
    """The form of a series; ``power`` is what its baseline shows after a change, where it is one."""
    series = series_summary.series
    warnings = series_warnings.advice(series)
    findings = unwarned_findings(series, warnings)
    return report.Report(
        form=FORM,
        title=series.title or wording.default_title(series.command, series.target),
        name=series.label or series.title or series.id,
        fields=(_answer_field(series_summary, len(warnings), findings), *head_fields.head_fields(series)),
        tables=(run_tables.run_table(series_summary), *random_requests.request_tables(series)),
        results=tuple(result_fields(series_summary, power)),
        advice=(*_warning_texts(warnings, is_base=power is not None), *(finding.text for finding in findings)),
        drawn=tuple(_charts(series_summary)),
        document=partial(_document, series, power),
    )


def _warning_texts(warnings: Iterable[Finding], *, is_base: bool) -> list[str]:
    """What weakens the series, and what to do; of a base only what was so: after a change nobody measures it again."""
    return [(warning.remark if is_base else "") or warning.text for warning in warnings]


def _document(series: records.Series, power: BasePower | None) -> dict[str, Any]:
    document = series_document(series)
    return document if power is None else {**document, "base_shows_percent": power.shows_percent}


def unwarned_findings(series: records.Series, warnings: Iterable[Finding]) -> list[Finding]:
    """What one series says of its set-up, the gravest first, but for what its warnings say already."""
    warned_of = {warning.key for warning in warnings}
    findings = rules_series.series_findings(series)
    return [finding for finding in findings if _WARNED_BY.get(finding.key) not in warned_of]


def _charts(series_summary: SeriesSummary) -> Iterator[report.Chart]:
    """Of random requests the operations a second, which the table behind that of the runs has."""
    series = series_summary.series
    has_requests = any(run.requests for run in series.runs if run.phase is records.Phase.MEASURED)
    yield random_requests.operations_chart(series, table=1) if has_requests else run_tables.runs_chart(series_summary)


def blank_series_report(link_bits_per_second: int | None = None) -> report.Report:
    link = (
        head_fields.link_field(link_bits_per_second)
        if link_bits_per_second
        else report.Field(name=run_tables.LINK, text="")
    )
    return report.Report(
        form=FORM,
        title=BLANK_TITLE,
        name=BLANK_TITLE,
        fields=(
            *report.blank_fields("Label", "Command", "Target", "Client"),
            link,
            *report.blank_fields("Measured", "Note"),
        ),
        tables=(run_tables.blank_run_table(link_bits_per_second),),
        blank=True,
    )


def _answer_field(series_summary: SeriesSummary, warning_count: int, findings: Sequence[Finding]) -> report.Field:
    """``111.9 MB/s ± 0.2 %, 90 % of a 1 Gb/s link. No problems found.``; ``findings`` are those beside the warnings."""
    warnings = warning_count + sum(finding.is_wrong for finding in findings)
    problems = f"{wording.count(warnings, 'warning')}, see below." if warnings else "No problems found."
    if series_summary.average is None:
        text = f"No run counts, so there is no average. {problems}"
        return report.answer_field(text, Tone.BAD)

    text = series_wording.average_text(series_summary)
    of_link = series_wording.share_of_link(series_summary)
    if of_link:
        text += f", {of_link}"
    all_runs = series_wording.all_runs_text(series_summary)
    if all_runs:
        text += f"; {all_runs}"
    return report.answer_field(f"{text}. {problems}", Tone.CAUTION if warnings else Tone.PLAIN)


def result_fields(series_summary: SeriesSummary, power: BasePower | None = None) -> Iterator[report.Field]:
    """The lines below the table: median, sustained rate where it differs, the interval, and what else was at work."""
    median = series_summary.median_bytes_per_second
    if median is not None:
        yield _rate_field("Median", median)
    sustained = series_summary.sustained_bytes_per_second
    average = series_summary.average_rate
    if sustained and average and abs(average / sustained - 1) > _SUSTAINED_DIFFERS:
        yield _rate_field("All bytes / all seconds", sustained)

    quiet = series_summary.series.quiet
    yield from report.fields_of(
        ("Percent of link", _missing_link_text(series_summary)),
        ("Opening and closing", _beside_runs_text(series_summary.series)),
        ("95 % interval of the average", _interval_text(series_summary)),
        ("Left out", _left_out_text(series_summary)),
        ("Smallest change", _smallest_change_text(series_summary, power)),
        ("Processors", processors_text(quiet)),
        ("Other load", "; ".join(quiet.reasons[1:]) if quiet else ""),
    )


def _rate_field(name: str, rate: float) -> report.Field:
    return report.Field(name=name, text=f"{wording.whole(rate)} bytes/sec", number=rate, unit="bytes/sec")


def _missing_link_text(series_summary: SeriesSummary) -> str:
    """How to get the percentage, where the link's speed is unknown; empty where there is one, or no link."""
    series = series_summary.series
    if series.link_bits_per_second is not None or series.target.abilities.is_local or not series_summary.average:
        return ""
    return "unknown, as no link speed was given: add it in step 6, or measure with --link 1G"


def _beside_runs_text(series: records.Series) -> str:
    parts = []
    for name, seconds in (
        ("opening", rules_series.opening_seconds(series)),
        ("closing", rules_series.closing_seconds(series)),
    ):
        if seconds is not None:
            parts.append(f"{name} {wording.milliseconds(seconds)}")
    return f"{', '.join(parts)} in the middle one of the runs, whose times leave it out" if parts else ""


def _interval_text(series_summary: SeriesSummary) -> str:
    if series_summary.confidence is None:
        return ""
    whole_interval = _ends_text(series_summary.confidence)
    counted = series_summary.counted
    if counted is None or not counted.left_out or counted.confidence is None:
        return whole_interval
    runs = series_wording.all_runs_of(series_summary.series)
    without = series_wording.left_out_runs(counted)
    return f"{whole_interval} of {runs}; {_ends_text(counted.confidence)} without {without}"


def _ends_text(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{wording.whole(max(low, 0))} to {wording.whole(high)} bytes/sec"


def _left_out_text(series_summary: SeriesSummary) -> str:
    """The runs that the average leaves out, why, and how they are taken back in."""
    runs = [row.run for row in series_summary.rows if row.run.status is records.RunStatus.REJECTED]
    if not runs:
        return ""
    reasons = [f"run {run.number}: {wording.plain(run.reason or 'no reason given')}" for run in runs]
    return f"{'; '.join(reasons)} (Space in the guide's review, or `sharebench accept`, counts it again)"


def _smallest_change_text(series_summary: SeriesSummary, power: BasePower | None) -> str:
    """The smallest change that one more series shows: beside the whole baseline where it is one, else beside this."""
    if power is not None:
        base = "" if power.series == 1 else f", beside these {power.series},"
        size = verdict_wording.change_size(power.shows_percent)
        return f"{size}: one series after a change{base} shows as much nine times in ten."
    return by_one_more_series(series_summary.shown) if series_summary.shown else ""


def by_one_more_series(shown: shown_changes.Shown) -> str:
    """The smallest change that one more series shows, beside this one alone."""
    size = verdict_wording.change_size(shown.series_percent)
    return f"{size}: one series after a change shows as much nine times in ten."


def pairs_sentence(shown: shown_changes.Shown) -> str:
    """The smallest change that pairs of a trial show."""
    size = verdict_wording.change_size(shown.pairs_percent)
    return f"{shown_changes.PAIRS[0]} interleaved pairs show a change of {size}."


def processors_text(quiet: records.Quiet | None) -> str:
    """Processor use of the client during the runs; empty where unknown."""
    figures = quiet.figures if quiet else {}
    parts = []
    for word, name in (("user", "cpu_user_percent"), ("system", "cpu_system_percent"), ("total", "cpu_percent")):
        average = figures.get(f"{name}_during")
        median = figures.get(f"{name}_median_during")
        deviation = figures.get(f"{name}_deviation_during")
        if average is None or median is None:
            return ""
        varies = "" if deviation is None else f", deviation {deviation:.1f}"
        parts.append(f"{word} {average:.1f} % (median {median:.1f}{varies})")
    return f"{', '.join(parts)} of this client's processors, during the runs"
