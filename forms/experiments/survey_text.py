"""The survey as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from forms import layout, wording
from forms.comparison.matrix_text import table_b1_text
from forms.experiments.survey import Station, StationState, Survey
from forms.findings.report import findings_text

WIDTH = 80


def survey_text(filled: Survey, width: int = WIDTH) -> str:
    """Table, what is missing and why, findings, and the one thing to look at first."""
    lines = [wording.plain(filled.name).capitalize(), ""]
    places = dict.fromkeys((station.host, station.place) for station in filled.stations)
    for host, place in places:
        lines += _wrapped(f"{wording.plain(host)} is {_PLACES[place.value]}.", width)
    if filled.table.rows:
        lines += ["", *table_b1_text(filled.table, width).splitlines()]
    missing = _missing(filled.stations)
    if missing:
        lines += ["", *(line for text in missing for line in _wrapped(text, width))]
    lines += ["", "Findings", *findings_text(filled.findings, width).splitlines()]
    lines += ["", "Look at this first", *_wrapped(filled.next_step, width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


_PLACES = {
    "loopback": "this machine's loopback",
    "own address": "this machine by its own address",
    "network": "over the network",
}


def _missing(stations: Sequence[Station]) -> list[str]:
    """A sentence for all stations of one place and protocol that are not done for the same reason."""
    groups: dict[tuple[str, str, str], list[Station]] = {}
    for station in stations:
        if station.state is not StationState.DONE:
            groups.setdefault((station.state, station.name.rpartition(" ")[0], station.why), []).append(station)
    return [
        f"{state}: {name} {wording.listed([str(station.command) for station in group])}{f': {why}' if why else ''}"
        for (state, name, why), group in groups.items()
    ]


def _wrapped(text: str, width: int) -> list[str]:
    return layout.hanging(text, width)
