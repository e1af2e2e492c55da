"""Earlier series in groups of equal ones: what ends a group, and what does not count."""

from dataclasses import replace
from typing import Any

from forms.comparison.verdict import groups_of
from storage.records import Change, Command, Evidence, Series
from tests.builders import CLIENT, one

STEADY = (100e6, 100.5e6, 99.5e6, 100e6, 100e6)
BASE = one(30, STEADY)


def at(day: int, factor: float = 1.0, **fields: Any) -> Series:
    return one(day, [rate * factor for rate in STEADY], **fields)


def days(*earlier: Series, **options: Any) -> list[list[int]]:
    return [[int(each.id, 16) for each in group] for group in groups_of(earlier, BASE, **options)]


def test_equal_series_are_one_group() -> None:
    assert days(at(1), at(2, 1.02), at(3, 0.99)) == [[1, 2, 3]]


def test_a_recorded_change_ends_a_group() -> None:
    change = Change(name="log level", value="0", previous="3", evidence=Evidence.UNCONFIRMED)
    assert days(at(1), at(2), at(3, change=change), at(4)) == [[1, 2], [3, 4]]


def test_what_differs_from_the_base_does_not_count() -> None:
    sealed = replace(CLIENT, encryption="aes-128-gcm")
    kernels = ({"server": {"os": "Linux 6.1"}}, {"server": {"os": "Linux 6.2"}})
    base = replace(BASE, environment=kernels[1])
    assert days(at(1), at(2, client=sealed), at(3)) == [[1], [3]]
    older = [at(1, environment=kernels[0]), at(2, environment=kernels[0]), at(3, environment=kernels[1])]
    assert [[int(each.id, 16) for each in group] for group in groups_of(older, base)] == [[3]]
    assert days(at(1, command=Command.PUT), at(2, size_bytes=1 << 20)) == []


def test_a_slower_that_the_next_series_confirms_ends_a_group_and_a_single_one_does_not() -> None:
    assert days(at(1), at(2), at(3, 0.6), at(4, 0.6), at(5, 0.6)) == [[1, 2], [3, 4, 5]]
    assert days(at(1), at(2), at(3, 0.6), at(4), at(5)) == [[1, 2, 3, 4, 5]]
    assert days(at(1), at(2), at(3, 0.6)) == [[1, 2, 3]]


def test_a_new_normal_ends_a_group() -> None:
    assert days(at(1), at(2), at(3), new_normal={f"{3:012x}"}) == [[1, 2], [3]]
