"""Requests for blocks of one file, at random places or one after the other: what is asked for, and in which order.

Each request reads or writes one block that begins at a multiple of its size. At random places that is how programs with
databases and disk images ask a file server. A client keeps a number of them under way for some seconds
(``app.clients.smb.random_file`` and ``app.clients.local_random``).
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
    def is_random(self) -> bool:
        return True

    @property
    def creates(self) -> bool:
        return False

    @property
    def reads(self) -> bool:
        return self.read_percent > 0

    @property
    def writes(self) -> bool:
        return self.read_percent < 100

    def check_size(self, size_bytes: int, where: str) -> None:
        """Raises NotAFileError for a file that is smaller than a block."""
        _check_size(size_bytes, self.block_bytes, where)

    def places(self, size_bytes: int, worker: int | None = None) -> Iterator[tuple[int, bool]]:
        """Offset of the next request, and whether it reads, without end; of each worker an order of its own."""
        blocks = size_bytes // self.block_bytes
        draw = random.Random(f"{_SEED} {self.run_name} {worker or 0}").random  # noqa: S311  an order, no secret
        return _endless_places(draw, blocks, self.block_bytes, self.read_percent / 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialWorkload:
    """Blocks from a place of the file on, each once: until its end, or until the time is over."""

    block_bytes: int
    in_flight: int
    """Requests under way at once."""
    seconds: float
    """After this time no further request is made; those under way are waited for."""
    writes: bool
    begin_bytes: int = 0
    """Where the first block begins, a multiple of a block's size."""
    end_bytes: int | None = None
    """Where the last block ends; None for the end of the file, which is written beyond its end otherwise."""
    creates: bool = False
    """Whether the file is made by this run, so that there must be none."""

    @property
    def is_random(self) -> bool:
        return False

    @property
    def reads(self) -> bool:
        return not self.writes

    def check_size(self, size_bytes: int, where: str) -> None:
        """Raises NotAFileError for a file that is smaller than a block."""
        if self.end_bytes is None:
            _check_size(size_bytes, self.block_bytes, where)

    def places(self, size_bytes: int, worker: int | None = None) -> Iterator[tuple[int, bool]]:
        """Offset of the next request, and whether it reads; each of several workers takes every nth block."""
        end_bytes = size_bytes if self.end_bytes is None else self.end_bytes
        last = end_bytes - self.block_bytes
        step = self.block_bytes if worker is None else self.block_bytes * self.in_flight
        first = self.begin_bytes + self.block_bytes * (worker or 0)
        for offset in range(first, last + 1, step):
            yield offset, not self.writes


BlockWorkload = RandomWorkload | SequentialWorkload
"""What a client can be asked to do with the blocks of a file."""


def _check_size(size_bytes: int, block_bytes: int, where: str) -> None:
    if size_bytes < block_bytes:
        raise NotAFileError(
            f"{where}: the file has {size_bytes} bytes, less than one block of {block_bytes}; name a larger one, or ask"
            " for smaller blocks (--block)"
        )


def _endless_places(
    draw: Callable[[], float], blocks: int, block_bytes: int, read_share: float
) -> Iterator[tuple[int, bool]]:
    while True:
        yield int(draw() * blocks) * block_bytes, draw() < read_share
