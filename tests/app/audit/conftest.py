"""What a server says of itself is a subject here."""

import pytest


@pytest.fixture(autouse=True)
def servers_are_asked_once() -> None:
    """Each is asked anew, as for users."""
