"""Trials and sweeps, from made-up series: the verdicts, what is left out, the words and the documents."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from forms.exporters import FORMATS, export_reports
from forms.exporters.drawing import Box, Stroke, drawing
from forms.exporters.text import report_text
from forms.importers.trial_document import trial_from_document
from forms.layout import Tone
from forms.series.client_text import client_text
from forms.stats.decision import Doubt, Verdict
from forms.stats.paired import LEVELS
from forms.trial.changes_report import change_answer, change_report, judge_change
from forms.trial.plan_fields import server_fields
from forms.trial.summary import TrialSummary
from forms.trial.sweep import Standing, SweepSummary, block_order, blocks_needed, compare_with_best
from forms.trial.tuning import NotTried, TuneSummary, tune_report
from storage.changes import ChangeKind, ChangeState, GridAxis, JournalEntry, LoadWindow, Slot, TrialPlan
from storage.json_reader import JSONNode
from storage.load.records import Scenario, SizeClass
from storage.owners import this_process
from storage.records import Change, Command, Experiment, ExperimentKind, RunStatus, Series
from tests.builders import abandoned_change, series
from tests.specs import plan_with

TRIAL = Experiment(name="trial of it", kind=ExperimentKind.TRIAL)
SWEEP = Experiment(name="sweep of it", kind=ExperimentKind.SWEEP)


def plan(**fields: Any) -> TrialPlan:
    usual: dict[str, Any] = {
        "kind": ChangeKind.SMB_CONF, "name": "strict sync", "section": "[bench]", "previous": "Yes",
        "values": ("no",), "looks": (8, 14, 20), "proofs": ("strict sync = No in effect after the reload",),
    }  # fmt: skip
    return TrialPlan(**{**usual, **fields})


def arms(base: Sequence[float], *others: Sequence[float], values: Sequence[str] = ("no",)) -> list[Series]:
    found = [series(base, id="a00000000000", warmups=0)]
    for place, (rates, value) in enumerate(zip(others, values, strict=True), start=1):
        change = Change(name="strict sync", value=value, previous="Yes")
        found.append(series(rates, id=f"b{place:011}", warmups=0, change=change))
    return found


def places(found: Sequence[Series], control: Sequence[float] = (1.0, 1.0)) -> list[Slot]:
    """A B, B A, A B … with what the fixed work took before each arm's runs."""
    slots = []
    for pair in range(1, len(found[0].runs) + 1):
        order = (0, 1) if pair % 2 else (1, 0)
        slots += [
            Slot(series_id=found[arm].id, number=pair, position=2 * pair + place, control_seconds=control[arm])
            for place, arm in enumerate(order)
        ]
    return slots


def tried(base: Sequence[float], other: Sequence[float], **fields: Any) -> TrialSummary:
    found = arms(base, other)
    summary = judge_change(TRIAL, plan(**fields), found, places(found))
    assert isinstance(summary, TrialSummary)
    return summary


def noisy(pairs: int, factor: float = 1.0, percent: float = 0.5, seed: int = 1) -> tuple[list[float], list[float]]:
    chance = random.Random(seed)
    base = [1e8 * (1 + chance.gauss(0, 0.05)) for _ in range(pairs)]
    return base, [rate * factor * (1 + chance.gauss(0, percent / 100)) for rate in base]


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, "faster"), (0.9, "slower"), (1.0, "same")])
def test_a_change_is_found_at_the_first_look_whatever_drifts_with_both(factor: float, verdict: str):
    found = tried(*noisy(8, factor))
    assert found.verdict.value == verdict
    assert found.looked_at == 8
    assert found.effect is not None
    assert found.effect.change_percent == pytest.approx(100 * (factor - 1), abs=0.6)


@pytest.mark.parametrize(
    ("factor", "fields", "said"),
    [
        (1.1, {}, "Set `strict sync = no`."),
        (0.9, {}, "Leave `strict sync` at `Yes`: `no` is slower here."),
        (1.0, {}, "Leave `strict sync` at `Yes`: `no` is no faster here."),
        (0.9, {"previous": "default"}, "Leave `strict sync` at its default: `no` is slower here."),
        (0.9, {"previous": ""}, "Leave `strict sync` empty: `no` is slower here."),
    ],
)
def test_the_verdict_says_what_to_do_with_the_setting_and_why(factor: float, fields: dict[str, Any], said: str):
    text = change_report(tried(*noisy(8, factor), **fields)).fields[0].text
    assert text.partition(" in 8 pairs. ")[2].startswith(said)


@pytest.mark.parametrize(("factor", "colour"), [(1.1, "\x1b[32m▲"), (0.9, "\x1b[31m▼"), (None, "\x1b[33mNot finished")])
def test_a_terminal_has_the_verdict_in_its_colour(factor: float | None, colour: str):
    rates = noisy(10, factor) if factor else noisy(5)
    said = report_text(change_report(tried(*rates)), ansi=True)
    assert f"{colour[:5]}Verdict:" in said
    assert colour[5:] in said


def test_between_looks_nothing_is_decided():
    found = tried(*noisy(7, 1.1))
    assert (found.verdict, found.doubt, found.looked_at) == (Verdict.UNKNOWN, Doubt.FEW_PAIRS, None)
    said = change_report(found).fields[0].text
    assert said == "Not finished: 7 of at most 20 pairs. Resume the trial."
    assert change_answer(found).text == said, "the list has its sign with the number of pairs"
    varied = [
        (one, two * (1.3 if number % 4 < 2 else 0.8)) for number, (one, two) in enumerate(zip(*noisy(9), strict=True))
    ]
    for pairs, is_told in ((7, False), (8, True), (9, True)):
        rates = [list(side) for side in zip(*varied[:pairs], strict=True)]
        assert (" so far. Resume" in change_report(tried(*rates)).fields[0].text) is is_told
    late = tried(*noisy(13, 1.003, percent=2.0))
    assert late.looked_at is None


@pytest.mark.parametrize(("pairs", "shown"), [(3, False), (7, False), (8, True), (9, True)])
def test_a_p_value_is_shown_from_the_first_look_on(pairs: int, shown: bool):
    fields = {field.name: field.text for field in change_report(tried(*noisy(pairs))).results}
    assert ("p-value" in fields) is shown
    assert ("(p " in fields["Fixed work"]) is shown


def test_a_small_change_is_none_however_sure():
    found = tried(*noisy(20, 1.004, percent=0.1))
    assert found.effect is not None
    assert found.effect.p_value <= LEVELS[8] * 1.001
    assert found.verdict is Verdict.SAME


def test_scatter_ends_at_the_last_look_without_a_verdict():
    found = tried(*noisy(20, 1.0, percent=30))
    assert (found.verdict, found.doubt, found.looked_at) == (Verdict.UNKNOWN, Doubt.VARYING, 20)


def test_a_rejected_run_rejects_its_pair():
    base, other = arms(*noisy(9, 1.1))
    runs = tuple(replace(run, status=RunStatus.REJECTED) if run.number == 3 else run for run in other.runs)
    found = judge_change(TRIAL, plan(), [base, replace(other, runs=runs)], places([base, other]))
    assert isinstance(found, TrialSummary)
    assert [pair.number for pair in found.pairs] == [1, 2, 4, 5, 6, 7, 8, 9]
    assert (found.rejected_pairs, found.looked_at) == (1, 8)
    report = change_report(found)
    assert [row.cells[0].value for row in report.tables[0].rows] == [*"12345678"], "those that count have no gap"
    assert report.chart
    assert [bar.name for bar in report.chart.bars] == [*"12345678", "All"]


@pytest.mark.parametrize(("status", "left_out"), [(RunStatus.REJECTED, 1), (RunStatus.FAILED, 1), (RunStatus.VALID, 0)])
def test_a_pair_that_was_cut_off_is_left_out_and_one_that_is_under_way_is_not(status: RunStatus, left_out: int):
    base, other = arms(*noisy(9, 1.1))
    lone = tuple(replace(run, status=status) if run.number == 9 else run for run in base.runs)
    sides = [replace(base, runs=lone), replace(other, runs=other.runs[:-1])]
    found = judge_change(TRIAL, plan(), sides, places(sides))
    assert isinstance(found, TrialSummary)
    assert (len(found.pairs), found.rejected_pairs) == (8, left_out)


def with_fixed_work(base_seconds: float, seconds: float, factor: float = 0.9, **fields: Any) -> TrialSummary:
    found = arms(*noisy(8, factor))
    summary = judge_change(TRIAL, plan(**fields), found, places(found, control=(base_seconds, seconds)))
    assert isinstance(summary, TrialSummary)
    return summary


@pytest.mark.parametrize("processor", [(), (95.0,) * 16])
def test_what_the_setting_cannot_touch_takes_the_verdict_back(processor: tuple[float, ...]):
    slower_machine = with_fixed_work(1.0, 1.15, processor_percent=processor)
    assert (slower_machine.verdict, slower_machine.doubt) == (Verdict.UNKNOWN, Doubt.DRIFT)
    faster_machine = with_fixed_work(1.15, 1.0, processor_percent=processor)
    fields = {field.name: field.text for field in change_report(faster_machine).results}
    assert fields["Fixed work"].startswith("took 13 % less time with what was tried")
    assert "may have changed" not in fields["Fixed work"], "it took no verdict back"
    taken_back = {field.name: field.text for field in change_report(slower_machine).results}
    assert taken_back["Fixed work"].endswith(", so the processors may have changed, not the setting")
    assert faster_machine.verdict is Verdict.SLOWER, "it became slower although the machine did not"


def test_a_slower_processor_takes_no_verdict_back_where_a_link_set_the_pace():
    """A link slowed by 10 %: −9.7 % (−11.0 to −8.5), while hashing took 40 % longer."""
    base = [117.0e6] * 8
    other = [117.0e6 * (1 + change / 100) for change in (-9.7, -11.0, -8.5, -9.6, -9.8, -8.9, -10.6, -9.7)]
    for known in ({"processor_percent": (38.0,) * 16}, {}):
        found = [replace(one, link_bits_per_second=None if known else 10**9) for one in arms(base, other)]
        summary = judge_change(TRIAL, plan(**known), found, places(found, control=(1.0, 1.4)))
        assert isinstance(summary, TrialSummary)
        assert summary.effect is not None
        assert summary.effect.change_percent == pytest.approx(-9.7, abs=0.1)
        assert summary.control is not None
        assert summary.control.change_percent == pytest.approx(40)
        assert (summary.verdict, summary.doubt) == (Verdict.SLOWER, None)
        said = change_report(summary)
        assert said.fields[0].text.startswith("▼ Slower by 10 % (")
        assert "in 8 pairs. Leave " in said.fields[0].text
        assert re.fullmatch(r'▼ Slower by 10 % \([^()]*\), with "no"\.', change_answer(summary).text), (
            "no advice in a list"
        )
        (told,) = (field.text for field in said.results if field.name == "Fixed work")
        assert told.startswith("took 40 % more time with what was tried")
        assert "not counted" in told
        assert "may have changed" not in told


def test_a_trial_of_an_older_version_is_taken_back_only_by_fixed_work_that_explains_all_of_it():
    assert with_fixed_work(1.0, 1.10).verdict is Verdict.SLOWER
    assert with_fixed_work(1.0, 1.10, processor_percent=(90.0,) * 16).doubt is Doubt.DRIFT
    assert with_fixed_work(1.0, 1.12).doubt is Doubt.DRIFT
    content = json.loads(json.dumps(plan().to_json()))
    del content["processor_percent"]
    assert JSONNode("plan", content).record(TrialPlan).processor_percent == ()


def test_a_file_that_was_made_under_each_value_is_told_of():
    base, other = arms(*noisy(8))
    for make_file, command, told in (
        (True, Command.GET, True),
        (True, Command.PUT, False),
        (False, Command.GET, False),
    ):
        sides = [replace(one, command=command, plan=plan_with(make_file=make_file)) for one in (base, other)]
        report = change_report(judge_change(TRIAL, plan(), sides, places(sides)))
        (measured,) = (field.text for field in report.fields if field.name == "Measured")
        assert ("made anew for each run, under the value" in measured) is told


def test_what_is_known_to_act_on_the_other_direction_alone_is_not_advised_but_to_be_tried_there():
    base, other = arms(*noisy(8, 1.1))
    said = {}
    for command in Command:
        sides = [replace(one, command=command) for one in (base, other)]
        said[command] = change_report(judge_change(TRIAL, plan(), sides, places(sides))).advice
    assert any("strict sync is known to act on a put alone" in text for text in said[Command.GET])
    assert not any("worth keeping" in text for text in said[Command.GET])
    assert any("worth keeping" in text for text in said[Command.PUT])


def test_a_trial_names_the_client_and_its_settings():
    sides = [replace(one, client=replace(one.client, block_bytes=65536)) for one in arms(*noisy(8))]
    fields = change_report(judge_change(TRIAL, plan(), sides, places(sides))).fields
    (said,) = [field.text for field in fields if field.name == "Client"]
    assert "blocks of 64 KiB" in said
    assert "not signed" in said
    tried_signing = judge_change(TRIAL, replace(plan(), name="server signing"), sides, places(sides))
    (of_signing,) = [field.text for field in change_report(tried_signing).fields if field.name == "Client"]
    assert "signed" not in of_signing, "which is what differs"
    assert "signed" in client_text(sides[0].client)


def test_a_trial_without_one_of_its_series_is_none():
    with pytest.raises(ValueError, match="missing"):
        judge_change(TRIAL, plan(), arms(*noisy(8))[:1], [])


def swept(*factors: float, blocks: int = 10, planned: int = 10, values: Sequence[str]) -> SweepSummary:
    base, _ = noisy(blocks)
    others = [noisy(blocks, factor, seed=1, percent=0.3)[1] for factor in factors]
    found = arms(base, *others, values=values)
    made = plan(name="socket options", values=tuple(values), looks=(planned,))
    summary = judge_change(SWEEP, made, found, [])
    assert isinstance(summary, SweepSummary)
    return summary


@pytest.mark.parametrize(("planned", "told"), [(10, True), (11, False)])
def test_a_sweep_has_p_values_once_all_its_blocks_are_measured(planned: int, told: bool):
    report = change_report(swept(0.3, 0.8, values=BUFFERS[:2], planned=planned))
    told_of = [table.cells(row) for table in report.tables for row in table.rows]
    cells = [cell.value for cells in told_of for cell, column in cells if column.heading == "p (Holm)"]
    assert len(cells) == 3
    assert any(cells) is told
    assert any(one.name == "p (Friedman)" for one in report.results) is told


BUFFERS = tuple(f"TCP_NODELAY SO_SNDBUF={size}" for size in (4096, 65536, 262144, 1048576))


def test_a_sweep_names_the_smallest_value_on_the_plateau():
    found = swept(0.3, 0.8, 0.998, 1.001, values=BUFFERS)
    assert found.smallest == BUFFERS[2]
    assert found.default_is_as_good
    assert [one.on_plateau for one in found.values] == [True, False, False, True, True]
    assert found.friedman_p is not None
    assert found.friedman_p < 0.001
    said = change_report(found).fields[0].text
    assert said.startswith("Leave `socket options` at `Yes`: no value tried is faster. ")
    assert "SO_SNDBUF=262144` is the smallest that is as good (at most " in said


def test_a_sweep_of_equal_rates_is_a_document_without_nan():
    found = judge_change(SWEEP, plan(values=BUFFERS[:2], looks=(8,)), arms(*[[1e8] * 8] * 3, values=BUFFERS[:2]), [])
    assert isinstance(found, SweepSummary)
    assert found.friedman_p == 1.0
    json.dumps(change_report(found).document(), allow_nan=False)


def test_the_pairs_of_a_trial_are_dots_beside_no_change_and_all_of_them_have_the_interval():
    found = tried(*noisy(8, 0.9))
    chart = change_report(found).charts[0]
    assert chart.is_dots
    assert [bar.value for bar in chart.bars[:-1]] == [100 * (pair.ratio - 1) for pair in found.pairs]
    assert found.effect is not None
    assert (chart.bars[-1].value, chart.bars[-1].interval) == (
        found.effect.change_percent,
        found.effect.interval_percent,
    )
    text = report_text(change_report(found))
    assert sum("●" in line for line in text.splitlines()) == len(found.pairs) + 1
    for name in FORMATS:
        assert export_reports([change_report(found)], name, paper="A4")


def test_a_sweep_is_drawn_as_a_curve_with_whiskers_against_what_was_there():
    found = swept(0.3, 0.8, 0.998, 1.001, values=BUFFERS)
    report = change_report(found)
    chart = report.charts[0]
    assert chart.is_curve
    assert [(level.name, level.value) for level in chart.levels] == [("present value", found.values[0].average)]
    assert [bar.name for bar in chart.bars] == ["4096", "65536", "262144", "1048576"]
    drawn = drawing(chart)
    points = [shape for shape in drawn.shapes if isinstance(shape, Box)]
    assert len(points) == 4
    assert len({shape.width for shape in points} | {shape.height for shape in points}) == 1, "points, not bars"
    for bar, point in zip(chart.bars, points, strict=True):
        assert bar.interval is not None
        assert bar.value is not None
        assert bar.interval[0] < bar.value < bar.interval[1]
        x, y = point.x + point.width / 2, point.y + point.height / 2
        whisker = next(
            shape
            for shape in drawn.shapes
            if isinstance(shape, Stroke) and shape.x1 == shape.x2 == pytest.approx(x, abs=0.1)
        )
        assert whisker.y2 <= y <= whisker.y1
    assert not change_report(grid()).charts
    for format_name in FORMATS:
        assert export_reports([report], format_name)


def grid() -> SweepSummary:
    """Sizes of 4 and 64 KiB, each with and without: only the first setting matters, and it is better than before."""
    axes = tuple(
        GridAxis(kind=ChangeKind.SMB_CONF, name=name, section="[bench]", previous=previous, values=values)
        for name, previous, values in (("aio read size", "1", ("65536", "4096")), ("use sendfile", "No", ("yes", "no")))
    )
    cells = tuple((one, other) for one in axes[0].values for other in axes[1].values)
    words = tuple(", ".join(cell) for cell in cells)
    found = arms(noisy(10)[0], *(noisy(10, factor, 0.3)[1] for factor in (1.2, 1.2, 1.2, 0.9)), values=words)
    made = plan(name="aio read size, use sendfile", values=words, axes=axes, cells=cells, looks=(10,))
    summary = judge_change(SWEEP, made, found, [])
    assert isinstance(summary, SweepSummary)
    return summary


def test_a_grid_names_the_smallest_pair_on_the_plateau():
    found = grid()
    assert found.smallest == "4096, yes", "not 65536 with either; 4096 with no is below the plateau"
    report = change_report(found)
    assert report.fields[0].text == (
        "Set `aio read size, use sendfile = 4096, yes`: the smallest value as good as the best tried (at most 0.0 %"
        " slower than the best)."
    )
    assert [field.text for field in report.fields if field.name == "Setting"] == [
        "aio read size [bench] (smb.conf): 1 before, tried 65536 and 4096",
        "use sendfile [bench] (smb.conf): No before, tried yes and no",
    ]  # fmt: skip
    again = trial_from_document(json.loads(json.dumps(report.document())))
    assert again.plan == found.plan
    for format_name in FORMATS:
        assert export_reports([report], format_name)


def test_a_load_is_compared_by_its_requests_not_by_its_bytes():
    base, other = arms([1e6] * 8, [1e6] * 8)
    slots = [
        replace(
            slot, requests_per_second=100.0 if slot.series_id == base.id else 80.0, generator_limited=slot.number == 1
        )
        for slot in places([base, other])
    ]
    window = LoadWindow(users=4, scenario=Scenario(name="small", files=1, sizes=(SizeClass(size_bytes=4096, share=1),)))
    found = judge_change(TRIAL, plan(load=window), [base, other], slots)
    assert isinstance(found, TrialSummary)
    assert found.verdict is Verdict.SLOWER
    assert found.effect is not None
    assert found.effect.change_percent == pytest.approx(-20)
    report = change_report(found)
    assert "requests of 4 users (small)" in report.fields[1].text
    assert any("in 2 of 16 windows the machine that made the load was the limit" in text for text in report.advice)
    assert not any("act on a put alone" in text for text in report.advice), "users read and write"
    document = json.loads(json.dumps(report.document()))
    assert document["pairs"][0]["base_requests_per_second"] == 100
    assert trial_from_document(document).plan == found.plan


def test_a_sweep_says_when_something_is_better_than_what_was_there():
    found = swept(1.0, 1.2, 1.2, 1.0, values=BUFFERS)
    assert not found.default_is_as_good
    assert found.smallest == BUFFERS[1]
    assert [one.adjusted_p is not None and one.adjusted_p < 0.05 for one in found.values] == [
        False, False, True, True, False,
    ]  # fmt: skip


def test_a_sweep_that_scatters_too_much_has_no_answer():
    chance = random.Random(4)
    scattered = [[1e8 * chance.uniform(0.5, 1.5) for _ in range(10)] for _ in range(3)]
    made = plan(name="socket options", values=BUFFERS[:2], looks=(10,))
    found = judge_change(SWEEP, made, arms(*scattered, values=BUFFERS[:2]), [])
    assert isinstance(found, SweepSummary)
    assert not found.settled
    report = change_report(found)
    said = report.fields[0].text
    assert said.startswith("Inconclusive after 10 blocks. Use longer runs")
    assert "smallest" not in said
    assert {str(row.cells[-1].value) for row in report.tables[0].rows} == {"as good", "undecided"}


def beside_the_best(ratio: float, *, margin: float = 5.0, blocks: int = 8, others: int = 0) -> Standing:
    """How a value stands whose rate is always the same share of the best one's."""
    return compare_with_best([[1e8 * ratio, 1e8, *[1e8 * ratio] * others] for _ in range(blocks)], margin)[0][0]


def test_a_value_is_worse_only_beyond_one_percent_and_level_only_within_the_margin():
    assert beside_the_best(0.9901) is Standing.LEVEL
    assert beside_the_best(0.9899) is Standing.WORSE
    assert beside_the_best(0.992, margin=0.81) is Standing.LEVEL
    assert beside_the_best(0.992, margin=0.79) is Standing.UNDECIDED


def test_values_share_the_risk_of_a_wrong_exclusion():
    assert beside_the_best(0.9, others=5) is Standing.WORSE
    assert beside_the_best(0.9, others=6) is Standing.UNDECIDED, "8 blocks have no p of 0.05 / 7"


def varied(blocks: int, percent: float, seed: int, values: int = 4) -> list[list[float]]:
    chance = random.Random(seed)
    return [[1e8 * math.exp(chance.gauss(0, percent / 100)) for _ in range(values)] for _ in range(blocks)]


def test_a_sweep_names_the_number_of_blocks_that_settles_it():
    named, settled = [], 0
    for seed in range(40):
        columns = list(zip(*varied(8, 3.0, seed), strict=True))
        made = plan(name="socket options", values=BUFFERS[:3], looks=(8,))
        found = judge_change(SWEEP, made, arms(*columns, values=BUFFERS[:3]), [])
        assert isinstance(found, SweepSummary)
        if not found.settled and found.blocks_to_settle:
            named.append(found.blocks_to_settle)
            again = compare_with_best(varied(found.blocks_to_settle, 3.0, 1000 + seed), made.margin_percent)
            settled += all(standing is not Standing.UNDECIDED for standing, _ in again)
    assert len(named) >= 20
    assert max(named) <= 60
    assert settled >= 0.85 * len(named)


def test_blocks_are_enough_for_holm_and_their_order_is_kept():
    assert blocks_needed(1) == blocks_needed(6) == 8
    assert 2 / 2 ** blocks_needed(40) * 40 <= 0.05 < 2 / 2 ** (blocks_needed(40) - 1) * 40
    assert sorted(block_order(5, 3, 7)) == [0, 1, 2, 3, 4]
    assert block_order(5, 3, 7) == block_order(5, 3, 7)
    assert len({block_order(5, block, 7) for block in range(20)}) > 10


@pytest.mark.parametrize("format_name", sorted(FORMATS))
@pytest.mark.long
def test_both_go_out_in_every_format(format_name: str):
    for summary in (tried(*noisy(8, 1.1)), swept(0.3, 0.8, 0.998, 1.001, values=BUFFERS)):
        assert export_reports([change_report(summary)], format_name)


def test_the_document_has_every_number_of_the_form():
    found = tried(*noisy(8, 1.1))
    document = json.loads(json.dumps(change_report(found).document()))
    assert document["schema"] == "sharebench/trial/1"
    assert document["verdict"] == "faster"
    assert document["plan"]["values"] == ["no"]
    assert "server_ssh" not in document["plan"]
    assert len(document["pairs"]) == 8
    assert document["effect"]["p_value"] == pytest.approx(LEVELS[8])
    assert [len(one["runs"]) for one in document["series"]] == [8, 8]


def test_a_stored_trial_says_whether_the_server_is_as_before():
    def said(*journal: JournalEntry) -> list[tuple[str, Tone]]:
        return [(field.text, field.tone) for field in server_fields(journal)]

    left = abandoned_change()
    at_work = replace(left, owner=this_process())
    early, late = (
        replace(left, state=ChangeState.UNDONE, ended_at=f"2026-02-01T10:0{minute}:00.000Z") for minute in (1, 2)
    )
    assert said() == said(at_work) == said(early, at_work) == []
    assert said(late, early) == said(early, late) == [("restored 2026-02-01 10:02 UTC", Tone.PLAIN)]
    asked = "still changed (strict sync): restore it with R in the notebook, or with `sharebench restore`"
    assert said(left) == said(early, left) == said(left, left) == [(asked, Tone.BAD)]


def test_a_tuning_names_what_to_write_and_what_was_for_nothing():
    faster, slower = tried(*noisy(8, 1.1)), tried(*noisy(8, 0.9))
    second = replace(faster, plan=replace(faster.plan, name="use sendfile", values=("yes",)))
    passed = NotTried(name="oplocks", value="yes", why="databases")
    summary = TuneSummary(base=faster.base, trials=(slower, faster, second), not_tried=(passed,), stopped=True)
    assert summary.worth_percent == pytest.approx(21, abs=1.5)
    report = tune_report(summary)
    assert [(field.name, field.text) for field in report.results] == [
        ("Write into [bench]", "strict sync = no"), ("Write into [bench]", "use sendfile = yes"),
    ]  # fmt: skip
    document = json.loads(json.dumps(report.document()))
    assert [one["verdict"] for one in document["trials"]] == ["slower", "faster", "faster"]
    assert [one["name"] for one in document["write"]] == ["strict sync", "use sendfile"]
    nothing = tune_report(TuneSummary(base=None, trials=(slower,)))
    assert nothing.fields[0].text == "Nothing that was tried is faster than the present settings."
    unsure = TuneSummary(base=None, trials=(slower, replace(slower, verdict=Verdict.UNKNOWN)), stopped=True)
    assert tune_report(unsure).fields[0].text == (
        "Nothing that was tried is known to be faster than the present settings, and not everything was tried."
    )
    for format_name in FORMATS:
        assert export_reports([report, nothing], format_name)
