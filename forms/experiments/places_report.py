"""One target measured from several machines, on paper and as JSON."""

from functools import partial
from typing import Any

from forms import report, verdict_wording, wording
from forms.experiments.places import PlacesSummary, PlaceSummary
from forms.findings.legs import LEG_TEXTS, findings_of_places
from forms.findings.report import finding_document
from forms.layout import Tone
from forms.stats.decision import Verdict
from storage.records import Target, format_target

SCHEMA = "sharebench/places/1"


def places_report(summary: PlacesSummary, target: Target) -> report.Report:
    answer = _answer(summary)
    findings_by_host = {place.host: place.findings for place in summary.places}
    return report.Report(
        form="places",
        title=f"From {wording.count(len(summary.places), 'machine')}: {format_target(target)}",
        name="Places",
        fields=report.fields_of(
            report.answer_field(answer, Tone.PLAIN),
            ("Target", format_target(target, escaped=False)),
            *((place.host, place.error, Tone.BAD) for place in summary.places if place.error),
        ),
        tables=(_table(summary), *findings_of_places(findings_by_host)),
        document=partial(places_document, summary, target, answer),
    )


def _answer(summary: PlacesSummary) -> str:
    """Which leg is slow, or that none is known to be."""
    fastest = summary.fastest
    slowest = summary.slowest
    if fastest is None:
        return "No machine measured anything."
    if slowest is None:
        return f"Measured from {fastest.host} alone: {wording.byte_rate(fastest.bytes_per_second)}."

    compared = summary.comparison_of(slowest)
    verdict = summary.verdict_on(slowest)
    if compared is None or verdict is not Verdict.SLOWER:
        rates = f"{wording.byte_rate(slowest.bytes_per_second)} to {wording.byte_rate(fastest.bytes_per_second)}"
        return f"No machine is shown to be slower than another: {rates}."

    comparison = compared.comparison
    clause = verdict_wording.verdict_sentence(verdict, comparison.change_percent or 0.0, comparison.interval_percent)
    slower = f"{clause[:1].lower()}{clause[1:]}"
    limit = LEG_TEXTS[slowest.leg] if slowest.leg else "what limits it is not known"
    return (
        f"From {slowest.host} it is slow: {wording.byte_rate(slowest.bytes_per_second)}, and {limit}."
        f" Compared with {fastest.host} it is {slower}."
    )


def _table(summary: PlacesSummary) -> report.Table:
    columns = report.columns_of(
        "From",
        ("Bytes/sec", report.ReportKind.WHOLE),
        ("± 95 %", report.ReportKind.WHOLE),
        ("Round trip (ms)", report.ReportKind.DECIMAL),
        ("Link (bits/sec)", report.ReportKind.WHOLE),
        ("% of link", report.ReportKind.PERCENT),
        "Limit",
    )
    return report.Table(columns=columns, rows=tuple(_row(place) for place in summary.places))


def _row(place: PlaceSummary) -> report.Row:
    half_width = None
    if place.measured is not None and place.measured.confidence is not None:
        low, high = place.measured.confidence
        half_width = (high - low) / 2
    round_trip = place.round_trip_seconds
    milliseconds = 1000 * round_trip if round_trip is not None else None
    link = place.series.link_bits_per_second if place.series else None
    limit = LEG_TEXTS[place.leg] if place.leg else ""
    if place.measured is None:
        limit = "not measured"
    return report.row_of(
        place.host, place.bytes_per_second, half_width, milliseconds, link, place.percent_of_link, limit
    )


def places_document(summary: PlacesSummary, target: Target, answer: str) -> dict[str, Any]:
    slowest = summary.slowest
    is_slower = slowest is not None and summary.verdict_on(slowest) is Verdict.SLOWER
    return {
        "schema": SCHEMA,
        "target": format_target(target),
        "answer": answer,
        "slow_leg": slowest.host if slowest is not None and is_slower else None,
        "places": [_place_document(summary, place) for place in summary.places],
    }


def _place_document(summary: PlacesSummary, place: PlaceSummary) -> dict[str, Any]:
    """What was not measured is null."""
    series = place.series
    low, high = (place.measured.confidence if place.measured else None) or (None, None)
    compared = summary.comparison_of(place)
    verdict = summary.verdict_on(place)

    return {
        "from": place.host,
        "series_id": series.id if series else None,
        "error": place.error or None,
        "average_bytes_per_second": place.bytes_per_second,
        "low_bytes_per_second": low,
        "high_bytes_per_second": high,
        "round_trip_seconds": place.round_trip_seconds,
        "link_bits_per_second": series.link_bits_per_second if series else None,
        "percent_of_link": place.percent_of_link,
        "limit": place.leg.value if place.leg else None,
        "verdict": verdict.value if verdict else None,
        "change_percent": compared.comparison.change_percent if compared else None,
        "findings": [finding_document(finding) for finding in place.findings],
    }
