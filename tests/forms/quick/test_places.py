"""Quick tests of several machines: which is slower, at which lines, and what limits it on its own leg of the path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from forms.findings.legs import Leg
from forms.quick.places import QuickPlaces, quick_places
from forms.quick.places_report import quick_places_document, quick_places_report
from storage.quick.records import Access, Quick
from storage.records import Command, SeriesStatus
from tests.quick_tests import RATES, RND_Q1, SEQ_Q1, SEQ_Q8, SERVER, SPREAD, quick_line, quick_test

SLOW_LINK = 10_000_000
"""Bits per second: it carries 1.2 MB/s."""


def slower_by(factor: float, *accesses: Access, **fields: Any) -> Quick:
    """One whose reads and writes of these accesses are as many times as fast as usual."""
    rates = {key: [factor * rate * share for share in SPREAD] for key, rate in RATES.items() if key[0] in accesses}
    return quick_test(rates, **{"id": "bb77bb77bb77", **fields})


def of_places(by_host: Mapping[str, Quick]) -> QuickPlaces:
    return quick_places([(host, quick, "") for host, quick in by_host.items()])


def document_of(summary: QuickPlaces) -> dict[str, Any]:
    return quick_places_document(summary, SERVER, "")


def test_the_slow_machine_is_named_with_its_lines_and_the_others_are_not():
    branch = slower_by(0.2, SEQ_Q8, SEQ_Q1)
    summary = of_places({"branch": branch, "head": quick_test()})
    assert summary.fastest is not None
    assert summary.fastest.host == "head"
    assert [place.host for place in summary.slow] == ["branch"]
    slower = {pair.base.name for pair in summary.slower_lines(summary.slow[0])}
    assert slower == {"SEQ1M Q8 read", "SEQ1M Q8 write", "SEQ1M Q1 read", "SEQ1M Q1 write"}

    document = document_of(summary)
    assert (document["slow_leg"], document["fastest"]) == ("branch", "head")
    verdicts = {line["name"]: line["verdict"] for line in document["places"][0]["lines"]}
    assert verdicts["SEQ1M Q8 read"] == "slower"
    assert verdicts["RND4K Q1 read"] != "slower"
    assert {line["verdict"] for line in document["places"][1]["lines"]} == {None}
    assert quick_places_report(summary, SERVER).fields[0].text.startswith("From branch it is slow")


def test_none_is_named_where_they_are_alike_and_what_they_share_is_told():
    summary = of_places({"a": quick_test(), "b": quick_test(id="bb77bb77bb77")})
    assert summary.slow == []
    assert document_of(summary)["slow_leg"] is None
    assert "No machine is shown to be slower" in quick_places_report(summary, SERVER).fields[0].text


def test_of_several_slow_machines_the_slowest_is_named():
    middle = slower_by(0.3, SEQ_Q8, SEQ_Q1)
    slow = slower_by(0.02, SEQ_Q8, SEQ_Q1, RND_Q1)
    summary = of_places({"fast": quick_test(), "middle": middle, "slow": slow})
    assert [place.host for place in summary.slow] == ["slow", "middle"]
    assert document_of(summary)["slow_leg"] == "slow"


def test_the_chance_of_a_wrong_verdict_is_shared_by_all_machines():
    two = of_places({"a": quick_test(), "b": quick_test()})
    three = of_places({"a": quick_test(), "b": quick_test(), "c": quick_test()})
    assert two.comparisons["b"].level == pytest.approx(1 - 0.05 / 8)
    assert three.comparisons["c"].level == pytest.approx(1 - 0.05 / 8 / 2)


@pytest.mark.parametrize(("link", "leg"), [(SLOW_LINK, Leg.LINK), (1_000_000_000, None)])
def test_a_full_link_is_the_leg_of_its_machine_and_the_server_is_none(link: int, leg: Leg | None):
    key = (SEQ_Q8, Command.GET)
    quick = quick_test({key: [1.15e6, 1.16e6, 1.17e6]}, link_bits_per_second=link, environment={})
    (place,) = of_places({"branch": quick}).places
    figures = place.figures_of_access(*key)
    assert figures is not None
    assert place.leg_of(figures) is leg


def test_a_busy_client_and_a_long_way_are_legs_too():
    line = quick_line(SEQ_Q8, Command.GET, [50e6, 50.5e6, 51e6], cpu_share=0.95)
    far = quick_line(RND_Q1, Command.GET, [4e4, 4.05e4, 4.1e4])
    facts = {"path": {"tcp.least_round_trip_seconds": 0.09, "request.least_round_trip_seconds": 0.09}}
    (place,) = of_places({"branch": quick_test(lines=(line, far), environment=facts)}).places
    assert [place.leg_of(figures) for figures in place.figures] == [Leg.CLIENT, Leg.DISTANCE]


def test_a_limit_in_doubt_is_no_leg():
    rates = [0.6e6, 1.16e6, 1.17e6]
    quick = quick_test({(SEQ_Q8, Command.GET): rates}, link_bits_per_second=SLOW_LINK, environment={})
    (place,) = of_places({"branch": quick}).places
    figures = place.figures_of_access(SEQ_Q8, Command.GET)
    assert figures is not None
    assert figures.is_limit_doubtful
    assert place.leg_of(figures) is None


def test_a_machine_that_measured_nothing_is_named_with_its_reason():
    summary = quick_places([("dead", None, "no answer"), ("alive", quick_test(), "")])
    dead, alive = document_of(summary)["places"]
    assert (dead["from"], dead["id"], dead["error"], dead["lines"]) == ("dead", None, "no answer", [])
    assert (alive["error"], len(alive["lines"])) == (None, 8)
    report = quick_places_report(summary, SERVER)
    assert ("dead", "no answer") in [(field.name, field.text) for field in report.fields]
    assert [row.name for row in report.tables[0].rows] == ["dead", "alive"]
    assert [row.name for row in report.tables[1].rows] == ["alive"]


def test_without_any_measured_machine_there_is_a_form_too():
    summary = quick_places([("a", None, "no answer"), ("b", None, "no answer")])
    assert summary.fastest is None
    assert len(quick_places_report(summary, SERVER).tables) == 1
    assert document_of(summary)["slow_leg"] is None


def test_one_that_was_cut_off_is_compared_by_the_lines_that_it_has():
    whole = quick_test()
    cut_off = quick_test(id="bb77bb77bb77", status=SeriesStatus.FAILED, lines=whole.lines[:1])
    summary = quick_places([("a", whole, ""), ("b", cut_off, "was cut off")])
    assert len(summary.comparisons["b"].pairs) == 1
    assert quick_places_report(summary, SERVER).document()["places"][1]["status"] == "failed"


def test_rates_that_are_slower_are_marked_in_the_table_and_small_ones_have_two_decimals():
    report = quick_places_report(of_places({"head": quick_test(), "branch": slower_by(0.01, SEQ_Q8)}), SERVER)
    _path, reads, _writes, limits = report.tables
    head, branch = reads.rows
    assert [cell.value for cell in head.cells[:2]] == ["head", "117.0"]
    assert [cell.value for cell in branch.cells[:3]] == ["branch", "▼ 1.17", "84.0"]
    assert [row.name for row in limits.rows] == ["head", "branch"]
