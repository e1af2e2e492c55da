"""The survey of a server on paper and as JSON."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from forms import wording
from forms.comparison.matrix_report import matrix_chart, matrix_table
from forms.experiments.survey import Station, StationPlace, StationState, Survey
from forms.findings.report import finding_document, findings_table
from forms.findings.rules_series import BUSY
from forms.report import Field, Report, answer_field
from forms.series.origin import origin_fields
from forms.stats.summary import mean
from storage.json_reader import named

SCHEMA = "sharebench/survey/1"

_PLACE_TEXTS = {
    StationPlace.LOOPBACK: "this machine's loopback",
    StationPlace.OWN_ADDRESS: "this machine by its own address",
    StationPlace.NETWORK: "over the network",
}


def survey_report(survey: Survey) -> Report:
    places = dict.fromkeys((station.host, station.place) for station in survey.stations)
    measured = [station.series for station in survey.stations if station.series]
    tables = [matrix_table(survey.table)] if survey.table.rows else []

    return Report(
        form="survey",
        title=survey.name.capitalize(),
        name=survey.name,
        fields=(
            answer_field(next_step_sentence(survey)),
            *(Field(name=host, text=_PLACE_TEXTS[place]) for host, place in places),
            *origin_fields(measured, with_findings=True),
        ),
        drawn=(matrix_chart(survey.table),),
        tables=(*tables, findings_table(survey.findings)),
        results=tuple(_missing_fields(survey.stations)),
        document=partial(survey_document, survey),
    )


def next_step_sentence(survey: Survey) -> str:
    """What was found, and what to do first."""
    if not any(station.state is StationState.DONE for station in survey.stations):
        return "Nothing measured yet."

    share = survey.least_wire_share
    if survey.first is not None:
        sentence = f"{survey.first.title}. {survey.first.what_to_do}"
        # A busy time matters less where the network was filled all the same.
        is_full_though_busy = survey.first.key == BUSY and share is not None and share.is_full
        return f"{_no_problems_sentence(survey)} {sentence}" if is_full_though_busy else sentence
    if not survey.complete:
        return "No problems found so far: run the same survey again to complete it."
    return f"{_no_problems_sentence(survey)} Keep the best series as a baseline, to see when that changes."


def _no_problems_sentence(survey: Survey) -> str:
    share = survey.least_wire_share
    if share is None:
        return "No problems found."
    text = f"{share.label} is {wording.percent(share.percent)} of bare TCP:"
    return f"{text} the network is the limit, no problems found." if share.is_full else f"{text} no problems found."


def _missing_fields(stations: Sequence[Station]) -> Iterator[Field]:
    """What was not measured, and why: a line for both directions where that is the same."""
    groups: dict[tuple[StationState, str, str], list[Station]] = {}
    for station in stations:
        if station.state is not StationState.DONE:
            groups.setdefault((station.state, station.side, station.why), []).append(station)

    for (state, side, reason), group in groups.items():
        commands = wording.listed([str(station.command) for station in group])
        yield Field(name=f"{side} {commands}", text=f"{state}: {reason}" if reason else str(state))


def survey_document(survey: Survey) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **named(survey, "name", "complete"),
        "stations": [_station_document(station) for station in survey.stations],
        "findings": [finding_document(finding) for finding in survey.findings],
        "first": survey.first.key if survey.first else None,
        "next_step": next_step_sentence(survey),
    }


def _station_document(station: Station) -> dict[str, Any]:
    return {
        **named(station, "place", "host", "protocol", "command", "state"),
        "why": station.why or None,
        "series": station.series.id if station.series else None,
        "bytes_per_second": mean(station.series.rates()) if station.series else None,
    }
