"""Figures in words."""

from dataclasses import replace

import pytest

from forms import verdict_wording, wording
from forms.series.names import names_beside
from forms.stats.decision import Verdict
from storage.records import Command, Series, Target
from tests.builders import series


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (1000, "1000"), (65536, "64K"), (3 * 1024**3, "3G"), (1812898, "1812898")]
)
def test_sizes(value, text):
    assert wording.typed_size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1023590, "1000 KiB"),
        (1, "1"),
        (3 * 1024**3, "3G"),
        (24684084 * 1024, "23.5 GiB"),
        (4_700_372_992, "4.38 GiB"),
        (1023 * 2**20 + 1, "1023 MiB"),
    ],
)
def test_sizes_of_files_are_short(value, text):
    assert wording.file_size(value) == text


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((-8.0, 12.0), " (−8 % to +12 %)"),
        ((-82.0, 199.9), " (−82 % to +200 %)"),
        ((25.0, 9900.0), " (+25 % to +9,900 %)"),
        ((-99.0, 9901.0), " (−99 % to over 100 times as fast)"),
        ((-99.5, 0.0), " (below −99 % to 0 %)"),
    ],
)
def test_both_ends_of_an_interval_have_one_notation(ends: tuple[float, float], text: str):
    assert verdict_wording.interval_text(*ends) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.5, "+2.5 %"),
        (-2.5, "−2.5 %"),
        (-0.01, "+0.0 %"),
        (0, "+0.0 %"),
        (12.34, "+12.3 %"),
        (999, "+999.0 %"),
        (6400, "> +999 %"),
    ],
)
def test_changes_have_a_sign(value, text):
    assert wording.signed_percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0.000 B/s"),
        (999.96, "1.000 kB/s"),
        (118_300_000, "118.3 MB/s"),
        (2.9e9, "2.900 GB/s"),
        (761_908, "761.9 kB/s"),
    ],
)
def test_rates_to_four_figures(value, text):
    assert wording.rate(value) == text


def test_small_words():
    assert wording.seconds(2.32) == "2.32 s"
    assert wording.seconds(0.12345) == "0.123 s"
    assert wording.seconds(1234.5) == "1234 s"
    assert [wording.count(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert [wording.listed(w) for w in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_text_from_outside_stays_on_one_line():
    assert wording.plain("a\nb\x1b[31m") == "a⏎b␛[31m"


def test_a_place_has_no_user():
    target = Target(protocol="smb", host="fe80::1", port=445, share="data", path="a/b", user="bench")
    assert wording.place(target) == "smb://[fe80::1]/data/a/b"
    assert wording.place(Target(protocol="file", path="/srv/x")) == "file:///srv/x"
    assert wording.place(Target(protocol="iperf3", host="h")) == "iperf3://h"


def name_beside(series: Series, other: Series) -> str:
    return names_beside([series, other])[series.id]


def test_three_of_one_name_are_told_apart_by_what_tells_them_apart():
    named = [series([1e8], id=letter * 12, label="before") for letter in "abc"]
    days = [replace(one, created_at=f"2026-01-0{day}T10:00:00.000Z") for day, one in enumerate(named, 1)]
    assert list(names_beside(days).values()) == [f"before (2026-01-0{day} 10:00)" for day in (1, 2, 3)]
    same_minute = [days[0], replace(days[1], created_at=days[0].created_at), days[2]]
    assert list(names_beside(same_minute).values()) == [
        f"before ({'a' * 12})",
        f"before ({'b' * 12})",
        "before (2026-01-03 10:00)",
    ]
    put = replace(days[1], command=Command.PUT)
    assert list(names_beside([days[0], put]).values()) == ["before (get)", "before (put)"]
    attic = replace(put.target, host="attic")
    elsewhere = [replace(one, target=attic, id=one.id[::-1].upper()) for one in (days[0], put)]
    assert list(names_beside([days[0], put, *elsewhere]).values()) == [
        "before (nas get)",
        "before (nas put)",
        "before (attic get)",
        "before (attic put)",
    ]
    given = {named[0].id: "march", named[1].id: "april"}
    assert list(names_beside(days, given).values()) == ["march", "april", "before"], "a baseline's name comes first"


def test_a_series_without_a_label_is_called_what_it_did():
    nas = Target(protocol="smb", host="nas", share="data", path="a/big.iso", user="anna")
    plainly = replace(series([1e8]), target=nas, label="", title=wording.default_title(Command.GET, nas))
    assert wording.name_of(plainly) == "get nas/data/a/big.iso"
    assert name_beside(plainly, replace(plainly, id="b" * 12)) == f"get data/a/big.iso ({plainly.id})"
    for moment, theirs, when in (
        ("2026-01-31T10:00:59.000Z", "2026-01-31T10:00:59.900Z", plainly.id),
        ("2026-01-31T10:00:59.000Z", "2026-01-31T10:00:00.000Z", "10:00:59"),
        ("2026-01-31T10:01:00.000Z", "2026-01-31T10:00:59.000Z", "10:01"),
        ("2026-01-31T10:01:00.000Z", "2026-01-30T10:01:00.000Z", "2026-01-31 10:01"),
    ):
        again = replace(plainly, id="b" * 12, created_at=theirs)
        assert name_beside(replace(plainly, created_at=moment), again) == f"get data/a/big.iso ({when})"
    small = replace(nas, path="a/small.iso")
    titled = replace(plainly, id="b" * 12, target=small, title=wording.default_title(Command.GET, small))
    assert name_beside(plainly, titled) == "get data/a/big.iso"
    assert name_beside(replace(plainly, label="new switch"), titled) == "new switch"
    for elsewhere in (replace(small, host="attic"), replace(small, port=4450), replace(small, protocol="ftp")):
        assert name_beside(plainly, replace(titled, target=elsewhere)) == "get nas/data/a/big.iso"
    assert wording.name_of(replace(plainly, title="before lunch")) == "before lunch"
    assert wording.name_of(replace(plainly, label="new switch")) == "new switch"


def test_what_is_just_below_a_thousand_has_no_exponent():
    assert wording.seconds(999.7) == "1000 s"
    assert wording.milliseconds(0.9997) == "1000 ms"
    assert wording.byte_rate(999.7e6) == "1000 MB/s"
    assert wording.byte_rate(999.4e6) == "999 MB/s"


def test_what_a_measurement_shows_is_told_as_a_factor_from_three_times_on():
    assert verdict_wording.change_size(100.0) == wording.percent(100.0)
    assert verdict_wording.change_size(100.1) == "a factor of 2.0"
    assert verdict_wording.change_size(803.0) == "a factor of 9.0"


@pytest.mark.parametrize(
    ("change", "ends", "said"),
    [
        (3.0, (-0.3, 6.0), "Inconclusive: 3 % faster (no difference to 6 % faster)"),
        (0.4, (-10.0, 12.0), "Inconclusive: no difference seen (10 % slower to 12 % faster)"),
        (0.6, (-10.0, 12.0), "Inconclusive: 1 % faster (10 % slower to 12 % faster)"),
        (-50.0, (-99.9, 9901.0), "Inconclusive: these runs vary too much to tell"),
        (0.0, (-50.0, 100.0), "Inconclusive: no difference seen (50 % slower to 100 % faster)"),
        (0.0, (-50.1, 100.0), "Inconclusive: these runs vary too much to tell"),
    ],
)
def test_an_inconclusive_change_says_both_ends_in_words(change: float, ends: tuple[float, float], said: str):
    assert verdict_wording.verdict_sentence(Verdict.UNKNOWN, change, ends) == said


@pytest.mark.parametrize(
    ("verdict", "change", "ends", "said"),
    [
        (Verdict.FASTER, 5.0, (0.6, 13.0), "Faster by 5 % (1 % to 13 %)"),
        (Verdict.FASTER, 5.0, (0.45, 13.0), "Faster by 0.5 % to 13 % (5 % seen)"),
        (Verdict.FASTER, 5.0, (0.001, 13.0), "Faster by almost 0 % to 13 % (5 % seen)"),
        (Verdict.SLOWER, -5.0, (-13.0, -0.3), "Slower by 0.3 % to 13 % (5 % seen)"),
        (Verdict.FASTER, 50.0, (2.0, 122.0), "Faster by 2 % to 122 % (50 % seen)"),
        (Verdict.FASTER, 50.0, (5.1, 122.0), "Faster by 50 % (5 % to 122 %)"),
    ],
)
def test_no_end_is_rounded_to_zero_and_a_change_that_is_hardly_known_is_told_by_its_interval(
    verdict: Verdict, change: float, ends: tuple[float, float], said: str
):
    assert verdict_wording.verdict_sentence(verdict, change, ends) == said


def test_runs_that_vary_too_much_say_by_how_much():
    said = verdict_wording.verdict_sentence(Verdict.UNKNOWN, -40.0, (-92.0, 325.0), 24.0)
    assert said == "Inconclusive: these runs vary too much to tell (by 24 % over all of them)"


@pytest.mark.parametrize(
    ("percent", "told"),
    [
        (0.4, "0.4 %"),
        (100.0, "50 % slower or 100 % faster"),
        (9_900.0, "99 % slower or 9,900 % faster"),
        (30_000.0, "99 % slower or over 100 times as fast"),
    ],
)
def test_how_far_equal_series_differ_is_told_to_both_sides(percent: float, told: str):
    assert verdict_wording.beyond(percent) == told


@pytest.mark.parametrize(
    ("verdict", "change", "ends", "said"),
    [
        (Verdict.SAME, 0.4, (-1.0, 2.0), "no change"),
        (Verdict.FASTER, 20.0, (10.0, 30.0), "20 % faster"),
        (Verdict.FASTER, 20.0, (2.0, 42.0), "20 % faster"),
        (Verdict.FASTER, 20.0, (1.9, 42.0), "faster, by how much is open"),
        (Verdict.SLOWER, -20.0, (-38.0, -1.9), "slower, by how much is open"),
        (Verdict.SLOWER, -30.0, (-40.0, -20.0), "30 % slower"),
        (Verdict.FASTER, 90.0, (50.0, 140.0), "90 % faster"),
        (Verdict.FASTER, 91.0, (50.0, 140.0), "about twice as fast"),
        (Verdict.FASTER, 109.0, (50.0, 140.0), "about twice as fast"),
        (Verdict.FASTER, 111.0, None, "about 2.1 times as fast"),
        (Verdict.SLOWER, -47.0, None, "47 % slower"),
        (Verdict.SLOWER, -48.0, None, "about half as fast"),
        (Verdict.SLOWER, -52.0, None, "about half as fast"),
        (Verdict.SLOWER, -53.0, None, "53 % slower"),
    ],
)
def test_a_verdict_in_the_fewest_words(verdict: Verdict, change: float, ends: tuple[float, float] | None, said: str):
    assert verdict_wording.verdict_in_words(verdict, change, ends) == said
