"""What the points of a load say, its form in every format, and its document both ways."""

import json
from dataclasses import replace

import pytest

from forms.exporters import FORMATS, export_reports
from forms.exporters.text import report_text
from forms.load.comparison import compare_loads
from forms.load.comparison_report import load_comparison_report
from forms.load.document import load_document, load_from_document
from forms.load.prediction import predicted
from forms.load.report import load_report
from forms.load.summary import (
    capacity_of,
    card_check,
    error_share,
    fewest_users,
    knee_of,
    limit_of,
    memory_line,
    offered_per_second,
    overload,
    size_rows,
)
from forms.worksheets.users import UsersCalculation
from storage.json_reader import DocumentError, JSONNode
from storage.loads.histogram import Histogram
from storage.loads.records import Capacity, Limit, LoadChoices, PointStatus, PrintQueue
from storage.loads.scenario import RequestKind, Think
from tests.loads import full_load, golden_load, histogram, point, scenario, server, spread

CHOICES = LoadChoices(limit_seconds=0.1)


def test_overload_is_too_little_of_what_is_offered_too_slow_or_errors():
    assert overload(point(rate=95.0), CHOICES) is None
    assert "94 %" in (overload(point(rate=94.0), CHOICES) or "")
    slow = point(response=histogram(*[0.2] * 20))
    assert "above 0.1 s" in (overload(slow, CHOICES) or "")
    assert overload(slow, LoadChoices()) is None
    wrong = point(errors={"connection lost": 3}, first_error="gone")
    assert error_share(wrong) == pytest.approx(3 / 1903)
    assert "gone" in (overload(wrong, CHOICES) or "")


def test_what_is_offered_is_the_schedule_or_as_if_each_were_answered_as_the_fewest():
    fewest = point(users=5, rate=50.0)
    assert offered_per_second(scenario(), 20, fewest) == 200.0
    assert offered_per_second(scenario(pace_seconds=0.5), 20, None) == 40.0
    assert offered_per_second(scenario(requests={}), 20, fewest) is None


def test_a_point_at_which_this_end_was_the_limit_tells_what_is_offered_at_least():
    late, full, apart = point(1, 1, 12.0, status=PointStatus.GENERATOR), point(2, 4, 12.0), point(3, 1, size_bytes=4096)
    fewest = fewest_users([full, late, apart, point(4, 1, status=PointStatus.FAILED)])
    assert fewest is late
    offered = offered_per_second(scenario(), full.users, fewest)
    assert offered == 48.0
    assert overload(replace(full, offered_per_second=offered), CHOICES) is not None
    assert fewest_users([apart]) is None


@pytest.mark.parametrize(
    ("found", "limit"),
    [
        (point(read_bytes=20 * 11_900_000), Limit.NETWORK),
        (point(server=server(throttled_percent=60.0)), Limit.SERVER_CPU),
        (point(server=server(total_percent=spread(97.0))), Limit.SERVER_CPU),
        (point(server=server(disk_busy_percent={"vda": 99.0})), Limit.DISK),
        (point(errors={"x": 100}), Limit.ERRORS),
        (point(status=PointStatus.GENERATOR), Limit.GENERATOR),
        (point(server=None), Limit.UNKNOWN),
    ],
)
def test_what_stood_in_the_way(found, limit):
    assert limit_of(found, 100_000_000) is limit


def test_capacity_is_a_bracket_and_points_without_a_verdict_give_none():
    load = full_load()
    capacity = capacity_of(load)
    assert capacity is not None
    assert (capacity.carried, capacity.not_carried, capacity.limit) == (20, 40, Limit.ERRORS)
    generator = full_load(points=(point(1, 10), point(2, 20, 100.0, status=PointStatus.GENERATOR)))
    assert capacity_of(generator) == Capacity(carried=10, not_carried=None)
    assert capacity_of(full_load(points=(point(status=PointStatus.GENERATOR),))) is None
    broken_here = point(2, 20, status=PointStatus.FAILED, reason="a worker was ended", limit=Limit.GENERATOR)
    assert capacity_of(full_load(points=(point(1, 10), broken_here))) == Capacity(carried=10, not_carried=None)
    assert limit_of(broken_here, None) is Limit.GENERATOR


def answered(seconds: float) -> dict[str, Histogram]:
    return {"response": histogram(*[seconds] * 10)}


def test_the_knee_is_the_point_with_the_most_power_between_two_with_less():
    few, knee, many = (
        point(1, 5, 50, **answered(0.002)),
        point(2, 10, 95, **answered(0.003)),
        point(3, 20, 100, **answered(0.05)),
    )
    found = knee_of([many, few, knee])
    assert found is not None
    assert (found.users, found.requests_per_second) == (10, 95.0)
    assert found.response_seconds == pytest.approx(0.003)
    assert knee_of([few, knee]) is None
    assert knee_of([few, knee, point(3, 20, 190, **answered(0.003))]) is None
    assert knee_of([point(1, 5, 50, **answered(0.0001)), knee, many]) is None
    assert "at 10 users: 95.0 requests/s" in report_text(load_report(full_load(points=(few, knee, many))))
    rising = full_load(points=(few, knee, point(3, 20, 190, **answered(0.003))))
    assert "no knee in these points" in report_text(load_report(rising))
    assert "knee" not in report_text(load_report(full_load()))
    assert load_document(full_load(points=(few, knee, many)))["knee"]["users"] == 10


def test_a_worksheet_promises_as_many_users_as_its_server_moves_what_one_asks_for():
    worksheet = UsersCalculation(capacity_bytes_per_second=10e6, groups=())
    found = predicted(full_load(), "nas", worksheet)
    assert found is not None
    assert (found.user_bytes_per_second, found.users) == (250_000.0, 40)
    assert "40 users by the worksheet nas" in " ".join(report_text(load_report(full_load(), found)).split())
    assert load_document(full_load(), found)["prediction"]["users"] == 40
    assert predicted(full_load(scenario=scenario(think=Think(seconds=0))), "nas", worksheet) is None
    assert predicted(full_load(points=()), "nas", worksheet) is None


def test_the_print_queue_is_told_or_said_not_to_be_seen():
    prints = scenario(requests={RequestKind.PRINT: 100.0})
    unseen = report_text(load_report(full_load(scenario=prints)))
    assert "Print queue: not seen" in unseen
    waits = point(print_queue=PrintQueue(waiting=7))
    assert "7 jobs waited after the last hand-over, and some still did" in " ".join(
        report_text(load_report(full_load(scenario=prints, points=(waits,)))).split()
    )
    assert "Print queue" not in report_text(load_report(full_load()))


def test_the_memory_line_and_its_interval():
    points = [
        point(number, users, server=server(smbd_uss_bytes=2_000_000 + 620_000 * users + noise))
        for number, (users, noise) in enumerate(((10, 1000), (20, -2000), (40, 1000)), start=1)
    ]
    line = memory_line(points)
    assert line is not None
    assert line.bytes_a_session == pytest.approx(620_000, rel=0.001)
    assert line.low_bytes is not None
    assert line.high_bytes is not None
    assert line.low_bytes < 620_000 < line.high_bytes
    two = memory_line(points[:2])
    assert two is not None
    assert two.low_bytes is None
    assert memory_line(points[:1]) is None


def test_two_cards_of_which_one_alone_sends():
    one_sends = {"eth0": (5e6, 99e6), "eth1": (5e6, 1e6), "lo": (1e9, 1e9)}
    found = card_check([point(server=server(interfaces=one_sends))])
    assert found is not None
    assert found.only_out == "eth0"
    both = card_check([point(server=server(interfaces={"eth0": (5e6, 50e6), "eth1": (5e6, 50e6)}))])
    assert both is not None
    assert both.only_out is None
    assert card_check([point()]) is None


def test_sizes_apart_give_the_redpapers_figures():
    points = [
        point(1, 10, 1000.0, size_bytes=4096, read_bytes=20 * 4_096_000, write_bytes=0),
        point(2, 10, 100.0, size_bytes=1048576, read_bytes=20 * 104_857_600, write_bytes=0),
    ]
    small, large = size_rows(points)
    assert small.requests_per_second > large.requests_per_second
    assert small.bytes_per_second < large.bytes_per_second
    assert small.cpu_seconds_a_megabyte == pytest.approx(2 * 0.5 / 4.096)


def test_the_form_in_every_format():
    report = load_report(full_load())
    text = " ".join(report_text(report).split())
    assert "20 users carried, 40 not" in text
    assert "fits in the server's memory" in text
    assert "not seen" in text
    assert "The server was" not in text, "a point that failed has no server's side"
    unseen = [point(1, 10, server=None), point(2, 20)]
    assert "seen too seldom at some points" in report_text(load_report(full_load(points=unseen)))
    assert "was not seen: let it be read" in report_text(load_report(full_load(points=unseen[:1])))
    assert "12 of 40 users had a session" in text
    assert "Errors: 40 users: 28 x login refused, first: the server refused the login" in text
    for name in FORMATS:
        assert export_reports([report], name, paper="A4")


def test_the_document_both_ways():
    everything = golden_load("text")
    assert load_from_document(JSONNode("", json.loads(json.dumps(load_document(everything))))) == everything
    load = full_load()
    document = json.loads(json.dumps(load_document(load)))
    assert load_from_document(JSONNode("", document)) == load
    first = document["points"][0]
    assert first["requests_per_second"] == 95.0
    assert first["response_seconds"]["p95"] == pytest.approx(0.005, rel=0.01)
    assert first["operations"]["read"]["count"] == 2
    assert first["server"]["cpu_percent"]["total"]["mean"] == 50.0
    assert first["generator"]["cpu_percent_max"] == 12.5
    with pytest.raises(DocumentError, match="targets"):
        load_from_document(JSONNode("", document | {"targets": []}))


def test_loads_compare_by_brackets_that_lie_apart():
    base = full_load()
    better = full_load(id="ba", capacity=Capacity(carried=40, not_carried=44))
    found = compare_loads(base, better)
    assert (found.verdict, found.capacity_ratio) == ("faster", 2.0)
    assert compare_loads(better, base).verdict == "slower"
    assert compare_loads(base, base).verdict == "unknown"
    assert "at least twice the users" in report_text(load_comparison_report(found)).replace("\n  ", " ")
    assert [pair.change_percent for pair in found.pairs] == [0.0, 0.0]


@pytest.mark.parametrize("width", [74, 76, 78, 80])
def test_no_heading_and_no_number_is_broken_where_600_users_are_answered_in_seconds(width):
    slow = histogram(0.5, 1.2, 12.5)
    points = tuple(
        point(number, users, 95.0 * users, response=slow, errors={"x": 1200}, read_bytes=4_000_000_000)
        for number, users in enumerate((20, 300, 600), 1)
    )
    lines = report_text(load_report(full_load(points=points)), width=width).splitlines()
    at = lines.index("Load points: response times, from due to answered")
    _, headings, _, *rows = lines[at + 1 : at + 7]
    assert headings.split()[:2] == ["Users", "session"]
    assert [row.split()[:2] for row in rows] == [["20", "20"], ["300", "300"], ["600", "600"]]
    assert {len(row.split()) for row in rows} == {11}
