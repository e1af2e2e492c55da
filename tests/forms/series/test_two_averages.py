"""Where an answer leaves runs out by itself, each other figure says which runs it is of."""

from dataclasses import replace

from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import SeriesSummary, run_form
from forms.series.wording import all_runs_text, series_headline
from storage.records import RunStatus
from tests.builders import series

STEADY = (100e6, 100.2e6, 99.8e6, 100.1e6, 99.9e6)
SLOW_RUN = (100e6, 100.2e6, 60e6, 100.1e6, 99.9e6)


def field_of(report: Report, name: str) -> str:
    return next(field.text for field in (*report.fields, *report.results) if field.name == name)


def headline_of(summary: SeriesSummary) -> list[str]:
    return [part.text for part in series_headline(summary)]


def test_the_average_of_all_runs_is_named_beside_an_answer_without_one() -> None:
    summary = run_form(series(SLOW_RUN))
    report = series_report(summary)
    answer = field_of(report, "Answer")
    assert answer.startswith("100.0 MB/s")
    assert "without run 3" in answer
    assert "all 5 runs: 92.0 MB/s" in answer
    assert "all 5 runs: 92.0 MB/s" in headline_of(summary)

    of_all, _, without = field_of(report, "95 % interval of the average").partition("; ")
    assert of_all.endswith("of all 5 runs")
    assert without.endswith("without run 3")


def test_an_answer_of_all_runs_names_no_other() -> None:
    summary = run_form(series(STEADY))
    assert all_runs_text(summary) == ""
    assert "5 runs" in headline_of(summary)
    assert field_of(series_report(summary), "95 % interval of the average").endswith("bytes/sec")


def test_beside_a_run_that_was_left_out_by_hand_all_means_the_valid_ones() -> None:
    measured = series((*SLOW_RUN, 100.3e6))
    runs = [replace(run, status=RunStatus.REJECTED) if run.number == 6 else run for run in measured.runs]
    assert all_runs_text(run_form(replace(measured, runs=tuple(runs)))) == "all 5 valid runs: 92.0 MB/s"
