"""The rate of a counter that each process writes once a second."""

import random

import pytest

from tests.reliability.counters import Reading, rate_of


def readings(rates: list[float], seconds: float) -> list[Reading]:
    """What is read every tenth of a second where each process writes what it counted once a second, at its own time."""
    chance = random.Random(7)
    phases = [chance.random() for _ in rates]
    return [
        Reading(
            at / 10, sum(int(rate * (int(at / 10 - phase) + phase)) for rate, phase in zip(rates, phases, strict=True))
        )
        for at in range(20, int(10 * seconds))
    ]


@pytest.mark.parametrize("began", [3.0, 3.37, 4.81])
def test_neither_phases_nor_seldom_writing_spoil_the_rate(began):
    counted = rate_of(readings([9.5] * 5, 30.0), began, began + 20.0, averaged=3.0)
    assert counted == pytest.approx(47.5, rel=0.004)
