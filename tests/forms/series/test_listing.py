"""The line of a series in a list."""

from dataclasses import replace

import pytest

from forms import wording
from forms.comparison.summary import comparison_form
from forms.layout import Tone, Toned
from forms.series.listing import SeriesLine, series_lines
from forms.series.report import series_report
from forms.series.summary import run_form
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


@pytest.mark.parametrize(("share", "is_refuted"), [(0.95, False), (1.009, False), (1.011, True)])
def test_a_link_speed_that_cannot_be_true_is_told_as_refuted(share: float, is_refuted: bool) -> None:
    answer = series_line(series((share * 125e6,) * 3)).answer
    assert ("link speed refuted" in answer.text) is is_refuted
    assert ("% of link" in answer.text) is not is_refuted
    assert answer.tone is (Tone.CAUTION if is_refuted else Tone.PLAIN)


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


@pytest.mark.parametrize(("slow", "average", "is_told"), [(90e6, "100.0 MB/s", True), (99.5e6, "99.90 MB/s", False)])
def test_a_list_gives_the_average_that_comparisons_judge(slow: float, average: str, is_told: bool):
    one = series((100e6, 100.1e6, slow, 99.9e6, 100e6), link_bits_per_second=1_000_000_000)
    answer = series_line(one).answer.text
    assert answer.startswith(f"get {average} ")
    assert ("without 1 run that stands out" in answer) is is_told

    judged = comparison_form(one, series((100e6,) * 5, id="b" * 12)).comparison.counted_base_rate
    assert wording.rate(judged) == average

    form = series_report(run_form(one))
    assert form.answer is not None
    assert form.answer.text.startswith(average)
    assert ("without run 3 (10.0 % slower than the others)" in form.answer.text) is is_told
    assert form.answer.text.count("80 % of a 1 Gb/s link") == 1


@pytest.mark.parametrize(
    ("given", "shaped", "share"),
    [
        (1_000_000_000, 1_000_000_000, "80 % of the 1 Gb/s that a traffic shaper (tbf) on the measuring machine"),
        (2_000_000_000, 1_000_000_000, "40 % of a 2 Gb/s link"),
        (1_000_000_000, 10_000_000_000, "80 % of a 1 Gb/s link"),
    ],
)
def test_a_form_names_the_shaper_where_the_speed_of_its_link_is_that_of_the_shaper(given: int, shaped: int, share: str):
    facts = {
        "link.rate_bits_per_second": shaped,
        "link.shaper_bits_per_second": shaped,
        "link.shaper": "tbf",
    }
    one = series((100e6,) * 5, link_bits_per_second=given, environment={"path": facts})
    answer = series_report(run_form(one)).answer
    assert answer is not None
    assert share in answer.text
