"""When each request of a user is due, and which kind it is: by schedule or after a pause, users out of phase."""

import random
from collections.abc import Mapping

from storage.loads.scenario import RequestKind, Think

_LATE_SECONDS = 0.001


class Pacing:
    """The due times of one user's requests, by a clock in seconds."""

    def __init__(self, think: Think, pace_seconds: float | None, chance: random.Random, now: float) -> None:
        self.late_starts = 0
        self._think = think
        self._pace_seconds = pace_seconds
        self._chance = chance
        self._due = now + chance.random() * (think.seconds if pace_seconds is None else pace_seconds)
        """The first one anywhere in a pause, so that users are out of phase."""
        self._first = True

    def next_due(self, answered_at: float) -> float:
        """When the next request is due, the one before having been answered then."""
        if self._first:
            self._first = False
        elif self._pace_seconds is None:
            self._due = answered_at + self._pause()
        else:
            self._due += self._pace_seconds
            if answered_at > self._due + _LATE_SECONDS:
                self.late_starts += 1
        return self._due

    def _pause(self) -> float:
        seconds = self._think.seconds
        return self._chance.expovariate(1 / seconds) if self._think.exponential and seconds else seconds


class Mix:
    """The kinds of a user's requests in their shares, which hold over any stretch and not only in the long run."""

    def __init__(self, shares: Mapping[RequestKind, float], chance: random.Random) -> None:
        whole = sum(shares.values())
        self._shares = {kind: share / whole for kind, share in shares.items()}
        self._credit = {kind: chance.random() for kind in shares}

    def next_kind(self) -> RequestKind:
        """The kind that is furthest behind its share."""
        for kind, share in self._shares.items():
            self._credit[kind] += share
        chosen = max(self._credit, key=lambda kind: self._credit[kind])
        self._credit[chosen] -= 1
        return chosen
