"""Blame: which calls of smbd took the time that one recording spends more than the other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from forms.comparison.blame import Blame, blame_calls
from forms.comparison.blame_report import blame_sentence, call_name, with_blame
from forms.comparison.call_effects import OWN
from forms.layout import Tone
from forms.report import Field, Report, verdict_field
from storage.isolation import ProfileCounter, profile_facts, profile_rounds

USUAL = {"openat": (4.0, 20.0), "close": (3.0, 5.0), "readdir": (14.0, 0.5), "fstat": (6.0, 0.6), "pwrite": (1.0, 12.0)}
"""Calls per create and µs a call."""
OWN_MICROSECONDS = 250.0
CREATES = 50


def one_round(
    vary: random.Random | None = None,
    own: float = OWN_MICROSECONDS,
    slower: float = 1.0,
    **calls: tuple[float, float],
) -> dict[str, ProfileCounter]:
    def microseconds(each: float) -> int:
        return round(CREATES * each * slower * (vary.lognormvariate(0, 0.05) if vary else 1.0))

    uses = {**USUAL, **calls}
    found = {
        f"syscall_{name}": ProfileCounter(calls=round(CREATES * number), microseconds=microseconds(number * each))
        for name, (number, each) in uses.items()
    }
    requests = sum(one.microseconds for one in found.values()) + microseconds(own)
    return {**found, "smb2_create": ProfileCounter(calls=CREATES, microseconds=requests)}


def rounds(seed: int | None = None, number: int = 5, **how: Any) -> list[dict[str, ProfileCounter]]:
    vary = None if seed is None else random.Random(seed)
    return [one_round(vary, **how) for _ in range(number)]


def blamed(
    other: Sequence[dict[str, ProfileCounter]], base: Sequence[dict[str, ProfileCounter]] | None = None
) -> Blame:
    found = blame_calls(rounds(1) if base is None else base, other)
    assert found is not None
    return found


def test_equal_recordings_blame_nothing_in_nine_of_ten():
    found = [blamed(rounds(2 * seed + 1), rounds(2 * seed)) for seed in range(40)]
    assert sum(bool(one.blamed) for one in found) <= 4
    quiet = next(one for one in found if not one.blamed)
    assert blame_sentence(quiet).startswith("No call of smbd is to blame")


def test_many_more_calls_are_to_blame_though_each_is_faster():
    """A scan of 10,000 names asks for long lists, which take less each than the short ones before."""
    found = blamed(rounds(2, readdir=(1680.0, 0.15)))
    (first, *_) = found.blamed
    assert first.name == "syscall_readdir"
    assert first.blamed_seconds == pytest.approx(1e-6 * (1680 * 0.15 - 14 * 0.5), rel=0.1)
    back = blamed(rounds(1), rounds(2, readdir=(1680.0, 0.15)))
    assert back.blamed[0].name == "syscall_readdir"
    assert back.blamed[0].blamed_seconds == pytest.approx(-first.blamed_seconds, rel=0.1)


@pytest.mark.parametrize(
    ("first", "how"),
    [
        (OWN, {"own": 900.0}),
        ("syscall_openat", {"openat": (4.0, 120.0)}),
        ("syscall_fsync", {"fsync": (0.5, 2000.0)}),
        ("syscall_readdir", {"readdir": (400.0, 0.5)}),
    ],
)
def test_what_changed_is_named_first(first: str, how: dict[str, Any]):
    for seed in range(10):
        found = blamed(rounds(2 * seed + 1, **how), rounds(2 * seed))
        assert found.blamed[0].name == first
        assert found.blamed[0].low_seconds > 0


def test_the_answer_is_one_sentence_with_calls_or_time_of_each_call():
    found = blamed(rounds(openat=(8.0, 20.0)), rounds())
    assert found.base_seconds == pytest.approx(367.6e-6)
    assert blame_sentence(found) == "22 % more time in smbd: 22 of it in openat, 4.0 → 8.0 calls per create."
    longer = blamed(rounds(openat=(4.0, 120.0)), rounds())
    assert blame_sentence(longer) == "109 % more time in smbd: 109 of it in openat, 20 → 120 µs a call."
    own = blamed(rounds(own=900.0), rounds())
    assert blame_sentence(own) == "177 % more time in smbd: 177 of it in smbd itself."
    less = blamed(rounds(openat=(4.0, 120.0), readdir=(1.0, 0.5)), rounds(readdir=(200.0, 0.5)))
    assert blame_sentence(less).startswith(
        "65 % more time in smbd: 87 of it in openat, 20 → 120 µs a call; −22 in readdir, "
    )


def test_what_changed_against_the_whole_is_named_last():
    """400 µs less are sure, and of 520 more 235 are."""
    told = blamed(rounds(openat=(4.0, 150.0), readdir=(1.0, 0.5)), rounds(readdir=(800.0, 0.5)))
    assert [call_name(one) for one in told.blamed] == ["openat", "readdir"]
    assert "of it in openat" in blame_sentence(told).partition(";")[0]


def test_rounds_that_a_busy_machine_lengthens_do_not_count():
    """Two of five; of the third slow one the fastest three still have one."""
    busy = [*rounds(number=3), *rounds(number=2, slower=9.0)]
    assert not blamed(busy, rounds()).blamed
    assert blamed([*rounds(number=3, own=900.0), *rounds(number=2, slower=9.0)], busy).blamed[0].name == OWN


def test_the_fastest_six_of_ten_rounds_count():
    def some(fast: int) -> list[dict[str, ProfileCounter]]:
        return [*rounds(number=fast, openat=(4.0, 60.0)), *rounds(number=10 - fast, openat=(4.0, 600.0))]

    assert [call_name(one) for one in blamed(some(6), rounds(number=10)).blamed] == ["openat"]
    assert not blamed(some(5), rounds(number=10)).blamed


def test_a_machine_on_which_every_call_takes_longer_blames_none():
    found = blamed(rounds(3, slower=3.0))
    assert found.slower_alike_factor == pytest.approx(3.0, rel=0.2)
    assert not found.blamed
    assert blamed(rounds(3, slower=3.0, openat=(4.0, 150.0))).blamed[0].name == "syscall_openat"


def timed(found: list[dict[str, ProfileCounter]], microseconds: float) -> list[dict[str, ProfileCounter]]:
    """With that processor time per create."""
    return [{**one, "processor": ProfileCounter(microseconds=round(CREATES * microseconds))} for one in found]


def test_processor_time_is_smbds_own_where_both_sides_have_it():
    waiting, base = rounds(own=900.0), rounds()
    assert not blamed(timed(waiting, 300.0), timed(base, 300.0)).blamed, "it only waited for a processor"
    assert blamed(timed(base, 900.0), timed(base, 300.0)).blamed[0].name == OWN
    assert blamed(timed(waiting, 300.0), base).blamed[0].name == OWN, "one side alone has none"


def test_processor_time_is_blamed_beyond_what_equal_recordings_differ_in():
    base = timed(rounds(), 300.0)  # 417.6 µs a create: 20.9 of it are blamed, beyond 1.138 times
    assert [one.name for one in blamed(timed(rounds(), 367.0), base).blamed] == [OWN]
    assert not blamed(timed(rounds(), 362.0), base).blamed


def test_processor_time_is_blamed_if_it_changed_with_and_without_what_lengthened_all_calls():
    base = timed(rounds(), 300.0)
    assert not blamed(timed(rounds(slower=2.0), 600.0), base).blamed, "a slower machine"
    assert not blamed(timed(rounds(slower=2.0), 300.0), base).blamed, "a busy one"
    assert [one.name for one in blamed(timed(rounds(slower=2.0), 900.0), base).blamed] == [OWN]


def test_a_call_is_blamed_beyond_what_equal_recordings_differ_in():
    """Of 367.6 µs a create 18.4 are blamed, beyond 1.91 times the 80 µs of openat."""
    assert [call_name(one) for one in blamed(rounds(openat=(4.0, 47.3)), rounds()).blamed] == ["openat"]
    assert not blamed(rounds(openat=(4.0, 46.4)), rounds()).blamed


def test_a_call_tells_how_fast_the_machine_is_from_one_in_ten_creates_on():
    def rare(number: float, each: float) -> list[dict[str, ProfileCounter]]:
        calls: dict[str, Any] = {f"rare {one}": (number, each) for one in range(8)}
        return rounds(**calls)

    assert blamed(rare(0.1, 3.0), rare(0.1, 1.0)).slower_alike_factor == pytest.approx(3.0)
    assert blamed(rare(0.08, 3.0), rare(0.08, 1.0)).slower_alike_factor == pytest.approx(1.0)


def test_own_work_that_grows_with_the_number_of_calls_is_theirs():
    """28 calls a create and 280: what is made of each call's result takes ten times as long as well."""
    base = timed(rounds(), 300.0)
    for own in (300.0, 2900.0, 3100.0):
        more = blamed(timed(rounds(readdir=(266.0, 0.5)), own), base)
        assert [one.name for one in more.blamed] == ["syscall_readdir"]
        fewer = blamed(base, timed(rounds(readdir=(266.0, 0.5)), own))
        assert [one.name for one in fewer.blamed] in (["syscall_readdir"], []), "of a small time a few calls are little"
    assert OWN in {one.name for one in blamed(timed(rounds(readdir=(266.0, 0.5)), 9000.0), base).blamed}


def test_an_effect_counts_from_a_twentieth_of_the_time_on():
    base = rounds(readdir=(1.0, 1.0))  # 361.6 µs a create
    assert not blamed(rounds(readdir=(19.0, 1.0)), base).blamed
    assert [call_name(one) for one in blamed(rounds(readdir=(19.1, 1.0)), base).blamed] == ["readdir"]


def test_fewer_than_three_rounds_have_no_interval():
    told = blamed(rounds(number=2, openat=(8.0, 20.0)), rounds(number=2))
    assert not told.sure
    assert blame_sentence(told).endswith("Fewer than three rounds were measured, so there is no interval.")
    assert blamed(rounds(number=3, openat=(8.0, 20.0)), rounds(number=3)).sure


def test_profiles_without_a_common_count_are_not_compared():
    assert blame_calls([], rounds()) is None
    assert blame_calls([{"smb2_create": ProfileCounter(calls=1)}], [{"syscall_open": ProfileCounter(calls=1)}]) is None


def test_a_comparison_without_profiles_stays_as_it_is():
    answers = (verdict_field("Slower"), Field(name="When", text="When"))
    bare = Report(form="x", title="X", name="X", fields=answers, tables=(), document=lambda: {"schema": "x"})
    assert with_blame(bare, [], []) is bare
    told = with_blame(bare, rounds(), rounds(openat=(8.0, 20.0)))
    assert [field.name for field in told.fields] == ["Verdict", "Blame", "When"]
    assert told.fields[1].tone is Tone.CAUTION
    assert told.tables[0].rows[0].name == "openat"
    assert not told.brief.tables
    equal = with_blame(bare, rounds(), rounds())
    assert (equal.fields, equal.results[0].name, equal.brief.results) == (answers, "Blame", ())
    document = told.document()
    assert (document["schema"], document["blame"]["calls"][0]["name"]) == ("x", "syscall_openat")
    assert document["blame"]["calls"][0]["blamed_seconds"] == pytest.approx(80e-6)


def test_a_profile_comes_back_from_its_facts():
    found = {**one_round(), "connect": ProfileCounter(calls=1)}
    facts = profile_facts(3, found) | profile_facts(4, found) | {"smb.credits": 8192}
    assert facts["profile.3.syscall_openat.calls"] == 200
    first, second = profile_rounds(facts)
    del found["connect"]
    assert first == second == found
