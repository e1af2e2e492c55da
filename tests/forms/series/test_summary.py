"""The headline of a series."""

from dataclasses import replace

import pytest

from forms import wording
from forms.layout import Tone
from forms.series.head_fields import head_fields
from forms.series.summary import run_form
from forms.series.wording import series_headline
from forms.stats.summary import deviation_percent, half_width_percent
from storage.plan import Plan, QuietTime
from storage.records import Change, Evidence, Quiet, QuietVerdict, RunStatus, SeriesStatus
from tests.builders import series
from tests.specs import plan_with

SOUND = series(
    [119.3e6, 119.5e6, 119.7e6, 119.5e6, 119.5e6], size_bytes=8 << 30, quiet=Quiet(verdict=QuietVerdict.QUIET)
)


def test_the_headline_says_rate_interval_share_quiet_time_and_runs():
    said = [part.text for part in series_headline(run_form(SOUND))]
    assert said == ["119.5 MB/s ± 0.1 %", "96 % of 1 Gb/s", "quiet time", "5 runs"]


def test_a_quiet_check_that_was_skipped_is_not_called_unknown():
    skipped = replace(SOUND, quiet=None, plan=plan_with(quiet_time=QuietTime.SKIP))
    assert "quiet time not checked (skipped)" in [part.text for part in series_headline(run_form(skipped))]
    assert [one.text for one in head_fields(skipped) if one.name == "Quiet time"] == ["not checked (skipped)"]
    lost = replace(SOUND, quiet=None, plan=Plan())
    assert "quiet time unknown" in [part.text for part in series_headline(run_form(lost))]


@pytest.mark.parametrize(
    ("megabytes", "half"),
    [([45.45], None), ([40, 50], 141.18), ([36, 45, 54], 49.68), ([36, 40, 45, 50, 54], 20.09)],
)
def test_the_plus_minus_is_the_half_width_and_absent_with_one_run(megabytes, half):
    form = run_form(series([one * 1e6 for one in megabytes]))
    shown = next(series_headline(form)).text.partition(" ± ")[2]
    rates = [one * 1e6 for one in megabytes]
    assert form.half_width_percent == (None if half is None else pytest.approx(half, abs=0.01))
    assert half_width_percent(rates) == form.half_width_percent
    assert shown == ("" if half is None else wording.percent(half))
    assert shown != wording.percent(deviation_percent(rates) or 0.0)


def test_what_weakens_a_series_is_in_its_headline_as_a_word_and_a_colour():
    runs = (*SOUND.runs[:-1], replace(SOUND.runs[-1], status=RunStatus.REJECTED, reason="backup"))
    weak = replace(SOUND, runs=runs, quiet=Quiet(verdict=QuietVerdict.BUSY), status=SeriesStatus.INTERRUPTED)
    parts = {part.text: part.tone for part in series_headline(run_form(weak))}
    assert parts["! busy time"] is Tone.CAUTION
    for evidence in Evidence:
        claimed = replace(SOUND, change=Change(name="log level", value="0", evidence=evidence))
        told = "! change not in effect" in [part.text for part in series_headline(run_form(claimed))]
        assert told is (evidence is Evidence.CONTRADICTED)
    assert "4 runs, 1 left out" in parts
    assert parts["‖ interrupted"] is Tone.CAUTION
    assert "! 1 warning" in parts, "that it was a busy time is told already"


def test_a_series_without_a_run_that_counts_says_so():
    assert next(series_headline(run_form(replace(SOUND, runs=())))).text == "no average: no run counts"
