"""The rule's promises on a few cells; ``make truth`` simulates all of them."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.truth.designs import A_B_A, IN_TURNS, THREE_BASES, THREE_THEN_THREE, WITH_HISTORY, Design, ladder_claims
from tests.truth.replay import RECORDED, different, neighbours, series
from tests.truth.timelines import TIMELINES, Timeline

TRIALS = 150
BY_NAME = {timeline.name: timeline for timeline in TIMELINES}
ODDS = 5 + 3 * 100 * (0.05 * 0.95 / TRIALS) ** 0.5
"""Five percent and what chance adds at most, in percent."""
HARD = ("drift 0.1 % a run", "drift 1 % a run", "lag-1 0.8", "session effect 2 %", "wild runs (8 %, 20 to 60 % slower)")


@pytest.mark.parametrize("timeline", [BY_NAME[name] for name in HARD], ids=HARD)
@pytest.mark.parametrize("design", [THREE_BASES, A_B_A, IN_TURNS, THREE_THEN_THREE], ids=lambda design: design.name)
def test_where_nothing_changed_at_most_five_percent_are_called_different(design: Design, timeline: Timeline):
    tally = design.tally(timeline, 5, TRIALS, 0.0, seed=1)
    assert tally.different_percent <= ODDS
    assert tally.coverage_percent is not None
    assert tally.coverage_percent >= 92 - ODDS


@pytest.mark.parametrize("timeline", [BY_NAME[name] for name in HARD], ids=HARD)
def test_a_ladder_of_nothing_claims_nothing(timeline: Timeline):
    assert ladder_claims(timeline, 5, TRIALS, seed=1).different_percent <= ODDS


@pytest.mark.parametrize("design", [WITH_HISTORY, IN_TURNS], ids=lambda design: design.name)
def test_two_and_a_half_percent_are_found(design: Design):
    assert design.tally(TIMELINES[0], 10, TRIALS, 2.5, seed=1).different_percent >= 95


@pytest.mark.parametrize("name", RECORDED)
def test_equal_series_of_a_real_server_are_not_called_different(name: str):
    recorded = series(name)
    assert len(recorded) == 30
    for triples in (neighbours(30), combinations(range(30), 3)):
        found, of = different(recorded, triples)
        assert found <= 0.05 * of
