"""Diagnoses of one share from several machines: which of them is slower than the fastest, at what, and why.

Two machines are compared figure by figure, as two diagnoses are (`forms.diagnosis.figure_changes`). What limits a
machine is told by its *leg* of the path (`forms.findings.legs`): of large files by its link, its client and what was
found; of what waits for each request, such as small files, by how much farther it is than the fastest.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from forms.diagnosis import figure_changes
from forms.diagnosis.chosen_complaint import chosen_complaint
from forms.diagnosis.figures import WINDOW_QUESTIONS, Figure, figures
from forms.diagnosis.judgement import is_burst
from forms.diagnosis.rules import complaints
from forms.findings import legs
from forms.findings.finding import Finding
from forms.findings.series_warnings import CEILING_PERCENT
from forms.layout import Sign
from storage.looks import Diagnosis
from storage.records import percent_of_link

READING = ("as_it_is", "most_in_flight")
"""How fast a large file is read: the first of these figures that was measured."""
_WRITING = ("whole",)
SAVED = "put_file"
READ = "get_file"
"""The figures of a small file."""

_DISTANCE_SHARE = 0.5
"""Of the time that a machine takes longer: from this share on, which its requests take on the way, distance is why."""
_ROUND_TRIPS: Mapping[str, int] = {
    SAVED: 3,
    READ: 3,
    "later_connect": 5,
    "first_connect": 5,
    "ask": 2,
    "missing": 1,
    **dict.fromkeys(WINDOW_QUESTIONS, 1),
}
"""Of a figure: how many of its requests wait for one another, at least."""

_COMPARED = (
    READING,
    (SAVED, READ),
    ("later_connect", "first_connect"),
    ("entries", "ask", "missing"),
    tuple(WINDOW_QUESTIONS),
)
"""The figures by which machines are told apart, in groups of which one is told."""

_NOT_BY_BUSY_CLIENT = frozenset({legs.Leg.LINK, legs.Leg.DISTANCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisPlace:
    """What one machine measured."""

    host: str
    """As it was named for ssh."""
    diagnosis: Diagnosis | None = None
    """None where nothing was recorded."""
    error: str = ""
    """Why it measured nothing, or ended early; empty where it did not."""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    """By key."""
    findings: tuple[Finding, ...] = ()

    @property
    def wrong(self) -> list[Finding]:
        """The findings that are worth a complaint, the costliest first."""
        return [finding for finding in self.findings if finding.is_wrong]

    @property
    def round_trip_seconds(self) -> float | None:
        return self._value_of(("round_trip",))

    @property
    def read_bytes_per_second(self) -> float | None:
        """Of a large file."""
        return self._value_of(READING)

    @property
    def written_bytes_per_second(self) -> float | None:
        """Of a large file."""
        return self._value_of(_WRITING)

    def files_per_second(self, key: str) -> float | None:
        """Small files that one user saves or reads in a second."""
        seconds = self._value_of((key,))
        return 1 / seconds if seconds else None

    def _value_of(self, keys: Sequence[str]) -> float | None:
        figure = self._first_of(keys)
        return figure.value if figure is not None else None

    def _first_of(self, keys: Sequence[str]) -> Figure | None:
        """The first of these figures that was measured."""
        return next((self.figures[key] for key in keys if key in self.figures), None)

    @property
    def link_bits_per_second(self) -> float | None:
        """None where its speed is unknown, or nothing crosses it."""
        if self.diagnosis is None or self.diagnosis.loopback:
            return None
        return self.diagnosis.link_bits_per_second

    @property
    def percent_of_link(self) -> float | None:
        """By the faster of reading and writing a large file."""
        percents = [self._percent_of(READING), self._percent_of(_WRITING)]
        return max((percent for percent in percents if percent is not None), default=None)

    def _percent_of(self, keys: Sequence[str]) -> float | None:
        """Of the link, by the first of these figures; a burst says nothing."""
        figure = self._first_of(keys)
        link = self.link_bits_per_second
        if figure is None or not link or self.diagnosis is None or is_burst(figure, self.diagnosis):
            return None
        return percent_of_link(figure.value, round(link))

    @property
    def leg(self) -> legs.Leg | None:
        """What limits the reading of a large file on its own leg, or its writing where that alone was measured.

        None where that is not known, or is on what all share.
        """
        keys = READING if self._first_of(READING) is not None else _WRITING
        if legs.fills_link(self._percent_of(keys), None):
            return legs.Leg.LINK
        return legs.leg_of_findings(self.wrong) or (legs.Leg.CLIENT if self._is_at_ceiling else None)

    @property
    def _is_at_ceiling(self) -> bool:
        ceiling = self.diagnosis.ceiling_bytes_per_second if self.diagnosis is not None else None
        rate = self.read_bytes_per_second
        return bool(ceiling and rate) and 100 * (rate or 0.0) > CEILING_PERCENT * (ceiling or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisPlaces:
    """All machines in the order in which they were named."""

    places: tuple[DiagnosisPlace, ...]
    fastest: DiagnosisPlace | None = None
    """The one that is slower than others at the fewest figures; None where nothing was measured."""
    slower: Mapping[str, tuple[figure_changes.FigurePair, ...]] = field(default_factory=dict)
    """By the host of each other machine: what is certainly slower there than from the fastest."""
    busy_hosts: frozenset[str] = frozenset()
    """Where something is slower that other work of that machine may explain."""

    @property
    def measured(self) -> list[DiagnosisPlace]:
        return [place for place in self.places if place.figures]

    @property
    def slow(self) -> list[DiagnosisPlace]:
        """Those that are slower at anything, the slowest first."""
        slow_places = [place for place in self.places if self.slower_pairs(place)]
        return sorted(slow_places, key=self._log_of_times)

    def slower_pairs(self, place: DiagnosisPlace) -> tuple[figure_changes.FigurePair, ...]:
        return self.slower.get(place.host, ())

    def told_pairs(self, place: DiagnosisPlace) -> list[figure_changes.FigurePair]:
        """Of what is slower there, one figure of each group; that of the complaint first."""
        pair_by_key = {pair.known_figure.key: pair for pair in self.slower_pairs(place)}
        first_pairs: list[figure_changes.FigurePair] = []
        for group in _COMPARED:
            first_pairs += [pair_by_key[key] for key in group if key in pair_by_key][:1]

        complaint = chosen_complaint(place.diagnosis) if place.diagnosis is not None else None
        of_complaint = [pair for pair in first_pairs if pair.known_figure.stage is complaint]
        return [*of_complaint, *(pair for pair in first_pairs if pair not in of_complaint)]

    def is_slower_at(self, place: DiagnosisPlace, *keys: str) -> bool:
        return any(pair.known_figure.key in keys for pair in self.slower_pairs(place))

    def _log_of_times(self, place: DiagnosisPlace) -> float:
        """Over what is slower: the lower, the slower."""
        changes = [pair.change for pair in self.slower_pairs(place)]
        return sum(math.log(change.times) for change in changes if change is not None)

    def leg_of(self, place: DiagnosisPlace, pair: figure_changes.FigurePair) -> legs.Leg | None:
        """Why that figure is slower there, on the leg of that machine; None where nobody knows."""
        return _leg_of(self.fastest, place, pair) if self.fastest is not None else None

    @property
    def too_busy(self) -> list[DiagnosisPlace]:
        """Those of which nobody knows whether they are slower, because they were busy with other work."""
        return [place for place in self.places if place.host in self.busy_hosts]

    @property
    def shared_findings(self) -> list[Finding]:
        """What is wrong from each machine that measured, where there are several: it is what all of them share."""
        if len(self.measured) < 2:
            return []
        first, *others = self.measured
        shared_keys = {finding.key for finding in first.wrong}
        for place in others:
            shared_keys &= {finding.key for finding in place.wrong}
        return [finding for finding in first.wrong if finding.key in shared_keys]


def diagnosis_places(outcomes: Sequence[tuple[str, Diagnosis | None, str]]) -> DiagnosisPlaces:
    """Of each machine its host, its diagnosis, and why it measured nothing or ended early (empty where it did not)."""
    summary = DiagnosisPlaces(places=tuple(_place_of(*outcome) for outcome in outcomes))
    measured = summary.measured
    if not measured:
        return summary

    def count_slower(place: DiagnosisPlace) -> int:
        return sum(len(_slower_pairs(base, place)) for base in measured if base is not place)

    fastest = min(measured, key=count_slower)
    slower = {}
    busy_hosts = set()
    for place in measured:
        if place is fastest:
            continue
        pairs = _slower_pairs(fastest, place)
        certain_pairs = tuple(pair for pair in pairs if _is_certain(fastest, place, pair))
        slower[place.host] = certain_pairs
        if pairs and not certain_pairs:
            busy_hosts.add(place.host)
    return replace(summary, fastest=fastest, slower=slower, busy_hosts=frozenset(busy_hosts))


def _place_of(host: str, diagnosis: Diagnosis | None, error: str) -> DiagnosisPlace:
    if diagnosis is None:
        return DiagnosisPlace(host=host, error=error)
    return DiagnosisPlace(
        host=host,
        diagnosis=diagnosis,
        error=error,
        figures={figure.key: figure for figure in figures(diagnosis)},
        findings=tuple(complaints(diagnosis)),
    )


def _slower_pairs(base: DiagnosisPlace, other: DiagnosisPlace) -> list[figure_changes.FigurePair]:
    """What is slower from the other one by more than it varied, whether it was busy or not: see `_is_certain`."""
    if base.diagnosis is None or other.diagnosis is None:
        return []

    pairs = []
    for pair in figure_changes.figure_pairs(base.diagnosis, other.diagnosis):
        sign = replace(pair, was_client_busy=False).sign
        if sign is Sign.SLOWER and pair.known_figure.key in chain.from_iterable(_COMPARED):
            pairs.append(pair)
    return pairs


def _is_certain(base: DiagnosisPlace, place: DiagnosisPlace, pair: figure_changes.FigurePair) -> bool:
    """Whether it is slower for certain: other work of that machine explains neither a full link nor a distance."""
    return not pair.was_client_busy or _leg_of(base, place, pair) in _NOT_BY_BUSY_CLIENT


def _leg_of(base: DiagnosisPlace, place: DiagnosisPlace, pair: figure_changes.FigurePair) -> legs.Leg | None:
    if pair.known_figure.key in READING:
        return place.leg
    return legs.Leg.DISTANCE if _is_by_distance(base, place, pair) else legs.leg_of_findings(place.wrong)


def _is_by_distance(base: DiagnosisPlace, place: DiagnosisPlace, pair: figure_changes.FigurePair) -> bool:
    """Whether the longer way of its requests takes most of the time that it takes longer."""
    requests = _ROUND_TRIPS.get(pair.known_figure.key)
    base_way = base.round_trip_seconds
    way = place.round_trip_seconds
    if requests is None or base_way is None or way is None or pair.base is None or pair.other is None:
        return False
    longer_seconds = pair.other.value - pair.base.value
    return requests * (way - base_way) >= _DISTANCE_SHARE * longer_seconds
