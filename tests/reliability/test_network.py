"""The short form of the network campaign."""

import pytest

from tests.reliability.network import campaign


@pytest.mark.long
def test_whatever_happens_to_a_message_a_series_completes_or_says_why_not():
    figures = campaign(5)
    assert figures.losses == []
    assert figures.counts["completed"]
    assert figures.counts["told with the reason"]
