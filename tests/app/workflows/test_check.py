"""The look before a measurement, with a server that behaves badly."""

from __future__ import annotations

from app.clients.base import Secrets
from app.errors import NoSpaceError
from app.workflows.check import CheckState, Subject, _file
from app.workflows.requests import SeriesOptions
from forms.series.file_size import FileSizeContext
from storage.records import Command, Target
from tests.app.fakes import FakeClient, FakeServer

FOLDER = Target(protocol="file", path="/data")


def test_a_file_that_could_only_be_begun_is_taken_away_again():
    server = FakeServer(fail_at={1: NoSpaceError("/data: the disk is full")})
    subject = Subject(target=FOLDER, secrets=Secrets(), options=SeriesOptions(command=Command.PUT))
    (found,) = _file(subject, FakeClient(server, FOLDER), FileSizeContext())
    assert found.state is CheckState.FAILED
    assert server.transfers == 1
    assert server.files == {}
