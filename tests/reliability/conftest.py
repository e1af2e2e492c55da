"""The short forms of the campaigns fork their processes: what they prove does not depend on how Python loads."""

import pytest


@pytest.fixture(autouse=True)
def processes_are_forked(forked: None) -> None:
    """Those that a campaign starts as ``Sharebench``, unless it wants them real."""
