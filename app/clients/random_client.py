"""Makes a client whose runs are random requests to one file, in place of transfers of whole files.

The file is put by a second client of the same target, which has the usual requests: one block at a time would take long
for a file of gigabytes.
"""

from dataclasses import replace
from typing import Any, Protocol

from app.clients import base
from app.clients.random_requests import BlockWorkload, RandomWorkload
from storage import records

_CONTENT_BYTES = 2 * base.MAX_BLOCK_BYTES
"""Of what is written: more than the period of a content, so that the blocks of a file differ."""


class AsksAtRandom(base.Client, Protocol):
    """A client that can ask for blocks of a file in any order."""

    def request_blocks(
        self, path: str, workload: BlockWorkload, content: base.Content, meter: base.Meter
    ) -> base.Transfer: ...  # the file exists; raises what a get and a put raise, and UsageError for the block's size


class RandomClient:
    """``client`` makes the requests, ``filler`` puts the file; what else a client has is that of ``client``."""

    def __init__(self, client: AsksAtRandom, filler: base.Client, workload: RandomWorkload) -> None:
        self.target = client.target
        self._client = client
        self._filler = filler
        self._workload = workload
        self._content = base.Content(_CONTENT_BYTES if workload.writes else 1)
        """Other bytes than those of the file, so that no file system finds that a write changes nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def facts(self) -> records.ClientFacts:
        facts = self._client.facts()
        # Over a network the server's credits may allow fewer requests at a time than were asked for.
        in_flight = facts.in_flight if self.target.abilities.has_depth else self._workload.in_flight
        return replace(facts, block_bytes=self._workload.block_bytes, in_flight=in_flight)

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        self._filler.connect()
        try:
            return self._filler.put(path, content, meter)
        finally:
            self._filler.close()

    def run_at_random(self, path: str, run_name: str, meter: base.Meter) -> base.Transfer:
        """Random requests for as long as the workload says; runs of one name ask for the same places."""
        workload = replace(self._workload, run_name=run_name)
        return self._client.request_blocks(path, workload, self._content, meter)

    def abort(self) -> None:
        self._filler.abort()
        self._client.abort()
