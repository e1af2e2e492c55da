"""One server loaded from several machines in turn: what each of them reached, which of them is slow, and on which leg.

Each machine made a load of its own, with the same numbers of users. The *fastest* made the most requests/s with the
most users that all of them measured. Another is *slow* where the rule by which two loads are compared says that it is
slower with any number of users, and faster with none. Its leg of the path is that of `forms.findings.legs`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from forms.findings import legs
from forms.findings.finding import Finding
from forms.findings.legs import Leg
from forms.load import path
from forms.load.comparison import LoadComparison, PointKey, UsersPair, compare_with_base, point_key
from forms.load.summary import percentile_seconds
from forms.stats.decision import Verdict
from storage.load.records import Load, LoadPoint, PointStatus

MOST_EXCHANGES = 4
"""How often the quickest kind of request goes there and back at most: once where SMB sends it as one compound, three
times where it is opened, read and closed one by one, four times over FTP; a larger file takes TCP some times more."""

LEAST_FURTHER_SECONDS = 0.0005
"""Round trips that differ by less differ by the cards and the kernels, not by the distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlace:
    """What one machine measured."""

    host: str
    """As it was named for ssh."""
    load: Load | None = None
    """None where it measured nothing."""
    error: str = ""
    """Why it measured nothing, or ended early; empty where it did not."""

    @property
    def valid_points(self) -> dict[PointKey, LoadPoint]:
        points = self.load.valid_points() if self.load else ()
        return {point_key(point): point for point in points if point.requests_per_second}

    @property
    def round_trip_seconds(self) -> float | None:
        return path.round_trip_seconds(self.load) if self.load else None

    @property
    def findings(self) -> list[Finding]:
        return path.path_findings(self.load) if self.load else []

    def percent_of_link(self, point: LoadPoint) -> float | None:
        return path.point_percent_of_link(self.load, point) if self.load else None

    def has_full_link(self, point: LoadPoint) -> bool:
        """Whether its link is full at that point: as it is with more users once it was with fewer."""
        if self.load is None:
            return False
        payload_share = path.payload_share(self.load)
        points_up_to_it = [
            earlier
            for earlier in self.load.points
            if earlier.users <= point.users and earlier.size_bytes == point.size_bytes
        ]
        return any(legs.fills_link(self.percent_of_link(earlier), payload_share) for earlier in points_up_to_it)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlaces:
    """All machines in the order in which they were named."""

    places: tuple[LoadPlace, ...]
    comparisons: Mapping[str, LoadComparison] = field(default_factory=dict)
    """Of each other machine that measured with the fastest, by its host."""

    @property
    def compared_key(self) -> PointKey | None:
        """The most users that all machines measured that measured any; None where no number is common to them."""
        return common_key(self.places)

    @property
    def fastest(self) -> LoadPlace | None:
        return fastest_place(self.places)

    @property
    def slowest(self) -> LoadPlace | None:
        """The machine that is slower by most; None where none is shown to be slower."""
        return self._with_largest_change(self.slower_pair)

    @property
    def likely_slowest(self) -> LoadPlace | None:
        """The machine that is probably slower, by most of those; None where nothing leans that way."""
        return self._with_largest_change(self.likely_pair)

    def _with_largest_change(self, pair_of: Callable[[LoadPlace], UsersPair | None]) -> LoadPlace | None:
        """The machine whose pair of that kind has the largest change; None where none has one."""
        slowest = None
        largest_change = 0.0
        for place in self.places:
            pair = pair_of(place)
            if pair is not None and _change_of(pair) < largest_change:
                slowest = place
                largest_change = _change_of(pair)
        return slowest

    def slower_pair(self, place: LoadPlace) -> UsersPair | None:
        """The number of users with which a machine is slower by most; None for one that is not shown to be slower."""
        pairs = self.pairs_of(place)
        if any(pair.decision.verdict is Verdict.FASTER for pair in pairs):
            return None
        slower_pairs = [pair for pair in pairs if pair.decision.verdict is Verdict.SLOWER]
        return min(slower_pairs, key=_change_of, default=None)

    def likely_pair(self, place: LoadPlace) -> UsersPair | None:
        """The same for one that is probably slower, though that is not certain with any number of users."""
        pairs = self.pairs_of(place)
        if any(pair.decision.verdict in {Verdict.FASTER, Verdict.SLOWER} for pair in pairs):
            return None
        likely_pairs = [pair for pair in pairs if pair.decision.leaning is Verdict.SLOWER]
        return min(likely_pairs, key=_change_of, default=None)

    @property
    def are_alike(self) -> bool:
        """Whether it is certain that no machine differs from the fastest, with the most users that all measured."""
        key = self.compared_key
        verdicts = set()
        for comparison in self.comparisons.values():
            verdicts |= {pair.decision.verdict for pair in comparison.pairs if point_key(pair.other) == key}
        return verdicts == {Verdict.SAME}

    def pairs_of(self, place: LoadPlace) -> tuple[UsersPair, ...]:
        """Its points beside those of the fastest with as many users."""
        comparison = self.comparisons.get(place.host)
        return comparison.pairs if comparison else ()

    def pair_at(self, place: LoadPlace, point: LoadPoint) -> UsersPair | None:
        return next((pair for pair in self.pairs_of(place) if pair.other is point), None)

    def leg_at(self, place: LoadPlace, point: LoadPoint) -> Leg | None:
        """What limits a point on the machine's own leg; None where that is not known, or is on what all share."""
        if place.load is None:
            return None
        if point.status is PointStatus.GENERATOR:
            return Leg.CLIENT
        if place.has_full_link(point):
            return Leg.LINK

        leg = legs.leg_of_findings(place.findings)
        if leg is None and self._is_slow_by_distance(place, point):
            return Leg.DISTANCE
        return leg

    def _is_slow_by_distance(self, place: LoadPlace, point: LoadPoint) -> bool:
        """Whether requests take longer than from the fastest, and the longer way there and back explains it."""
        pair = self.pair_at(place, point)
        if pair is None or self.fastest is None:
            return False
        if Verdict.SLOWER not in {pair.decision.verdict, pair.decision.leaning}:
            return False

        here_seconds = place.round_trip_seconds
        fastest_seconds = self.fastest.round_trip_seconds
        if here_seconds is None or fastest_seconds is None:
            return False

        further_seconds = here_seconds - fastest_seconds
        longer_seconds = _quickest_seconds(pair.other) - _quickest_seconds(pair.base)
        return further_seconds >= LEAST_FURTHER_SECONDS and 0 < longer_seconds <= MOST_EXCHANGES * further_seconds


def _change_of(pair: UsersPair) -> float:
    return pair.change_percent or 0.0


def _quickest_seconds(point: LoadPoint) -> float:
    """The median of the kind of request that is answered soonest: other kinds go there and back more often."""
    medians = [percentile_seconds(times, 0.5) for times in (*point.operations.values(), point.service)]
    return min((seconds for seconds in medians if seconds is not None), default=0.0)


def common_key(places: Sequence[LoadPlace]) -> PointKey | None:
    """The most users, and the size of their files, that all machines measured which measured any."""
    keys_of_places = [place.valid_points.keys() for place in places if place.valid_points]
    if not keys_of_places:
        return None
    common_keys = set(keys_of_places[0]).intersection(*keys_of_places)
    return max(common_keys, key=_users_then_size, default=None)


def _users_then_size(key: PointKey) -> tuple[int, int]:
    users, size_bytes = key
    return users, size_bytes or 0


def fastest_place(places: Sequence[LoadPlace]) -> LoadPlace | None:
    """The machine that made the most requests/s with that number of users; None without such a number."""
    key = common_key(places)
    if key is None:
        return None
    measured = [place for place in places if key in place.valid_points]

    def rate_of(place: LoadPlace) -> float:
        return place.valid_points[key].requests_per_second or 0.0

    return max(measured, key=rate_of)


def load_places(places: Sequence[LoadPlace], earlier: Sequence[Load] = ()) -> LoadPlaces:
    """``earlier``: older loads like that of the fastest, oldest first, which tell how much such figures vary."""
    fastest = fastest_place(places)
    if fastest is None or fastest.load is None:
        return LoadPlaces(places=tuple(places))

    hosts = []
    loads = []
    for place in places:
        if place is not fastest and place.load is not None and place.valid_points:
            hosts.append(place.host)
            loads.append(place.load)
    # Together, so that the chance that any of the verdicts is wrong is that of one.
    compared = compare_with_base(fastest.load, loads, earlier)
    return LoadPlaces(places=tuple(places), comparisons=dict(zip(hosts, compared, strict=True)))


def rows_in_order(places: Sequence[LoadPlace]) -> list[tuple[LoadPlace, LoadPoint]]:
    """Each point with its machine: those with the same users beside each other, the fewest first."""
    rows = []
    for place in places:
        points = place.load.points if place.load else ()
        rows += [(place, point) for point in points]
    return sorted(rows, key=_key_of_row)


def _key_of_row(row: tuple[LoadPlace, LoadPoint]) -> tuple[int, int]:
    _place, point = row
    return _users_then_size(point_key(point))
