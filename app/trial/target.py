"""The target of a trial, reached by a client of its own."""

from contextlib import closing

from app.clients.base import Client
from app.clients.registry import make_client
from app.recording.spec import SeriesRequest
from storage.records import Command


def open_client(request: SeriesRequest) -> closing[Client]:
    spec = request.spec
    return closing(make_client(request.target, spec.client, request.secrets, spec.settings, spec.counts.size_bytes))


def check_target(request: SeriesRequest) -> None:
    """Raises an error where its login fails, or its file is missing."""
    spec = request.spec
    target = request.target
    with open_client(request) as client:
        client.connect()
        if spec.command is Command.GET and not spec.counts.make_file and target.abilities.moves_files:
            client.size(target.path)
