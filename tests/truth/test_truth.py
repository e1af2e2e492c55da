"""The rule's promises in every cell of the table, with fewer trials than ``make truth`` takes."""

from __future__ import annotations

import pytest
import scipy

from tests.truth.corpus_tables import (
    MOST_LEFT_OUT,
    Kind,
    alternating,
    base_again,
    history_then_later,
    interleaved_called,
    interleaved_kinds,
    kinds,
    left_out,
    most_percent,
    three_then_later,
    two_series,
)
from tests.truth.designs import DESIGNS, Design, experiment_claims
from tests.truth.tables import ASKED
from tests.truth.timelines import TIMELINES, Timeline
from tests.truth.trials import WORLDS, PairedWorld, trial_tally

TRIALS = 2000
RUNS = (5, 10, 20)
MOST = 5 + 3 * 100 * (0.05 * 0.95 / TRIALS) ** 0.5
"""Five percent and what chance adds at most, in percent."""
LEAST = 92 - 3 * 100 * (0.08 * 0.92 / TRIALS) ** 0.5


@pytest.mark.long
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_where_nothing_changed_at_most_five_percent_are_called_different(design: Design):
    lines = [line for line in TIMELINES if not design.no_promise(line)]
    found = {(line.name, n): design.tally(line, n, TRIALS, 0.0, seed=1) for line in lines for n in RUNS}
    assert {cell: tally.different_percent for cell, tally in found.items() if tally.different_percent > MOST} == {}
    told = {cell: tally.coverage_percent for cell, tally in found.items()}
    assert {cell: share for cell, share in told.items() if share is None or share < LEAST} == {}


def test_an_experiment_of_nothing_claims_nothing():
    found = {(line.name, n): experiment_claims(line, n, TRIALS, seed=1) for line in TIMELINES for n in RUNS}
    assert {cell: tally.different_percent for cell, tally in found.items() if tally.different_percent > MOST} == {}


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: f"{asked[2]:g} % at {asked[1]:g} %, {asked[0].name}")
def test_what_is_promised_is_found(asked: tuple[Design, float, float]):
    design, deviation, change = asked
    world = Timeline(name="", base_variation=deviation, other_variation=deviation)
    assert design.tally(world, 5, TRIALS, change, seed=1).different_percent >= ASKED[asked]


@pytest.mark.varied(kind=3)
@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_equal_series_of_a_real_path_are_not_called_different(kind: Kind):
    found = {
        "two of three runs": two_series(kind, 3),
        "two of five runs": two_series(kind, 5),
        "three, then any later": three_then_later(kind),
        "base again": base_again(kind),
        "five repeats, then two later": history_then_later(kind),
    }
    assert {name: one for name, one in found.items() if 100 * one[0] > most_percent(kind) * one[1]} == {}
    called, of = alternating(kind)
    assert called <= 0.2 * of, "windows that overlap: a few at most"


@pytest.mark.varied
@pytest.mark.parametrize("kind", interleaved_kinds())
def test_equal_series_that_were_interleaved_are_not_called_different(kind: str):
    pairs = interleaved_kinds()[kind]
    assert interleaved_called(pairs) <= scipy.stats.binom.ppf(0.95, len(pairs), 0.05)


@pytest.mark.varied(kind=3)
@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_the_constant_holds_on_a_kind_that_it_was_not_fitted_on(kind: Kind):
    _, percent = left_out(kind)
    assert percent <= MOST_LEFT_OUT


@pytest.mark.varied
@pytest.mark.parametrize("world", [WORLDS[1], *WORLDS[-2:]], ids=lambda world: world.name)
def test_a_trial_of_nothing_says_so_also_beside_work_that_comes_and_goes(world: PairedWorld):
    assert trial_tally(world, 0.0, 600).different_percent <= 5 + 300 * (0.05 * 0.95 / 600) ** 0.5


@pytest.mark.long
def test_a_trial_finds_two_percent():
    assert trial_tally(WORLDS[1], 2.0, 150).different_percent >= 90
