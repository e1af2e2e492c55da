"""What one client of the replay counts, without a server."""

import threading
from types import SimpleNamespace
from typing import Any

from app.clients.base import Secrets
from app.isolation import replay_client
from app.isolation.replay_messages import ClientResult, ReplayPlan
from app.isolation.replayer import Tally
from storage.plan import Settings
from storage.records import Target


class SecondEach:
    """A replayer whose every operation takes a second of a clock of its own and moves a byte."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.now = 0.0

    def replay(self, _script: Any, until: Any) -> bool:
        for _ in range(7):
            self.now += 1
            if until(self.now):
                return False
            self.tally.operations["read"] += 1
            self.tally.requests[8] += 1
            self.tally.moved_bytes += 1
        return True


def measured(monkeypatch: Any, *, warm_up_seconds: float, seconds: float, passes: int = 0) -> ClientResult:
    replayer = SecondEach()
    clock = SimpleNamespace(monotonic=lambda: replayer.now, sleep=lambda _: None, process_time=lambda: replayer.now)
    monkeypatch.setattr(replay_client, "time", clock)
    plan = ReplayPlan(
        target=Target(protocol="smb", host="nas", share="x"), secrets=Secrets(), settings=Settings(), script_path=None,
        without=(), folder="f", clients=1, warm_up_seconds=warm_up_seconds, seconds=seconds, passes=passes,
    )  # fmt: skip
    return replay_client._measure(plan, SimpleNamespace(), replayer, 0.0, threading.Event())  # type: ignore[arg-type]


def test_the_warm_up_is_no_part_of_the_result(monkeypatch):
    found = measured(monkeypatch, warm_up_seconds=5, seconds=20)
    assert found.seconds == 20
    assert found.operations == {"read": 20}
    assert found.moved_bytes == found.window_requests == 20
    assert sum(found.requests.values()) == 24, "the session's requests are all of them"
    assert found.cpu_seconds == 20


def test_whole_passes_are_counted_as_they_are(monkeypatch):
    found = measured(monkeypatch, warm_up_seconds=0, seconds=0, passes=3)
    assert sum(found.requests.values()) == 21
    assert found.seconds == 20
