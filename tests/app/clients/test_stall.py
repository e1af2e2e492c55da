"""What gives a client more time and what does not, by a clock that only moves when it is told to."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from app.clients import os_errors
from app.clients.smb import session
from app.clients.stall import LEAST_BYTES_PER_SECOND, StallWatch
from app.errors import StalledError, UnreachableError
from storage.records import Target


@dataclass
class Hands:
    """A clock's hands."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def watch(clock: Hands, seconds: float = 10.0) -> StallWatch:
    return StallWatch(seconds, lambda: "//nas/data", clock)


def test_enough_payload_starts_the_time_anew():
    clock = Hands()
    stall = watch(clock)
    stall.start()
    for turn in range(1, 20):
        clock.now += 9
        stall.moved(turn * 10 * LEAST_BYTES_PER_SECOND)


def test_a_trickle_does_not():
    clock = Hands()
    stall = watch(clock)
    stall.start()
    clock.now += 9
    stall.moved(10 * LEAST_BYTES_PER_SECOND - 1)
    clock.now += 2
    with pytest.raises(StalledError, match=r"//nas/data: nothing moved for 10 s"):
        stall.moved(10 * LEAST_BYTES_PER_SECOND - 1)


def test_payload_that_was_counted_already_does_not():
    """What is sent again, or a frame that came to nothing, is not counted twice."""
    clock = Hands()
    stall = watch(clock)
    stall.start()
    stall.moved(1_000_000)
    clock.now += 9
    stall.moved(500_000)
    stall.moved(1_000_000)
    clock.now += 2
    with pytest.raises(StalledError):
        stall.check()


def test_a_stage_ends_however_much_moves():
    clock = Hands()
    stall = watch(clock)
    with stall.stage(15):
        for turn in (1, 2):
            clock.now += 7
            stall.start()
            stall.moved(turn * 1_000_000)
        clock.now += 2
        with pytest.raises(StalledError):
            stall.check()
        assert 0 < stall.left_seconds() < 0.01
    stall.start()
    assert stall.left_seconds() == 10


@dataclass
class Nowhere:
    """In place of sockets: each waits for all of its time in vain."""

    clock: Hands
    waited: list[float] = field(default_factory=list)

    def __call__(self, *_family: object) -> Nowhere:
        return self

    def settimeout(self, seconds: float) -> None:
        self.waited.append(seconds)

    def connect(self, _address: object) -> None:
        self.clock.now += self.waited[-1]
        raise TimeoutError

    def close(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize(
    "connect",
    [
        pytest.param(lambda: os_errors.connect_tcp("nas", 21, "ftp://nas", 3.0, "an FTP server"), id="ftp"),
        pytest.param(
            lambda: session.reach(Target(protocol="smb", host="nas", port=445), 3.0, lambda _s: None), id="smb"
        ),
    ],
)
def test_all_addresses_of_a_host_have_the_time_of_one(monkeypatch: pytest.MonkeyPatch, connect: Callable[[], object]):
    clock = Hands()
    nowhere = Nowhere(clock)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (f"192.0.2.{n}", 21)) for n in range(5)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_what, **_how: found)
    monkeypatch.setattr(socket, "socket", nowhere)
    monkeypatch.setattr(time, "monotonic", clock)
    with pytest.raises(UnreachableError, match="no answer within 3 s"):
        connect()
    assert sum(nowhere.waited) == pytest.approx(3.0, abs=0.01)
