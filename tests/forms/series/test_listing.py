"""The line of a series in a list."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from forms.series.listing import SeriesLine, series_lines
from storage.plan import Plan
from storage.records import Baseline, RunStatus, Series, SeriesStatus, Target
from tests.builders import runs, series


def series_line(one: Series, names: Sequence[str] = ()) -> SeriesLine:
    """The line of one series with its runs."""
    rates = [rate for run in one.measured() if (rate := run.bytes_per_second) is not None]
    named = [Baseline(name=name, recording_id=one.id, set_at="") for name in names]
    return series_lines([one], {one.id: rates}, named)[0]


def test_a_line_has_the_average_deviation_and_share_of_the_valid_runs() -> None:
    line = series_line(series((100e6, 110e6, 120e6), label="first"), ["before"])
    assert (line.when, line.name, line.target) == ("2026-01-31 10:00", "first", "smb://nas/data/big.bin")
    assert line.what == f"{line.command} nas/data"
    assert (line.runs_text, line.average_text, line.percent_text) == ("3", "110.0 MB/s", "88 %")
    assert line.deviation_percent == pytest.approx(9.1, abs=0.05)
    assert line.baseline_text == "before"


def test_rejected_runs_and_warm_ups_do_not_count() -> None:
    measured = runs((100e6, 110e6, 500e6))
    judged = (*measured[:-1], replace(measured[-1], status=RunStatus.REJECTED, reason="burst"))
    line = series_line(series(runs=judged))
    assert (line.runs, line.average_text) == (2, "105.0 MB/s")


def test_absent_is_a_dash_not_zero() -> None:
    one = series_line(series((100e6,), link_bits_per_second=None))
    assert (one.average_text, one.deviation_percent, one.percent_text) == ("100.0 MB/s", None, "-")
    none = series_line(series())
    assert (none.average_text, none.deviation_percent, none.percent_text, none.baseline_text) == ("-", None, "-", "")


def test_a_series_that_is_not_complete_says_how_far_it_came() -> None:
    stopped = series((1e8, 1e8), status=SeriesStatus.INTERRUPTED, plan=Plan(runs=5))
    assert series_line(stopped).runs_text == "2/5…"
    assert series_line(replace(stopped, status=SeriesStatus.FAILED)).runs_text == "2/5!"
    assert series_line(replace(stopped, plan=None)).runs_text == "2…"
    assert series_line(replace(stopped, plan=Plan(runs=1))).runs_text == "2…", "a trial plans a run at a time"


def test_names_from_outside_stay_on_one_line() -> None:
    target = Target(protocol="smb", host="nas", share="a\x1b[31mb", path="c\nd")
    line = series_line(series((1e8,), label="two\nlines\x07", target=target))
    assert line.label == "two⏎lines␇"
    assert line.target == "smb://nas/a␛[31mb/c⏎d"


def test_a_series_without_a_label_is_called_by_its_target() -> None:
    assert series_line(series((1e8,), title="A title")).name == "A title"
    assert series_line(series((1e8,))).name == "get nas/data"


def test_many_lines_take_their_rates_and_baselines() -> None:
    heads = [series(id="a"), series(id="b")]
    names = [Baseline(name=name, recording_id="b", set_at="") for name in ("one", "two")]
    first, second = series_lines(heads, {"b": (1e8, 1e8)}, names)
    assert (first.runs, first.baselines) == (0, ())
    assert (second.runs, second.baseline_text) == (2, "one, two")
