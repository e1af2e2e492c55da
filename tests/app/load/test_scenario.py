"""Scenarios, pacing, the file set and the choice of points: what needs no server."""

import random
from collections import Counter

import pytest

from app.base.errors import UsageError
from app.clients.file_tree import FileSet
from app.load.next_point import NextPoint, next_point, users_to_come_of_search
from app.load.pacing import Mix, Pacing
from app.load.scenario import (
    NAMES,
    change_scenario,
    find_scenario,
    parse_think,
    parse_users,
    read_scenario,
    scenario_text,
)
from storage.json_reader import JSONNode
from storage.load.records import Limit, LoadChoices, LoadPoint, PointStatus, RequestKind, Think, scenario_from_json
from tests.loads import point, scenario


@pytest.mark.parametrize("name", NAMES)
def test_each_named_scenario_can_be_read_printed_and_stored(name):
    found = find_scenario(name)
    assert found.name == name
    assert read_scenario(scenario_text(name), "mine.toml") == found
    assert scenario_from_json(JSONNode("", found.to_json())) == found


def test_the_redpapers_numbers():
    found = find_scenario("redpaper")
    assert (found.files, found.think, found.duration_seconds, found.settle_seconds) == (
        12000,
        Think(seconds=0.1),
        60,
        10,
    )
    assert found.requests == {RequestKind.READ: 80, RequestKind.WRITE: 20}


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ('name = "x"\nfiles = = 3\n', "line 2", "Invalid value"),
        ('name = "x"\nfiels = 3\n', "line 2", "'fiels' is no part of a scenario"),
        ('name = "x"\nfiles = 1\nsizes = [{size = "4K"}]\nrequests = {reed = 1}\n', "line 4", "one of read, write"),
        ('name = "x"\nfiles = 1\nrequests = {read = 1}\n', "line 3", "at least one size"),
        ('name = "x"\nthink = "soon"\n', "line 2", "exp:0.1"),
        ('name = "x"\nsizes = [{size = "4Q"}]\n', "line 2", "not a size"),
        ('name = "x"\nduration = -1\n', "line 2", "above 0"),
    ],
)
def test_a_mistake_is_told_by_its_line_and_what_is_expected(text, line, expected):
    with pytest.raises(UsageError) as error:
        read_scenario(text, "mine.toml")
    assert str(error.value).startswith(f"mine.toml, {line}: ")
    assert expected in str(error.value)


def test_options_change_every_number():
    found = change_scenario(
        find_scenario("redpaper"), files=10, duration_seconds=20, settle_seconds=5, think="exp:0.2", pace_seconds=0.5,
        read=50.0, sizes="1K,2K:3", seed=7,
    )  # fmt: skip
    assert found.requests == {RequestKind.READ: 50.0, RequestKind.WRITE: 50.0}
    assert [(each.size_bytes, each.share) for each in found.sizes] == [(1024, 1.0), (2048, 3.0)]
    assert (found.files, found.think, found.pace_seconds, found.seed) == (
        10,
        Think(seconds=0.2, exponential=True),
        0.5,
        7,
    )
    assert change_scenario(find_scenario("office"), read=100.0).requests.keys() == {
        RequestKind.READ_PARTS,
        RequestKind.COPY_OUT,
    }


def test_users_and_pauses_as_they_are_typed():
    assert parse_users("10,20, 40") == (10, 20, 40)
    assert parse_users("10..50/20") == (10, 30, 50)
    for wrong in ("", "0", "10..", "5..1/2", "1..9/0", "ten"):
        with pytest.raises(UsageError, match=r"10\.\.200/10"):
            parse_users(wrong)
    with pytest.raises(UsageError):
        parse_think("exp:-1")


def test_the_same_files_for_the_same_scenario_in_their_shares():
    found = FileSet(scenario(files=450))
    assert FileSet(scenario(files=450)).files == found.files
    assert Counter(file.size_bytes for file in found.files) == {4096: 300, 65536: 150}
    assert found.size_bytes == 300 * 4096 + 150 * 65536
    assert found.folders == ("d0000", "d0001", "d0002")
    found.use_size(65536)
    assert {file.size_bytes for file in found.in_use} == {65536}


def test_the_mix_holds_over_any_stretch():
    mix = Mix({RequestKind.READ: 80, RequestKind.WRITE: 20}, random.Random(1))
    kinds = [mix.next_kind() for _ in range(1000)]
    for start in range(0, 1000, 50):
        assert 8 <= kinds[start : start + 50].count(RequestKind.WRITE) <= 12


def test_users_are_out_of_phase_and_a_schedule_counts_late_starts():
    firsts = {Pacing(Think(seconds=10), None, random.Random(seed), 0.0).next_due(0.0) for seed in range(20)}
    assert len(firsts) == 20
    assert all(0 <= first < 10 for first in firsts)
    pacing = Pacing(Think(seconds=0), 1.0, random.Random(1), 100.0)
    first = pacing.next_due(100.0)
    assert pacing.next_due(first + 0.2) == first + 1
    assert pacing.late_starts == 0
    assert pacing.next_due(first + 2.5) == first + 2
    assert pacing.late_starts == 1
    thinking = Pacing(Think(seconds=0.5), None, random.Random(1), 0.0)
    thinking.next_due(0.0)
    assert thinking.next_due(7.0) == 7.5
    assert thinking.late_starts == 0


def carries(most: int) -> list[int]:
    """The users that are tried with a server that carries so many."""
    points: list[LoadPoint] = []
    choices = LoadChoices(find_capacity=True)
    while (following := next_point(points, choices, scenario())) is not None:
        rate = min(10.0 * following.users, 10.0 * most)
        points.append(point(len(points) + 1, following.users, rate))
    return [each.users for each in points]


def test_capacity_is_doubled_to_and_then_halved_to_a_bracket():
    tried = carries(650)
    assert tried[:6] == [25, 50, 100, 200, 400, 800]
    carried = max(users for users in tried if users * 0.95 <= 650)
    broken = min(users for users in tried if users * 0.95 > 650)
    assert broken - carried <= 0.0625 * carried + 1
    assert len(tried) <= 11


@pytest.mark.parametrize(
    ("points", "users"),
    [
        ([], None),
        ([(25, True)], None),
        ([(25, True), (50, False)], [37, 43, 46, 48]),
        ([(640, True), (680, False)], []),
        ([(640, True), (681, False)], [660]),
        ([(4, False)], [2, 3]),
    ],
)
def test_from_the_first_overload_on_a_search_knows_how_many_points_it_needs_at_most(
    points: list[tuple[int, bool]], users: list[int] | None
):
    measured = [
        point(number, count, (10.0 if is_carried else 5.0) * count)
        for number, (count, is_carried) in enumerate(points, start=1)
    ]
    assert users_to_come_of_search(measured, LoadChoices(find_capacity=True), scenario()) == users


def test_points_that_were_asked_for_are_taken_in_order_and_the_search_ends_where_there_is_no_verdict():
    choices = LoadChoices(users=(5, 10))
    assert next_point([], choices, scenario()) == NextPoint(5)
    assert next_point([point(1, 5)], choices, scenario()) == NextPoint(10)
    assert next_point([point(1, 5), point(2, 10)], choices, scenario()) is None
    broken_here = point(1, 25, status=PointStatus.FAILED, limit=Limit.GENERATOR)
    assert next_point([broken_here], LoadChoices(find_capacity=True), scenario()) is None


def test_a_late_point_of_the_search_is_measured_again_and_the_search_goes_on_from_the_one_that_tells():
    choices, late = LoadChoices(find_capacity=True), PointStatus.GENERATOR
    points = [point(1, 25, 250.0), point(2, 50, 500.0, status=late, offered_per_second=None)]
    assert next_point(points, choices, scenario()) == NextPoint(50)
    points.append(point(3, 50, 500.0, status=late, offered_per_second=None))
    assert next_point(points, choices, scenario()) == NextPoint(50)
    assert (
        next_point([*points, point(4, 50, 500.0, status=late, offered_per_second=None)], choices, scenario()) is None
    ), "three times late"
    assert next_point([*points, point(4, 50, 500.0)], choices, scenario()) == NextPoint(100)
    certain = point(4, 50, 500.0, status=late, offered_per_second=500.0)
    assert next_point([*points, certain], choices, scenario()) == NextPoint(100), "carried in spite of it"
    full = point(4, 50, 300.0, offered_per_second=500.0)
    assert next_point([*points, full], choices, scenario()) == NextPoint(37)


def test_each_size_of_each_number_of_users_is_a_point_of_its_own():
    choices = LoadChoices(users=(5, 10), by_size=True)
    points: list[LoadPoint] = []
    while (following := next_point(points, choices, scenario())) is not None:
        points.append(point(len(points) + 1, following.users, size_bytes=following.size_bytes))
    assert [(each.users, each.size_bytes) for each in points] == [(5, 4096), (5, 65536), (10, 4096), (10, 65536)]
    del points[1]
    assert next_point(points, choices, scenario()) == NextPoint(5, 65536)
    assert next_point([], LoadChoices(users=(5,), by_size=True), scenario(sizes=())) == NextPoint(5)
