"""The short form of the campaign: a cause that makes calls of its own is blamed on a busy machine, too."""

import pytest

from tests.reliability import blame


@pytest.mark.long
@pytest.mark.parametrize("cause", ["10,000 names"])
def test_a_cause_that_is_made_is_blamed(cause: str):
    told = blame.pair(cause)
    blamed = {one["name"]: one for one in told["calls"] if one["blamed_seconds"]}
    (name,) = blame.CAUSES[cause].first & blamed.keys()
    assert blamed[name]["other_calls"] > 10 * blamed[name]["base_calls"]
    assert f"calls per {told['per']}" in told["sentence"]
