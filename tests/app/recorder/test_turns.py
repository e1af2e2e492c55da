"""Series that take turns: interrupted, and taken up again where each of them was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.clients.base import Secrets
from app.measure.control import SeriesControl
from app.measure.events import RunFinished
from app.measure.plan import MeasurementPlan
from app.recorder.recording import SeriesClosed
from app.recorder.request import SeriesRequest
from app.recorder.turns import Resumption, record_in_turns
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command, Phase, SeriesStatus
from tests.servers.smbd import Smbd

MIB = 1024 * 1024


def request(server: Smbd, runs: int = 3) -> SeriesRequest:
    plan = MeasurementPlan(
        command=Command.GET, target=server.target("file"), secrets=server.secrets(), warmups=1, runs=runs
    )
    return SeriesRequest(plan=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP, link_bits_per_second=10**9)


def test_interrupted_turns_are_taken_up_where_they_were(smbd: Smbd, tmp_path: Path):
    smbd.make_file("file", b"x" * MIB)
    book, control = tmp_path / "notebook.db", SeriesControl()
    for index, event in record_in_turns([request(smbd), request(smbd)], book, control):
        if index == 1 and isinstance(event, RunFinished) and event.run.phase is Phase.MEASURED:
            control.cancel()
    with Notebook(book) as notebook:
        ids = [head.id for head in reversed(notebook.heads())]
        before = [notebook.series(series_id) for series_id in ids]
    assert [one.status for one in before] == [SeriesStatus.INTERRUPTED] * 2
    resumptions = [Resumption(series_id=series_id, secrets=smbd.secrets()) for series_id in ids]
    closed = [e.status for _, e in record_in_turns(resumptions, book, SeriesControl()) if isinstance(e, SeriesClosed)]
    assert closed == [SeriesStatus.COMPLETE] * 2
    with Notebook(book) as notebook:
        after = [notebook.series(series_id) for series_id in ids]
        assert notebook.count() == 2
    for old, new in zip(before, after, strict=True):
        assert [run.number for run in new.measured()] == [1, 2, 3]
        assert set(old.measured()) <= set(new.measured())


def test_what_has_not_begun_is_not_begun_after_cancelling(smbd: Smbd, tmp_path: Path):
    smbd.make_file("file", b"x" * MIB)
    book, control = tmp_path / "notebook.db", SeriesControl()
    for _, event in record_in_turns([request(smbd, runs=50), request(smbd), request(smbd)], book, control):
        if isinstance(event, RunFinished):
            control.cancel()
    with Notebook(book) as notebook:
        assert [head.status for head in notebook.heads()] == [SeriesStatus.INTERRUPTED]


def test_a_login_that_was_refused_is_not_tried_by_the_next_of_it(smbd: Smbd, tmp_path: Path):
    smbd.make_file("file", b"x" * MIB)
    right, wrong = request(smbd, runs=1), request(smbd, runs=1)
    wrong = replace(wrong, plan=replace(wrong.plan, secrets=Secrets(password="wrong")))
    turns = record_in_turns([wrong, wrong, right], tmp_path / "notebook.db", SeriesControl(), ["a", "a", "b"])
    closed = [(index, event.status) for index, event in turns if isinstance(event, SeriesClosed)]
    assert closed == [(0, SeriesStatus.FAILED), (2, SeriesStatus.COMPLETE)]
