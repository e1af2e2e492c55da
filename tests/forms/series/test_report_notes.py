"""What stands below a form: findings of the series alone, and what was sustained."""

from dataclasses import replace
from typing import Any

import pytest

from app.series.kind import recommendations_for
from forms.comparison.pair_report import pair_report
from forms.comparison.summary import comparison_form
from forms.exporters.text import figures_text, report_text
from forms.findings.rules_series import CONTRADICTIONS
from forms.report import ColumnGroup
from forms.series.document import series_document
from forms.series.report import QUESTIONS, by_one_more_series, series_report
from forms.series.run_table import run_table
from forms.series.summary import run_form
from forms.stats.before_change import BasePower
from forms.stats.shown import Shown
from storage.records import Quiet, QuietVerdict, Series
from tests.builders import runs, series


def text(one: Series) -> str:
    return " ".join(report_text(series_report(run_form(one))).split())


def half_duplex() -> Series:
    return series((100e6, 101e6, 99e6), environment={"path": {"link.duplex": "half", "link.interface": "eth0"}})


def test_a_series_own_findings_stand_on_its_form_and_in_its_document():
    assert "The link runs at half duplex: the client's eth0" in text(half_duplex())
    found = series_document(half_duplex())["findings"]
    assert [(each["key"], each["severity"], each["series"]) for each in found] == [
        ("half-duplex", "problem", ["0123456789ab"])
    ]
    assert series_document(series((1e8, 1e8)))["findings"] == []


def test_what_the_advice_says_already_is_not_said_again():
    busy = series((100e6, 101e6, 99e6), quiet=Quiet(verdict=QuietVerdict.BUSY, reasons=("others moved 2 MB/s",)))
    assert text(busy).count("others moved 2 MB/s") == 1
    assert [each["key"] for each in series_document(busy)["findings"]] == ["busy"]


def test_nobody_is_told_that_fewer_than_no_bytes_may_have_moved():
    uneven = series((50e6, 150e6))
    assert "95 % interval of the average: 0 to 735,310," in text(uneven)
    beside = " ".join(report_text(pair_report(comparison_form(uneven, replace(uneven, id="b" * 12)))).split())
    assert "95 %, runs alone 0 to 735.3 MB/s 0 to 735.3 MB/s" in beside


def test_what_was_sustained_is_told_where_the_average_is_not_that():
    uneven = series((), runs=runs((50e6, 150e6), size_bytes=1 << 30))
    assert "All bytes / all seconds: 75,000,000 bytes/sec" in text(uneven)
    assert "All bytes" not in text(series((100e6, 101e6, 99e6)))


def test_a_script_sees_in_the_document_what_is_advised_on_the_form():
    short = series_document(series((1e8, 1e8, 1e8), size_bytes=1 << 20))["advice"]
    assert "short" in {said["key"] for said in short}
    assert all(said["text"] for said in short)


def test_the_form_of_a_base_advises_nothing_that_nobody_can_do_after_a_change():
    busy = series([100e6] * 5, quiet=Quiet(verdict=QuietVerdict.BUSY))
    power = BasePower(series=1, shows_percent=12.0)
    for own_power, is_advised in ((None, True), (power, False)):
        (said,) = [said for said in series_report(run_form(busy), own_power).advice if "other programs" in said.lower()]
        assert ("measure again" in said) is is_advised


def test_figures_end_with_their_last_line():
    report = replace(series_report(run_form(series([100e6] * 5))), fields=())
    lines = figures_text(report).split("\n")
    assert lines[0]
    assert (bool(lines[-2]), lines[-1]) == (True, "")


def test_the_processors_stand_on_the_form_of_every_series_that_was_watched():
    kinds = {"cpu_user_percent": 10.0, "cpu_system_percent": 20.0, "cpu_percent": 30.0}
    figures = {f"{name}{kind}_during": value for name, value in kinds.items() for kind in ("", "_median", "_deviation")}
    watched = series([100e6] * 5, quiet=Quiet(verdict=QuietVerdict.QUIET, figures=figures))
    (said,) = [field.text for field in series_report(run_form(watched)).results if field.name == "Processors"]
    assert said == (
        "user 10.0 % (median 10.0, deviation 10.0), system 20.0 % (median 20.0, deviation 20.0), total 30.0 % "
        "(median 30.0, deviation 30.0) of this client's processors, during the runs"
    )
    of_old = Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": 8.0})
    for known in (None, of_old):
        fields = series_report(run_form(series([100e6] * 5, quiet=known))).results
        assert "Processors" not in {field.name for field in fields}


@pytest.mark.parametrize("link", [None, 10**9])
def test_the_share_of_the_link_has_a_column_only_where_the_link_is_known(link: int | None):
    table = run_table(run_form(series((100e6, 101e6, 99e6), link_bits_per_second=link)))
    assert [column.heading for column in table.columns][4:] == ["Bits/sec", *(["% of 1 Gb/s"] if link else [])]
    assert {len(row.cells) for row in table.rows} == {len(table.columns)}
    average = next(row for row in table.rows if row.name == "Average:").cells[1].formula
    assert average is not None
    assert average.references[1] == ColumnGroup(column=len(table.columns), first=2, last=4), "beside the last column"


def answer_of(one: Series) -> str:
    return next(field.text for field in series_report(run_form(one)).fields if field.name == "Answer")


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({}, "No problems found."),
        ({"environment": {"server": {"smb.conf/global/socket options": "SO_SNDBUF=14596"}}}, "1 warning"),
        ({"environment": {"server": {"smb.conf/share/strict sync": "No"}}}, "1 warning"),
        ({"environment": {"path": {"link.duplex": "half", "link.interface": "eth0"}}}, "1 warning"),
        ({"environment": {"client": {CONTRADICTIONS: "run 1: …"}}}, "1 warning"),
        ({"link_bits_per_second": 10**10}, "1 warning"),
        (
            {
                "environment": {
                    "server": {
                        "smb.conf/global/socket options": "SO_SNDBUF=14596",
                        "smb.conf/share/strict sync": "No",
                        "smb.conf/share/veto files": "/*.tmp/",
                    }
                }
            },
            "2 warnings",
        ),
        (
            {
                "environment": {
                    "path": {"link.duplex": "half", "link.interface": "eth0"},
                    "client": {CONTRADICTIONS: "run 1: …"},
                },
                "link_bits_per_second": 10**10,
            },
            "3 warnings",
        ),
        ({"quiet": Quiet(verdict=QuietVerdict.BUSY), "link_bits_per_second": 10**10}, "2 warnings"),
        ({"environment": {"path": {"link.duplex": "full", "link.interface": "eth0"}}}, "No problems found."),
    ],
)
def test_the_answer_counts_what_the_findings_below_it_say(fields: dict[str, Any], problems: str):
    assert problems in answer_of(series((100e6, 101e6, 99e6, 100e6, 100e6), size_bytes=1 << 31, **fields))


def test_beside_a_harmful_setting_nothing_is_said_to_be_at_its_default():
    harmful = {"smb.conf/global/strict sync": "Yes", "smb.conf/global/socket options": "SO_RCVBUF=8192"}
    one = series([1e8] * 3, environment={"server": harmful})
    (text,) = [field.text for field in series_report(run_form(one)).fields if field.name == "Server settings"]
    assert text == "2 read"


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_question_stands_on_the_form(question):
    assert question in text(series((1e6, 1e6), question=question))
    assert "Question:" not in text(series((1e6, 1e6)))


@pytest.mark.parametrize(("percent", "said"), [(100.0, "100 %: one"), (101.0, "a factor of 2.0: one")])
def test_how_large_a_change_must_be_is_said_in_one_way_or_the_other(percent: float, said: str):
    assert said in by_one_more_series(Shown(series_percent=percent, pairs_percent=2.0))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, None),
        ({"samba.version": "4.17"}, None),
        ({"smb.conf/global/comment": "x"}, "1 read"),
        (
            {"smb.conf/global/server signing": "mandatory", "smb.conf/share/server signing": "default"},
            "1 read; not default: server signing = mandatory",
        ),
        (
            {"smb.conf/global/strict sync": "Yes", "smb.conf/share/strict sync": "yes", "smb.conf/global/comment": "x"},
            "2 read; of those that matter, all 1 are at their defaults",
        ),
        (
            {"smb.conf/global/strict sync": "Yes", "smb.conf/share/strict sync": "No", "smb.conf/global/comment": "x"},
            "2 read; not default: strict sync = No",
        ),
    ],
)
def test_a_form_says_which_settings_of_the_server_were_not_default(facts: dict[str, str], said: str | None):
    fields = series_report(run_form(series([1e8] * 3, environment={"server": facts}))).fields
    assert [field.text for field in fields if field.name == "Server settings"] == [said] * (said is not None)


@pytest.mark.parametrize(
    ("server", "first"),
    [
        ({"smb.conf/global/socket options": "SO_SNDBUF=14596"}, "sharebench audit smb://nas/data/big.bin"),
        ({"smb.conf/global/socket options": "TCP_NODELAY"}, "measure again with --quiet-time"),
    ],
)
def test_what_harms_every_measurement_is_recommended_first(server: dict[str, str], first: str):
    busy = Quiet(verdict=QuietVerdict.BUSY, reasons=("others were at work",))
    one = series((100e6, 101e6, 99e6, 100e6, 100e6), quiet=busy, environment={"server": server})
    assert recommendations_for(one)[0].startswith(first)


GIGABIT_CARD = {"link.interface": "eth0", "link.fastest_rate_bits_per_second": 10**9}
LOST_CARRIER = {"link.interface": "eth0", "link.errors_during": 40}


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ({"link.interface": "eth0", "link.duplex": "half"}, "negotiation"),
        (GIGABIT_CARD | {"link.rate_bits_per_second": 100e6}, "Look at the cable first"),
        (LOST_CARRIER, "Change the cable"),
        (GIGABIT_CARD | {"link.rate_bits_per_second": 101e6}, None),
        ({"link.interface": "eth0", "link.drops_during": 40}, None),
    ],
)
def test_what_is_recommended_first_is_for_the_gravest_finding(path: dict[str, str | float], advice: str | None):
    quiet_time = "measure again with --quiet-time require --wait 600"
    busy = Quiet(verdict=QuietVerdict.BUSY, reasons=("others were at work",))
    one = series((9e6, 9.4e6, 8.6e6, 9e6, 9e6), quiet=busy, link_bits_per_second=None, environment={"path": path})
    first, *others = recommendations_for(one)
    if advice is None:
        assert first == quiet_time
    else:
        assert advice in first
        assert quiet_time in others


def test_two_harmful_settings_and_a_bad_cable_are_recommended_each_once():
    server = {"smb.conf/global/socket options": "SO_SNDBUF=14596", "smb.conf/share/veto files": "/*.tmp/"}
    one = series((9e6, 9.4e6, 8.6e6, 9e6, 9e6), environment={"server": server, "path": LOST_CARRIER})
    cable, audit, *_others = recommendations_for(one)
    assert cable.startswith("Change the cable")
    assert audit.startswith("sharebench audit ")
    assert len(recommendations_for(one)) == len(set(recommendations_for(one)))


def test_a_link_that_was_given_too_slow_is_recommended_by_its_option_alone():
    one = series((200e6, 201e6, 199e6, 200e6, 200e6), size_bytes=1 << 32, link_bits_per_second=10**9)
    assert recommendations_for(one) == ["measure again with --link RATE"]
