"""Two diagnoses side by side: the complaint first, and what changed by more than it varied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.diagnosis.comparison_report import diagnosis_comparison
from forms.diagnosis.figure_changes import FigurePair, figure_pairs, slower_text
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


@pytest.mark.parametrize(("is_written_later", "told"), [(True, "belongs to the change"), (False, "can be chance")])
def test_what_is_written_later_belongs_to_the_change(is_written_later: bool, told: str):
    flush = pair(*SLOWER, busy=True, key="flush")
    assert told in slower_text([flush], is_written_later=is_written_later)


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
