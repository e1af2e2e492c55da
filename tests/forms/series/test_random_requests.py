"""Random requests on paper: operations a second, percentiles of single requests, and what they are compared with."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from forms.comparison.history import path_of
from forms.comparison.report import comparison_report
from forms.comparison.verdict import compare
from forms.exporters import export_reports
from forms.findings.series_warnings import advice, ways_past_the_ceiling
from forms.importers.filled_form import FormDefaults, series_from_csv
from forms.report import Report
from forms.series.document import series_document, series_from_document
from forms.series.random_requests import figures_of_run, figures_of_runs, request_tables
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.stats.decision import Verdict
from forms.tuning.differences import differences, is_repeat
from storage.notebook import Notebook
from storage.records import RANDOM_FILE_FACT, Run, RunStatus, Series, Target
from tests.builders import CLIENT, random_series, series

STEADY = [2000.0, 2020.0, 1990.0, 2010.0, 2000.0]


def report_of(one: Series) -> Report:
    return series_report(run_form(one))


def test_figures_are_of_single_requests():
    (run,) = random_series([2000]).runs
    figures = figures_of_run(run)
    assert figures is not None
    assert figures.operations_per_second == pytest.approx(2000)
    assert figures.p50_seconds == pytest.approx(0.002, rel=0.01)
    assert figures.p95_seconds == pytest.approx(0.010, rel=0.01)
    assert figures.p99_seconds == pytest.approx(0.010, rel=0.01)
    assert figures.max_seconds == 0.1


@pytest.mark.parametrize(("count", "is_known"), [(99, False), (100, True)])
def test_p99_needs_a_hundred_requests(count: int, is_known: bool):
    (run,) = random_series([count / 5]).runs
    figures = figures_of_run(run)
    assert figures is not None
    assert (figures.p99_seconds is not None) == is_known


def test_percentiles_of_all_runs_are_of_all_their_requests_and_not_of_the_runs():
    slow = random_series([10]).runs[0]
    quick = replace(random_series([2000]).runs[0], number=2)
    figures = figures_of_runs([slow, quick])
    assert figures is not None
    assert figures.operations_per_second == pytest.approx(1005)
    assert figures.p99_seconds == pytest.approx(0.010, rel=0.01)


def test_of_a_mix_reads_and_writes_have_tables_of_their_own():
    assert len(list(request_tables(random_series(STEADY)))) == 1
    everything, reads, writes = request_tables(random_series(STEADY, read_percent=70))
    counts = [table.rows[0].cells[1].value for table in (everything, reads, writes)]
    assert counts == [10_000, 7000, 3000]
    assert [len(table.rows) for table in (everything, reads, writes)] == [6, 6, 6]


def test_whole_files_have_no_such_table():
    assert list(request_tables(series([100e6] * 5))) == []
    assert "request_figures" not in series_document(series([100e6] * 5))


def test_a_failed_run_has_a_row_without_figures_and_a_rejected_one_does_not_count():
    one = random_series(STEADY)
    failed = Run(number=6, phase=one.runs[0].phase, status=RunStatus.FAILED, error="gone")
    rejected = replace(one.runs[0], status=RunStatus.REJECTED)
    one = replace(one, runs=(rejected, *one.runs[1:], failed))
    (table,) = request_tables(one)
    assert [cell.value for cell in table.rows[5].cells[1:]] == [None] * 6
    assert table.rows[6].cells[1].value == sum(run.requests.count for run in one.measured() if run.requests)


@pytest.mark.parametrize("read_percent", [None, 70])
def test_a_document_and_a_notebook_keep_every_request(tmp_path, read_percent: int | None):
    one = random_series(STEADY, read_percent=read_percent)
    document = json.loads(json.dumps(series_document(one)))
    assert series_from_document(document) == one
    assert document["request_figures"]["requests"]["operations_per_second"] == pytest.approx(2004)
    assert document["runs"][0]["request_figures"]["max_seconds"] == 0.1
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add(one)
        assert notebook.series(one.id).runs == one.runs


def test_the_form_in_csv_is_read_back_with_its_runs_alone():
    one = random_series(STEADY, read_percent=70)
    content = export_reports([report_of(one)], "csv")
    defaults = FormDefaults(target_of=lambda _url: one.target)
    (read,) = series_from_csv(content, defaults)
    assert [(run.number, run.size_bytes) for run in read.runs] == [(run.number, run.size_bytes) for run in one.runs]


def test_the_chart_shows_operations_a_second():
    (chart,) = report_of(random_series(STEADY)).charts
    assert [bar.value for bar in chart.bars] == pytest.approx(STEADY)
    assert chart.source is not None
    table, column = chart.source
    values = [row.cells[column].value for row in report_of(random_series(STEADY)).tables[table].rows[:5]]
    assert values == pytest.approx(STEADY)


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, Verdict.FASTER), (1 / 3, Verdict.SLOWER)])
def test_operations_a_second_are_compared(factor: float, verdict: Verdict):
    base = random_series(STEADY)
    other = random_series([factor * rate for rate in STEADY], id="b" * 12)
    compared = compare(base, other)
    assert compared.verdict is verdict
    properties = [row for table in comparison_report([base, other]).tables for row in table.rows]
    texts = {row.name: [cell.value for cell in row.cells] for row in properties}
    assert "Operations" in texts
    assert "p99 of a request" in texts


def test_another_order_another_mix_and_another_file_are_other_work():
    at_random = random_series(STEADY)
    in_order = replace(at_random, plan=replace(at_random.plan, counts=series([1e6]).plan.counts))  # type: ignore[union-attr,type-var]
    names = {difference.name for difference in differences(at_random, in_order)}
    assert "requests" in names
    assert path_of(at_random) != path_of(in_order)

    mix = random_series(STEADY, read_percent=70)
    other_mix = random_series(STEADY, read_percent=50)
    assert [difference.name for difference in differences(mix, other_mix)] == ["requests"]

    larger = replace(at_random, environment={"path": {RANDOM_FILE_FACT: 1 << 31}})
    assert [difference.name for difference in differences(at_random, larger)] == ["size_bytes"]
    assert path_of(at_random) != path_of(larger)


def test_equal_random_series_are_repeats_though_their_runs_move_other_amounts():
    first = random_series(STEADY)
    again = random_series([1.02 * rate for rate in STEADY], id="b" * 12)
    assert is_repeat(first, again)
    assert path_of(first) == path_of(again)


def test_a_slow_disk_is_no_reason_for_a_larger_file():
    keys = {finding.key for finding in advice(random_series([2.0] * 5))}
    assert "short" not in keys


def test_runs_under_a_second_are_too_short_and_longer_ones_are_asked_for():
    one = random_series(STEADY)
    halved = tuple(replace(run, seconds=0.5, size_bytes=run.size_bytes // 10) for run in one.runs)
    (short,) = [finding for finding in advice(replace(one, runs=halved)) if finding.key == "short"]
    assert "--seconds" in short.options


@pytest.mark.parametrize(("drop_cache", "words"), [(True, "past the page cache"), (False, "through the page cache")])
def test_a_local_path_says_whether_the_page_cache_answered(drop_cache: bool, words: str):
    one = random_series(STEADY, target=Target(protocol="file", path="/srv/big.bin"))
    plan = replace(one.plan, settings=replace(one.plan.settings, drop_cache=drop_cache))  # type: ignore[union-attr,type-var]
    (text,) = [field.text for field in report_of(replace(one, plan=plan)).fields if field.name == "Random requests"]
    assert words in text


@pytest.mark.parametrize(("share", "is_told"), [(0.69, False), (0.75, True), (1.0, True)])
def test_near_the_ceiling_of_this_client_the_form_says_so(share: float, is_told: bool):
    one = random_series(STEADY, ceiling_bytes_per_second=4096 * 2004 / share)
    keys = {finding.key for finding in advice(one)}
    assert ("ceiling" in keys) == is_told
    (ceiling,) = [field.text for field in report_of(one).fields if field.name == "Ceiling"]
    assert "operations/s" in ceiling


def test_another_client_or_more_requests_are_no_way_past_that_ceiling():
    one = random_series(STEADY, ceiling_bytes_per_second=4096 * 2004, client=replace(CLIENT, in_flight=1))
    ways = " ".join(ways_past_the_ceiling(one))
    assert "in flight" not in ways
    assert "smbclient" not in ways
