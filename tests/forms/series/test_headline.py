"""The headline of a series."""

from dataclasses import replace

from forms.series.headline import headline
from forms.series.summary import run_form
from forms.tone import Tone
from storage.quiet import Quiet, QuietVerdict
from storage.records import RunStatus, SeriesStatus
from tests.builders import series

SOUND = series(
    [119.3e6, 119.5e6, 119.7e6, 119.5e6, 119.5e6], size_bytes=8 << 30, quiet=Quiet(verdict=QuietVerdict.QUIET)
)


def test_the_headline_says_rate_scatter_share_quiet_time_and_runs():
    said = [part.text for part in headline(run_form(SOUND))]
    assert said == ["119.5 MB/s ± 0.1 %", "96 % of 1 Gb/s", "quiet", "5 runs"]


def test_what_weakens_a_series_is_in_its_headline_as_a_word_and_a_colour():
    runs = (*SOUND.runs[:-1], replace(SOUND.runs[-1], status=RunStatus.REJECTED, reason="backup"))
    weak = replace(SOUND, runs=runs, quiet=Quiet(verdict=QuietVerdict.BUSY), status=SeriesStatus.INTERRUPTED)
    parts = {part.text: part.tone for part in headline(run_form(weak))}
    assert parts["! busy"] is Tone.CAUTION
    assert "4 runs, 1 left out" in parts
    assert parts["! interrupted"] is Tone.CAUTION
    assert any(text.endswith("warnings") for text in parts)


def test_a_series_without_a_run_that_counts_says_so():
    assert headline(run_form(replace(SOUND, runs=())))[0].text == "no average: no run counts"
