"""A watch is quiet where nothing changed, and reports a slowdown of 5 % within two nights: a few stretches."""

import pytest

from tests.truth.nights import BETWEEN, MOST_ALARMS, SLOWDOWNS, watch_tally

STRETCHES, SHORT = 12, 25


@pytest.mark.parametrize("percent", BETWEEN)
@pytest.mark.long
def test_few_alarms_and_every_large_slowdown(percent: float):
    tally = watch_tally(percent, STRETCHES, SHORT)
    assert tally.alarms_per_stretch <= MOST_ALARMS * SHORT / 100
    found = dict(zip(SLOWDOWNS, tally.found_percent, strict=True))
    assert found[5.0] == 100
    assert found[1.0] < found[2.0] <= found[3.0] <= found[5.0]
