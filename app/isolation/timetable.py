"""Which layer of an isolation is measured when, and for how long new rounds are begun.

First come whole rounds, in which every layer is measured with every number of clients. Where operations are left out
of the script, rounds of two layers follow, the server with them and without: the quotient of these speeds is the price
of the operations, which more rounds make precise.
"""

import math
import time
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from app.isolation import places as isolation_places
from app.isolation.spec import IsolationRequest
from app.recording import process
from forms.isolation.summary import isolation_summary
from storage.isolation import Isolation, Layer


class PlannedRun(NamedTuple):
    """One run that is to be measured: the same as the key of its result."""

    round: int
    """From 1."""
    layer: Layer
    clients: int


_CLOSE_PRICE = 1.05
"""A price is precise enough if its interval reaches at most 5 % to either side."""
_MOST_PRICE_ROUNDS = 12
"""Whole rounds included."""
_WHOLE_ROUND = 0
_PRICE_ROUND = 1
"""Kinds of rounds for the time limit, since they take different times."""


class Timetable:
    """Rounds of all layers, then of the two layers of a price, until it is precise or time is over."""

    def __init__(
        self,
        request: IsolationRequest,
        places: isolation_places.Places,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._request = request
        self._limit = process.TimeLimit(request.within_seconds, clock)
        self._whole_rounds = [_whole_round(request, places, turn) for turn in range(1, request.rounds + 1)]
        self.rounds = 0
        """Whole rounds that were begun and ended."""

    @property
    def planned(self) -> list[PlannedRun]:
        """All runs, unless time is over earlier."""
        return list(chain.from_iterable(self._whole_rounds))

    def runs(self, so_far: Callable[[], Isolation]) -> Iterator[PlannedRun]:
        """Each run is to be measured before the next is asked for; ``so_far`` gives the isolation with its runs."""
        self._limit.start()
        for runs in self._whole_rounds:
            if self.rounds and not self._limit.has_time_for_another(_WHOLE_ROUND):
                return
            yield from self._time_round(_WHOLE_ROUND, runs)
            self.rounds += 1

        has_price = self._request.without and self._request.rounds > 1
        clients = max(self._request.clients)
        for turn in range(self.rounds + 1, _MOST_PRICE_ROUNDS + 1):
            if not self._limit.has_time_for_another(_PRICE_ROUND) or not has_price or _is_price_known(so_far()):
                return
            pair = [PlannedRun(turn, Layer.SERVER, clients), PlannedRun(turn, Layer.SERVER_WHOLE_SCRIPT, clients)]
            yield from self._time_round(_PRICE_ROUND, pair if turn % 2 else pair[::-1])

    def _time_round(self, kind: int, runs: list[PlannedRun]) -> Iterator[PlannedRun]:
        """The runs of a round, timed: each is measured by the caller before it asks for the next one."""
        self._limit.begin_timing()
        yield from runs
        self._limit.end_timing(kind)


def _whole_round(request: IsolationRequest, places: isolation_places.Places, turn: int) -> list[PlannedRun]:
    """Every layer and number of clients, in reverse order in every other round."""
    layers = _layers_of_round(request, places, turn)
    runs: list[PlannedRun] = []
    for clients in request.clients:
        runs += [PlannedRun(turn, layer, clients) for layer in layers]
    if places.smbd:
        runs.append(PlannedRun(turn, Layer.SERVER_UNPROFILED, max(request.clients)))
    return runs if turn % 2 else runs[::-1]


def _layers_of_round(request: IsolationRequest, places: isolation_places.Places, turn: int) -> list[Layer]:
    has_disk = places.disk is not None
    has_both = has_disk and places.network
    # Where both can be measured at once, each alone is measured in every other round.
    has_each_alone = turn % 2 == 1 or not has_both

    layers = [Layer.SERVER]
    if request.without:
        layers.append(Layer.SERVER_WHOLE_SCRIPT)
    if has_disk and has_each_alone:
        layers.append(Layer.DISK)
    if places.network and has_each_alone:
        layers.append(Layer.NETWORK)
    if has_both:
        layers.append(Layer.DISK_WITH_NETWORK)
    return layers


def _is_price_known(isolation: Isolation) -> bool:
    """Whether the interval of the price is narrow enough."""
    points = isolation_summary(isolation).points
    price = points[-1].price if points else None
    if price is None or price.low is None or price.high is None:
        return False
    # The interval reaches from price / factor to price * factor.
    factor = math.sqrt(price.high / price.low)
    return factor <= _CLOSE_PRICE
