"""Quick tests of one target from several machines: which of them is slower than the fastest, at which lines, and why.

Each is compared with the fastest line by line, as two quick tests are (`forms.quick.comparison`); the chance that any
of all these verdicts is wrong is that of one comparison. What limits a line of a machine is told by its *leg* of the
path (`forms.findings.legs`), where the limit lies there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from forms.findings.legs import Leg
from forms.quick.comparison import QuickComparison, QuickPair, compare_quick_tests
from forms.quick.limits import LineLimit, round_trip_seconds
from forms.quick.summary import LineFigures, quick_figures
from forms.stats.decision import Limits, Verdict
from forms.stats.summary import mean
from storage.quick.records import Access, Quick
from storage.records import Command

LEG_OF_LIMIT: Mapping[LineLimit, Leg] = {
    LineLimit.LINK: Leg.LINK,
    LineLimit.ROUND_TRIP: Leg.DISTANCE,
    LineLimit.PATH: Leg.DISTANCE,
    LineLimit.CLIENT: Leg.CLIENT,
}
"""What limits a line on the leg of its machine; the server is no leg."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickPlace:
    """What one machine measured."""

    host: str
    """As it was named for ssh."""
    quick: Quick | None = None
    """None where nothing was recorded."""
    error: str = ""
    """Why it measured nothing, or ended early; empty where it did not."""
    figures: tuple[LineFigures, ...] = ()

    @property
    def round_trip_seconds(self) -> float | None:
        return round_trip_seconds(self.quick) if self.quick is not None else None

    @property
    def percent_of_link(self) -> float | None:
        """Of its fastest line."""
        percents = [figures.percent_of_link for figures in self.figures if figures.percent_of_link is not None]
        return max(percents, default=None)

    @property
    def link_bits_per_second(self) -> float | None:
        return self.quick.link_bits_per_second if self.quick is not None else None

    def figures_of_access(self, access: Access, command: Command) -> LineFigures | None:
        of_lines = (figures for figures in self.figures if figures.line.command is command)
        return next((figures for figures in of_lines if figures.line.access == access), None)

    def figures_of(self, name: str) -> LineFigures | None:
        """Those of the line of that name, as people quote it."""
        return next((figures for figures in self.figures if figures.line.quoted_name == name), None)

    def leg_of(self, figures: LineFigures) -> Leg | None:
        """What limits a line of this machine on its leg; None where that is in doubt, or the limit is no leg."""
        if figures.limit is None or figures.is_limit_doubtful:
            return None
        return LEG_OF_LIMIT.get(figures.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickPlaces:
    """All machines in the order in which they were named."""

    places: tuple[QuickPlace, ...]
    fastest: QuickPlace | None = None
    """Over all lines; None where nothing was measured."""
    comparisons: Mapping[str, QuickComparison] = field(default_factory=dict)
    """Of each other machine with the fastest, by its host."""

    @property
    def measured(self) -> list[QuickPlace]:
        return [place for place in self.places if place.figures]

    def slower_lines(self, place: QuickPlace) -> list[QuickPair]:
        """The lines at which it is shown to be slower than the fastest."""
        comparison = self.comparisons.get(place.host)
        return comparison.pairs_of(Verdict.SLOWER) if comparison is not None else []

    def slower_figures(self, place: QuickPlace) -> list[LineFigures]:
        """What it measured of these lines."""
        names = {pair.name for pair in self.slower_lines(place)}
        return [figures for figures in place.figures if figures.line.quoted_name in names]

    @property
    def slow(self) -> list[QuickPlace]:
        """Those that are slower at any line, the slowest first."""
        slow_places = [place for place in self.places if self.slower_lines(place)]
        return sorted(slow_places, key=self._log_rate_of_slower_lines)

    def _log_rate_of_slower_lines(self, place: QuickPlace) -> float:
        """The sum over these lines, each beside the fastest: the lower, the slower."""
        changes = [pair.decision.change_percent or 0.0 for pair in self.slower_lines(place)]
        return sum(math.log1p(max(percent, -99.999) / 100) for percent in changes)


def quick_places(outcomes: Sequence[tuple[str, Quick | None, str]]) -> QuickPlaces:
    """Of each machine its host, its quick test, and why it measured nothing or ended early (empty where it did not)."""
    places = []
    for host, quick, error in outcomes:
        figures = tuple(quick_figures(quick)) if quick is not None else ()
        places.append(QuickPlace(host=host, quick=quick, error=error, figures=figures))

    summary = QuickPlaces(places=tuple(places))
    fastest = _fastest(summary.measured)
    others = [place for place in summary.measured if place is not fastest]
    if fastest is None or fastest.quick is None:
        return summary

    limits = Limits()
    limits_together = replace(limits, alpha=limits.alpha / max(1, len(others)))
    comparisons = {}
    for place in others:
        if place.quick is not None:
            comparisons[place.host] = compare_quick_tests(fastest.quick, place.quick, limits=limits_together)
    return replace(summary, fastest=fastest, comparisons=comparisons)


def _fastest(measured: Sequence[QuickPlace]) -> QuickPlace | None:
    """The one with the highest rate on average over the lines that all of them measured; None without any."""
    names_by_place = [{figures.line.quoted_name for figures in place.figures} for place in measured]
    shared_names = set.intersection(*names_by_place) if names_by_place else set()

    def log_rate(place: QuickPlace) -> float:
        shared = [figures for figures in place.figures if figures.line.quoted_name in shared_names]
        return mean([math.log(figures.bytes_per_second) for figures in shared]) or 0.0

    return max(measured, key=log_rate, default=None)
