"""The history of one path: all its recordings over time, their levels, and when these changed.

A *level* is a stretch of recordings that nothing tells apart. A new one begins by the rule that ``compare`` uses for
its history (``forms/comparison/history.py``): at a recorded change, at a difference in settings or session, where
*slower* or *faster* was confirmed by a second series, and where a person said "new normal". A *recording* is a series
or a load; loads have a *line* of their own for each number of users.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from forms import wording
from forms.comparison.history import NEW_NORMAL, history_groups, points_of_path
from forms.quick.summary import line_rates
from forms.stats.decision import Verdict
from forms.stats.levels import confirmed_changes
from forms.stats.summary import confidence_interval
from storage.load.records import Load
from storage.quick.records import Quick
from storage.recordings import MACHINE
from storage.records import Command, Series


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """One recording: its average and 95 % interval, in bytes, operations or requests per second."""

    recording: str
    """Its id."""
    created_at: str
    average: float
    """The mean of its runs, or of the slices of a load's point."""
    interval: tuple[float, float] | None
    """(low, high); None of a single run."""
    label: str = ""
    baselines: tuple[str, ...] = ()
    """The names by which it is a baseline."""
    new_normal: bool = False
    """Whether a person said that from here on this is the normal level."""
    unconfirmed: bool = False
    """Slower by itself: a watch measured again at once and did not confirm it. It counts for no level."""
    machine: str = ""
    """The machine that measured; empty where unknown."""


@dataclass(frozen=True, slots=True)
class HistoryLevel:
    """Recordings of one level, and why it begins."""

    first: int
    """The place of its first point in its line, from 0."""
    last: int
    """The place of its last point."""
    average: float
    """The mean of the averages of the recordings that count."""
    change_percent: float | None
    """Against the level before; None for the first."""
    why: str
    """What was changed or marked there; empty where only the figures show it."""
    verdict: Verdict | None = None
    """Faster or slower where two series running confirmed it; None of any other beginning."""

    @property
    def because(self) -> str:
        """For people: why it begins; empty for the first."""
        return self.why or (self.verdict.value if self.verdict else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """One curve: a path's series, or the points of equal users of its loads."""

    points: tuple[HistoryPoint, ...]
    levels: tuple[HistoryLevel, ...]
    users: int | None = None
    """The number of users; None of series."""
    name: str = ""
    """What it is a line of, such as ``SEQ1M Q8 read`` of quick tests; empty of series and loads."""

    @property
    def newest(self) -> HistoryLevel:
        return self.levels[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryMark:
    """A trial or a sweep that was made on this path."""

    recording: str
    """Its id."""
    created_at: str
    name: str
    """The name of its experiment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All recordings of a path over time."""

    subject: str
    """The target, for people."""
    command: Command | None
    """The direction of its series; None of loads and quick tests."""
    lines: tuple[HistoryLine, ...]
    """The line of its series, or that of each number of users, ascending, or those of its quick tests."""
    link_bits_per_second: int | None = None
    marks: tuple[HistoryMark, ...] = ()
    is_whole: bool = True
    """Whether earlier recordings than these were read too, if there are any."""
    of_random: bool = False
    """Whether its series are of random requests: their averages are in operations per second."""

    @property
    def points(self) -> tuple[HistoryPoint, ...]:
        """Of all curves."""
        return tuple(chain.from_iterable(line.points for line in self.lines))

    @property
    def counted_work(self) -> str:
        """What its averages count: ``requests`` of loads, ``operations`` of random requests, or ``bytes``."""
        if self.of_loads:
            return "requests"
        return "operations" if self.of_random else "bytes"

    @property
    def of_loads(self) -> bool:
        return any(line.users for line in self.lines)

    @property
    def of_quick_tests(self) -> bool:
        return any(line.name for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryNotes:
    """What persons and watches noted on recordings, by their ids."""

    baselines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of each recording that is a baseline."""
    new_normals: Collection[str] = ()
    """Those from which on a person said that this is the normal level."""
    unconfirmed: Collection[str] = ()
    """Those that were slower by themselves, which a watch did not confirm."""


@dataclass(frozen=True, slots=True)
class _LevelSpan:
    """How many recordings a level has, why it begins, and the change that was confirmed there."""

    count: int
    reason: str
    verdict: Verdict | None


def history_of_series(
    series: Sequence[Series], notes: HistoryNotes, marks: Sequence[HistoryMark] = ()
) -> History | None:
    """The history of series of one path, oldest first; None without a measured one."""
    measured = points_of_path(_series_of_one_kind(series))
    points = tuple(
        _history_point(one_series, one_series.operation_rates() or one_series.rates(), notes) for one_series in measured
    )
    counted = [one_series for one_series, point in zip(measured, points, strict=True) if not point.unconfirmed]
    groups = history_groups(counted, notes.new_normals)
    if not groups:
        return None

    spans = [_LevelSpan(len(group.series), group.why, group.verdict) for group in groups]
    newest = measured[-1]
    return History(
        subject=wording.place(newest.target),
        command=newest.command,
        lines=(HistoryLine(points=points, levels=_levels(points, spans)),),
        link_bits_per_second=newest.link_bits_per_second,
        marks=tuple(marks),
        of_random=newest.is_random,
    )


def _series_of_one_kind(series: Sequence[Series]) -> list[Series]:
    """The measured series that are of random requests, or of transfers, as the newest of them is."""
    measured = [one_series for one_series in series if one_series.measured()]
    return [one_series for one_series in measured if one_series.is_random is measured[-1].is_random]


def history_of_loads(loads: Sequence[Load], notes: HistoryNotes) -> History | None:
    """The points of equal users of loads of one target and scenario, oldest first; five slices count as runs."""
    by_users: dict[int, list[_RecordingRates]] = {}
    for load in loads:
        for point in load.valid_points():
            rates = point.slice_rates
            if not rates and point.requests_per_second:
                rates = (point.requests_per_second,)
            if point.size_bytes is None and rates:
                by_users.setdefault(point.users, []).append(_RecordingRates(load, rates))
    if not by_users:
        return None
    lines = tuple(_line_of_rates(by_users[users], notes, users=users) for users in sorted(by_users))
    return History(subject=wording.place(loads[-1].targets[0]), command=None, lines=lines)


def history_of_quick_tests(quick_tests: Sequence[Quick], notes: HistoryNotes) -> History | None:
    """The lines of quick tests of one path, oldest first; their runs are the runs. None where nothing was measured."""
    by_name: dict[str, list[_RecordingRates]] = {}
    for quick in quick_tests:
        for line in quick.lines:
            rates = line_rates(line)
            if rates:
                by_name.setdefault(line.name, []).append(_RecordingRates(quick, rates))

    newest = quick_tests[-1] if quick_tests else None
    if not by_name or newest is None:
        return None
    return History(
        subject=wording.place(newest.target) if newest.target else newest.program,
        command=None,
        lines=tuple(_line_of_rates(measured, notes, name=name) for name, measured in by_name.items()),
        link_bits_per_second=newest.link_bits_per_second,
    )


@dataclass(frozen=True, slots=True)
class _RecordingRates:
    """The rates of a load with some number of users, in requests per second; or of a line of a quick test, in bytes."""

    recording: Load | Quick
    rates: tuple[float, ...]


def _line_of_rates(
    measured: Sequence[_RecordingRates], notes: HistoryNotes, *, users: int | None = None, name: str = ""
) -> HistoryLine:
    points = tuple(_history_point(entry.recording, entry.rates, notes) for entry in measured)
    new_normals = [place for place, point in enumerate(points) if place and point.new_normal]

    spans: list[_LevelSpan] = []
    begin = 0
    reason = ""
    for end in [*new_normals, len(points)]:
        spans += _spans_of_rates(measured[begin:end], reason)
        begin = end
        reason = NEW_NORMAL
    return HistoryLine(points=points, levels=_levels(points, spans), users=users, name=name)


def _spans_of_rates(measured: Sequence[_RecordingRates], reason: str) -> Iterator[_LevelSpan]:
    """The levels between two "new normals": they change where a faster or slower is confirmed."""
    rates = [entry.rates for entry in measured]
    moments = [entry.recording.moment for entry in measured]
    changes = confirmed_changes(rates, moments)
    begin = 0
    verdict: Verdict | None = None
    for change_at, change in changes:
        yield _LevelSpan(change_at - begin, reason, verdict)
        begin = change_at
        reason = ""
        verdict = change
    yield _LevelSpan(len(measured) - begin, reason, verdict)


def _history_point(recording: Series | Load | Quick, rates: Sequence[float], notes: HistoryNotes) -> HistoryPoint:
    client = recording.environment.get("client", {})
    is_new_normal = recording.id in notes.new_normals
    return HistoryPoint(
        recording=recording.id,
        created_at=recording.created_at,
        average=sum(rates) / len(rates),
        interval=confidence_interval(rates),
        label=recording.label,
        baselines=notes.baselines.get(recording.id, ()),
        new_normal=is_new_normal,
        unconfirmed=recording.id in notes.unconfirmed and not is_new_normal,
        machine=", ".join(str(client[name]) for name in MACHINE if name in client),
    )


def _levels(points: Sequence[HistoryPoint], spans: Sequence[_LevelSpan]) -> tuple[HistoryLevel, ...]:
    """The levels of the points that count; the others lie in the level before them."""
    levels: list[HistoryLevel] = []
    counted = [place for place, point in enumerate(points) if not point.unconfirmed]
    for span in spans:
        average = sum(points[place].average for place in counted[: span.count]) / span.count
        average_before = levels[-1].average if levels else None
        change_percent = 100 * (average / average_before - 1) if average_before else None
        first = levels[-1].last + 1 if levels else 0
        counted = counted[span.count :]
        last = counted[0] - 1 if counted else len(points) - 1
        levels.append(HistoryLevel(first, last, average, change_percent, span.reason, span.verdict))
    return tuple(levels)
