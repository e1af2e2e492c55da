"""What a load makes of its request, before any process is started."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from app.base.child_process import Elsewhere
from app.base.errors import LoginError, UsageError
from app.load.engine_process import EngineProcess
from app.load.events import FilesMade, LoadEnded, LoadEvent, LoadPlan, PointMeasured, WorkersReady
from app.load.measurement import LoadChanged, LoadClosed, _reason_to_stop, _warning_instead_of_point
from app.load.progress import time_text
from app.load.record import resume_load, run_load
from app.load.spec import LoadRequest, check_limits
from app.recording.process import Failed, SeriesControl, TimeLimit, Warned
from app.server.facts import Environment
from storage.load.records import LoadChoices, LoadPoint, PointStatus, SizeClass
from storage.notebook import Notebook
from storage.records import SeriesStatus
from tests.loads import full_load, point


@pytest.mark.parametrize("keep", [False, True])
def test_files_that_were_to_be_kept_are_kept_by_the_rest_of_the_load(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, keep: bool
):
    class PlannedError(Exception):
        """As far as this goes."""

    def engine(plan: LoadPlan, _elsewhere: Elsewhere | None = None) -> None:
        raise PlannedError(plan.keep)

    monkeypatch.setattr("app.load.measurement.engine_process.EngineProcess", engine)
    choices = LoadChoices(users=(10, 20, 30), keep_files=keep)
    load = full_load(status=SeriesStatus.INTERRUPTED, choices=choices, scratch_folder=".sharebench-load-0123456789ab")
    request = LoadRequest(targets=load.targets, scenario=load.scenario, choices=choices)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
        with pytest.raises(PlannedError, match=str(keep)):
            list(resume_load(load, request, notebook.path, SeriesControl()))
        assert not notebook.loads()[0].running, "however it ended"
        notebook.take(load.id)
        with pytest.raises(UsageError, match="is being measured by process"):
            list(resume_load(load, request, notebook.path, SeriesControl()))
        assert notebook.loads()[0].running, "still by the other one"


class Ended(EngineProcess):
    """An engine that is over at once, or as soon as the files are there."""

    events: tuple[LoadEvent, ...] = ()

    def __init__(self, _plan: LoadPlan, _elsewhere: Elsewhere | None = None) -> None:
        self.ended = LoadEnded(failure=Failed(kind=LoginError, text="the server refused the login"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def ready(self) -> Iterator[LoadEvent]:
        return iter(self.events)

    def cancel(self) -> None: ...


@pytest.mark.parametrize("points", [(), (point(1, 10, status=PointStatus.FAILED),), (point(1, 10),)])
@pytest.mark.parametrize(
    ("events", "folder"), [((), ".sharebench-load-0123456789ab"), ((WorkersReady(workers=()),), None)]
)
def test_a_load_that_was_stored_before_stays_where_it_is_refused_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    points: tuple[LoadPoint, ...],
    events: tuple[LoadEvent, ...],
    folder: str | None,
):
    monkeypatch.setattr("app.load.measurement.engine_process.EngineProcess", Ended)
    monkeypatch.setattr(Ended, "events", events)
    load = full_load(
        status=SeriesStatus.INTERRUPTED, points=points, scratch_folder=".sharebench-load-0123456789ab", capacity=None
    )
    request = LoadRequest(targets=load.targets, scenario=load.scenario, choices=load.choices)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
        for _ in ("wrong password", "right password"):
            for step in resume_load(load, request, notebook.path, SeriesControl()):
                if isinstance(step, LoadChanged):
                    notebook.describe(load.id, note="switch rebooted")
                closed = step
            assert isinstance(closed, LoadClosed)
            assert closed.stored
        (stored,) = notebook.loads()
    assert (stored.status, stored.error) == (SeriesStatus.FAILED, "the server refused the login")
    assert (stored.label, stored.note, stored.points) == (load.label, "switch rebooted", load.points)
    assert stored.scratch_folder == folder, "removed only once the files had been made anew"


def test_a_load_that_somebody_else_completed_meanwhile_is_not_gone_on_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("app.load.measurement.engine_process.EngineProcess", Ended)
    old = full_load(status=SeriesStatus.INTERRUPTED, points=(), capacity=None)
    request = LoadRequest(targets=old.targets, scenario=old.scenario, choices=old.choices)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(full_load(status=SeriesStatus.COMPLETE))
        with pytest.raises(UsageError, match="is complete"):
            list(resume_load(old, request, notebook.path, SeriesControl()))
        assert notebook.loads()[0].status is SeriesStatus.COMPLETE
        notebook.remove(old.id)
        with pytest.raises(UsageError, match="no more"):
            list(resume_load(old, request, notebook.path, SeriesControl()))


def test_a_load_that_never_began_is_not_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("app.load.measurement.engine_process.EngineProcess", Ended)
    monkeypatch.setattr("app.load.record.facts.collect", lambda *_, **__: Environment())
    load = full_load()
    request = LoadRequest(targets=load.targets, scenario=load.scenario, choices=load.choices)
    closed = list(run_load(request, tmp_path / "notebook.db", SeriesControl()))[-1]
    assert isinstance(closed, LoadClosed)
    assert not closed.stored
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert not notebook.loads()


def test_a_load_counts_as_running_on_other_hosts_for_as_long_as_it_tells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("app.load.measurement.engine_process.EngineProcess", Ended)
    monkeypatch.setattr(Ended, "events", (FilesMade(files=1, of_files=2),))
    monkeypatch.setattr("app.recording.writer._RENEW_SECONDS", 0.0)
    load = full_load(status=SeriesStatus.INTERRUPTED, points=())
    request = LoadRequest(targets=load.targets, scenario=load.scenario, choices=load.choices)
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
        steps = resume_load(load, request, notebook.path, SeriesControl())
        assert isinstance(next(steps), LoadChanged)
        assert notebook.loads()[0].scratch_folder, "noted before there is anything in it"
        with sqlite3.connect(notebook.path) as connection:
            connection.execute("UPDATE leases SET host = 'elsewhere', renewed_at = '2026-01-01T00:00:00.000Z'")
        connection.close()
        assert not notebook.loads()[0].running
        assert isinstance(next(steps), FilesMade)
        assert notebook.loads()[0].running
        list(steps)
        assert not notebook.loads()[0].running


def test_that_the_server_is_not_seen_is_said_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("app.load.measurement.engine_process.EngineProcess", Ended)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no ssh
    load = full_load(status=SeriesStatus.INTERRUPTED, points=())
    request = LoadRequest(targets=load.targets, scenario=load.scenario, choices=load.choices, server_ssh="root@nas")
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_load(load)
    told = list(resume_load(load, request, tmp_path / "notebook.db", SeriesControl()))
    assert [event.text for event in told if isinstance(event, Warned)] == [
        "the server's load is not seen: `ssh` cannot be run here (No such file or directory)"
    ]


@pytest.mark.parametrize(("passed", "another"), [(40.0, True), (40.1, False)])
def test_no_point_begins_that_would_not_end_in_time(passed: float, another: bool):
    now, control = 0.0, SeriesControl()
    control.limit = TimeLimit(60.0, lambda: now)
    control.limit.start()
    control.limit.begin_timing()
    now = 20.0
    control.limit.end_timing()
    now = passed
    warned = _warning_instead_of_point(full_load(), 10, control)
    assert (warned is None) is another
    assert control.limit.was_told_to_finish is not another


@pytest.mark.parametrize(
    ("more", "done", "told"),
    [
        ({}, 0, "(about 5 s with their removal), then measures 3 load points of 25 s each: about 82 s in all"),
        ({}, 1, "(about 5 s with their removal), then measures 2 load points of 25 s each: about 57 s in all"),
        ({"keep_files": True}, 0, "(about 3 s), then measures 3 load points of 25 s each: about 80 s in all"),
        (
            {"by_size": True},
            0,
            "(about 5 s with their removal), then measures 6 load points of 25 s each: about 2.5 min in all",
        ),
        (
            {"find_capacity": True},
            0,
            "(about 5 s with their removal), then measures load points of 25 s each until one is overloaded",
        ),
    ],
)
def test_the_time_that_a_load_takes_counts_each_point(more: dict[str, Any], done: int, told: str):
    sizes = tuple(SizeClass(size_bytes=size, share=1.0) for size in (4096, 65536))
    scenario = replace(full_load().scenario, settle_seconds=5.0, duration_seconds=20.0, sizes=sizes, files=2500)
    choices = LoadChoices(users=(10, 20, 10), ramp_per_second=20.0, **more)
    assert time_text(scenario, choices, done) == f"Creates 2,500 files {told}."
    measured = told.partition("then measures ")[2].partition(":")[0]
    assert time_text(scenario, choices, done, creates_on=0).startswith(f"Measures {measured}")
    assert time_text(scenario, choices, done, creates_on=2).startswith(
        "Creates 2,500 files on each of 2 targets (about"
    )


@pytest.mark.parametrize(
    ("users", "processes", "open_files", "allowed"),
    [(100, 1, 164, True), (100, 1, 163, False), (101, 2, 115, True), (101, 2, 114, False)],
)
def test_each_user_needs_an_open_file_of_its_process(
    monkeypatch: pytest.MonkeyPatch, users: int, processes: int, open_files: int, allowed: bool
):
    monkeypatch.setattr("resource.getrlimit", lambda _: (open_files, open_files))
    choices = LoadChoices(users=(users,), processes=processes)
    if allowed:
        check_limits(choices, full_load().targets)
    else:
        with pytest.raises(UsageError, match=f"at most {processes * (open_files - 64)} users"):
            check_limits(choices, full_load().targets)


@pytest.mark.parametrize(
    ("search", "connected", "goes_on"), [(False, 50, True), (False, 49, False), (True, 1, True), (True, 0, False)]
)
def test_the_load_ends_with_fewer_than_half_of_its_users_and_a_search_with_none(
    search: bool, connected: int, goes_on: bool
):
    measured = PointMeasured(point=1, users=100, began_seconds=0, ended_seconds=1, ramp_seconds=0)
    lost = _reason_to_stop(
        measured, point(1, 100, connected=connected), LoadChoices(users=(100,), find_capacity=search)
    )
    assert (lost is None) is goes_on
    assert (
        _reason_to_stop(replace(measured, failure="late"), point(1, 100, connected=0), LoadChoices(users=(100,)))
        is None
    )
