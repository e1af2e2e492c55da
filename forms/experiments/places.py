"""One target measured from several machines, interleaved: how far each is, what it reaches, and which leg is slow.

Its leg of the path is that of `forms.findings.legs`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from forms.comparison.judged_sides import Sides
from forms.comparison.summary import ComparisonSummary, comparisons
from forms.findings import path
from forms.findings.finding import Finding
from forms.findings.legs import Leg, fills_link, leg_of_findings
from forms.findings.rules_series import series_findings
from forms.series.summary import SeriesSummary, run_form
from forms.stats.decision import Verdict
from storage.records import Series, percent_of_link


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceSummary:
    """What one machine measured."""

    host: str
    """As it was named for ssh."""
    measured: SeriesSummary | None = None
    """None where it measured nothing."""
    error: str = ""
    """Why it measured nothing, or ended early; empty where it did not."""

    @property
    def series(self) -> Series | None:
        return self.measured.series if self.measured else None

    @property
    def bytes_per_second(self) -> float | None:
        return self.measured.average_rate if self.measured else None

    @property
    def round_trip_seconds(self) -> float | None:
        return path.round_trip_seconds(self.series) if self.series else None

    @property
    def percent_of_link(self) -> float | None:
        return percent_of_link(self.bytes_per_second, self.series.link_bits_per_second) if self.series else None

    @property
    def findings(self) -> list[Finding]:
        return series_findings(self.series) if self.series else []

    @property
    def leg(self) -> Leg | None:
        """What limits it on its own leg; None where that is not known, or is on what all share."""
        if self.series is None or self.bytes_per_second is None:
            return None
        if fills_link(self.percent_of_link, path.known_payload_share(self.series)):
            return Leg.LINK
        return leg_of_findings(self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesSummary:
    """All machines in the order in which they were named."""

    places: tuple[PlaceSummary, ...]
    comparisons: tuple[ComparisonSummary, ...] = ()
    """Of each machine that measured with the fastest; empty where fewer than two measured."""

    @property
    def measured(self) -> list[PlaceSummary]:
        """Those that measured something, the fastest first."""
        with_rate = [place for place in self.places if place.bytes_per_second]
        return sorted(with_rate, key=_rate_of, reverse=True)

    @property
    def fastest(self) -> PlaceSummary | None:
        return next(iter(self.measured), None)

    @property
    def slowest(self) -> PlaceSummary | None:
        return self.measured[-1] if len(self.measured) > 1 else None

    def verdict_on(self, place: PlaceSummary) -> Verdict | None:
        """Whether it is slower than the fastest; None for the fastest, and for one that measured nothing."""
        compared = self.comparison_of(place)
        return compared.comparison.verdict if compared else None

    def comparison_of(self, place: PlaceSummary) -> ComparisonSummary | None:
        for compared in self.comparisons:
            if place.series is not None and compared.comparison.other_id == place.series.id:
                return compared
        return None


def _rate_of(place: PlaceSummary) -> float:
    return place.bytes_per_second or 0.0


def places_summary(outcomes: Sequence[tuple[str, Series | None, str]]) -> PlacesSummary:
    """Of each machine its host, its series, and why it measured nothing or ended early (empty where it did not)."""
    places = []
    for host, series, error in outcomes:
        measured = run_form(series) if series is not None and series.runs else None
        places.append(PlaceSummary(host=host, measured=measured, error=error))

    summary = PlacesSummary(places=tuple(places))
    measured_series = [place.series for place in summary.measured if place.series is not None]
    if len(measured_series) < 2:
        return summary

    # Together, so that the chance that any of the verdicts is wrong is that of one.
    fastest, *others = measured_series
    compared = comparisons([Sides(base=(fastest,), other=(other,)) for other in others])
    return PlacesSummary(places=summary.places, comparisons=tuple(compared))
