"""What the points of a load say, its form in every format, and its document both ways."""

import json
from dataclasses import replace
from typing import Any

import pytest

from forms.exporters import FORMATS, export_reports
from forms.exporters.text import report_text
from forms.load.charts import load_charts
from forms.load.comparison import compare_loads, load_comparison_document, load_comparison_report
from forms.load.document import load_document, load_from_document
from forms.load.prediction import predicted
from forms.load.report import load_report
from forms.load.shapes import card_check, knee_of, memory_line, size_rows
from forms.load.summary import (
    capacity_of,
    error_share,
    fewest_users,
    limit_of,
    offered_per_second,
    overload,
    percentile_interval,
    percentile_seconds,
    stall_of,
)
from forms.load.wording import load_answer, load_headline
from forms.worksheets.users import UsersCalculation
from storage.json_reader import DocumentError, JSONNode
from storage.load.records import (
    Capacity,
    Limit,
    Load,
    LoadChoices,
    PointStatus,
    PrintQueue,
    RequestKind,
    SizeClass,
    Think,
)
from storage.plan import Imitated
from tests.loads import full_load, golden_load, histogram, many, point, scenario, server, spread

CHOICES = LoadChoices(limit_seconds=0.1)
USUAL = scenario()


def answered(seconds: float) -> dict[str, Any]:
    return {"response": histogram(*[seconds] * 100)}


def test_overload_is_too_little_of_what_is_offered_too_slow_or_errors():
    paced = scenario(pace_seconds=0.1)
    assert overload(point(rate=95.0), CHOICES, paced, None) is None
    assert "94 %" in (overload(point(rate=94.0), CHOICES, paced, None) or "")
    slow = point(response=histogram(*[0.2] * 20))
    assert "above 0.1 s" in (overload(slow, CHOICES, USUAL, None) or "")
    assert overload(slow, LoadChoices(), USUAL, None) is None
    wrong = point(errors={"connection lost": 3}, first_error="gone")
    assert error_share(wrong) == pytest.approx(3 / 1903)
    assert "gone" in (overload(wrong, CHOICES, USUAL, None) or "")


@pytest.mark.parametrize(
    ("fewest_requests", "rate", "carried"),
    [
        (1000, 90.1, True),  # 1 - 2.576 x sqrt(1 / 1000 + 1 / 2000) is 0.9002
        (1000, 90.0, False),
        (50, 63.2, True),  # the same for 50 requests is 0.6312
        (50, 63.1, False),
        (10**6, 94.3, True),  # and with the 2000 alone 0.9423
        (10**6, 94.2, False),
    ],
)
def test_what_few_requests_promised_may_be_missed_by_chance(fewest_requests: int, rate: float, carried: bool):
    """Seen on an idle server: 50 requests of 5 users promised more than 20 made, and 20 were "not carried (86 %)"."""
    few = replace(point(1, 5), requests=fewest_requests)
    assert (overload(point(2, 10, rate), CHOICES, USUAL, few) is None) == carried


def test_many_requests_leave_nothing_to_chance():
    of_many, few = replace(point(2, 10, 95.0), seconds=10.0**6), replace(point(1, 5), requests=10**9)
    for share, carried in ((0.951, True), (0.949, False)):
        made = replace(of_many, requests=round(share * 100 * 10**6))
        assert (overload(made, CHOICES, USUAL, few) is None) == carried


def test_capacity_leaves_the_same_to_chance_as_each_point():
    points = (point(1, 5, 2.5, offered_per_second=2.5), point(2, 20, 8.6, offered_per_second=10.0))
    found = capacity_of(full_load(points=points, choices=LoadChoices()))
    assert found
    assert (found.carried, found.not_carried) == (20, None)


@pytest.mark.parametrize(
    ("fewest_requests", "rate", "judged"),
    [
        (36, 60.0, True),  # 1 - 2.576 x sqrt(1 / 36 + 1 / 2000) is 0.567
        (27, 60.0, True),  # 0.5009
        (26, 60.0, False),  # 0.4916
        (26, 94.9, False),
        (26, 95.0, True),  # what keeps up needs no more requests
    ],
)
def test_a_point_of_too_few_requests_is_not_called_carried(fewest_requests: int, rate: float, judged: bool):
    """Seen: 6 of 36 requests over a full link, and "4 users carried; no more were tried"."""
    few = replace(point(1, 5, 50.0), requests=fewest_requests, seconds=fewest_requests / 50)
    load = full_load(points=(few, point(2, 10, rate)), choices=LoadChoices())
    found = capacity_of(load)
    assert found == Capacity(carried=10 if judged else 5, not_carried=None)
    told = load_answer(replace(load, capacity=found))
    too_few = "5 users carried; 10 users were not judged (too few requests: measure longer)"
    assert told.startswith("10 users carried" if judged else too_few)
    assert overload(point(2, 10, rate), LoadChoices(), USUAL, few) is None


def test_a_point_of_too_few_requests_is_told_also_where_another_decides():
    few = replace(point(1, 5, 50.0), requests=26, seconds=26 / 50)
    broken = point(3, 20, 60.0, errors={"gone": 500}, first_error="gone")
    load = full_load(points=(few, point(2, 10, 60.0), broken), choices=LoadChoices())
    load = replace(load, capacity=capacity_of(load))
    assert "5 users carried, 20 not" in load_answer(load)
    assert "; 1 point between them not judged" in load_answer(load)
    judged = replace(load, points=(few, point(2, 10, 99.0), broken))
    assert "between" not in load_answer(replace(judged, capacity=capacity_of(judged)))


def test_users_who_pause_offer_no_more_than_their_pauses_allow():
    eager, of_many = point(users=5, rate=60.0), point(users=20, rate=100.0)
    assert offered_per_second(USUAL, of_many, eager) == 200.0
    assert offered_per_second(scenario(think=Think(seconds=0.0)), of_many, eager) == 240.0


@pytest.mark.parametrize(
    ("seconds", "largest_bytes", "carried"),
    [(0.99, 4096, True), (1.01, 4096, False), (6.3, 64 * 10**6, True), (6.5, 64 * 10**6, False)],
)
def test_without_a_limit_a_second_is_one_and_more_for_large_files(seconds: float, largest_bytes: int, carried: bool):
    usual = scenario(sizes=(SizeClass(size_bytes=largest_bytes, share=1),))
    found = overload(point(**answered(seconds)), LoadChoices(), usual, None)
    assert (found is None) == carried
    assert carried or "the usual limit" in (found or "")
    assert load_document(full_load(choices=LoadChoices(), scenario=usual))["limit_seconds"] == max(
        1.0, largest_bytes / 1e7
    )


def test_a_percentile_needs_a_request_beyond_it():
    assert percentile_seconds(histogram(*[0.001] * 19), 0.95) is None
    assert percentile_seconds(histogram(*[0.001] * 20), 0.95) == 0.001
    assert percentile_seconds(histogram(*[0.001] * 99), 0.99) is None
    assert percentile_seconds(histogram(*[0.001] * 100), 0.99) == 0.001
    few = full_load(points=(point(response=histogram(*[0.001] * 12)),))
    assert load_document(few)["points"][0]["response_seconds"]["p95"] is None
    text = " ".join(report_text(load_report(few)).split())
    assert (
        "Too few requests for some percentiles (12 at 10 users): p95 needs 20 and p99 needs 100; measure longer."
        in text
    )
    assert "Too few requests" not in report_text(load_report(full_load()))


@pytest.mark.parametrize(
    ("count", "missing"),
    [
        (1, "p50 needs 2, p95 needs 20 and p99 needs 100"),
        (2, "p95 needs 20 and p99 needs 100"),
        (19, "p95 needs 20 and p99 needs 100"),
        (20, "p99 needs 100"),
        (99, "p99 needs 100"),
        (100, ""),
    ],
)
def test_the_percentiles_that_are_missing_are_named(count: int, missing: str):
    few = full_load(points=(point(response=histogram(*[0.001] * count)),))
    said = [text for text in load_report(few).advice if text.startswith("Too few requests")]
    assert said == (
        [f"Too few requests for some percentiles ({count} at 10 users): {missing}; measure longer."] if missing else []
    )


def test_a_percentiles_interval_goes_by_ranks_and_needs_requests_beyond_both_ends():
    even = histogram(*[number / 1e6 for number in range(1, 74)])
    assert percentile_interval(even, 0.95) == pytest.approx((66e-6, 73e-6))
    assert percentile_interval(histogram(*[0.001] * 73), 0.95)
    assert percentile_interval(histogram(*[0.001] * 72), 0.95) is None, "1.96 deviations above p95 are beyond all"
    assert percentile_interval(histogram(), 0.95) is None


@pytest.mark.parametrize(("read", "shown"), [(999_999, "1.0000"), (59_000, "0.0590"), (1_000_000, "1.0")])
def test_rates_below_a_megabyte_have_more_decimals(read: int, shown: str):
    """The unit stays: who reads the CSV goes by the heading."""
    moved = replace(point(1, 10), seconds=1.0, read_bytes=read, write_bytes=10)
    assert shown in report_text(load_report(full_load(points=(moved,)))).split()


def test_each_point_is_drawn_with_the_interval_of_its_fifths_its_ranks_and_its_seconds():
    seen = replace(server(), samples=100, total_percent=spread(40.0))
    slices = replace(point(1, 10, server=seen), seconds=10.0, requests=1000, slices=(190, 195, 200, 205, 210))
    requests, p95, processors = load_charts([slices, point(2, 20), point(3, 40, server=None)])
    assert requests.bars[0].interval == pytest.approx((100 - 4.9083, 100 + 4.9083), abs=0.001), "t of 4 x s / sqrt 5"
    assert p95.bars[0].interval is not None
    deviation = seen.total_percent.deviation
    assert deviation
    assert processors.bars[0].interval == pytest.approx(
        (40 - 0.19842 * deviation, 40 + 0.19842 * deviation), rel=1e-4
    ), "t of 99"
    assert processors.bars[2].interval is None
    one, still = replace(seen, samples=1), replace(seen, total_percent=replace(spread(40.0), deviation=0.0))
    for sure, told in ((one, False), (still, False), (replace(seen, samples=2), True)):
        *_, drawn = load_charts([replace(slices, server=sure), point(2, 20, server=seen)])
        assert (drawn.bars[0].interval is not None) is told, "neither one reading nor equal ones have an interval"
    few = replace(seen, samples=2, total_percent=replace(spread(99.5), deviation=9.0))
    *_, full = load_charts(
        [
            replace(slices, server=few),
            point(2, 20, server=replace(few, total_percent=replace(spread(0.5), deviation=9.0))),
        ]
    )
    assert [bar.interval and bar.interval[end] for bar, end in zip(full.bars, (1, 0), strict=True)] == [100.0, 0.0]
    assert requests.title == "Requests a second over users, with 95 % intervals"
    assert next(load_charts([point(1, 10), point(2, 20)])).title == "Requests a second over users"
    assert not list(load_charts([slices])), "one bar is no chart"


def test_a_server_that_stood_still_is_told_although_the_percentiles_do_not_show_it():
    """Seen where smbd was stopped for 2.01 of 20 s while five users paused between their requests: p99 17.9 ms."""
    frozen = point(1, 5, 47.5, response=histogram(*[0.006] * 940, *[0.0179] * 9, *[2.01] * 5), silent_seconds=2.0)
    load = full_load(points=(frozen,), capacity=Capacity(carried=5))
    text = " ".join(report_text(load_report(load)).split())
    assert "for 2.0 of 20 s the server answered nothing although users waited; p99 (17.9 ms) does not show it" in text
    assert next(load_headline(load)).text.endswith("; the server answered nothing for 2.0 s")
    assert stall_of(replace(frozen, silent_seconds=0.49)) is not None, "the longest answer tells it still"
    shorter = replace(frozen, response=histogram(*[0.006] * 990, 0.0491), silent_seconds=0.49)
    assert stall_of(shorter) is None
    assert stall_of(replace(shorter, silent_seconds=0.5)) is not None
    assert stall_of(replace(frozen, status=PointStatus.GENERATOR)) is not None, "whatever this machine did besides"
    for standstill, is_told in ((2.0, False), (1.4, True), (0.49, True)):
        here = replace(frozen, generator_lateness=histogram(0.001, standstill))
        assert (stall_of(here) is not None) is is_told, (
            "while this machine stood still nobody knows what the server did"
        )
    for seconds, hides in ((1.9, True), (2.3, False)):
        told = full_load(points=(replace(frozen, response=histogram(*[0.006] * 940, *[seconds] * 60)),))
        text = " ".join(report_text(load_report(told)).split())
        assert "the server answered nothing although users waited" in text
        assert ("does not show it" in text) is hides
    slow = point(response=histogram(*[0.3] * 200), silent_seconds=0.6)
    assert stall_of(slow) is None, "answers take as long as that here"


def test_one_answer_on_form_headline_list_and_document():
    open_ended = full_load(points=(point(1, 10), point(2, 20, 195.1)), capacity=Capacity(carried=20))
    said = (
        "20 users carried; the limit was not reached (they pause 0.1 s on average, so they ask for about 200 a second)"
    )
    assert load_answer(open_ended) == load_document(open_ended)["answer"] == said
    assert next(load_headline(open_ended)).text == said
    assert f"Answer: {said}" in " ".join(report_text(load_report(open_ended)).split())
    late = point(1, 10, status=PointStatus.GENERATOR, reason="the generator, not the server: late")
    beside = replace(open_ended, points=(late, open_ended.points[1]))
    assert [part.text for part in load_headline(beside)] == [
        said,
        "2 points",
        "! 1 point not judged: the load generator could not keep up",
    ]
    paced = replace(open_ended, scenario=scenario(pace_seconds=0.5))
    assert load_answer(paced).endswith("the limit was not reached (a request every 0.5 s each: 40 requests/s)")
    assert load_answer(replace(open_ended, scenario=scenario(think=Think(seconds=0)))).endswith("no more were tried")


def test_a_limited_load_generator_is_told_with_its_figures_once_a_point():
    late = [
        point(
            number,
            users,
            status=PointStatus.GENERATOR,
            offered_per_second=None,
            reason=f"the generator, not the server: {users} ms late",
        )
        for number, users in ((1, 10), (2, 20))
    ]
    load = full_load(points=tuple(late), capacity=None)
    assert load_answer(load).endswith("; not judged: the load generator could not keep up")
    said = " ".join(report_text(load_report(load)).split())
    assert said.count("20 ms late") == said.count("end other programs, then use more") == 1
    advice = "This machine could not keep up"
    for users, is_told in ((19, True), (20, False)):
        judged = replace(load, points=(*late, point(3, users)))
        assert (advice in report_text(load_report(judged))) is is_told, "a point that was judged later needs no advice"
    of_a_size = tuple(replace(one, size_bytes=4096) for one in late)
    for size, is_told in ((4096, False), (65536, True)):
        judged = replace(load, points=(*of_a_size, replace(point(3, 20), size_bytes=size)))
        assert (advice in report_text(load_report(judged))) is is_told, "that of another size says nothing of this one"


def test_a_search_that_was_broken_off_says_so():
    late = point(
        2, 20, status=PointStatus.GENERATOR, offered_per_second=None, reason="the generator, not the server: late"
    )
    search = LoadChoices(find_capacity=True)
    open_ended = full_load(points=(point(1, 10), late), capacity=Capacity(carried=10), choices=search)
    assert load_answer(open_ended) == (
        "10 users carried; the search was broken off at 20 users (the generator, not the server: late)"
    )
    assert load_answer(open_ended, brief=True) == "10 users carried; the search was broken off at 20 users"
    between = full_load(
        points=(point(1, 10), point(2, 40, 200.0), replace(late, number=3)), choices=search,
        capacity=Capacity(carried=10, not_carried=40, reason="200.0 of 400.0 requests/s were made (50 %)"),
    )  # fmt: skip
    assert load_answer(between).endswith("(50 %)); the search between them was broken off at 20 users")
    fixed = replace(open_ended, choices=LoadChoices(users=(10, 20)))
    assert load_answer(fixed, brief=True) == "10 users carried; 20 users were not judged"


def test_other_programs_are_named_and_are_not_samba():
    """As stored by a load beside burners: processors 99.5 %, smbd 1.0 %."""
    burnt = point(
        read_bytes=20 * 4_096_000, write_bytes=0, size_bytes=4096,
        server=server(
            total_percent=spread(99.5), smbd_percent=spread(1.0), kernel_percent=spread(8.0),
            others_percent=spread(90.0),
        ),
    )  # fmt: skip
    assert limit_of(burnt, 10**10) is Limit.OTHERS
    (row,) = size_rows([burnt])
    assert row.cpu_seconds_a_megabyte is None
    text = " ".join(report_text(load_report(full_load(points=(burnt,)))).split())
    assert "other programs used 90 % of the server's processors (more than 20 %)" in text
    assert burnt.server is not None
    for others, known in ((20.0, True), (20.1, False)):
        seen = replace(burnt, server=replace(burnt.server, others_percent=spread(others)))
        assert (size_rows([seen])[0].cpu_seconds_a_megabyte is not None) == known
        assert limit_of(seen, 10**10) is (Limit.SERVER_CPU if known else Limit.OTHERS)
    assert (
        size_rows([replace(burnt, server=replace(burnt.server, others_percent=spread(0.0), smbd_percent=None))])[
            0
        ].cpu_seconds_a_megabyte
        is None
    )


def test_what_is_offered_is_the_schedule_or_as_if_each_were_answered_as_the_fewest():
    fewest, of_many = point(users=5, rate=50.0), point(users=20, rate=40.0)
    assert offered_per_second(scenario(), of_many, fewest) == 200.0
    assert offered_per_second(scenario(pace_seconds=0.5), of_many, None) == 40.0
    assert offered_per_second(scenario(requests={}), of_many, fewest) is None
    assert offered_per_second(scenario(), fewest, fewest) is None, "it would always be what was made"
    again = point(2, users=5, rate=40.0)
    assert offered_per_second(scenario(), again, fewest) == 50.0


@pytest.mark.parametrize(("rate", "offered"), [(199.0, 200.0), (200.0, 200.0), (201.0, 201.0)])
def test_no_more_is_made_than_was_offered(rate: float, offered: float):
    assert offered_per_second(scenario(), point(users=20, rate=rate), point(users=5, rate=50.0)) == offered
    assert offered_per_second(scenario(pace_seconds=0.1), point(users=20, rate=rate), None) == offered


def test_a_point_at_which_this_end_was_the_limit_tells_what_is_offered_at_least():
    late, full, apart = point(1, 1, 9.0, status=PointStatus.GENERATOR), point(2, 4, 12.0), point(3, 1, size_bytes=4096)
    fewest = fewest_users([full, late, apart, point(4, 1, status=PointStatus.FAILED)])
    assert fewest is late
    offered = offered_per_second(scenario(), full, fewest)
    assert offered == 36.0
    assert overload(replace(full, offered_per_second=offered), CHOICES, USUAL, fewest) is not None
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
    generator = full_load(
        points=(point(1, 10), point(2, 20, 100.0, status=PointStatus.GENERATOR, offered_per_second=None))
    )
    assert capacity_of(generator) == Capacity(carried=10, not_carried=None)
    again = full_load(points=(point(1, 10), point(2, 20), point(3, 20, 100.0), point(4, 30)))
    found = capacity_of(again)
    assert found is not None
    assert (found.carried, found.not_carried) == (10, 20), "carried once and not the next time is not carried"
    assert capacity_of(full_load(points=(point(status=PointStatus.GENERATOR, offered_per_second=None),))) is None
    broken_here = point(2, 20, status=PointStatus.FAILED, reason="a worker was ended", limit=Limit.GENERATOR)
    assert capacity_of(full_load(points=(point(1, 10), broken_here))) == Capacity(carried=10, not_carried=None)
    assert limit_of(broken_here, None) is Limit.GENERATOR


@pytest.mark.parametrize(
    ("rate", "late_seconds", "cpu_percent", "capacity"),
    [
        (191.0, 0.1, 20.0, (20, None)),  # carried in spite of it
        (179.0, 0.01, 20.0, None),  # 10.5 % are lacking, and the lateness can have taken 9 %
        (160.0, 0.01, 20.0, (5, 20)),
        (160.0, 0.01, 71.0, None),
    ],
)
def test_a_late_load_generator_leaves_what_is_certain(
    rate: float, late_seconds: float, cpu_percent: float, capacity: tuple[int, int | None] | None
):
    """Seen beside one busy program: three points of 10 users lost 6 % to lateness, where the server lacked far more."""
    fewest = point(1, 5, 50.0)
    answered = histogram(*[0.004] * round(20 * rate))
    late = point(
        2, 20, rate, status=PointStatus.GENERATOR, offered_per_second=200.0, response=answered, service=answered,
        generator_lateness=histogram(*[late_seconds] * 900), generator_cpu_percent=(cpu_percent,),
        limit=Limit.GENERATOR,
    )  # fmt: skip
    found = capacity_of(full_load(points=(fewest, late), choices=LoadChoices()))
    assert found is not None
    assert (found.carried, found.not_carried) == (capacity or (5, None))
    assert found.limit is not Limit.GENERATOR


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
    ended = point(print_queue=PrintQueue(waiting=7, left=3))
    assert "of which 3 still did when it was ended" in " ".join(
        report_text(load_report(full_load(scenario=prints, points=(ended,)))).split()
    )
    assert "Print queue" not in report_text(load_report(full_load()))


def test_the_memory_line_and_its_interval():
    points = [
        point(
            number,
            users,
            server=server(
                smbd_uss_bytes=2_000_000 + 620_000 * users + noise, smbd_pss_bytes=9_000_000 + 810_000 * users
            ),
        )
        for number, (users, noise) in enumerate(((10, 1000), (20, -2000), (40, 1000)), start=1)
    ]
    idle = full_load(scenario=scenario(requests={}), points=tuple(points), capacity=None)
    line = memory_line(idle)
    assert line is not None
    assert line.bytes_a_session == pytest.approx(620_000, rel=0.001)
    assert line.low_bytes is not None
    assert line.high_bytes is not None
    assert line.low_bytes < 620_000 < line.high_bytes
    memory = load_document(idle)["memory"]
    assert memory["bytes_per_user"] == line.bytes_a_session
    assert (memory["low_bytes"], memory["high_bytes"]) == (line.low_bytes, line.high_bytes)
    text = " ".join(report_text(load_report(idle)).split())
    assert "620 kB of private memory each (" in text
    assert "810 kB with their part of shared memory" in text
    assert memory["kind"] == "USS"
    assert memory["pss_bytes_per_user"] == pytest.approx(810_000)
    unseen = replace(points[0], server=server(smbd_uss_bytes=8_200_000, smbd_pss_bytes=None))
    assert load_document(replace(idle, points=(unseen, *points[1:])))["memory"]["pss_bytes_per_user"] is None
    assert "the Redpaper found about 390 kB" in text
    late = tuple(replace(each, status=PointStatus.GENERATOR) for each in points)
    assert memory_line(replace(idle, points=late)) == line, "late timers change nothing in it"
    two = memory_line(replace(idle, points=tuple(points[:2])))
    assert two is not None
    assert two.low_bytes is None
    assert memory_line(replace(idle, points=tuple(points[:1]))) is None
    assert memory_line(full_load(points=tuple(points))) is None, "users who work use memory for their work"
    assert load_document(full_load())["memory"] is None


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
    assert small.cpu_seconds_a_megabyte == pytest.approx(2 * (0.3 + 0.05 * 0.3 / 0.45) / 4.096)


def test_the_form_in_every_format():
    report = load_report(full_load())
    text = " ".join(report_text(report).split())
    assert "20 users carried, 40 not" in text
    assert "fits in the server's memory" in text
    assert "figures of the server" not in text, "a point that failed has no server's side"
    unseen = [point(1, 10, server=None), point(2, 20)]
    assert "Too few figures of the server at some points" in report_text(load_report(full_load(points=unseen)))
    assert "No figures of the server" in report_text(load_report(full_load(points=unseen[:1])))
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
    assert first["operations"]["read"]["count"] == 200
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
    assert "carries" not in report_text(load_comparison_report(compare_loads(base, base))), "the brackets overlap"
    apart = compare_loads(loaded(1.0), full_load(points=(), capacity=None))
    assert "no number of users was measured in both" in " ".join(report_text(load_comparison_report(apart)).split())
    assert "at least twice the users" in report_text(load_comparison_report(found)).replace("\n  ", " ")
    assert [pair.change_percent for pair in found.pairs] == [0.0, 0.0]


def test_loads_as_different_clients_differ_in_that():
    as_windows = full_load(id="ba", choices=LoadChoices(like=Imitated.WINDOWS_11_24H2))
    own = full_load(choices=LoadChoices())
    assert compare_loads(own, as_windows).differences == ("imitated client",)
    assert compare_loads(as_windows, as_windows).differences == ()


def test_earlier_loads_tell_how_far_equal_points_differ():
    def at(day: int, factor: float) -> Load:
        return loaded(factor, id=f"{day:012x}", created_at=f"2026-01-{day:02}T10:00:00.000Z")

    base, other = at(11, 1.0), at(12, 1.1)
    earlier = [at(day, 1.0 + 0.002 * (day % 3)) for day in range(1, 11)]
    alone, known = compare_loads(base, other), compare_loads(base, other, earlier)
    assert (alone.verdict, known.verdict) == ("unknown", "faster")
    widths = [pair.decision.interval_percent for found in (alone, known) for pair in found.pairs]
    assert widths[0]
    assert widths[1]
    assert widths[1][1] - widths[1][0] < 0.7 * (widths[0][1] - widths[0][0])
    of_others = [replace(load, points=tuple(replace(one, users=99) for one in load.points)) for load in earlier]
    assert compare_loads(base, other, of_others).pairs[0].decision == alone.pairs[0].decision


def loaded(*factors: float, **changes: Any) -> Load:
    """A load at 8, 16, … users whose windows of 20 s had so many times 95 requests a second, and varied by 1 %."""
    variation = (1.0, 1.01, 0.99, 1.005, 0.995)
    points = tuple(
        point(number, 8 * number, 95.0 * factor, slices=tuple(round(380 * factor * each) for each in variation))
        for number, factor in enumerate(factors, 1)
    )
    return full_load(points=points, capacity=None, **changes)


def test_points_of_equal_users_are_compared_by_the_rule():
    base = loaded(1.0, 1.0)
    for factors, verdict, said in (
        ((1.43, 1.43), "faster", "8 users: Faster by 43 %"),
        ((0.7, 0.7), "slower", "16 users: Slower by 30 %"),
        ((1.03, 1.0), "unknown", "8 users: Inconclusive: 3 % faster"),
        ((1.43, 1.0), "faster", "16 users: Inconclusive: no difference seen"),
        ((1.43, 0.7), "unknown", "16 users: Slower by 30 %"),
    ):
        found = compare_loads(base, loaded(*factors, id="ba"))
        assert found.verdict == verdict, factors
        assert said in " ".join(report_text(load_comparison_report(found)).split()), factors
        assert [pair["verdict"] for pair in load_comparison_document(found)["points"]]


def test_capacities_that_lie_apart_decide_before_the_points_and_windows_without_slices_decide_nothing():
    base = loaded(1.0)
    slower = replace(loaded(0.7, id="ba"), capacity=Capacity(carried=40, not_carried=44))
    assert compare_loads(replace(base, capacity=Capacity(carried=20, not_carried=22)), slower).verdict == "faster"
    text = report_text(load_comparison_report(compare_loads(base, replace(base, id="ba", points=()))))
    assert "no number of users was measured in both" in " ".join(text.split())
    whole = replace(base, points=tuple(replace(each, slices=()) for each in base.points))
    found = compare_loads(whole, slower)
    assert found.pairs[0].decision.verdict == "unknown"
    lines = report_text(load_comparison_report(found)).splitlines()
    assert lines[1].startswith("Verdict: ? Inconclusive: one of them was measured by an older version.")
    still = replace(base, points=tuple(replace(each, slices=(0, 1, 1, 1, 1)) for each in base.points))
    assert still.points[0].slice_rates == ()


@pytest.mark.parametrize("width", [74, 76, 78, 80])
def test_no_heading_and_no_number_is_broken_where_600_users_are_answered_in_seconds(width):
    slow = many(0.5, 1.2, 12.5)
    points = tuple(
        point(number, users, 95.0 * users, response=slow, errors={"x": 1200}, read_bytes=4_000_000_000)
        for number, users in enumerate((20, 300, 600), 1)
    )
    lines = report_text(load_report(full_load(points=points)), width=width).splitlines()
    at = next(place for place, line in enumerate(lines) if line.endswith("fewest"))
    _, headings, _, *rows = lines[at + 1 : at + 7]
    assert headings.split()[:2] == ["Users", "in"]
    assert [row.split()[:2] for row in rows] == [["20", "20"], ["300", "300"], ["600", "600"]]
    assert {len(row.split()) for row in rows} == {11}
