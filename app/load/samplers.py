"""The readers of the server's and of this machine's counters during a load; one where both are the same."""

from collections.abc import Iterator
from typing import Self

from app.environment.host.processes import servers_here
from app.environment.link.route import is_this_machine
from app.environment.resources import MEMORY_INTERVAL_SECONDS, ResourceSampler
from app.load.server_view import card_rates, server_view
from app.measure.events import Warned
from storage.loads.records import Load, PointServer

Cards = dict[str, tuple[float, float]]
_OTHER_NAMES = {"smbd": ("cleanupd",)}
"""Processes of a server that do not begin with its name."""


class LoadSamplers:
    """What is seen of both sides, point by point."""

    def __init__(self, load: Load, ssh: str | None) -> None:
        target = load.targets[0]
        is_here = target.abilities.is_local or (ssh is None and is_this_machine(target.host))
        names = [name for server in target.abilities.servers for name in (server, *_OTHER_NAMES.get(server, ()))]
        every = max(1, min(MEMORY_INTERVAL_SECONDS, int(load.scenario.duration_seconds / 3)))
        self._server: ResourceSampler | None = None
        if is_here or ssh is not None:
            serves = is_here and not target.abilities.is_local
            roots = servers_here(target.port_number) if serves else frozenset()
            self._server = ResourceSampler(ssh, names=names or ["smbd"], roots=roots, memory_interval_seconds=every)
        self._own = self._server if is_here and self._server else ResourceSampler()

    def __enter__(self) -> Self:
        for sampler in self._all():
            sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        for sampler in self._all():
            sampler.stop()

    def warnings(self) -> Iterator[Warned]:
        """Why the server is not seen, where it should be."""
        if self._server and self._server.problem:
            yield Warned(text=self._server.problem)

    def between(self, began_seconds: float, ended_seconds: float) -> tuple[PointServer | None, Cards]:
        """The server, and this machine's cards, between two readings of the monotonic clock."""
        server = server_view(self._server.samples(began_seconds, ended_seconds)) if self._server else None
        own = self._own.samples(began_seconds, ended_seconds)
        return server, card_rates(own[0], own[-1]) if len(own) > 1 else {}

    def _all(self) -> set[ResourceSampler]:
        return {self._own, *([self._server] if self._server else [])}
