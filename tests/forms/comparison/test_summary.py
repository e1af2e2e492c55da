"""The comparison as a form, as text and as a document."""

import json
from dataclasses import replace
from typing import Any

import pytest

from forms import layout
from forms.comparison.document import comparison_document
from forms.comparison.judged_sides import Sides
from forms.comparison.pair_report import pair_report
from forms.comparison.pair_tables import runs_of_both
from forms.comparison.properties import difference_rows, side_by_side
from forms.comparison.remarks import comparison_remarks, weaknesses
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparison_form, comparisons
from forms.comparison.verdict import compare
from forms.exporters.text import report_text
from forms.layout import Sign
from forms.report import change_formula
from forms.stats.decision import Verdict
from forms.tuning.differences import told_differences
from storage.records import Change, Command, Evidence, Quiet, QuietVerdict
from tests.builders import CLIENT, interleaved, series

BASE = series((100e6, 101e6, 99e6, 100.5e6, 99.5e6, 100e6), id="aaaaaaaaaaaa", label="as found")
CHANGE = Change(
    name="log level",
    value="0",
    previous="3",
    evidence=Evidence.CONTRADICTED,
    also_changed=("server.kernel 6.1 -> 6.2",),
    remark="log level did not change: it still is 3.",
)
BASE, OTHER = interleaved(
    BASE,
    series((110e6, 111e6, 109e6, 110.5e6, 109.5e6, 110e6), id="bbbbbbbbbbbb", label="log level 0", change=CHANGE),
)
STEADY = (100e6, 101e6, 99e6, 100.5e6, 99.5e6, 100e6)


def test_the_document_is_the_contracts():
    document = json.loads(json.dumps(comparison_document(compare(BASE, OTHER))))
    assert list(document) == [
        "schema",
        "base",
        "other",
        "base_name",
        "other_name",
        "verdict",
        "change_percent",
        "interval_percent",
        "p_value",
        "verdict_in_words",
        "doubt",
        "doubt_in_words",
        "probably",
        "direction_probability",
        "runs_interval_percent",
        "level",
        "in_turns",
        "base_series",
        "other_series",
        "unnamed_series",
        "left_out_baseline_series",
        "base_average_bytes_per_second",
        "other_average_bytes_per_second",
        "base_deviation_bytes_per_second",
        "other_deviation_bytes_per_second",
        "base_judged_bytes_per_second",
        "other_judged_bytes_per_second",
        "left_out_runs",
        "without_runs",
        "outstanding_series",
        "between_series_percent",
        "between_series_degrees_of_freedom",
        "equal_series_differ_by_percent",
        "run_variation_percent",
        "history_series",
        "history_newest_days",
        "base_wander_percent",
        "needed_runs",
        "needed_runs_range",
        "needed_series",
        "settle",
        "differences",
        "change",
    ]
    assert document["schema"] == "sharebench/comparison/1"
    assert (document["base"], document["other"], document["verdict"]) == ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "unknown")
    assert document["doubt"] == "contradicted"
    assert document["needed_runs"] is None
    assert document["interval_percent"][0] < document["change_percent"] < document["interval_percent"][1]
    assert document["change"]["evidence"] == "contradicted"
    unchanged = comparison_document(compare(BASE, series((1.0,), command=Command.PUT)))
    assert "change" not in unchanged
    assert unchanged["verdict"] == "unknown"
    assert unchanged["interval_percent"] is None
    assert {"name": "command", "base": "get", "other": "put"} in unchanged["differences"]


def test_the_text_has_both_sides_the_verdict_and_the_change_in_eighty_columns():
    text = report_text(pair_report(comparison_form(BASE, OTHER)))
    assert max(map(len, text.splitlines())) <= 80
    assert "as found" in text
    assert "log level 0" in text
    assert "! Not the change that was claimed (log level = 0 is contradicted)" in text
    assert "is contradicted): +10.0 % (+" in " ".join(text.split())
    assert "it still is 3" in " ".join(text.split())


@pytest.mark.parametrize("evidence", Evidence)
def test_a_side_whose_own_change_was_not_in_effect_says_so(evidence: Evidence):
    own = replace(CHANGE, evidence=evidence)
    found = comparison_form(replace(OTHER, change=own), replace(OTHER, id="c" * 12, change=None))
    said = " ".join(comparison_remarks(found))
    contradicted = evidence is Evidence.CONTRADICTED
    assert ("contradicted; also changed: server.kernel 6.1 -> 6.2. log level did not" in said) is contradicted
    both = comparison_remarks(comparison_form(replace(BASE, change=own), replace(OTHER, change=own)))
    assert sum("still is 3" in one for one in both) == (2 if contradicted else 1)
    again = comparison_form(BASE, replace(OTHER, change=replace(own, evidence=Evidence.CONTRADICTED)))
    assert " ".join(comparison_remarks(again)).count("it still is 3") == 1


def test_rows_that_differ_are_marked_not_coloured():
    signed = replace(OTHER, client=replace(CLIENT, signing="aes-gmac", block_bytes=65536), change=None)
    form = comparison_form(BASE, signed)
    marked = {row.name for row in side_by_side(form) if row.differs}
    assert marked == {"Protocol"}
    assert [row.name for row in difference_rows(form)] == ["client: signing", "client: block size"]
    lines = report_text(pair_report(form)).splitlines()
    assert any("SMB 3.1.1, signed" in line for line in lines), "a text keeps its commas where numbers lose theirs"
    assert any(line.startswith("Protocol") and line.endswith("differs") for line in lines)
    assert any(line.startswith("client: block size") and " 64K " in line for line in lines)


def test_remarks_name_what_weakens_the_verdict():
    busy = series((100e6, 101e6, 99e6, 50e6, 100e6), quiet=Quiet(verdict=QuietVerdict.BUSY), command=Command.PUT)
    form = comparison_form(BASE, busy)
    verdict = pair_report(form).fields[0].text
    assert "different work" in verdict
    assert "busy time" in verdict
    (remark,) = comparison_remarks(form)
    assert "1 unusual run" in remark
    assert weaknesses(comparison_form(BASE, OTHER)) == ()
    assert comparison_remarks(comparison_form(BASE, replace(OTHER, change=None))) == ()


@pytest.mark.parametrize(
    ("base_rate", "other_rate", "other_link", "is_certain"),
    [
        (119e6, 150e6, 2_000_000_000, True),
        (112.6e6, 125.1e6, 2_000_000_000, True),
        (112.4e6, 150e6, 2_000_000_000, False),
        (119e6, 124.9e6, 2_000_000_000, False),
        (119e6, 150e6, 1_000_000_000, False),
    ],
)
def test_more_than_a_full_link_could_carry_is_certainly_faster(base_rate, other_rate, other_link, is_certain):
    """From 90 % of the link on it was full; what is above all of it came over another one."""
    gigabit = 1_000_000_000
    base = series([base_rate] * 3, link_bits_per_second=gigabit)
    other = series([other_rate] * 3, id="0123456789ac", link_bits_per_second=other_link)
    comparison = comparison_form(base, other).comparison
    assert (comparison.old_link is not None) is is_certain
    assert comparison.is_certain_by_link is (is_certain and comparison.verdict is Verdict.UNKNOWN)
    assert (comparison.sign is Sign.FASTER) is (is_certain or comparison.verdict is Verdict.FASTER)


def test_a_verdict_without_a_claimed_change_names_what_differs():
    path = {"link.rate_bits_per_second": 10_000_000_000, "link.mtu_bytes": 1500}
    slow = {**path, "link.rate_bits_per_second": 1_000_000_000}
    base = replace(BASE, link_bits_per_second=10_000_000_000, environment={"path": path})
    other = replace(OTHER, change=None, link_bits_per_second=1_000_000_000, environment={"path": slow})
    form = comparison_form(base, other)
    what = "rate of the link (10 Gb/s, then 1 Gb/s)"
    assert comparison_remarks(form) == (f"What differs, and may be the reason: {what}.",)
    assert [row.name for row in difference_rows(form)] == ["rate of the link"]
    alike = interleaved(base, replace(base, link_bits_per_second=1_000_000_000))
    assert comparison_remarks(comparison_form(*alike)) == ()


GIGABIT = {"link.rate_bits_per_second": 10**9, "link.shaper": "none"}
HALF = {
    "link.rate_bits_per_second": 5 * 10**8,
    "link.shaper_bits_per_second": 5 * 10**8,
    "link.shaper": "tbf",
}
SHAPED = {"link.rate_bits_per_second": 10**9, "link.shaper_bits_per_second": 10**9, "link.shaper": "tbf"}


@pytest.mark.parametrize(
    ("base_facts", "other_facts", "told"),
    [
        (HALF, SHAPED, ["path.link.shaper_bits_per_second"]),
        (HALF, GIGABIT, ["path.link.rate_bits_per_second", "path.link.shaper"]),
        (
            {"link.rate_bits_per_second": 5 * 10**8},
            {"link.rate_bits_per_second": 10**9},
            ["path.link.rate_bits_per_second"],
        ),
    ],
)
@pytest.mark.parametrize("is_link_as_seen", [True, False])
def test_a_speed_of_the_link_is_told_once_and_the_shaper_as_its_cause(
    base_facts: dict[str, Any], other_facts: dict[str, Any], told: list[str], is_link_as_seen: bool
):
    base = replace(BASE, link_bits_per_second=5 * 10**8, environment={"path": base_facts})
    other = replace(OTHER, change=None, link_bits_per_second=10**9, environment={"path": other_facts})
    expected = told
    if not is_link_as_seen:
        base = replace(base, link_bits_per_second=2 * 10**9)
        expected = ["link_bits_per_second", *told]
    found = comparison_form(base, other).comparison.differences
    assert [difference.name for difference in told_differences(found)] == expected


def test_markup_and_escapes_from_outside_are_plain_text():
    nasty = replace(OTHER, label="[red]\x1b[31m\nx", change=None)
    text = report_text(pair_report(comparison_form(BASE, nasty)))
    assert "\x1b" not in text
    assert "[red]" in text


def test_several_verdicts_a_line_each():
    again = interleaved(BASE, replace(BASE, id="c" * 12, label="again"))
    found = comparisons(
        [Sides(base=(BASE,), other=(replace(OTHER, change=None),)), Sides(base=again[:1], other=again[1:])]
    )
    text = report_text(comparison_report([BASE, OTHER, again[1]], found))
    squeezed = " ".join(text.split())
    assert "log level 0 against as found: ▲ Faster" in squeezed
    assert "again against as found: = No change" in squeezed
    assert max(map(len, text.splitlines())) <= 80


def test_wide_characters_keep_their_column():
    wide = replace(OTHER, label="測試伺服器 👍", change=None)
    lines = report_text(pair_report(comparison_form(wide, BASE))).splitlines()
    label = next(line for line in lines if line.startswith("Label"))
    heading = lines[lines.index("Side by side") + 1]
    assert layout.width(label.partition("as found")[0]) == layout.width(heading.partition("as found")[0])
    assert max(map(layout.width, lines)) <= 80


def test_several_base_series_have_a_row_each_and_a_mean_that_the_change_is_from():
    first, again = series(STEADY, id="a" * 12, label="before"), series([0.9 * r for r in STEADY], id="c" * 12)
    busy = replace(again, quiet=Quiet(verdict=QuietVerdict.BUSY))
    other = series([0.993 * rate for rate in STEADY], id="b" * 12, label="after", quiet=busy.quiet)
    (form,) = comparisons([Sides(base=(first, busy), other=(other,))])
    table = pair_report(form).tables[0]
    assert [row.name for row in table.rows] == ["before", "get data/big.bin", "before, mean of 2", "after"]
    averages = [row.cells[2].value for row in table.rows]
    assert averages == pytest.approx([1e8, 0.9e8, 0.95e8, 0.993e8])
    change = table.rows[3].cells[4]
    assert change.value == pytest.approx(100 * (0.993 / 0.95 - 1))
    assert change.formula is not None
    assert change.formula == change_formula(2, 2, 3), "of the mean, not of the first"
    assert table.rows[2].cells[2].formula is not None
    (busy_sides,) = weaknesses(form)
    assert busy_sides.startswith('Measured at a busy time: "get data/big.bin" and "after".')


@pytest.mark.parametrize(
    ("busy", "of_base", "whose"),
    [
        ("ab", 1, "both series"),
        ("abcd", 3, "all 4 series"),
        ("abc", 3, "3 of the 4 series"),
        ("ad", 3, '"get data/a" and "get data/d"'),
        ("d", 3, '"get data/d"'),
    ],
)
def test_many_series_of_a_busy_time_are_counted_and_not_listed(busy: str, of_base: int, whose: str):
    sides = []
    for number, name in enumerate("abcd"[: of_base + 1]):
        quiet = Quiet(verdict=QuietVerdict.BUSY) if name in busy else None
        rates = [(2 if number == of_base else 1) * rate for rate in STEADY]
        sides.append(series(rates, id=name * 12, label=f"get data/{name}", quiet=quiet))
    (form,) = comparisons([Sides(base=tuple(sides[:-1]), other=tuple(sides[-1:]))])
    (sentence,) = weaknesses(form)
    assert sentence.startswith(f"Measured at a busy time: {whose}")


@pytest.mark.parametrize(("percent", "is_told"), [(94.9, False), (95.0, True)])
def test_a_comparison_says_where_the_client_was_full(percent: float, is_told: bool):
    quiet = Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": percent})
    before = series(STEADY, id="a" * 12, label="before")
    after = series([2 * rate for rate in STEADY], id="b" * 12, label="after", quiet=quiet)
    (form,) = comparisons([Sides(base=(before,), other=(after,))])
    told = [sentence for sentence in weaknesses(form) if "processors were full" in sentence]
    assert bool(told) is is_told
    assert all('"after"' in sentence and sentence.endswith("larger still.") for sentence in told)


@pytest.mark.parametrize(("percents", "used"), [((98, 100), "at least 98"), ((100, 100), "(100")])
def test_full_processors_of_several_series_have_one_figure(percents: tuple[float, float], used: str):
    quiets = [Quiet(verdict=QuietVerdict.QUIET, figures={"cpu_percent_during": percent}) for percent in percents]
    before = series(STEADY, id="a" * 12, label="before", quiet=quiets[0])
    after = series([2 * rate for rate in STEADY], id="b" * 12, label="after", quiet=quiets[1])
    (form,) = comparisons([Sides(base=(before,), other=(after,))])
    (told,) = weaknesses(form)
    assert "both series" in told
    assert used in told


@pytest.mark.parametrize(("lost", "is_told"), [(0, False), (5000, True)])
def test_a_comparison_says_where_the_network_lost_packets(lost: int, is_told: bool):
    facts = {"tcp.own_segments_sent_during": 100_000, "tcp.own_retransmitted_during": lost}
    before = series(STEADY, id="a" * 12, label="before", environment={"path": facts})
    after = series([2 * rate for rate in STEADY], id="b" * 12, label="after")
    (form,) = comparisons([Sides(base=(before,), other=(after,))])
    told = [sentence for sentence in weaknesses(form) if "lost packets" in sentence]
    assert bool(told) is is_told


@pytest.mark.parametrize(
    ("slow", "average", "interval"),
    [(999e6, "0.999 GB/s", "0.997 GB/s to 1.001 GB/s"), (30e6, "0.030 GB/s", "0.030 GB/s to 0.030 GB/s"),
     (29.9e6, "29.90 MB/s", "29.83 MB/s to 29.97 MB/s")],
)  # fmt: skip
def test_rates_of_a_row_stand_in_the_unit_of_the_faster_side(slow, average, interval):
    slower, faster = (series([0.999 * rate, rate, 1.001 * rate]) for rate in (slow, 3e9))
    for sides in ((slower, replace(faster, id="b" * 12)), (faster, replace(slower, id="b" * 12))):
        rows = {row.name: {row.base, row.other} for row in side_by_side(comparison_form(*sides))}
        assert rows["Average"] == {average, "3.000 GB/s"}
        assert interval in rows["95 %, runs alone"]


def test_a_deviation_stands_in_the_unit_of_its_average_on_both_sides():
    still, restless = series((100e6, 100.1e6, 100e6)), series((100e6, 102e6, 99e6), id="bbbbbbbbbbbb")
    rows = {row.name: row for row in side_by_side(comparison_form(still, restless))}
    assert (rows["Deviation"].base, rows["Deviation"].other) == ("0.1 MB/s", "1.5 MB/s")


@pytest.mark.parametrize(("size", "grows", "told"), [(1 << 30, 0, False), (1 << 29, 0, True), (1 << 29, 1, False)])
def test_files_of_other_sizes_are_told(size: int, grows: int, told: bool):
    """Not where each run moved as much as it could."""
    base, other = series(STEADY, id="aaaaaaaaaaaa"), series(STEADY, id="bbbbbbbbbbbb")
    runs = tuple(replace(run, size_bytes=1 << 30) for run in base.runs)
    others = tuple(replace(run, size_bytes=size + grows * place) for place, run in enumerate(other.runs))
    text = report_text(pair_report(comparison_form(replace(base, runs=runs), replace(other, runs=others))))
    assert ("The files differ in size (1G, then 512M), and so may their rates." in " ".join(text.split())) is told


def test_the_runs_of_both_sides_alternate_by_the_names_of_their_series():
    names = [bar.name for bar in runs_of_both(comparison_form(BASE, OTHER)).bars]
    assert names[:4] == ["1 as found", "1 log level 0", "2 as found", "2 log level 0"]
    again = comparisons([Sides(base=(BASE, replace(BASE, id="again", label="again")), other=(OTHER,))])[0]
    names = [bar.name for bar in runs_of_both(again).bars]
    assert names[:4] == ["1 as found", "1 again", "1 log level 0", "2 as found"]


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        (("4.19.1", "4.19.1"), [("4.19.1", "4.19.1", False)]),
        (("4.19.1", "4.20.2"), [("4.19.1", "4.20.2", True)]),
        (("4.19.1", ""), [("4.19.1", "", None)]),
        (("", ""), [("", "", None)]),
    ],
)
def test_the_samba_of_each_side_is_named_and_not_compared_where_one_is_unknown(
    versions: tuple[str, str], told: list[tuple[str, str, bool | None]]
):
    base, other = (
        series([1e8] * 5, id=name, environment={"server": {"samba.version": version} if version else {}})
        for name, version in zip(("base", "other"), versions, strict=True)
    )
    rows = side_by_side(comparison_form(base, other))
    assert [(row.base, row.other, row.differs) for row in rows if row.name == "Samba"] == told
