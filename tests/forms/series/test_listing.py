"""The line of a series in a list."""

from dataclasses import replace

import pytest

from forms.layout import Tone, Toned
from forms.series.listing import SeriesLine, series_lines
from storage.owners import Owner
from storage.records import Change, Evidence, RunStatus, Series, SeriesStatus, Target
from tests.builders import runs, series
from tests.specs import plan_with

OWNER = Owner(host="a", boot_id="b", process_id=1, process_started="c", since="d", renewed_at="e")


def series_line(one: Series) -> SeriesLine:
    """The line of one series with its runs."""
    return series_lines([one], {one.id: one.rates()})[0]


def test_a_line_has_the_average_deviation_and_share_of_the_valid_runs() -> None:
    line = series_line(series((100e6, 110e6, 120e6), label="first"))
    assert (line.label, line.what, line.runs_text) == ("first", "nas/data/big.bin", "3")
    assert line.answer == Toned("get 110.0 MB/s ± 23 %, 88 % of link", Tone.CAUTION)
    assert line.deviation_percent == pytest.approx(9.1, abs=0.05)
    assert series_line(series((109e6, 110e6, 111e6))).answer.tone is Tone.PLAIN


@pytest.mark.parametrize("evidence", Evidence)
def test_a_claim_that_is_not_in_effect_stands_in_the_list(evidence: Evidence) -> None:
    claimed = replace(series((109e6, 110e6, 111e6)), change=Change(name="log level", value="0", evidence=evidence))
    denied = evidence is Evidence.CONTRADICTED
    text = f"{'change not in effect: ' if denied else ''}get 110.0 MB/s ± 2.3 %, 88 % of link"
    assert series_line(claimed).answer == Toned(text, Tone.CAUTION if denied else Tone.PLAIN)


def test_rejected_runs_and_warm_ups_do_not_count() -> None:
    measured = runs((100e6, 110e6, 500e6))
    judged = (*measured[:-1], replace(measured[-1], status=RunStatus.REJECTED, reason="burst"))
    line = series_line(series(runs=judged))
    assert (line.runs_text, line.answer.text) == ("2", "get 105.0 MB/s ± 61 %, 84 % of link")


def test_absent_is_left_out_and_never_zero() -> None:
    one = series_line(series((100e6,), link_bits_per_second=None))
    assert (one.answer.text, one.deviation_percent, one.percent_of_link) == ("get 100.0 MB/s", None, None)
    none = series_line(series())
    assert none.answer == Toned("get: no valid run", Tone.CAUTION)
    assert series_line(series(error="no route to host")).answer.text == "get: no route to host"


def test_a_series_that_is_not_complete_says_how_far_it_came() -> None:
    stopped = series((1e8, 1e8), status=SeriesStatus.INTERRUPTED, plan=plan_with(runs=5))
    assert series_line(stopped).runs_text == "2/5‖"
    assert series_line(stopped).answer.text.endswith("; interrupted"), "what the sign means"
    assert series_line(replace(stopped, running_by=OWNER)).answer.text.endswith("of link")
    assert series_line(replace(stopped, status=SeriesStatus.FAILED)).runs_text == "2/5✗"
    assert series_line(replace(stopped, plan=None)).runs_text == "2‖"
    assert series_line(replace(stopped, plan=plan_with(runs=1))).runs_text == "2‖", "a trial plans a run at a time"


def test_names_from_outside_stay_on_one_line() -> None:
    target = Target(protocol="smb", host="nas", share="a\x1b[31mb", path="c\nd")
    line = series_line(series((1e8,), label="two\nlines\x07", target=target))
    assert line.label == "two⏎lines␇"
    assert line.what == "nas/a␛[31mb/c⏎d"


def test_a_series_without_a_label_is_called_by_its_target() -> None:
    assert series_line(series((1e8,), title="A title")).label == "A title"
    assert series_line(series((1e8,))).label == ""


def test_many_lines_take_their_rates() -> None:
    first, second = series_lines([series(id="a"), series(id="b")], {"b": (1e8, 1e8)})
    assert (first.runs_text, second.runs_text) == ("0", "2")
