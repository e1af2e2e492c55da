"""Two diagnoses side by side: the complaint first, and what changed by more than it varied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.diagnosis.change_fields import price_text, slower_text, uncertain_text
from forms.diagnosis.comparison_report import diagnosis_comparison
from forms.diagnosis.figure_changes import FigurePair, figure_pairs
from forms.diagnosis.figures import Figure, Unit
from forms.layout import Sign
from forms.report import Role
from storage.looks import StageName
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but


def pair(
    before: tuple[float, float, float],
    after: tuple[float, float, float],
    *,
    busy: bool = False,
    busy_before: bool = False,
    complained_of: bool = False,
    key: str = "later",
) -> FigurePair:
    """Each as (value, least, most), in seconds."""
    sides = []
    for value, least, most in (before, after):
        sides.append(Figure(StageName.CONNECT, key, "Later connects", Unit.SECONDS, value, (least, most)))
    return FigurePair(
        base=sides[0],
        other=sides[1],
        was_client_busy_before=busy_before,
        was_client_busy=busy,
        is_complained_of=complained_of,
    )


SLOWER = ((1.0, 0.9, 1.1), (2.0, 1.8, 2.2))


@pytest.mark.parametrize(
    ("figures", "sign"),
    [
        (pair(*SLOWER), Sign.SLOWER),
        (pair(*SLOWER, busy=True), Sign.UNKNOWN),
        (pair(*SLOWER, busy_before=True), Sign.SLOWER),
        (pair(*reversed(SLOWER), busy=True), Sign.FASTER),
        (pair(*reversed(SLOWER), busy_before=True), Sign.UNKNOWN),
        (pair(*reversed(SLOWER), busy_before=True, complained_of=True), Sign.FASTER),
        (pair(*SLOWER, busy=True, complained_of=True), Sign.UNKNOWN),
        (pair((1.0, 0.9, 1.1), (1.24, 1.2, 1.25)), None),
        (pair((1.0, 0.9, 1.1), (1.3, 1.2, 1.4)), Sign.UNKNOWN),
    ],
)
def test_a_sign_is_for_what_changed_by_more_than_it_varied(figures: FigurePair, sign: Sign | None):
    assert figures.sign is sign
    assert bool(slower_text([figures])) is (sign is Sign.SLOWER)
    assert bool(uncertain_text([figures])) is (sign is Sign.UNKNOWN)


def test_what_can_be_chance_is_counted_and_not_named():
    better = pair(*reversed(SLOWER), busy_before=True)
    worse = pair(*SLOWER, busy=True)
    text = uncertain_text([better, worse, worse, pair(*SLOWER)])
    assert text.startswith("1 figure better and 2 figures worse by what can be chance")
    assert worse.known_figure.name not in text


@pytest.mark.parametrize(
    ("after", "text"),
    [
        ((1.0, 0.9, 1.1), "as before"),  # at most 1.22 times as fast or slow
        ((1.0, 0.5, 1.1), "no change seen (0.8 to 2.2 times as fast)"),
    ],
)
def test_what_is_as_before_is_so_in_its_whole_range(after: tuple[float, float, float], text: str):
    figures = pair((1.0, 0.9, 1.1), after)
    assert figures.sign is None
    assert figures.change_text == text


def test_what_was_measured_once_says_so():
    once = pair(*SLOWER)
    assert once.base is not None
    once = replace(once, base=replace(once.base, interval=None))
    assert once.sign is Sign.UNKNOWN
    assert once.change_text == "2.0 times as slow; measured once"


@pytest.mark.parametrize("is_written_later", [True, False])
def test_what_is_written_later_is_a_price_and_nothing_slower(is_written_later: bool):
    flush = pair(*SLOWER, busy=True, key="flush")
    assert bool(uncertain_text([flush], is_written_later=is_written_later)) is not is_written_later
    assert "Later connects" in price_text([flush])
    assert not price_text([pair(*reversed(SLOWER), key="flush")]), "what is written sooner costs nothing"


@pytest.mark.parametrize(("rate", "sign"), [(128e6, Sign.FASTER), (131e6, None)])
def test_a_burst_above_the_link_is_not_compared(rate: float, sign: Sign | None):
    """The link lets 117.7 MB/s through, and framing is counted up to a tenth more."""
    in_flight = [healthy_but(diagnoses.distance_stage(least=least)) for least in (50e6, rate)]
    pairs = figure_pairs(*in_flight)
    least_pair = next(pair for pair in pairs if pair.known_figure.key == "least_in_flight")
    once = replace(least_pair, base=_with_range(least_pair.base), other=_with_range(least_pair.other))
    assert once.sign is sign
    assert ("burst" in once.change_text) is (sign is None)
    assert bool(uncertain_text(figure_pairs(*reversed(in_flight)))) is (sign is not None)


def _with_range(figure: Figure | None) -> Figure:
    assert figure is not None
    return replace(figure, interval=(0.99 * figure.value, 1.01 * figure.value))


def test_figures_of_the_complaint_stand_first_in_the_order_of_the_diagnosis():
    named = replace(HEALTHY, complaint=StageName.FOLDERS)
    stages = [pair.known_figure.stage for pair in figure_pairs(HEALTHY, named)]
    assert stages[0] is StageName.FOLDERS
    assert stages[-1] is StageName.CARDS
    assert figure_pairs(HEALTHY, HEALTHY)[0].known_figure.stage is StageName.CONNECT


def test_what_is_faster_beside_what_was_complained_of_can_be_the_busy_client():
    """Both varied little, but this client was busy before: reading as a program does, which no setting touched."""
    busy = {"machine.load_per_processor": 4.0}
    slow = diagnoses.small_files_stage()
    samples = {**slow.samples, "put_data_seconds": (0.012,) * 40, "get_data_seconds": (0.002,) * 40}
    base = healthy_but(replace(slow, samples=samples, facts={**slow.facts, **busy}), complaint=StageName.SMALL_FILES)
    pairs = {pair.known_figure.key: pair for pair in figure_pairs(base, HEALTHY)}
    assert pairs["put_data"].sign is Sign.FASTER
    assert pairs["get_data"].sign is Sign.UNKNOWN
    assert "the client was busy" in pairs["get_data"].change_text


def test_jitter_is_no_speed():
    base, other = (
        healthy_but(replace(stage, samples={**stage.samples, "echo_seconds": (0.0004,) * 18 + (late,) * 2}))
        for stage, late in ((diagnoses.distance_stage(), 0.01), (diagnoses.distance_stage(), 0.002))
    )
    for pairs, word in ((figure_pairs(base, other), "little"), (figure_pairs(other, base), "much")):
        jitter = next(pair for pair in pairs if pair.known_figure.key == "jitter")
        assert f"times as {word}" in jitter.change_text


def test_each_row_stands_below_the_name_of_its_stage():
    report = diagnosis_comparison(HEALTHY, replace(HEALTHY, complaint=StageName.LONG_RUN))
    table = report.tables[-1]
    headings = [row.name for row in table.rows if row.role is Role.HEADING]
    assert headings[:2] == ["A long run", "The first connect"]
    assert table.rows[0].role is Role.HEADING
    assert len(headings) == len(set(headings))


def test_what_is_gone_is_named_by_what_was_to_blame_alone():
    base = diagnoses.slow_saving()
    report = diagnosis_comparison(base, healthy_but(diagnoses.small_files_stage(), complaint=StageName.SMALL_FILES))
    gone = next(table for table in report.tables if table.caption == "Findings").rows[0]
    assert gone.name == "gone: The server's write step is slow"
