"""One server loaded from several machines in turn, on paper and as JSON."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from forms import layout, report, verdict_wording, wording
from forms.findings import legs
from forms.findings.report import finding_document
from forms.load import comparison, tables
from forms.load.document import quantiles
from forms.load.places import LoadPlace, LoadPlaces, rows_in_order
from forms.load.report import scenario_text
from forms.stats.decision import Verdict
from storage.load import records
from storage.records import Target, format_target

SCHEMA = "sharebench/load-places/1"


def load_places_report(summary: LoadPlaces, targets: tuple[Target, ...], scenario: records.Scenario) -> report.Report:
    answer = _answer(summary, targets)
    names = ", ".join(format_target(target, escaped=False) for target in targets)
    findings_by_host = {place.host: place.findings for place in summary.places}

    return report.Report(
        form="load places",
        title=f"From {wording.count(len(summary.places), 'machine')}: load {scenario.name}",
        name="Places",
        fields=report.fields_of(
            report.answer_field(answer),
            ("Target" if len(targets) == 1 else "Targets", wording.plain(names)),
            ("Scenario", scenario_text(scenario)),
            ("Loads", ", ".join(_load_texts(summary))),
            *((place.host, place.error, layout.Tone.BAD) for place in summary.places if place.error),
            ("Leftovers", "; ".join(_leftover_texts(summary))),
        ),
        tables=(_table(summary), *legs.findings_of_places(findings_by_host)),
        advice=tuple(_advice(summary)),
        document=partial(load_places_document, summary, targets, scenario, answer),
    )


def _load_texts(summary: LoadPlaces) -> Iterator[str]:
    for place in summary.places:
        if place.load is not None:
            yield f"{place.host} {place.load.id}"


def _leftover_texts(summary: LoadPlaces) -> Iterator[str]:
    """Several machines may have used one folder that was kept."""
    hosts_by_folder: dict[str, list[str]] = {}
    for place in summary.places:
        if place.load is not None and place.load.scratch_folder:
            hosts_by_folder.setdefault(place.load.scratch_folder, []).append(place.host)
    for folder, hosts in hosts_by_folder.items():
        yield f"{folder} (from {wording.listed(hosts)}) may still be there: delete it"


def _answer(summary: LoadPlaces, targets: tuple[Target, ...]) -> str:
    """Which machine is slow, by how much and on which leg; or that none is shown to be."""
    measured = [place for place in summary.places if place.valid_points]
    if not measured:
        return "No machine measured anything that can be judged."
    if len(measured) == 1:
        (only_place,) = measured
        point = max(only_place.valid_points.items())[1]
        others_measured = any(place.load for place in summary.places if place is not only_place)
        if others_measured:
            return f"Only what {only_place.host} measured can be judged: {_rate_text(point)}."
        return f"Measured from {only_place.host} alone: {_rate_text(point)}."

    slowest = summary.slowest
    if slowest is not None:
        return _slow_text(summary, slowest)
    likely_slowest = summary.likely_slowest
    if likely_slowest is not None:
        return _likely_text(summary, likely_slowest)
    return _undecided_text(summary, measured, targets)


def _slow_text(summary: LoadPlaces, place: LoadPlace) -> str:
    pair = summary.slower_pair(place)
    fastest = summary.fastest
    assert pair is not None
    assert fastest is not None
    decision = pair.decision
    clause = verdict_wording.verdict_sentence(
        decision.verdict, decision.change_percent or 0.0, decision.interval_percent
    )
    slower = f"{clause[:1].lower()}{clause[1:]}"
    return (
        f"From {place.host} it is slow: {_rate_text(pair.other)}, and {_limit_clause(summary, place, pair)}."
        f" Compared with {fastest.host} ({_requests_text(pair.base)}) it is {slower}."
    )


def _likely_text(summary: LoadPlaces, place: LoadPlace) -> str:
    pair = summary.likely_pair(place)
    fastest = summary.fastest
    assert pair is not None
    assert fastest is not None
    return (
        f"From {place.host} it is probably slow: {_rate_text(pair.other)} ({_requests_text(pair.base)} from"
        f" {fastest.host}), and {_limit_clause(summary, place, pair)}. {_TO_BE_SURE}"
    )


_TO_BE_SURE = "To be sure, measure longer (--duration)."


def _limit_clause(summary: LoadPlaces, place: LoadPlace, pair: comparison.UsersPair) -> str:
    leg = summary.leg_at(place, pair.other)
    return legs.LEG_TEXTS[leg] if leg else "what limits it is not known"


def _undecided_text(summary: LoadPlaces, measured: list[LoadPlace], targets: tuple[Target, ...]) -> str:
    key = summary.compared_key
    if key is None:
        return "The machines have no number of users in common that could be judged: none can be compared."

    points = [place.valid_points[key] for place in measured]
    rates = [point.requests_per_second or 0.0 for point in points]
    range_text = f"{min(rates):,.1f} to {max(rates):,.1f} requests/s with {tables.users_text(points[0])}"
    if not summary.are_alike:
        return f"No machine is shown to be slower than another: {range_text}. {_TO_BE_SURE}"
    if targets[0].abilities.is_local:
        return f"No machine is slower than another: {range_text}."
    return (
        f"No machine is slower than another: {range_text}. What limits them, if anything does, is what they share,"
        " such as the server."
    )


def _rate_text(point: records.LoadPoint) -> str:
    return f"{_requests_text(point)} with {tables.users_text(point)}"


def _requests_text(point: records.LoadPoint) -> str:
    return f"{point.requests_per_second or 0.0:,.1f} requests/s"


def _table(summary: LoadPlaces) -> report.Table:
    columns = report.columns_of(
        "From",
        "Users",
        ("Requests/s", report.ReportKind.DECIMAL),
        "Than the fastest",
        ("p50 ms", report.ReportKind.DECIMAL),
        ("p95 ms", report.ReportKind.DECIMAL),
        ("Round trip (ms)", report.ReportKind.MILLISECONDS),
        ("% of link", report.ReportKind.DECIMAL),
        ("Errors", report.ReportKind.WHOLE),
        "Limit",
    )
    rows = [_row(summary, place, point) for place, point in rows_in_order(summary.places)]

    unmeasured_hosts = [place.host for place in summary.places if place.load is None or not place.load.points]
    nothing = [None] * (len(columns) - 2)
    rows += [report.row_of(host, *nothing, "not measured") for host in unmeasured_hosts]

    return report.Table(
        columns=columns,
        rows=tuple(rows),
        caption="Times are from when a request was due until it was answered (p95: 95 of 100 took no longer)",
    )


def _row(summary: LoadPlaces, place: LoadPlace, point: records.LoadPoint) -> report.Row:
    round_trip = place.round_trip_seconds
    return report.row_of(
        place.host,
        tables.point_name(point),
        point.requests_per_second,
        _verdict_text(summary.pair_at(place, point)),
        comparison.milliseconds(point.response, 0.5),
        comparison.milliseconds(point.response, 0.95),
        None if round_trip is None else 1000 * round_trip,
        place.percent_of_link(point),
        sum(point.errors.values()),
        _limit_text(summary, place, point),
    )


def _verdict_text(pair: comparison.UsersPair | None) -> str:
    """Empty for the fastest itself, and where nothing is shown."""
    if pair is None:
        return ""
    decision = pair.decision
    if decision.verdict is Verdict.UNKNOWN:
        return f"probably {decision.leaning.value}" if decision.leaning else ""
    return "alike" if decision.verdict is Verdict.SAME else decision.verdict.value


def _limit_text(summary: LoadPlaces, place: LoadPlace, point: records.LoadPoint) -> str:
    if point.status is records.PointStatus.FAILED:
        return "failed"
    leg = summary.leg_at(place, point)
    return leg.value if leg else ""


def _advice(summary: LoadPlaces) -> Iterator[str]:
    """Why points are not judged."""
    for place, point in rows_in_order(summary.places):
        if point.status is not records.PointStatus.VALID:
            yield f"From {place.host}, {tables.users_text(point)}: {point.reason or point.status.value}"


def load_places_document(
    summary: LoadPlaces, targets: tuple[Target, ...], scenario: records.Scenario, answer: str
) -> dict[str, Any]:
    slowest = summary.slowest
    return {
        "schema": SCHEMA,
        "targets": [format_target(target) for target in targets],
        "scenario": scenario.to_json(),
        "answer": answer,
        "slow_leg": slowest.host if slowest else None,
        "fastest": summary.fastest.host if summary.fastest else None,
        "places": [_place_document(summary, place) for place in summary.places],
    }


def _place_document(summary: LoadPlaces, place: LoadPlace) -> dict[str, Any]:
    """What was not measured is null."""
    load = place.load
    slower_pair = summary.slower_pair(place)
    leg = summary.leg_at(place, slower_pair.other) if slower_pair else None
    return {
        "from": place.host,
        "load_id": load.id if load else None,
        "error": place.error or None,
        "round_trip_seconds": place.round_trip_seconds,
        "link_bits_per_second": load.link_bits_per_second if load else None,
        "verdict": Verdict.SLOWER.value if slower_pair else None,
        "limit": leg.value if leg else None,
        "points": [_point_document(summary, place, point) for point in (load.points if load else ())],
        "findings": [finding_document(finding) for finding in place.findings],
    }


def _point_document(summary: LoadPlaces, place: LoadPlace, point: records.LoadPoint) -> dict[str, Any]:
    pair = summary.pair_at(place, point)
    leg = summary.leg_at(place, point)
    return {
        "users": point.users,
        "size_bytes": point.size_bytes,
        "status": point.status.value,
        "reason": point.reason,
        "requests_per_second": point.requests_per_second,
        "response_seconds": quantiles(point.response),
        "percent_of_link": place.percent_of_link(point),
        "errors": sum(point.errors.values()),
        "limit": leg.value if leg else None,
        "verdict": pair.decision.verdict.value if pair else None,
        "probably": pair.decision.leaning.value if pair and pair.decision.leaning else None,
        "change_percent": pair.change_percent if pair else None,
        "interval_percent": pair.decision.interval_percent if pair else None,
    }
