"""The figures of a diagnosis."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from forms.diagnosis.figures import Figure, Unit, figures, value_text
from forms.diagnosis.summary import (
    break_of,
    copied_per_second,
    growth,
    median_with_interval,
    patterns,
    price,
    side_by_side_factor,
    time_of_nearly_each,
)
from storage.looks import Stage, StageName
from storage.records import FactValue
from tests.recordings import DIAGNOSIS


def test_the_interval_of_a_median_holds_it_in_nineteen_of_twenty():
    chance = random.Random(1)
    held = 0
    for _ in range(1000):
        _, (low, high) = median_with_interval([chance.expovariate(1.0) for _ in range(50)])
        held += low <= 0.6931 <= high
    assert 950 <= held <= 990


def test_nine_in_ten_or_all_of_few_reach_what_they_surely_reach():
    chance = random.Random(4)
    held = [
        time_of_nearly_each([chance.random() for _ in range(count)]) <= 0.1 for count in (64, 500) for _ in range(400)
    ]
    assert sum(held) >= 0.97 * len(held)
    assert [time_of_nearly_each(range(count)) for count in (1, 20, 64, 100)] == [0, 0, 1, 4]


def test_few_values_give_their_range():
    assert median_with_interval([3.0, 1.0, 2.0]) == (2.0, (1.0, 3.0))
    assert median_with_interval([2.0]) == (2.0, (2.0, 2.0))


def test_the_price_is_that_of_pairs_whatever_drifts():
    base = [100.0, 200.0, 400.0, 800.0]
    found = price(base, [0.9 * rate for rate in base])
    assert found is not None
    assert found[0] == pytest.approx(10.0)
    assert price([1.0], [2.0]) is None


def test_the_price_of_a_constant_slowdown_lies_in_its_interval_in_nineteen_of_twenty():
    chance = random.Random(2)
    held = 0
    for _ in range(400):
        base = [100 * chance.lognormvariate(0, 0.05) for _ in range(6)]
        found = price(base, [80 * chance.lognormvariate(0, 0.05) for _ in range(6)])
        assert found is not None
        held += found[1][0] <= 20 <= found[1][1]
    assert held >= 370


@pytest.mark.parametrize(("exponent", "small"), [(1.0, 1_000), (1.5, 1_000), (2.0, 10_000)])
def test_growth_is_the_slope_between_the_two_largest_folders(exponent: float, small: int):
    times = {count: 1e-6 * count**exponent for count in (10, small, 10 * small)}
    samples = {f"list_{count}_seconds": (seconds,) * 3 for count, seconds in times.items()}
    found = growth(Stage(name=StageName.FOLDERS, samples=samples))
    assert found is not None
    assert found[0] == pytest.approx(exponent)


def test_several_streams_are_compared_with_the_same_files_by_one():
    stage = Stage(
        name=StageName.SMALL_FILES,
        samples={f"get_{part}_seconds": (0.01,) * 30 for part in ("open", "data", "close")},
        facts={"files": 30, "get_side_by_side_seconds": 0.3},
    )
    assert side_by_side_factor(stage, "get") == pytest.approx(3.0)
    assert side_by_side_factor(stage, "put") is None


def test_files_copied_as_by_a_program_are_counted_a_second():
    explorer = patterns()[0]
    stage = Stage(name=StageName.SMALL_FILES, facts={"pattern_files": 30, f"{explorer.key}_put_seconds": 0.5})
    assert copied_per_second(stage, explorer, "put") == 60
    assert copied_per_second(stage, explorer, "get") is None


def test_the_share_of_each_card_is_told_for_both_sides():
    facts: dict[str, FactValue] = {"card.eth0.share": 0.75, "card.eth0.1.share": 0.25, "server_card.bond0.share": 1.0}
    stage = Stage(name=StageName.CARDS, facts={"connections": 4, "card.errors": 2, **facts})
    told = [(one.name, one.text) for one in figures(replace(DIAGNOSIS, stages=(stage,)))]
    assert told == [
        ("Bytes through this client's network card eth0", "75 %"),
        ("Bytes through this client's network card eth0.1", "25 %"),
        ("Bytes through the server's network card bond0", "100 %"),
    ]


def test_a_steady_run_has_no_break_and_a_broken_one_has_it_where_it_is():
    chance = random.Random(3)

    def run(*rates: float) -> Stage:
        at, moved = [0.0], [0.0]
        for rate in rates:
            at.append(at[-1] + 0.1)
            moved.append(moved[-1] + 0.1 * rate * chance.lognormvariate(0, 0.1))
        return Stage(name=StageName.LONG_RUN, samples={"at_seconds": tuple(at), "moved_bytes": tuple(moved)})

    told = [break_of(run(*[100.0] * 60)) for _ in range(40)]
    assert sum(one is not None and one.after < 0.6 * one.before for one in told) == 0
    found = break_of(run(*[100.0] * 30, *[30.0] * 30))
    assert found is not None
    assert found.at_seconds == pytest.approx(3.0, abs=0.15)


def test_samples_of_one_moment_do_not_move_the_place_of_a_break():
    at, moved = [0.0], [0.0]
    for number in range(60):
        at += [at[-1] + 0.1, at[-1] + 0.1]
        rate = (100.0 if number < 30 else 30.0) + number % 3
        moved += [moved[-1] + 0.1 * rate] * 2
    samples: dict[str, tuple[float, ...]] = {"at_seconds": tuple(at), "moved_bytes": tuple(moved)}
    found = break_of(Stage(name=StageName.LONG_RUN, samples=samples))
    assert found is not None
    assert found.at_seconds == pytest.approx(3.0, abs=0.15)
    assert found.before == pytest.approx(101, abs=1)
    assert found.after == pytest.approx(31, abs=1)


def test_seconds_are_written_as_such_from_one_on():
    assert (value_text(1.0, Unit.SECONDS), value_text(0.999, Unit.SECONDS)) == ("1 s", "999 ms")


def test_an_interval_is_told_where_it_has_a_width():
    def figure(*interval: float) -> Figure:
        return Figure(StageName.CARDS, "x", "X", Unit.TIMES, 2.0, (interval[0], interval[1]) if interval else None)

    assert figure(1.0, 3.0).range_text == "1.0 times to 3.0 times"
    assert figure(2.0, 2.0).range_text == figure().range_text == ""
    assert (figure(1.0, 3.0).to_json()["low"], figure().to_json()["low"]) == (1.0, None)


def test_a_rate_of_nothing_has_no_price():
    assert price([100.0, 0.0, 100.0], [50.0, 50.0, 50.0]) == price([100.0] * 2, [50.0] * 2)
    assert price([100.0, 100.0, 100.0], [50.0, 0.0, 50.0]) == price([100.0] * 2, [50.0] * 2)


def test_one_folder_does_not_grow():
    assert growth(Stage(name=StageName.FOLDERS, samples={"list_1000_seconds": (0.1,)})) is None
    empty = {"list_0_seconds": (0.1,), "list_1000_seconds": (0.1,)}
    assert growth(Stage(name=StageName.FOLDERS, samples=empty)) is None


def test_a_single_login_has_no_later_ones():
    def keys(*totals: float) -> list[str]:
        return [one.key for one in figures(replace(DIAGNOSIS, stages=(Stage(
            name=StageName.CONNECT, samples={"total_seconds": totals}),)))]  # fmt: skip

    assert keys(0.1) == ["first_connect"]
    assert keys(0.1, 0.2) == ["first_connect", "later_connect"]
