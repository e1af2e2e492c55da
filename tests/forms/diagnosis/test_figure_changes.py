"""Two diagnoses side by side: the complaint first, and what changed by more than it varied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.diagnosis.comparison_report import diagnosis_comparison
from forms.diagnosis.figure_changes import FigurePair, figure_pairs, price_text, slower_text
from forms.diagnosis.figures import Figure, Unit
from forms.layout import Sign
from storage.looks import StageName
from tests import diagnoses
from tests.diagnoses import HEALTHY, healthy_but


def pair(
    before: tuple[float, float, float], after: tuple[float, float, float], *, busy: bool = False, key: str = "later"
) -> FigurePair:
    """Each as (value, least, most), in seconds."""
    sides = []
    for value, least, most in (before, after):
        sides.append(Figure(StageName.CONNECT, key, "Later connects", Unit.SECONDS, value, (least, most)))
    return FigurePair(base=sides[0], other=sides[1], was_client_busy=busy)


SLOWER = ((1.0, 0.9, 1.1), (2.0, 1.8, 2.2))


@pytest.mark.parametrize(
    ("figures", "sign"),
    [
        (pair(*SLOWER), Sign.SLOWER),
        (pair(*SLOWER, busy=True), Sign.UNKNOWN),
        (pair(*reversed(SLOWER), busy=True), Sign.FASTER),
        (pair((1.0, 0.9, 1.1), (1.24, 1.2, 1.25)), None),
        (pair((1.0, 0.9, 1.1), (1.3, 1.2, 1.4)), Sign.UNKNOWN),
    ],
)
def test_a_sign_is_for_what_changed_by_more_than_it_varied(figures: FigurePair, sign: Sign | None):
    assert figures.sign is sign
    assert ("can be chance" in slower_text([figures])) is (sign is Sign.UNKNOWN)
    assert ("by more than it varied" in slower_text([figures])) is (sign is Sign.SLOWER)


def test_what_was_measured_once_says_so():
    once = pair(*SLOWER)
    assert once.base is not None
    once = replace(once, base=replace(once.base, interval=None))
    assert once.sign is Sign.UNKNOWN
    assert once.change_text == "2.0 times as slow; measured once"


@pytest.mark.parametrize("is_written_later", [True, False])
def test_what_is_written_later_is_a_price_and_nothing_slower(is_written_later: bool):
    flush = pair(*SLOWER, busy=True, key="flush")
    assert bool(slower_text([flush], is_written_later=is_written_later)) is not is_written_later
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
    assert bool(slower_text(figure_pairs(*reversed(in_flight)))) is (sign is not None)


def _with_range(figure: Figure | None) -> Figure:
    assert figure is not None
    return replace(figure, interval=(0.99 * figure.value, 1.01 * figure.value))


def test_figures_of_the_complaint_stand_first_in_the_order_of_the_diagnosis():
    named = replace(HEALTHY, complaint=StageName.FOLDERS)
    stages = [pair.known_figure.stage for pair in figure_pairs(HEALTHY, named)]
    assert stages[0] is StageName.FOLDERS
    assert stages[-1] is StageName.CARDS
    assert figure_pairs(HEALTHY, HEALTHY)[0].known_figure.stage is StageName.CONNECT


def test_what_is_gone_is_named_by_what_was_to_blame_alone():
    base = diagnoses.slow_saving()
    report = diagnosis_comparison(base, healthy_but(diagnoses.small_files_stage(), complaint=StageName.SMALL_FILES))
    gone = next(table for table in report.tables if table.caption == "Findings").rows[0]
    assert gone.name == "gone: The server's write step is slow"
