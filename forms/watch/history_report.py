"""The history of a path as an answer in one sentence, on paper and as JSON: ``sharebench history``.

A path's recordings lie on *levels*: a level ends where a change was made, or where two recordings running confirmed
that the path is faster or slower than before. A history has one *line*, or one for each number of users of its loads.
"""

from dataclasses import asdict
from functools import partial
from typing import Any

from forms import report, wording
from forms.watch.history import History, HistoryLine
from forms.watch.history_chart import history_chart
from forms.watch.history_tables import day_of, level_tone, levels_table, points_table
from storage.quick.records import quoted_name
from storage.records import to_minute

SCHEMA = "sharebench/history/1"


def history_sentence(history: History) -> str:
    """The answer: since when the path has its level, and how it changed last. Of loads, that of the most users."""
    if history.of_quick_tests:
        return _sentence_of_lines(history)
    line = history.lines[-1]
    users = f"{wording.count(line.users, 'user')}: " if line.users else ""
    return f"{users}{_sentence_of_line(line)}"


def _sentence_of_lines(history: History) -> str:
    """Of quick tests: the lines that changed, each with its sentence; else that none did."""
    changed = [line for line in history.lines if line.newest.change_percent is not None]
    if changed:
        return " ".join(f"{quoted_name(line.name)}: {_sentence_of_line(line)}" for line in changed)
    return _sentence_of_line(history.lines[0])


def _sentence_of_line(line: HistoryLine) -> str:
    newest = line.newest
    if newest.change_percent is None:
        first_day = day_of(line.points[0].created_at)
        if len(line.points) == 1:
            return f"One recording so far, of {first_day}; a second one can show a change."
        return f"No change found in {wording.count(len(line.points), 'recording')} since {first_day}."

    way = "faster" if newest.change_percent > 0 else "slower"
    change = wording.percent(abs(newest.change_percent))
    since = _since(line)
    if newest.verdict is None:
        return f"{change} {way} on average since {since} ({newest.why}). For a verdict, compare two of them."
    return f"{way.capitalize()} by {change} since {since}."


def _since(line: HistoryLine) -> str:
    """The day of the newest level, with its time where the level before ended on the same day."""
    first = line.newest.first
    moment = line.points[first].created_at
    if first and day_of(moment) == day_of(line.points[first - 1].created_at):
        return to_minute(moment)
    return day_of(moment)


def history_report(history: History, *, newest: int | None = None) -> report.Report:
    """The report; ``newest``: the recordings that are listed, of more."""
    link = history.link_bits_per_second
    change_fields = tuple(
        report.Field(name="Tried", text=f"{day_of(mark.created_at)} {wording.plain(mark.name)} ({mark.recording})")
        for mark in history.marks
    )

    return report.Report(
        form="history",
        title=f"History of {history_name(history)}",
        name="History",
        fields=(
            report.answer_field(history_sentence(history), level_tone(history.lines[-1].newest)),
            report.Field(name="Recordings", text=_recordings_text(history)),
            *report.fields_of(("Link", wording.link_rate(link) if link else "")),
        ),
        tables=(levels_table(history), points_table(history, newest)),
        results=change_fields,
        drawn=tuple(history_chart(line, history) for line in (history.lines[-1], *history.lines[:-1])),
        document=partial(history_document, history),
    )


def history_name(history: History) -> str:
    """What it is a history of: ``get nas/data/file``, ``loads on nas/data``, ``quick tests of nas/data``."""
    if history.command is not None:
        random = "random " if history.of_random else ""
        return f"{random}{history.command} {history.subject}"
    return f"quick tests of {history.subject}" if history.of_quick_tests else f"loads on {history.subject}"


def _recordings_text(history: History) -> str:
    moments = sorted(point.created_at for point in history.points)
    days = [day_of(moment) for moment in moments]
    count = len({point.recording for point in history.points})
    if history.is_whole:
        return f"{count:,}, {days[0]} to {days[-1]}"
    return f"newest {count:,}, {days[0]} to {days[-1]}; sharebench history -o FILE writes the earlier ones too"


def history_document(history: History) -> dict[str, Any]:
    """The JSON object ``sharebench/history/1``; averages in its unit, bytes, operations or requests per second."""
    document = {"schema": SCHEMA, "unit": f"{history.counted_work}/s", **asdict(history)}
    del document["is_whole"]
    del document["of_random"]
    return document
