"""The history of a path on paper, as a chart and as JSON."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from operator import eq
from typing import Any

from forms import wording
from forms.layout import Tone
from forms.report import (
    Bar,
    Chart,
    Field,
    Level,
    Report,
    ReportKind,
    Row,
    Table,
    answer_field,
    columns_of,
    fields_of,
    row_of,
)
from forms.stats.decision import Verdict
from forms.watch.history import History, HistoryLevel, HistoryLine, HistoryMark, HistoryPoint
from storage.records import to_minute

SCHEMA = "sharebench/history/1"

_BASELINE = "B"
_TRIAL = "T"
_CHANGE = "C"
_NEW_NORMAL = "N"
_SLOWER = "S"
_FASTER = "F"
_UNCONFIRMED = "?"
_SIGNS = {
    _BASELINE: "baseline",
    _TRIAL: "trial",
    _CHANGE: "change",
    _NEW_NORMAL: "new normal",
    _SLOWER: "slower",
    _FASTER: "faster",
    _UNCONFIRMED: "not confirmed",
}
_SIGN_OF_LEVEL = {None: _CHANGE, Verdict.SLOWER: _SLOWER, Verdict.FASTER: _FASTER}


def history_sentence(history: History) -> str:
    """The answer in one sentence: since when the path has its level, and how it changed last."""
    line = history.lines[-1]
    newest = line.newest
    users = f"{wording.count(line.users, 'user')}: " if line.users else ""
    if newest.change_percent is None:
        first_day = _day(line.points[0].created_at)
        if len(line.points) == 1:
            return f"{users}One recording so far, of {first_day}; a second one can show a change."
        return f"{users}No change found in {wording.count(len(line.points), 'recording')} since {first_day}."

    way = "faster" if newest.change_percent > 0 else "slower"
    change = wording.percent(abs(newest.change_percent))
    since = _since(line)
    if newest.verdict is None:
        return f"{users}{change} {way} on average since {since} ({newest.why}): no verdict; compare two for one."
    return f"{users}{way.capitalize()} by {change} since {since}."


def _since(line: HistoryLine) -> str:
    """The day of the newest level, with its time where the level before ended on the same day."""
    first = line.newest.first
    moment = line.points[first].created_at
    if first and _day(moment) == _day(line.points[first - 1].created_at):
        return to_minute(moment)
    return _day(moment)


def history_report(history: History, *, newest: int | None = None) -> Report:
    """The report; ``newest``: the recordings that are listed, of more."""
    link = history.link_bits_per_second
    change_fields = tuple(
        Field(name="Tried", text=f"{_day(mark.created_at)} {wording.plain(mark.name)} ({mark.recording})")
        for mark in history.marks
    )

    return Report(
        form="history",
        title=f"History of {history.command or 'loads on'} {history.subject}",
        name="History",
        fields=(
            answer_field(history_sentence(history), _tone(history.lines[-1].newest)),
            Field(name="Recordings", text=_recordings_text(history)),
            *fields_of(("Link", wording.link_rate(link) if link else "")),
        ),
        tables=(_levels_table(history), _points_table(history, newest)),
        results=change_fields,
        drawn=tuple(history_chart(line, history) for line in (history.lines[-1], *history.lines[:-1])),
        document=partial(history_document, history),
    )


def _recordings_text(history: History) -> str:
    moments = sorted(point.created_at for point in history.points)
    days = [_day(moment) for moment in moments]
    count = len({point.recording for point in history.points})
    if history.is_whole:
        return f"{count:,}, {days[0]} to {days[-1]}"
    return f"newest {count:,}, {days[0]} to {days[-1]}; sharebench history -o FILE writes the earlier ones too"


def history_chart(line: HistoryLine, history: History) -> Chart:
    when = _when(line)
    all_signs = _signs(line, history.marks)
    bars = [
        Bar(name=when(point.created_at), value=point.average, interval=point.interval, signs=signs)
        for point, signs in zip(line.points, all_signs, strict=True)
    ]

    levels = [Level(name="newest level", value=line.newest.average, of_bars=True)]
    if history.link_bits_per_second:
        levels.append(Level(name="link", value=history.link_bits_per_second / 8))

    users = f", {wording.count(line.users, 'user')}" if line.users else ""
    return Chart(
        title=f"History{users}",
        unit="requests/s" if history.of_loads else "bytes/sec",
        bars=tuple(bars),
        signs=_SIGNS,
        levels=tuple(levels),
        is_curve=True,
    )


def _signs(line: HistoryLine, marks: Sequence[HistoryMark]) -> list[str]:
    """What is marked at each point of the curve; a trial at the first recording after it, or the last."""
    moments = [point.created_at for point in line.points]
    trial_places = {min(bisect_left(moments, mark.created_at), len(moments) - 1) for mark in marks}
    levels = {level.first: level for level in line.levels[1:]}
    return [
        _signs_of_point(point, levels.get(place), is_tried=place in trial_places)
        for place, point in enumerate(line.points)
    ]


def _signs_of_point(point: HistoryPoint, begins: HistoryLevel | None, *, is_tried: bool) -> str:
    """``begins`` is the level that begins at the point, if one does."""
    signs = ""
    if point.baselines:
        signs += _BASELINE
    if is_tried:
        signs += _TRIAL
    if point.new_normal:
        signs += _NEW_NORMAL
    elif begins:
        signs += _SIGN_OF_LEVEL[begins.verdict]
    if point.unconfirmed:
        signs += _UNCONFIRMED
    return signs


def _levels_table(history: History) -> Table:
    users = ["Users"] if history.of_loads else []
    columns = columns_of(
        *users,
        "From",
        "To",
        ("Recordings", ReportKind.WHOLE),
        (_unit(history), ReportKind.DECIMAL),
        ("Change", ReportKind.SIGNED),
        "Because of",
    )
    rows: list[Row] = []
    for line in history.lines:
        rows += _level_rows(line, history)
    return Table(columns=columns, rows=tuple(rows), caption="Levels")


def _level_rows(line: HistoryLine, history: History) -> Iterator[Row]:
    when = _when(line)
    users = [str(line.users)] if history.of_loads else []
    for level in line.levels:
        yield row_of(
            *users,
            when(line.points[level.first].created_at),
            when(line.points[level.last].created_at),
            level.last - level.first + 1,
            level.average * _factor(history),
            level.change_percent,
            level.because,
            tone=_tone(level),
        )


def _points_table(history: History, newest: int | None) -> Table:
    has_several_machines = len({point.machine for point in history.points}) > 1
    columns = columns_of(
        "Recording",
        *(["Users"] if history.of_loads else []),
        wording.when_heading(),
        *(["Measured on"] if has_several_machines else []),
        (_unit(history), ReportKind.DECIMAL),
        ("Low", ReportKind.DECIMAL),
        ("High", ReportKind.DECIMAL),
        "Marks",
    )
    rows: list[Row] = []
    for line in history.lines:
        rows += _point_rows(line, history, with_machine=has_several_machines)

    caption = "Recordings"
    if newest and newest < len(rows):
        caption = f"Recordings, the newest {newest} of {len(rows)}"
    return Table(columns=columns, rows=tuple(rows[-newest:] if newest else rows), caption=caption)


def _point_rows(line: HistoryLine, history: History, *, with_machine: bool) -> Iterator[Row]:
    factor = _factor(history)
    levels = {level.first: level for level in line.levels[1:]}
    for place, point in enumerate(line.points):
        low, high = point.interval or (None, None)
        yield row_of(
            point.recording,
            *([str(line.users)] if line.users else []),
            to_minute(point.created_at),
            *([wording.plain(point.machine)] if with_machine else []),
            point.average * factor,
            None if low is None else max(0.0, low) * factor,
            None if high is None else high * factor,
            _marks_text(point, levels.get(place)),
        )


def _marks_text(point: HistoryPoint, begins: HistoryLevel | None) -> str:
    marks = [f"[{wording.plain(name)}]" for name in point.baselines]
    if begins:
        marks.append(begins.because)
    if point.unconfirmed:
        marks.append(_SIGNS[_UNCONFIRMED])
    return ", ".join(marks)


def history_document(history: History) -> dict[str, Any]:
    """The JSON object ``sharebench/history/1``; averages in bytes or requests per second."""
    document = {"schema": SCHEMA, "unit": "requests/s" if history.of_loads else "bytes/s", **asdict(history)}
    del document["is_whole"]
    return document


def _unit(history: History) -> str:
    return "Requests/s" if history.of_loads else "MB/s"


def _factor(history: History) -> float:
    """From the unit of the averages to that of the tables."""
    return 1.0 if history.of_loads else 1e-6


def _tone(level: HistoryLevel) -> Tone:
    """Good or bad only where the change was confirmed."""
    if level.change_percent is None or level.verdict is None:
        return Tone.PLAIN
    return Tone.GOOD if level.change_percent > 0 else Tone.BAD


def _when(line: HistoryLine) -> Callable[[str], str]:
    """The day, or the minute too where all are of one day or a level ends on the day that the next one begins."""
    begins = [_day(line.points[level.first].created_at) for level in line.levels]
    ends = [_day(line.points[level.last].created_at) for level in line.levels]
    is_one_day = begins[0] == ends[-1]
    meet = any(map(eq, begins[1:], ends))
    return to_minute if is_one_day or meet else _day


def _day(moment: str) -> str:
    return to_minute(moment)[:10]
