"""The history of a path as a curve, with a letter at each point where something happened."""

from bisect import bisect_left
from collections.abc import Sequence

from forms import report, wording
from forms.stats.decision import Verdict
from forms.watch.history import History, HistoryLevel, HistoryLine, HistoryMark, HistoryPoint
from forms.watch.history_tables import UNCONFIRMED_TEXT, moment_writer
from storage.quick.records import quoted_name

_BASELINE = "B"
_TRIAL = "T"
_CHANGE = "C"
_NEW_NORMAL = "N"
_SLOWER = "S"
_FASTER = "F"
_UNCONFIRMED = "?"

_MEANINGS = {
    _BASELINE: "baseline",
    _TRIAL: "trial",
    _CHANGE: "change",
    _NEW_NORMAL: "new normal",
    _SLOWER: "slower",
    _FASTER: "faster",
    _UNCONFIRMED: UNCONFIRMED_TEXT,
}
"""What each letter of the chart means."""

_LETTER_OF_VERDICT = {None: _CHANGE, Verdict.SLOWER: _SLOWER, Verdict.FASTER: _FASTER}
"""The letter where a level begins, by what was confirmed there; without a verdict something was changed there."""


def history_chart(line: HistoryLine, history: History) -> report.Chart:
    """The curve of one line of a history, with its newest level and the speed of the link."""
    write_moment = moment_writer(line)
    letters = _letters_of_points(line, history.marks)
    bars = [
        report.Bar(name=write_moment(point.created_at), value=point.average, interval=point.interval, signs=signs)
        for point, signs in zip(line.points, letters, strict=True)
    ]

    levels = [report.Level(name="newest level", value=line.newest.average, of_bars=True)]
    if history.link_bits_per_second:
        levels.append(report.Level(name="link", value=history.link_bits_per_second / 8))

    about_line = f", {wording.count(line.users, 'user')}" if line.users else ""
    if line.name:
        about_line = f", {quoted_name(line.name)}"
    return report.Chart(
        title=f"History{about_line}",
        unit="bytes/sec" if history.counted_work == "bytes" else f"{history.counted_work}/s",
        bars=tuple(bars),
        signs=_MEANINGS,
        levels=tuple(levels),
        is_curve=True,
    )


def _letters_of_points(line: HistoryLine, marks: Sequence[HistoryMark]) -> list[str]:
    """The letters at each point of the curve; a trial's stands at the first recording after it, or at the last."""
    moments = [point.created_at for point in line.points]
    last_place = len(moments) - 1
    trial_places = {min(bisect_left(moments, mark.created_at), last_place) for mark in marks}

    level_from_place = {level.first: level for level in line.levels[1:]}
    return [
        _letters_of_point(point, level_from_place.get(place), is_tried=place in trial_places)
        for place, point in enumerate(line.points)
    ]


def _letters_of_point(point: HistoryPoint, begins: HistoryLevel | None, *, is_tried: bool) -> str:
    """``begins`` is the level that begins at the point, if one does."""
    letters = ""
    if point.baselines:
        letters += _BASELINE
    if is_tried:
        letters += _TRIAL
    if point.new_normal:
        letters += _NEW_NORMAL
    elif begins:
        letters += _LETTER_OF_VERDICT[begins.verdict]
    if point.unconfirmed:
        letters += _UNCONFIRMED
    return letters
