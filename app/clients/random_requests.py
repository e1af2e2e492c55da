"""Requests at random places of one file: what is asked for, in which order, and what came of it.

Each request reads or writes one block that begins at a multiple of its size, as programs with databases and disk images
ask a file server. A client keeps a number of them under way for some seconds (``app.clients.smb.random_file`` and
``app.clients.local_random``).
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.base.errors import NotAFileError

_SEED = 1
"""The same for every series, so that both sides of a comparison ask for the same blocks in the same order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomWorkload:
    """What one run asks for."""

    block_bytes: int
    in_flight: int
    """Requests under way at once."""
    seconds: float
    """After this time no further request is made; those under way are waited for."""
    read_percent: int
    """The share of requests that read, 0 to 100; the others write."""
    run_name: str = ""
    """Each run has an order of its own, so that it does not find the blocks of the run before in memory."""

    @property
    def writes(self) -> bool:
        return self.read_percent < 100

    def check_size(self, size_bytes: int, where: str) -> None:
        """Raises NotAFileError for a file that is smaller than a block."""
        if size_bytes < self.block_bytes:
            raise NotAFileError(
                f"{where}: the file has {size_bytes} bytes, less than one block of {self.block_bytes}; name a larger"
                " one, or ask for smaller blocks (--block)"
            )

    def places(self, size_bytes: int, worker: int = 0) -> Iterator[tuple[int, bool]]:
        """Offset of the next request, and whether it reads, without end; of each worker an order of its own."""
        blocks = size_bytes // self.block_bytes
        draw = random.Random(f"{_SEED} {self.run_name} {worker}").random  # noqa: S311  an order, no secret
        return _endless_places(draw, blocks, self.block_bytes, self.read_percent / 100)


def _endless_places(
    draw: Callable[[], float], blocks: int, block_bytes: int, read_share: float
) -> Iterator[tuple[int, bool]]:
    while True:
        yield int(draw() * blocks) * block_bytes, draw() < read_share
