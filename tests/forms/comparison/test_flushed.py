"""Puts that were flushed and puts that were not, in comparisons, histories and on the form."""

from typing import Any

import pytest

from forms.comparison.history import groups_of
from forms.comparison.rules import slower_with_a_change
from forms.comparison.rules_ftp import against_ftp
from forms.comparison.rules_network import both_slow
from forms.comparison.verdict import compare
from forms.series.head_fields import head_fields
from forms.series.put_end import FLUSHED, PUT_END, put_end_of
from forms.stats.settle import Way
from forms.tuning.change_evidence import judge_change
from forms.tuning.differences import differences, is_repeat
from storage.records import Command, Evidence, Series, Target, with_flush
from tests.builders import one, series

STEADY = (100e6, 100.5e6, 99.5e6, 100e6, 100e6)
VARIED = (100e6, 108e6, 93e6, 104e6, 97e6)
FOLDER = Target(protocol="smb", host="nas", port=445, share="data", path="")


def put(rates: tuple[float, ...] = STEADY, *, flushed: bool = False, **fields: Any) -> Series:
    return with_flush(series(rates, command=Command.PUT, target=FOLDER, **fields), flushed=flushed)


def test_the_difference_comes_first_and_alone():
    kernels = ({"server": {"os": "Linux 6.1"}}, {"server": {"os": "Linux 6.2"}})
    found = differences(put(environment=kernels[0]), put(flushed=True, environment=kernels[1]))
    assert [(each.name, each.base, each.other) for each in found] == [
        ("flushed", False, True),
        ("server.os", "Linux 6.1", "Linux 6.2"),
    ]
    assert differences(put(flushed=True), put(flushed=True)) == ()


def test_a_get_differs_from_a_put_by_other_things():
    names = [each.name for each in differences(series(STEADY, target=FOLDER), put(flushed=True))]
    assert "flushed" not in names
    assert "command" in names


def test_it_is_the_one_change_of_a_comparison_and_can_be_interleaved():
    slower = tuple(0.95 * rate for rate in VARIED)
    found = compare(put(VARIED, id="base"), put(slower, id="other", flushed=True))
    change = found.the_change
    assert change is not None
    assert (change.name, change.value) == ("flush", "yes")
    assert found.settle is not None
    assert found.settle.way is Way.INTERLEAVED
    assert "--versus --flush --put " in found.settle.commands[0]
    back = compare(put(slower, id="base", flushed=True), put(VARIED, id="other"))
    assert back.the_change is not None
    assert back.the_change.value == "no"
    assert back.settle is None or back.settle.way is not Way.INTERLEAVED, "no option takes the flush away"


@pytest.mark.parametrize(
    ("before", "after", "value", "evidence"),
    [
        (False, True, "yes", Evidence.CONFIRMED),
        (True, False, "no", Evidence.CONFIRMED),
        (False, False, "yes", Evidence.CONTRADICTED),
        (True, True, "yes", Evidence.CONTRADICTED),
    ],
)
def test_a_claimed_flush_is_judged_by_the_series(before: bool, after: bool, value: str, evidence: Evidence):
    change = judge_change("flush", value, put(flushed=before), put(flushed=after))
    assert (change.evidence, change.also_changed) == (evidence, ())


def test_a_history_group_ends_where_it_differs():
    def at(day: int, *, flushed: bool) -> Series:
        return with_flush(one(day, STEADY, command=Command.PUT), flushed=flushed)

    base = at(30, flushed=False)
    earlier = [at(1, flushed=False), at(2, flushed=False), at(3, flushed=True), at(4, flushed=False)]
    groups = groups_of(earlier, base)
    assert [[int(each.id, 16) for each in group] for group in groups] == [[1, 2], [4]]
    assert is_repeat(earlier[0], base)
    assert not is_repeat(earlier[2], base)


@pytest.mark.parametrize(
    "target", [FOLDER, Target(protocol="file", path="/mnt/data"), Target(protocol="ftp", host="n")]
)
def test_every_put_form_says_what_its_time_includes(target: Target):
    texts = set()
    for flushed in (False, True):
        shown = with_flush(series(STEADY, command=Command.PUT, target=target), flushed=flushed)
        (field,) = [each for each in head_fields(shown) if each.name == PUT_END]
        assert field.facts == ((FLUSHED, "yes" if flushed else "no"),)
        texts.add(field.text)
    assert len(texts) == 2


@pytest.mark.parametrize(
    ("command", "target"), [(Command.GET, FOLDER), (Command.PUT, Target(protocol="iperf3", host="nas"))]
)
def test_a_form_of_what_stores_nothing_says_nothing_of_it(command: Command, target: Target):
    assert put_end_of(series(STEADY, command=command, target=target)) == ""


def test_a_server_that_ignores_a_flush_is_said():
    ignoring, obeying = (
        put(flushed=True, environment={"server": {"smb.conf/global/strict sync": value}}) for value in ("No", "Yes")
    )
    assert "strict sync" in put_end_of(ignoring)
    assert "strict sync" not in put_end_of(obeying)
    assert put_end_of(obeying) == put_end_of(put(flushed=True))


def rated(protocol: str, megabytes: float, *, flushed: bool = False, host: str = "nas", **fields: Any) -> Series:
    target = Target(protocol=protocol, host=host, share="data" if protocol == "smb" else None, path="/f")
    rates = tuple(megabytes / 100 * rate for rate in STEADY)
    usual = {"id": f"{protocol}{megabytes}{host}", "command": Command.PUT, "target": target}
    return with_flush(series(rates, **{**usual, **fields}), flushed=flushed)


@pytest.mark.parametrize(("flushed", "keys"), [(False, ["time-to-tune"]), (True, [])])
def test_a_flushed_put_is_not_held_against_ftp_which_cannot_flush(flushed: bool, keys: list[str]):
    found = list(against_ftp([rated("smb", 50, flushed=flushed), rated("ftp", 100)]))
    assert [each.key for each in found] == keys


@pytest.mark.parametrize(("flushed", "count"), [(False, 1), (True, 0)])
def test_a_flushed_put_does_not_tell_the_network_from_the_disk(flushed: bool, count: int):
    found = list(both_slow([rated("smb", 30, flushed=flushed), rated("ftp", 30)]))
    assert len(found) == count


@pytest.mark.parametrize(("flushed", "count"), [(False, 1), (True, 0)])
def test_a_set_up_is_slower_only_than_one_whose_puts_ended_alike(flushed: bool, count: int):
    before = rated("smb", 100, label="before", created_at="2026-01-01T10:00:00.000Z")
    after = rated("smb", 50, label="after", created_at="2026-01-02T10:00:00.000Z", flushed=flushed)
    assert len(list(slower_with_a_change([before, after]))) == count
