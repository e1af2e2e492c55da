"""When a user of a load makes its next request, and of which kind."""

import random
from collections.abc import Mapping

from storage.load import records

_LATE_SECONDS = 0.001
"""A request that begins up to this much after it was due is on time: timers are no more exact."""


class Pacing:
    """The due times of one user's requests, in seconds of the monotonic clock.

    With a pace they lie on a schedule, ``pace_seconds`` from one to the next, whenever the answers come. Without one
    the next request is due a pause (think time) after the last answer.
    """

    def __init__(self, think: records.Think, pace_seconds: float | None, chance: random.Random, now: float) -> None:
        self.late_starts = 0
        """Requests of the schedule that were due before the one before them was answered."""
        self._think = think
        self._pace_seconds = pace_seconds
        self._chance = chance
        # The first request is at a random point of a pause, so that users are out of phase.
        interval_seconds = think.seconds if pace_seconds is None else pace_seconds
        self._due = now + chance.random() * interval_seconds
        self._is_first = True

    def next_due(self, answered_at: float) -> float:
        """When the next request is due, counted as late if that is past; the last one was ``answered_at``."""
        if self._is_first:
            self._is_first = False
        elif self._pace_seconds is None:
            self._due = answered_at + self._pause_seconds()
        else:
            self._due += self._pace_seconds
            if answered_at > self._due + _LATE_SECONDS:
                self.late_starts += 1
        return self._due

    def _pause_seconds(self) -> float:
        mean_seconds = self._think.seconds
        if self._think.exponential and mean_seconds:
            return self._chance.expovariate(1 / mean_seconds)
        return mean_seconds


class Mix:
    """The kinds of one user's requests, in turn: each as often as its share says, over any stretch."""

    def __init__(self, shares: Mapping[records.RequestKind, float], chance: random.Random) -> None:
        all_shares = sum(shares.values())
        self._shares = {kind: share / all_shares for kind, share in shares.items()}
        # Random at first, so that users do not all begin with the same kind.
        self._credit = {kind: chance.random() for kind in shares}

    def next_kind(self) -> records.RequestKind:
        """Each kind gets its share as credit; the one with the most credit is next, and pays 1 for its turn."""
        for kind, share in self._shares.items():
            self._credit[kind] += share
        chosen = max(self._credit, key=self._credit.__getitem__)
        self._credit[chosen] -= 1
        return chosen
