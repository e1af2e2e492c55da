"""The short form of the campaign: a cause that makes calls of its own is blamed first on a busy machine, too."""

import pytest

from tests.reliability import blame


@pytest.mark.parametrize("cause", ["10,000 names"])
def test_a_cause_that_is_made_is_blamed_first(cause: str):
    told = blame.pair(cause)
    first = next(one for one in told["calls"] if one["blamed_seconds"])
    assert first["name"] in blame.CAUSES[cause].first
    assert first["other_calls"] > 10 * first["base_calls"]
    assert told["sentence"].endswith("calls per create.") or "calls per create; " in told["sentence"]
