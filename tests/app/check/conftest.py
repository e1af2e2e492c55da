"""What the tests of a check do without: two seconds in which nothing is looked at but how busy this machine is."""

import pytest

from app.check import surroundings
from app.check.checked import Checked

_check_quiet_time = surroundings.check_quiet_time


@pytest.fixture(autouse=True)
def quiet_time_is_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "check_quiet_time", lambda *_: Checked("quiet time", "quiet"))


@pytest.fixture
def real_quiet_time(quiet_time_is_not_awaited: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "check_quiet_time", _check_quiet_time)
