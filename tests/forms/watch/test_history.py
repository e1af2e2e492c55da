"""The history of a path: its levels, why they begin, and the forms of it."""

import json
from dataclasses import replace

import pytest

from app.charts.series_charts import curve_chart as drawn_on_a_terminal
from forms.exporters import FORMATS, export_reports
from forms.exporters.drawing import ChartText, drawing
from forms.exporters.text import report_text
from forms.layout import Tone
from forms.watch.history import HistoryMark, HistoryNotes, history_of_loads, history_of_series
from forms.watch.history_chart import history_chart
from forms.watch.history_report import history_document, history_report, history_sentence
from storage.records import Change, Series
from tests.builders import CLIENT, one
from tests.loads import full_load, point

NOTHING = HistoryNotes()


def nights(*levels: float, **fields):
    rates = (100e6, 100.2e6, 99.8e6, 100.1e6, 99.9e6)
    return [one(n, [rate * level for rate in rates], **fields) for n, level in enumerate(levels, 1)]


def levels(series, notes: HistoryNotes = NOTHING) -> list[tuple[int, int, str]]:
    history = history_of_series(series, notes)
    assert history
    return [(level.first, level.last, level.because) for level in history.lines[0].levels]


def test_a_level_ends_where_two_series_running_are_slower():
    assert levels(nights(1, 1.001, 0.999, 1, 1, 0.8, 0.801, 0.8)) == [(0, 4, ""), (5, 7, "slower")]
    assert levels(nights(1, 1.001, 0.999, 1, 1, 0.8, 1, 1)) == [(0, 7, "")]
    assert levels(nights(1, 1.001, 0.999, 1, 1, 1.3, 1.3)) == [(0, 4, ""), (5, 6, "faster")]
    assert levels(nights(1, 1.001, 0.999, 1, 1, 1.3)) == [(0, 5, "")]


def test_a_level_ends_at_a_change_a_difference_and_a_new_normal():
    series = nights(1, 1, 1, 1, 1, 1)
    series[2] = replace(series[2], change=Change(name="aio read size", value="1"))
    for place in (4, 5):
        series[place] = replace(series[place], client=replace(CLIENT, dialect="3.0"))
    found = levels(series, HistoryNotes(new_normals={series[1].id}))
    assert [(first, last) for first, last, _ in found] == [(0, 0), (1, 1), (2, 3), (4, 5)]
    assert [why for *_, why in found] == ["", "new normal", "aio read size = 1", "client: dialect 3.1.1 → 3.0"]


def begun_within_seconds(series: Series, minute: int, seconds: tuple[int, ...]) -> Series:
    """The series as if its runs had begun at these seconds of a minute."""
    measured = [
        replace(run, started_at=f"2026-01-31T10:{minute:02}:{second:02}.000Z")
        for run, second in zip(series.measured(), seconds, strict=True)
    ]
    return replace(series, runs=tuple(measured))


@pytest.mark.parametrize("usual_first", [True, False])
@pytest.mark.parametrize("others_before", [True, False])
def test_what_was_measured_with_other_options_beside_the_usual_ones_is_no_point_of_the_path(
    usual_first: bool, others_before: bool
):
    """As ``run --versus`` does, whichever of both began first, and whether the path was measured before or after."""
    small = replace(CLIENT, block_bytes=16384)
    in_order = [CLIENT, small] if usual_first else [small, CLIENT]
    pair = [
        begun_within_seconds(replace(series, client=client), 0, seconds)
        for series, client, seconds in zip(nights(1, 1), in_order, ((0, 3, 4, 7, 8), (1, 2, 5, 6, 9)), strict=True)
    ]
    others = nights(1, 1, 1)
    series = [*others, *pair] if others_before else [*pair, *others]
    series = [replace(one_series, id=f"{place:012x}") for place, one_series in enumerate(series)]
    kept = [one_series.id for one_series in series if one_series.client is not small]
    history = history_of_series(series, NOTHING)
    assert history
    assert [point.recording for point in history.points] == kept
    assert [level.because for level in history.lines[0].levels] == [""]


@pytest.mark.parametrize("place_of_usual", [0, 1, 2])
@pytest.mark.parametrize("others_before", [True, False])
def test_of_several_measured_beside_each_other_one_is_a_point_of_the_path(place_of_usual: int, others_before: bool):
    clients = [replace(CLIENT, block_bytes=16384), replace(CLIENT, block_bytes=4096)]
    clients.insert(place_of_usual, CLIENT)
    together = [
        begun_within_seconds(replace(series, client=client), 0, tuple(range(place, 15, 3)))
        for place, (series, client) in enumerate(zip(nights(1, 1, 1), clients, strict=True))
    ]
    others = nights(1, 1, 1)
    series = [*others, *together] if others_before else [*together, *others]
    series = [replace(one_series, id=f"{place:012x}") for place, one_series in enumerate(series)]
    history = history_of_series(series, NOTHING)
    assert history
    usual_ids = [one_series.id for one_series in series if one_series.client is CLIENT]
    assert [point.recording for point in history.points] == usual_ids


@pytest.mark.parametrize(("minute", "points"), [(0, 1), (1, 2)])
def test_other_options_at_another_time_are_a_point_and_begin_a_level(minute: int, points: int):
    first, second = nights(1, 0.5)
    first = begun_within_seconds(first, 0, (0, 3, 4, 7, 8))
    second = replace(second, client=replace(CLIENT, block_bytes=16384))
    second = begun_within_seconds(second, minute, (1, 2, 5, 6, 9))
    history = history_of_series([first, second], NOTHING)
    assert history
    assert len(history.points) == points
    assert len(history.lines[0].levels) == points


def test_series_with_the_same_options_at_one_time_are_points_both():
    first, second = nights(1, 0.5)
    pair = [begun_within_seconds(first, 0, (0, 3, 4, 7, 8)), begun_within_seconds(second, 0, (1, 2, 5, 6, 9))]
    history = history_of_series(pair, NOTHING)
    assert history
    assert len(history.points) == 2


def test_the_sentence_says_since_when():
    history = history_of_series(nights(1, 1, 1, 1, 0.8, 0.8), NOTHING)
    assert history
    assert history_sentence(history) == "Slower by 20 % since 2026-01-05."
    same_day = [
        replace(each, created_at=f"2026-03-04T{10 + n}:00:00Z") for n, each in enumerate(nights(*[1] * 4, 0.8, 0.8))
    ]
    today = history_of_series(same_day, NOTHING)
    assert today
    assert history_sentence(today).startswith("Slower by 20 % since 2026-03-04 1"), "the time tells it apart"
    first, last = (report_text(history_report(one)) for one in (today, history))
    assert "2026-03-04 10:00  2026-03-04 13:00" in first, "so it does of levels"
    assert "2026-01-01  2026-01-04" in last
    shared = history_of_series([replace(same_day[0], created_at="2026-03-03T10:00:00Z"), *same_day[1:]], NOTHING)
    assert shared
    assert "2026-03-04 13:00" in report_text(history_report(shared)), "a level ends on the day that the next one begins"
    steady = history_of_series(nights(1, 1), NOTHING)
    assert steady
    assert history_sentence(steady) == "No change found in 2 recordings since 2026-01-01."
    single = history_of_series(nights(1), NOTHING)
    assert single
    assert history_sentence(single) == "One recording so far, of 2026-01-01; a second one can show a change."
    assert history_of_series([one(1, ())], NOTHING) is None


def test_what_no_comparison_would_call_faster_is_not_called_so():
    """Two series of other settings: compare says "inconclusive" of them."""
    series = nights(1, 1.28)
    series[1] = replace(series[1], change=Change(name="aio read size", value="1"))
    history = history_of_series(series, NOTHING)
    assert history
    assert history_sentence(history) == (
        "28 % faster on average since 2026-01-02 (aio read size = 1). For a verdict, compare two of them."
    )
    assert history_report(history).fields[0].tone is Tone.PLAIN
    confirmed = history_of_series(nights(1, 1, 1, 1, 0.8, 0.8), NOTHING)
    assert confirmed
    assert history_report(confirmed).fields[0].tone is Tone.BAD


def test_baselines_and_trials_are_marked():
    series = nights(1, 1, 1)
    marks = [HistoryMark(recording="t", created_at=series[1].created_at, name="strict sync nas")]
    history = history_of_series(series, HistoryNotes(baselines={series[0].id: ("nightly",)}), marks)
    assert history
    report = history_report(history)
    assert report.tables[1].rows[0].cells[-1].value == "[nightly]"
    assert "strict sync nas" in report.results[0].text
    document = json.loads(json.dumps(history_document(history)))
    assert (document["schema"], document["unit"]) == ("sharebench/history/1", "bytes/s")
    assert [point["recording"] for point in document["lines"][0]["points"]] == [each.id for each in series]
    assert len(history_report(history, newest=2).tables[1].rows) == 2


def test_a_slowdown_that_was_not_confirmed_counts_for_no_level():
    series = nights(1, 1.001, 0.7, 0.999, 1, 1, 0.8, 0.801)
    history = history_of_series(series, HistoryNotes(unconfirmed={series[2].id}))
    assert history
    first, second = history.lines[0].levels
    assert (first.first, first.last, second.first, second.last) == (0, 5, 6, 7)
    assert first.average == pytest.approx(100e6, rel=1e-3)
    assert history_report(history).tables[1].rows[2].cells[-1].value == "not confirmed"
    kept = history_of_series(series, HistoryNotes(unconfirmed={series[2].id}, new_normals={series[2].id}))
    assert kept
    assert [level.first for level in kept.lines[0].levels][:2] == [0, 2]
    last = history_of_series(series[:3], HistoryNotes(unconfirmed={series[2].id}))
    assert last
    assert [(level.first, level.last) for level in last.lines[0].levels] == [(0, 2)]


def test_what_is_marked_stands_at_its_place_on_the_curve():
    series = nights(1, 1, 0.7, 1, 1, 1, 0.8, 0.8, 0.8)
    series[4] = replace(series[4], change=Change(name="aio read size", value="1"))
    notes = HistoryNotes(baselines={series[0].id: ("nightly",)}, unconfirmed={series[2].id}, new_normals={series[8].id})
    marks = [
        HistoryMark(recording="t", created_at=series[3].created_at, name="a"),
        HistoryMark(recording="u", created_at="2027-01-01T00:00:00.000Z", name="b"),
    ]
    history = history_of_series(series, notes, marks)
    assert history
    chart = history_chart(history.lines[0], history)
    assert [bar.signs for bar in chart.bars] == ["B", "", "?", "T", "C", "", "S", "", "TN"]
    assert chart.legend == [
        "B baseline", "T trial", "C change", "N new normal", "S slower", "? not confirmed",
    ]  # fmt: skip
    assert chart.signs_at(range(9), 0.9) == [(0, "B"), (2, "?TC"), (6, "S"), (8, "TN")]
    assert chart.signs_at(range(9), 0.4) == [(0, "B"), (2, "?"), (3, "T"), (4, "C"), (6, "S"), (8, "TN")]
    drawn = [shape.text for shape in drawing(chart).shapes if isinstance(shape, ChartText) and shape.look == "sign"]
    assert drawn == ["B", "?", "T", "C", "S", "TN"]
    shown = drawn_on_a_terminal(chart, 60, 16, colour=False).splitlines()
    axis = next(place for place, line in enumerate(shown) if "└" in line)
    assert shown[axis + 1].split() == ["B", "?", "T", "C", "S", "TN"]
    assert "B baseline" in shown[-1] + shown[-2]


def test_points_of_equal_users_are_a_history_of_loads():
    load = full_load(points=(point(1, 10, slices=(380, 381, 379, 380, 380)), point(2, 20)))
    slower = point(1, 10, slices=(280, 281, 279, 280, 280))
    loads = [replace(load, id=f"{n:012x}", created_at=f"2026-01-{n:02d}T10:00:00.000Z") for n in range(1, 7)]
    loads[4:] = [replace(each, points=(slower, *each.points[1:])) for each in loads[4:]]
    history = history_of_loads(loads, NOTHING)
    assert history
    assert [line.users for line in history.lines] == [10, 20]
    changed = next(line for line in history.lines if line.users == slower.users)
    assert [(level.first, level.because) for level in changed.levels] == [(0, ""), (4, "slower")]
    assert len(history_report(history).charts) == len(history.lines)
    marked = history_of_loads(loads[:4], HistoryNotes(new_normals={loads[2].id}))
    assert marked
    assert [level.why for level in marked.lines[0].levels] == ["", "new normal"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name):
    history = history_of_series(nights(1, 1, 1, 0.8, 0.8), NOTHING)
    assert history
    assert len(export_reports([history_report(history)], name, paper="A4")) > 200


def test_where_each_was_measured_is_told_where_there_are_several_machines():
    desk, attic = ({"client": {"host.name": name, "measured.site": "Bonn"}} for name in ("desk", "attic"))
    series = nights(1, 1, environment=desk)
    alike = history_of_series(series, NOTHING)
    assert alike
    assert "Measured on" not in {column.heading for column in history_report(alike).tables[1].columns}
    mixed = history_of_series([series[0], replace(series[1], environment=attic)], NOTHING)
    assert mixed
    table = history_report(mixed).tables[1]
    place = [column.heading for column in table.columns].index("Measured on")
    assert [row.cells[place].value for row in table.rows] == ["desk, Bonn", "attic, Bonn"]
    assert [one["machine"] for one in history_document(mixed)["lines"][0]["points"]] == ["desk, Bonn", "attic, Bonn"]


def test_the_curve_of_a_page_stands_above_its_tables():
    history = history_of_series(nights(1, 1, 0.8, 0.8), NOTHING)
    assert history
    page = export_reports([history_report(history)], "html").decode()
    assert page.index("<dl>") < page.index("<figure>") < page.index("<table>")
    assert page.count("<figure>") == 1


def test_the_newest_points_of_a_history_of_loads_may_be_of_any_number_of_users():
    points = (point(1, users=10), point(2, users=20))
    at_midnight = {day: f"2026-01-0{day}T00:00:00.000Z" for day in (1, 2)}
    loads = [full_load(id=f"{day:012x}", created_at=at_midnight[day], points=points) for day in (1, 2)]
    history = history_of_loads(loads, NOTHING)
    assert history
    newest = history_report(history, newest=2).tables[1].rows
    assert [row.cells[0].value for row in newest] == [loads[1].id, loads[1].id]
    assert [row.cells[1].value for row in newest] == ["10", "20"]
