"""The history of one path: all its recordings over time, their levels, and when these changed.

Levels change by the rule that compare uses for its history: at a recorded change, at a difference in settings or
session, at a confirmed *slower* or *faster*, and where a person said "new normal".
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import eq
from typing import Any

from forms import wording
from forms.comparison.verdict import history_groups
from forms.layout import Tone
from forms.report import Bar, Chart, Field, Level, Report, ReportKind, Table, columns_of, fields_of, row_of
from forms.stats.decision import Verdict, confirmed_changes
from forms.stats.summary import confidence_interval
from storage.load.records import Load
from storage.recordings import MACHINE
from storage.records import Command, Series, to_minute

SCHEMA = "sharebench/history/1"
_Size = tuple[int, str, Verdict | None]
"""Recordings of a level, why it begins, and the change that was confirmed there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """One recording: its average and 95 % interval, in bytes or requests per second."""

    recording: str
    created_at: str
    average: float
    interval: tuple[float, float] | None
    label: str = ""
    baselines: tuple[str, ...] = ()
    new_normal: bool = False
    unconfirmed: bool = False
    """Slower by itself: a watch measured again at once and did not confirm it. It counts for no level."""
    machine: str = ""


@dataclass(frozen=True, slots=True)
class HistoryLevel:
    """Recordings of one level, and why it begins; places count from 0."""

    first: int
    last: int
    average: float
    change_percent: float | None
    why: str
    verdict: Verdict | None = None
    """Faster or slower where two series running confirmed it."""

    @property
    def because(self) -> str:
        return self.why or (self.verdict.value if self.verdict else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """One curve: a path's series, or the points of equal users of its loads."""

    points: tuple[HistoryPoint, ...]
    levels: tuple[HistoryLevel, ...]
    users: int | None = None

    @property
    def newest(self) -> HistoryLevel:
        return self.levels[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryMark:
    recording: str
    created_at: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    subject: str
    command: Command | None
    lines: tuple[HistoryLine, ...]
    link_bits_per_second: int | None = None
    marks: tuple[HistoryMark, ...] = ()
    is_whole: bool = True

    @property
    def of_loads(self) -> bool:
        return self.command is None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryNotes:
    baselines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    new_normals: Collection[str] = ()
    unconfirmed: Collection[str] = ()


def history_of_series(
    series: Sequence[Series], notes: HistoryNotes, marks: Sequence[HistoryMark] = ()
) -> History | None:
    """The history of series of one path, oldest first; None without a measured one."""
    measured = [one for one in series if one.measured()]
    points = tuple(_point(one, one.rates(), notes) for one in measured)
    confirmed = [one for one, point in zip(measured, points, strict=True) if not point.unconfirmed]
    groups = history_groups(confirmed, notes.new_normals)
    if not groups:
        return None
    newest, sizes = measured[-1], [(len(group.series), group.why, group.verdict) for group in groups]
    return History(
        subject=wording.place(newest.target),
        command=newest.command,
        lines=(HistoryLine(points=points, levels=_levels(points, sizes)),),
        link_bits_per_second=newest.link_bits_per_second,
        marks=tuple(marks),
    )


def history_of_loads(loads: Sequence[Load], notes: HistoryNotes) -> History | None:
    """The points of equal users of loads of one target and scenario, oldest first; five slices count as runs."""
    found: dict[int, list[tuple[Load, tuple[float, ...]]]] = {}
    for load in loads:
        for point in load.valid_points():
            rates = point.slice_rates or tuple(filter(None, [point.requests_per_second]))
            if point.size_bytes is None and rates:
                found.setdefault(point.users, []).append((load, rates))
    lines = tuple(_load_line(users, of_users, notes) for users, of_users in sorted(found.items()))
    return History(subject=wording.place(loads[-1].targets[0]), command=None, lines=lines) if lines else None


def _load_line(users: int, of_users: Sequence[tuple[Load, tuple[float, ...]]], notes: HistoryNotes) -> HistoryLine:
    points = tuple(_point(load, rates, notes) for load, rates in of_users)
    sizes: list[_Size] = []
    begin, why = 0, ""
    for end in [*(at for at, one in enumerate(points) if at and one.new_normal), len(points)]:
        part = of_users[begin:end]
        changes = confirmed_changes([rates for _, rates in part], [load.moment for load, _ in part])
        levels: list[_Size] = [(0, why, None), *((at, "", verdict) for at, verdict in changes)]
        ends = [*(at for at, _ in changes), len(part)]
        sizes += [(stop - at, reason, verdict) for (at, reason, verdict), stop in zip(levels, ends, strict=True)]
        begin, why = end, "new normal"
    return HistoryLine(points=points, levels=_levels(points, sizes), users=users)


def _point(one: Series | Load, rates: Sequence[float], notes: HistoryNotes) -> HistoryPoint:
    client = one.environment.get("client", {})
    return HistoryPoint(
        recording=one.id,
        created_at=one.created_at,
        average=sum(rates) / len(rates),
        interval=confidence_interval(rates),
        label=one.label,
        baselines=notes.baselines.get(one.id, ()),
        new_normal=one.id in notes.new_normals,
        unconfirmed=one.id in notes.unconfirmed and one.id not in notes.new_normals,
        machine=", ".join(str(client[name]) for name in MACHINE if name in client),
    )


def _levels(points: Sequence[HistoryPoint], sizes: Sequence[_Size]) -> tuple[HistoryLevel, ...]:
    levels: list[HistoryLevel] = []
    counted = [place for place, one in enumerate(points) if not one.unconfirmed]
    for count, why, verdict in sizes:
        average = sum(points[place].average for place in counted[:count]) / count
        before = levels[-1].average if levels else None
        change = 100 * (average / before - 1) if before else None
        first = levels[-1].last + 1 if levels else 0
        counted = counted[count:]
        last = counted[0] - 1 if counted else len(points) - 1
        levels.append(HistoryLevel(first, last, average, change, why, verdict))
    return tuple(levels)


def history_sentence(history: History) -> str:
    """The answer in one sentence: since when the path has its level, and how it changed last."""
    line = history.lines[-1]
    newest, since = line.newest, _since(line)
    users = f"{wording.count(line.users, 'user')}: " if line.users else ""
    if newest.change_percent is None:
        first = _day(line.points[0].created_at)
        if len(line.points) == 1:
            return f"{users}One recording so far, of {first}; a second one can show a change."
        return f"{users}No change found in {wording.count(len(line.points), 'recording')} since {first}."
    way, change = "faster" if newest.change_percent > 0 else "slower", wording.percent(abs(newest.change_percent))
    if newest.verdict is None:
        return f"{users}{change} {way} on average since {since} ({newest.why}): no verdict; compare two for one."
    return f"{users}{way.capitalize()} by {change} since {since}."


def _since(line: HistoryLine) -> str:
    """The day of the newest level, with its time where the level before ended on the same day."""
    at = line.newest.first
    moment, before = (line.points[place].created_at for place in (at, max(0, at - 1)))
    return to_minute(moment) if at and _day(moment) == _day(before) else _day(moment)


def history_report(history: History, *, newest: int | None = None) -> Report:
    unit = "Requests/s" if history.of_loads else "MB/s"
    link = history.link_bits_per_second
    points = [one for line in history.lines for one in line.points]
    times = sorted(one.created_at for one in points)
    count = f"{'' if history.is_whole else 'newest '}{len({one.recording for one in points}):,}"
    rest = "" if history.is_whole else "; sharebench history -o FILE writes the earlier ones too"
    return Report(
        form="history",
        title=f"History of {history.command or 'loads on'} {history.subject}",
        name="History",
        fields=(
            Field(name="Answer", text=history_sentence(history), tone=_tone(history.lines[-1].newest)),
            Field(name="Recordings", text=f"{count}, {_day(times[0])} to {_day(times[-1])}{rest}"),
            *fields_of(("Link", wording.link_rate(link) if link else "")),
        ),
        tables=(_levels_table(history, unit), _points_table(history, unit, newest)),
        results=tuple(
            Field(name="Tried", text=f"{_day(mark.created_at)} {wording.plain(mark.name)} ({mark.recording})")
            for mark in history.marks
        ),
        drawn=tuple(history_chart(line, history) for line in (history.lines[-1], *history.lines[:-1])),
        document=lambda: history_document(history),
    )


def history_chart(line: HistoryLine, history: History) -> Chart:
    link = history.link_bits_per_second
    users = f", {wording.count(line.users, 'user')}" if line.users else ""
    when = _when(line)
    return Chart(
        title=f"History{users}",
        unit="requests/s" if history.of_loads else "bytes/sec",
        bars=tuple(
            Bar(name=when(one.created_at), value=one.average, interval=one.interval, signs=signs)
            for one, signs in zip(line.points, _signs(line, history.marks), strict=True)
        ),
        signs=_SIGNS,
        levels=(
            Level(name="newest level", value=line.newest.average, of_bars=True),
            *([Level(name="link", value=link / 8)] if link else []),
        ),
        is_curve=True,
    )


_SIGNS = {
    "B": "baseline", "T": "trial", "C": "change", "N": "new normal", "S": "slower", "F": "faster", "?": "not confirmed",
}  # fmt: skip


def _signs(line: HistoryLine, marks: Sequence[HistoryMark]) -> list[str]:
    """What is marked at each point of the curve; a trial at the first recording after it, or the last."""
    times = [one.created_at for one in line.points]
    tried = {min(bisect_left(times, mark.created_at), len(times) - 1) for mark in marks}
    begins = {level.first: level.verdict for level in line.levels[1:]}
    return [
        ("B" if one.baselines else "")
        + ("T" if place in tried else "")
        + ("N" if one.new_normal else _AT_CHANGE[begins[place]] if place in begins else "")
        + ("?" if one.unconfirmed else "")
        for place, one in enumerate(line.points)
    ]


_AT_CHANGE = {None: "C", Verdict.SLOWER: "S", Verdict.FASTER: "F"}


def _levels_table(history: History, unit: str) -> Table:
    users = ["Users"] if history.of_loads else []
    columns = columns_of(
        *users, "From", "To", ("Recordings", ReportKind.WHOLE), (unit, ReportKind.DECIMAL),
        ("Change", ReportKind.SIGNED), "Because of",
    )  # fmt: skip
    rows = (
        row_of(
            *([str(line.users)] if users else []),
            *(when(line.points[place].created_at) for place in (level.first, level.last)),
            level.last - level.first + 1, level.average * _factor(history), level.change_percent, level.because,
            tone=_tone(level),
        )
        for line, when in ((line, _when(line)) for line in history.lines)
        for level in line.levels
    )  # fmt: skip
    return Table(columns=columns, rows=tuple(rows), caption="Levels")


def _points_table(history: History, unit: str, newest: int | None) -> Table:
    users = ["Users"] if history.of_loads else []
    several = len({one.machine for line in history.lines for one in line.points}) > 1
    columns = columns_of(
        "Recording", *users, wording.when_heading(), *(["Measured on"] if several else []),
        (unit, ReportKind.DECIMAL), ("Low", ReportKind.DECIMAL),
        ("High", ReportKind.DECIMAL), "Marks",
    )  # fmt: skip
    rows = [row for line in history.lines for row in _point_rows(line, history, several=several)]
    caption = f"Recordings, the newest {newest} of {len(rows)}" if newest and newest < len(rows) else "Recordings"
    return Table(columns=columns, rows=tuple(rows[-newest:] if newest else rows), caption=caption)


def _point_rows(line: HistoryLine, history: History, *, several: bool) -> Iterator[Any]:
    factor, begins = _factor(history), {level.first: level for level in line.levels[1:]}
    for place, one in enumerate(line.points):
        low, high = one.interval or (None, None)
        marks = [f"[{wording.plain(name)}]" for name in one.baselines]
        marks += [begins[place].because] if place in begins else []
        marks += [_SIGNS["?"]] if one.unconfirmed else []
        yield row_of(
            one.recording, *([str(line.users)] if line.users else []), to_minute(one.created_at),
            *([wording.plain(one.machine)] if several else []), one.average * factor,
            None if low is None else max(0.0, low) * factor,
            None if high is None else high * factor, ", ".join(marks),
        )  # fmt: skip


def history_document(history: History) -> dict[str, Any]:
    """The JSON object ``sharebench/history/1``; averages in bytes or requests per second."""
    document = {"schema": SCHEMA, "unit": "requests/s" if history.of_loads else "bytes/s", **asdict(history)}
    del document["is_whole"]
    return document


def _factor(history: History) -> float:
    return 1.0 if history.of_loads else 1e-6


def _tone(level: HistoryLevel) -> Tone:
    change = level.change_percent
    return Tone.PLAIN if change is None or level.verdict is None else Tone.GOOD if change > 0 else Tone.BAD


def _when(line: HistoryLine) -> Callable[[str], str]:
    """The day, or the minute too where all are of one day or a level ends on the day that the next one begins."""
    begins = [_day(line.points[level.first].created_at) for level in line.levels]
    ends = [_day(line.points[level.last].created_at) for level in line.levels]
    return to_minute if begins[0] == ends[-1] or any(map(eq, begins[1:], ends)) else _day


def _day(text: str) -> str:
    return to_minute(text)[:10]
