"""The clients that measure a series: for one file, for random requests to one, or for a folder of many."""

from dataclasses import replace
from typing import cast

from app.clients import base, registry
from app.clients.random_client import AsksAtRandom, RandomClient
from app.clients.tree_client import TreeClient
from app.recording import process
from app.recording.random_workload import workload_of
from storage.plan import Settings


def client_of_order(order: process.MeasuringOrder, settings: Settings) -> base.Client:
    """A client for one file, for random requests to one, or for a folder of many."""
    spec = order.spec
    client = registry.make_client(order.target, spec.client, order.secrets, settings, spec.counts.size_bytes)
    if spec.counts.random:
        return _random_client_of_order(order, settings, client)
    if spec.counts.files is None:
        return client

    files = registry.make_files(order.target, order.secrets, settings)
    return TreeClient(client, files, spec.counts.files)


def _random_client_of_order(order: process.MeasuringOrder, settings: Settings, client: base.Client) -> RandomClient:
    # The file is made with the usual requests, and flushed: what is still being written would slow the requests to it.
    usual_settings = replace(settings, block_bytes=None, in_flight=None, flush=True)
    filler = registry.make_client(order.target, order.spec.client, order.secrets, usual_settings)
    return RandomClient(cast("AsksAtRandom", client), filler, workload_of(order.spec))
