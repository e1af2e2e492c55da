"""The levels and the recordings of a path's history as tables."""

from collections.abc import Callable, Iterator
from operator import eq

from forms import report, wording
from forms.layout import Tone
from forms.watch.history import History, HistoryLevel, HistoryLine, HistoryPoint
from storage.quick.records import quoted_name
from storage.records import to_minute

UNCONFIRMED_TEXT = "not confirmed"
"""For people, of a recording that was slower by itself."""


def levels_table(history: History) -> report.Table:
    """A row for each level: from when to when, its average, and why it begins."""
    columns = report.columns_of(
        *_line_headings(history),
        "From",
        "To",
        ("Recordings", report.ReportKind.WHOLE),
        (_unit(history), report.ReportKind.DECIMAL),
        ("Change", report.ReportKind.SIGNED),
        "Because of",
    )

    rows: list[report.Row] = []
    for line in history.lines:
        rows += _level_rows(line, history)
    return report.Table(columns=columns, rows=tuple(rows), caption="Levels")


def _level_rows(line: HistoryLine, history: History) -> Iterator[report.Row]:
    write_moment = moment_writer(line)
    for level in line.levels:
        yield report.row_of(
            *_line_cells(line),
            write_moment(line.points[level.first].created_at),
            write_moment(line.points[level.last].created_at),
            level.last - level.first + 1,
            level.average * _factor(history),
            level.change_percent,
            level.because,
            tone=level_tone(level),
        )


def _line_headings(history: History) -> list[str]:
    """The heading of the column that tells the lines apart; none where there is one line."""
    if history.of_loads:
        return ["Users"]
    return ["Line"] if history.of_quick_tests else []


def _line_cells(line: HistoryLine) -> list[str]:
    if line.users:
        return [str(line.users)]
    return [quoted_name(line.name)] if line.name else []


def points_table(history: History, newest: int | None) -> report.Table:
    """A row for each recording, or for the ``newest`` ones only."""
    has_several_machines = len({point.machine for point in history.points}) > 1
    columns = report.columns_of(
        "Recording",
        *_line_headings(history),
        wording.when_heading(),
        *(["Measured on"] if has_several_machines else []),
        (_unit(history), report.ReportKind.DECIMAL),
        ("Low", report.ReportKind.DECIMAL),
        ("High", report.ReportKind.DECIMAL),
        "Marks",
    )
    rows: list[report.Row] = []
    moments: list[str] = []
    for line in history.lines:
        rows += _point_rows(line, history, with_machine=has_several_machines)
        moments += [point.created_at for point in line.points]

    caption = "Recordings"
    if newest and newest < len(rows):
        caption = f"Recordings, the newest {newest} of {len(rows)}"
        # A line a number of users: the newest points may be of any of them.
        newest_places = sorted(range(len(rows)), key=moments.__getitem__)[-newest:]
        rows = [rows[place] for place in sorted(newest_places)]
    return report.Table(columns=columns, rows=tuple(rows), caption=caption)


def _point_rows(line: HistoryLine, history: History, *, with_machine: bool) -> Iterator[report.Row]:
    factor = _factor(history)
    level_from_place = {level.first: level for level in line.levels[1:]}
    for place, point in enumerate(line.points):
        low, high = point.interval or (None, None)

        yield report.row_of(
            point.recording,
            *_line_cells(line),
            to_minute(point.created_at),
            *([wording.plain(point.machine)] if with_machine else []),
            point.average * factor,
            None if low is None else max(0.0, low) * factor,
            None if high is None else high * factor,
            _marks_text(point, level_from_place.get(place)),
        )


def _marks_text(point: HistoryPoint, begins: HistoryLevel | None) -> str:
    """Its baselines, and why a level ``begins`` there if one does: ``[before], new normal``."""
    marks = [f"[{wording.plain(name)}]" for name in point.baselines]
    if begins:
        marks.append(begins.because)
    if point.unconfirmed:
        marks.append(UNCONFIRMED_TEXT)
    return ", ".join(marks)


def _unit(history: History) -> str:
    return "MB/s" if history.counted_work == "bytes" else f"{history.counted_work.capitalize()}/s"


def _factor(history: History) -> float:
    """From the unit of the averages (bytes, operations or requests per second) to that of the tables."""
    return 1e-6 if history.counted_work == "bytes" else 1.0


def level_tone(level: HistoryLevel) -> Tone:
    """Good or bad only where the change was confirmed."""
    if level.change_percent is None or level.verdict is None:
        return Tone.PLAIN
    return Tone.GOOD if level.change_percent > 0 else Tone.BAD


def moment_writer(line: HistoryLine) -> Callable[[str], str]:
    """The function that writes a moment of a line: by its day, where days tell the ends of the levels apart.

    It writes the minute too where all recordings are of one day, or a level ends on the day that the next one begins.
    """
    begins = [day_of(line.points[level.first].created_at) for level in line.levels]
    ends = [day_of(line.points[level.last].created_at) for level in line.levels]
    is_one_day = begins[0] == ends[-1]
    do_levels_meet = any(map(eq, begins[1:], ends))
    return to_minute if is_one_day or do_levels_meet else day_of


def day_of(moment: str) -> str:
    """``2026-03-04``, in local time."""
    return to_minute(moment)[:10]
