"""Each piece of advice with a series that provokes it and one in which it stays silent."""

from dataclasses import replace
from typing import Any

import pytest

from forms.findings.series_warnings import advice, advised_size, near_ceiling_percent
from forms.tuning.fact_names import FACTS_UNKNOWN
from storage.records import (
    Command,
    Facts,
    FactValue,
    Phase,
    Quiet,
    QuietVerdict,
    Run,
    RunStatus,
    Series,
    SeriesStatus,
    Target,
    standstill_fact,
)
from tests.builders import CLIENT, series
from tests.specs import plan_with

STEADY = (100e6, 101e6, 99.5e6, 100.5e6, 100e6)


def texts(one: Series) -> dict[str, str]:
    return {a.key: a.text for a in advice(one)}


def test_a_sound_series_needs_no_advice():
    assert advice(series(STEADY)) == []
    assert advice(series()) == []


def test_too_little_warm_up_depends_on_what_was_done():
    cold = (60e6, 100e6, 101e6, 100.5e6, 99.5e6, 100e6)
    none = texts(series(cold, warmups=0))["warm-up"]
    assert "no warm-up run was made" in none
    assert "2 warm-up runs" in none
    some = texts(series(cold, warmups=2))["warm-up"]
    assert "in spite of 2 warm-up runs" in some
    assert "4 warm-up runs" in some
    assert "unusual" not in texts(series(cold))


def test_what_helps_cold_runs_does_not_hang_on_how_they_are_called(monkeypatch):
    monkeypatch.setattr("forms.wording.TOO_LITTLE_WARM_UP", "reworded")
    said = texts(series([80e6, *[100e6 + i * 1e5 for i in range(9)]], warmups=1))
    assert "Run 1: reworded: " in said["warm-up"]
    assert "unusual" not in said
    late = texts(series([*[100e6 + i * 1e5 for i in range(9)], 80e6], warmups=1))
    assert "warm-up" not in late
    assert "Run 10" in late["unusual"]


def test_an_unusual_run_is_named_with_the_command_that_rejects_it():
    one = series((100e6, 101e6, 99e6, 70e6, 100e6))
    text = texts(one)["unusual"]
    assert "Run 4 is unusual: 30 % slower" in text.replace("30.0", "30")
    assert "sharebench reject 0123456789ab 4 --reason …" in {said.command for said in advice(one)}


def test_a_rejected_run_is_not_advised_about_again():
    one = series((100e6, 101e6, 99e6, 70e6, 100e6))
    rejected = tuple(replace(r, status=RunStatus.REJECTED) if r.number == 4 else r for r in one.runs)
    assert "unusual" not in texts(replace(one, runs=rejected))


def test_drift_up_and_down():
    falling = texts(series([100e6 - i * 1e6 for i in range(10)]))["drift"]
    assert "fell by 9." in falling
    assert "heat" in falling
    rising = series([100e6 + i * 1e6 for i in range(10)])
    assert "4 runs of it" in texts(rising)["drift"]
    told = [(said.command, said.options) for said in advice(rising) if said.key == "drift"]
    assert told == [("", "--warmup 4")], "not the command of one that fell"
    assert "drift" not in texts(series([100e6 + i * 1e5 for i in range(10)]))


def test_short_runs_are_told_the_size_to_take():
    short = series(STEADY, size_bytes=10_000_000)
    assert "a file of 1G or more" in texts(short)["short"]
    (told,) = (said.command for said in advice(short) if said.key == "short")
    assert told == "sharebench run smb://nas/data --make-file --size 1G", "a file is made in a folder"
    put = replace(short, command=Command.PUT)
    assert texts(put)["short"].endswith("use a file of 1G or more.")
    little = replace(short, environment={"server": {"memory_bytes": 1 << 30}})
    assert "a file of 512M or more" in texts(little)["short"], "as the guide advises, half the server's memory"
    iperf = replace(short, target=Target(protocol="iperf3", host="nas"))
    assert "file" not in texts(iperf)["short"]


@pytest.mark.parametrize(("memory", "size"), [(16 << 30, "8G"), ((16 << 30) - 1, "4G"), (None, "16G")])
def test_no_size_is_advised_that_the_servers_memory_does_not_hold(memory: int | None, size: str):
    environment = {"server": {"memory_bytes": memory}} if memory else {}
    short = series((1.5e9,) * 5, size_bytes=1 << 20, environment=environment)
    assert f"a file of {size} or more" in texts(short)["short"]


def test_few_blocks_are_short_where_a_run_is_not_long():
    brief = series((1e6, 1.01e6, 0.99e6), size_bytes=1_499_999)
    assert "takes 1 block" in texts(brief)["short"]
    assert "a file of 64M" in texts(brief)["short"]
    assert "short" not in texts(series((1e6, 1.01e6, 0.99e6), size_bytes=1_500_000))
    assert "short" not in texts(series((1e7, 1.01e7), size_bytes=16 << 20))
    assert "short" not in texts(series((1e5, 1.01e5, 0.99e5), size_bytes=2_000_000))


def test_a_ceiling_that_was_beaten_says_so_and_no_percentage():
    beaten = texts(series((100e6, 101e6, 99e6), ceiling_bytes_per_second=90e6))["ceiling"]
    assert "beat" in beaten
    assert "calibrate it again at a quiet time" in beaten
    assert " %" not in beaten
    raised = texts(series((100e6, 100e6), ceiling_bytes_per_second=100e6))["ceiling"]
    assert "100 %" in raised


@pytest.mark.parametrize(("rate", "size"), [(1.0, 64 << 20), (118e6, 2 << 30), (1e12, 64 << 30)])
def test_advised_size_lasts_ten_seconds(rate, size):
    assert advised_size(rate) == size


def test_scatter_advises_what_was_not_tried():
    wild = (100e6, 120e6, 85e6, 110e6, 90e6)
    assert "10 or so" in texts(series(wild))["scatter"]
    many = texts(series(wild * 3))["scatter"]
    assert "10 or so" not in many
    assert "longer" in many


def test_until_not_reached_says_so():
    wild = series((100e6, 120e6, 85e6, 110e6, 90e6), plan=plan_with(runs=5, until_percent=2.0, max_runs=5))
    assert "± 2.0 % was not reached in 5 runs" in texts(wild)["until"]
    assert "up to 10 runs" in texts(wild)["until"]
    assert "scatter" not in texts(wild)
    assert "until" not in texts(series(STEADY, plan=plan_with(runs=5, until_percent=2.0)))


def test_runs_that_depend_on_each_other_are_told():
    waves = [100e6 * (1 + 0.01 * step) for step in (0, 1, 2, 1, 0, -1, -2, -1, 0, 1, 2, 1)]
    assert "Neighbouring runs are alike" in texts(series(waves))["dependence"]
    until = series(waves, plan=plan_with(runs=12, until_percent=2.0))
    assert "± 2.0 % holds less often than 95 times in a hundred" in texts(until)["dependence"]
    assert "dependence" not in texts(series(STEADY))


def test_one_run_and_none():
    assert "at least five" in texts(series((100e6,)))["single"]
    failed = Run(number=1, phase=Phase.MEASURED, status=RunStatus.FAILED, error="the server went away")
    lost = series(runs=(failed,), plan=plan_with(runs=5), status=SeriesStatus.FAILED)
    assert "the server went away" in texts(lost)["failed"]
    assert "resume the series" in texts(lost)["interrupted"]
    assert "sharebench run --resume 0123456789ab" in {said.command for said in advice(lost)}
    assert "no average" in texts(lost)["single"]


def test_close_to_the_ceiling_names_the_ways_that_are_left():
    near = series(STEADY, ceiling_bytes_per_second=120e6)
    assert near_ceiling_percent(near) == pytest.approx(83.5, abs=0.1)
    text = texts(near)["ceiling"]
    assert "8 requests in flight" in text
    assert "smbclient" in text
    assert "signing" not in text
    deep = replace(near, client=replace(CLIENT, in_flight=16, signing="aes-cmac"))
    assert "in flight" not in texts(deep)["ceiling"]
    assert "without signing" in texts(deep)["ceiling"]
    sealed = replace(near, client=replace(CLIENT, name="smbclient", encryption="aes-128-gcm"))
    assert "sharebench's own client" in texts(sealed)["ceiling"]
    assert "without encryption" in texts(sealed)["ceiling"]
    disk = replace(near, target=Target(protocol="file", path="/srv/x"), client=replace(CLIENT, signing=None))
    assert "from a faster machine" in texts(disk)["ceiling"]
    assert "ceiling" not in texts(series(STEADY, ceiling_bytes_per_second=1e9))
    assert near_ceiling_percent(series(STEADY)) is None


def test_a_busy_time():
    busy = texts(series(STEADY, quiet=Quiet(verdict=QuietVerdict.BUSY, reasons=("CPU 93 % at work",))))["busy"]
    assert busy.startswith("Other programs were busy, so the results include the effect of that load")
    assert "wait for one" in busy
    assert "busy" not in texts(series(STEADY, quiet=Quiet(verdict=QuietVerdict.TYPICAL)))


def test_a_user_who_became_a_guest_is_told_of_it():
    one = series(STEADY)
    named, guest = replace(one.target, user="bob"), {"path": {"smb.guest": "yes"}}
    assert "a guest, not as bob" in texts(replace(one, target=named, environment=guest))["guest"]
    assert texts(replace(one, target=named, environment={"path": {"smb.guest": "no"}})) == {}
    assert texts(replace(one, environment=guest)) == {}


def test_a_put_that_nobody_compared_is_told():
    one, facts = series(STEADY), {"path": {"ftp.size": "no"}}
    assert "does not support SIZE" in texts(replace(one, command=Command.PUT, environment=facts))["unchecked"]
    assert texts(replace(one, command=Command.GET, environment=facts)) == {}


def test_no_sentence_is_in_the_words_of_the_command_line():
    weak = [series([1e6]), series([1e8] * 5, size_bytes=1000), series([100e6 + i * 1e6 for i in range(10)])]
    found = [said for one in weak for said in advice(one)]
    assert any(said.options for said in found)
    assert all("--" not in said.text for said in found)


def test_a_link_that_carries_more_than_itself_is_set_wrong():
    beyond = replace(series([130e6] * 5), link_bits_per_second=1_000_000_000)
    assert "130.0 MB/s is more than a link of 1 Gb/s can carry" in texts(beyond)["link"]
    assert "link" not in texts(replace(beyond, link_bits_per_second=None))
    assert "link" not in texts(replace(series([125e6] * 5), link_bits_per_second=1_000_000_000))


def over(given: int, *, rate: float, **facts: FactValue) -> set[str]:
    """The keys of the warnings about a link of ``given`` bits per second, whose interface has these facts."""
    path: Facts = {f"link.{name}": value for name, value in facts.items()}
    one = replace(series([rate] * 5), link_bits_per_second=given, environment={"path": path})
    return {key for key in texts(one) if key.startswith("link")}


GIGABIT = 1_000_000_000


def test_a_given_link_speed_is_held_against_that_of_the_interface():
    assert over(2 * GIGABIT, rate=100e6, rate_bits_per_second=GIGABIT) == {"link-given"}
    assert over(GIGABIT, rate=100e6, rate_bits_per_second=GIGABIT) == set()
    # A slower link further on is given; only a rate above it is impossible.
    assert over(GIGABIT, rate=100e6, rate_bits_per_second=10 * GIGABIT) == set()
    assert over(GIGABIT, rate=150e6, rate_bits_per_second=10 * GIGABIT) == {"link"}
    # More than one interface carries came by several; no rate is known of a wireless one; the loopback has none.
    assert over(2 * GIGABIT, rate=150e6, rate_bits_per_second=GIGABIT) == set()
    assert over(2 * GIGABIT, rate=100e6) == set()
    assert over(2 * GIGABIT, rate=100e6, rate_bits_per_second=GIGABIT, kind="loopback") == set()


def test_an_impossible_link_names_the_speed_that_the_interface_runs_at():
    path: Facts = {"link.interface": "eth0", "link.rate_bits_per_second": 2 * GIGABIT}
    beyond = replace(series([130e6] * 5), link_bits_per_second=GIGABIT, environment={"path": path})
    [warning] = [warning for warning in advice(beyond) if warning.key == "link"]
    assert "eth0 of this machine runs at 2 Gb/s" in warning.text
    assert "%" not in warning.text
    assert warning.options == "--link auto"

    shaped: Facts = {**path, "link.shaper": "tbf", "link.shaper_bits_per_second": 2 * GIGABIT}
    assert (
        "eth0 of this machine is limited by a shaper to 2 Gb/s"
        in texts(replace(beyond, environment={"path": shaped}))["link"]
    )


@pytest.mark.parametrize(
    ("asked", "problem", "said"),
    [
        ({"server_ssh": "root@nas"}, "ssh: no route", True),
        ({}, "name a way there", False),
        ({"smb_conf": "/x"}, "", False),
    ],
)
def test_what_was_to_be_read_on_the_server_and_was_not_is_said(asked, problem, said):
    one = series(STEADY)
    facts = {FACTS_UNKNOWN: problem} if problem else {}
    looked = replace(one, environment={"server": facts}, plan=plan_with(runs=5, **asked))
    assert texts(looked).get("unread") == ("The server's settings are not all known: ssh: no route." if said else None)


def test_nothing_is_advised_about_the_practice_server_itself():
    practice = Target(protocol="smb", host="127.0.0.1", share="practice", path="f", user="practice")
    short = series(STEADY, size_bytes=1 << 20)
    assert "short" in texts(short)
    assert texts(replace(short, target=practice)) == {}
    failed = replace(series(STEADY), target=practice, status=SeriesStatus.FAILED)
    assert texts(failed) == texts(replace(failed, target=short.target))


@pytest.mark.parametrize("number", [1, 4])
def test_a_run_in_which_this_machine_stood_still_is_named_as_that_and_not_as_unusual(number: int):
    rates = [100.0, 101.0, 99.0, 100.0, 100.0, 101.0, 99.0, 100.0]
    rates[number - 1] = 43.0
    slow = series(rates)
    assert {"unusual", "warm-up"} & texts(slow).keys()
    stood_still = replace(slow, environment={**slow.environment, "path": {standstill_fact(number): 3.04}})
    said = texts(stood_still)
    assert not {"unusual", "warm-up"} & said.keys()
    assert f"In run {number} the client stood still for 3.0 s" in said["standstill"]
    assert f"sharebench reject {slow.id} {number} --reason …" in {one.command for one in advice(stood_still)}
    elsewhere = replace(slow, environment={**slow.environment, "path": {standstill_fact(2): 3.04}})
    assert {"unusual", "warm-up"} & texts(elsewhere).keys()
    rejected = replace(stood_still, runs=tuple(replace(run, status=RunStatus.REJECTED) for run in slow.runs))
    assert "standstill" not in texts(rejected)


def of_load(percent: float, verdict: QuietVerdict, **fields: Any) -> Series:
    return series(STEADY, quiet=Quiet(verdict=verdict, figures={"cpu_percent_during": percent}), **fields)


@pytest.mark.parametrize(("percent", "is_told"), [(94.9, False), (95.0, True), (100.0, True)])
def test_full_processors_are_one_warning_with_a_busy_time_or_without(percent: float, is_told: bool):
    alone = texts(of_load(percent, QuietVerdict.QUIET))
    assert ("processors" in alone) is is_told
    busy = texts(of_load(percent, QuietVerdict.BUSY))
    assert ("may be the limit" in busy["busy"]) is is_told
    assert "processors" not in busy


def test_full_processors_are_no_warning_where_the_server_uses_them_or_the_ceiling_says_it():
    loopback = {"path": {"link.kind": "loopback"}}
    assert "processors" not in texts(of_load(100, QuietVerdict.QUIET, environment=loopback))
    near = texts(of_load(100, QuietVerdict.QUIET, ceiling_bytes_per_second=120e6))
    assert "ceiling" in near
    assert "processors" not in near
