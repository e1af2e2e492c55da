"""The runs of an isolation in their order, and when there is no time for more of them."""

import math
import time
from collections.abc import Callable, Iterator

from app.isolation.places import Places
from app.isolation.request import IsolationRequest
from forms.isolation.summary import isolation_summary
from storage.isolations import Isolation, Layer

Step = tuple[int, Layer, int]
"""Round, layer, clients."""
_CLOSE_PRICE = 1.05
"""A price is known well enough when its interval reaches no farther than 5 % to either side."""
_MOST_PRICE_ROUNDS = 12


class Timetable:
    """Rounds of all layers, then rounds of the two layers that make a price, until it is known or the time is over."""

    def __init__(self, request: IsolationRequest, places: Places, clock: Callable[[], float] = time.monotonic) -> None:
        self._request = request
        self._clock = clock
        self._whole = [_whole_round(request, places, turn) for turn in range(1, request.rounds + 1)]
        self.rounds = 0
        """Whole rounds that there was time for."""

    @property
    def planned(self) -> list[Step]:
        """All runs that there will be, unless the time is over before."""
        return [step for steps in self._whole for step in steps]

    def steps(self, so_far: Callable[[], Isolation]) -> Iterator[Step]:
        """One run after the other; ``so_far`` gives what they have told."""
        began, longest = self._clock(), 0.0

        def in_time(steps: list[Step]) -> Iterator[Step]:
            nonlocal longest
            at = self._clock()
            yield from steps
            longest = max(longest, self._clock() - at)

        for steps in self._whole:
            if self.rounds and self._clock() - began + longest > self._request.within_seconds:
                return
            yield from in_time(steps)
            self.rounds += 1
        longest, priced = 0.0, self._request.without and self._request.rounds > 1
        for turn in range(self.rounds + 1, _MOST_PRICE_ROUNDS + 1):
            late = self._clock() - began + longest > self._request.within_seconds
            if late or not priced or _price_is_known(so_far()):
                return
            pair = [(turn, layer, max(self._request.clients)) for layer in (Layer.SERVER, Layer.SERVER_WHOLE_SCRIPT)]
            yield from in_time(pair if turn % 2 else pair[::-1])


def _whole_round(request: IsolationRequest, places: Places, turn: int) -> list[Step]:
    """Every layer with every number of clients, there and, in the next round, back again.

    What profiling costs is measured with the largest number of clients alone. Disk and network alone are for the table
    only, where they are measured at once too: they have every other round.
    """
    disk, network = places.disk is not None, places.network
    alone = turn % 2 or not (disk and network)
    layers = [Layer.SERVER] + [Layer.SERVER_WHOLE_SCRIPT] * bool(request.without)
    layers += [Layer.DISK] * (disk and alone) + [Layer.NETWORK] * (network and alone)
    layers += [Layer.DISK_WITH_NETWORK] * (disk and network)
    steps = [(turn, layer, clients) for clients in request.clients for layer in layers]
    if places.smbd:
        steps.append((turn, Layer.SERVER_UNPROFILED, max(request.clients)))
    return steps if turn % 2 else steps[::-1]


def _price_is_known(isolation: Isolation) -> bool:
    points = isolation_summary(isolation).points
    price = points[-1].price if points else None
    if price is None or price.low is None or price.high is None:
        return False
    return math.sqrt(price.high / price.low) <= _CLOSE_PRICE
