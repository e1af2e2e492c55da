"""The rule's promises in every cell of the table, with fewer trials than ``make truth`` takes."""

from __future__ import annotations

from itertools import combinations, islice

import pytest

from tests.truth.designs import (
    AFTER_BASELINE,
    BASE_AT_BOTH_ENDS,
    DESIGNS,
    IN_TURNS,
    ONE_EACH,
    THREE_EACH_WITH_THREE,
    WITH_HISTORY,
    Design,
    ladder_claims,
)
from tests.truth.replay import RECORDED, different, neighbours, series
from tests.truth.timelines import TIMELINES, Timeline
from tests.truth.trials import WORLDS, PairedWorld, trial_tally

TRIALS = 2000
RUNS = (5, 10, 20)
MOST = 5 + 3 * 100 * (0.05 * 0.95 / TRIALS) ** 0.5
"""Five percent and what chance adds at most, in percent."""
LEAST = 92 - 3 * 100 * (0.08 * 0.92 / TRIALS) ** 0.5


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_where_nothing_changed_at_most_five_percent_are_called_different(design: Design):
    found = {(line.name, n): design.tally(line, n, TRIALS, 0.0, seed=1) for line in TIMELINES for n in RUNS}
    assert {cell: tally.different_percent for cell, tally in found.items() if tally.different_percent > MOST} == {}
    told = {cell: tally.coverage_percent for cell, tally in found.items()}
    assert {cell: share for cell, share in told.items() if (share is None) != (design is ONE_EACH)} == {}
    assert {cell: share for cell, share in told.items() if share is not None and share < LEAST} == {}


def test_a_ladder_of_nothing_claims_nothing():
    found = {(line.name, n): ladder_claims(line, n, TRIALS, seed=1) for line in TIMELINES for n in RUNS}
    assert {cell: tally.different_percent for cell, tally in found.items() if tally.different_percent > MOST} == {}


@pytest.mark.parametrize("design", [WITH_HISTORY, IN_TURNS], ids=lambda design: design.name)
def test_two_and_a_half_percent_are_found(design: Design):
    assert design.tally(TIMELINES[0], 10, TRIALS, 2.5, seed=1).different_percent >= 95


@pytest.mark.parametrize(
    "design", [AFTER_BASELINE, BASE_AT_BOTH_ENDS, THREE_EACH_WITH_THREE], ids=lambda design: design.name
)
def test_three_deviations_between_series_are_found_where_the_notebook_knows_more_than_three_each(design: Design):
    sessions = Timeline(name="", session=1.0, other_scatter=0.3, base_scatter=0.3)
    assert design.tally(sessions, 10, 5 * TRIALS, 3.0, seed=1).different_percent >= 80


@pytest.mark.parametrize("name", RECORDED)
def test_equal_series_of_a_real_server_are_not_called_different(name: str):
    recorded = series(name)
    assert len(recorded) == 30
    for triples in (neighbours(30), islice(combinations(range(30), 3), 0, None, 5)):  # `make truth` takes all
        found, of = different(recorded, triples)
        assert found <= 0.05 * of


@pytest.mark.parametrize("world", [WORLDS[1], *WORLDS[-2:]], ids=lambda world: world.name)
def test_a_trial_of_nothing_says_so_also_beside_work_that_comes_and_goes(world: PairedWorld):
    assert trial_tally(world, 0.0, 600).different_percent <= 5 + 300 * (0.05 * 0.95 / 600) ** 0.5


def test_a_trial_finds_two_percent():
    assert trial_tally(WORLDS[1], 2.0, 150).different_percent >= 90
