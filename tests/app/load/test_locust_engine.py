"""The engine and its workers on a busy machine: a late process costs no user, and missing ones are told."""

import importlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from app.base.errors import MeasurementError
from app.load.engine_process import EngineProcess
from app.load.events import (
    LoadPhase,
    LoadPlan,
    PhaseBegan,
    PointMeasured,
    SecondPassed,
    UsersGone,
    WorkersReady,
)
from app.load.scenario import find_scenario
from app.recording.process import PathSeen
from storage.records import Target

LATE_SECONDS = 6.0
"""locust itself counts a worker out after four."""


def worker_of(engine: EngineProcess) -> psutil.Process:
    (worker,) = psutil.Process(engine._process.pid).children()
    return worker


@pytest.fixture
def engine(tmp_path: Path, real_start: None) -> Iterator[EngineProcess]:
    scenario = replace(find_scenario("small"), files=1, duration_seconds=1.0, settle_seconds=0.0)
    target = Target(protocol="file", path=str(tmp_path))
    with EngineProcess(LoadPlan(targets=(target,), scenario=scenario, folder="load")) as engine:
        assert isinstance(list(engine.ready())[-1], WorkersReady)
        yield engine
        list(engine.finish())


@pytest.mark.long
def test_every_phase_says_when_it_began(tmp_path: Path):
    """The time that making files still takes is told by it, else it is counted from the start of the machine."""
    scenario = replace(find_scenario("small"), files=1, duration_seconds=1.0, settle_seconds=0.0)
    plan = LoadPlan(targets=(Target(protocol="file", path=str(tmp_path)),), scenario=scenario, folder="load")
    before = time.monotonic()
    with EngineProcess(plan) as engine:
        told = [*engine.ready(), *engine.point(1, 1), *engine.finish()]
    began = [event for event in told if isinstance(event, PhaseBegan)]
    assert {LoadPhase.FILES, LoadPhase.STEADY, LoadPhase.CLEANING} <= {event.phase for event in began}
    times = [before, *(event.at_seconds for event in began), time.monotonic()]
    assert times == sorted(times)


@pytest.mark.long
def test_while_users_rest_nothing_is_told_and_the_next_point_begins_with_logins(tmp_path: Path):
    """Others measure meanwhile, and nobody reads: what is told would fill the pipe."""
    scenario = replace(find_scenario("small"), files=1, duration_seconds=1.0, settle_seconds=0.0)
    target = Target(protocol="file", path=str(tmp_path))
    plan = LoadPlan(targets=(target,), scenario=scenario, folder="load", interface="lo")
    with EngineProcess(plan) as engine:
        list(engine.ready())
        first = list(engine.point(1, 1))
        rest = list(engine.let_users_rest())
        time.sleep(3.0)
        second = list(engine.point(2, 1))
        list(engine.finish())
    assert [event.phase for event in rest if isinstance(event, PhaseBegan)] == [LoadPhase.RESTING]
    assert isinstance(rest[-1], UsersGone)
    assert connected(first) == connected(second) == 1
    before_logins = second[: second.index(next(event for event in second if isinstance(event, PhaseBegan)))]
    assert not [event for event in before_logins if isinstance(event, SecondPassed)], "three seconds of rest"

    (seen,) = [event for event in first if isinstance(event, PathSeen)]
    assert "tcp.segments_sent_during" in seen.path_facts


def connected(events: list[Any]) -> int:
    last = events[-1]
    assert isinstance(last, PointMeasured)
    assert last.failure is None
    return sum(worker.connected for worker in last.workers)


@pytest.mark.long
def test_a_worker_that_got_no_processor_for_a_while_runs_its_users(engine: EngineProcess):
    worker = worker_of(engine)
    os.kill(worker.pid, signal.SIGSTOP)
    time.sleep(LATE_SECONDS)
    events = []
    for event in engine.point(1, 2):
        if isinstance(event, PhaseBegan) and event.phase is LoadPhase.RAMP:
            os.kill(worker.pid, signal.SIGCONT)
        events.append(event)
    assert connected(events) == 2


@pytest.mark.long
def test_a_point_after_a_rest_waits_for_workers_that_are_late(engine: EngineProcess):
    worker = worker_of(engine)
    assert connected(list(engine.point(1, 2))) == 2
    os.kill(worker.pid, signal.SIGSTOP)
    later = threading.Timer(LATE_SECONDS, os.kill, (worker.pid, signal.SIGCONT))
    later.start()
    list(engine.let_users_rest())
    assert connected(list(engine.point(2, 2))) == 2


@pytest.fixture
def load_engine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class, here: locust would make gevent's of the sockets and locks of this process."""
    monkeypatch.setenv("LOCUST_SKIP_MONKEY_PATCH", "1")
    return importlib.import_module("app.load.locust_engine").LoadEngine


def late_engine(ready: int, users: tuple[int, ...], processes: int = 2) -> Any:
    return SimpleNamespace(
        _runner=SimpleNamespace(clients=SimpleNamespace(ready=[None] * ready)),
        _latest={index: SimpleNamespace(users=count) for index, count in enumerate(users)},
        _processes=SimpleNamespace(count=processes),
        _users=5,
    )


@pytest.mark.varied
@pytest.mark.parametrize(
    ("ready", "users", "are_ready"),
    [(2, (0, 0), True), (1, (0, 0), False), (2, (0,), False), (2, (0, 1), False)],
)
def test_workers_are_ready_when_all_have_come_and_told_that_nobody_is_left(load_engine, ready, users, are_ready):
    assert load_engine._are_ready(late_engine(ready, users)) is are_ready


def test_users_that_the_workers_do_not_run_are_missed_by_number(load_engine):
    enough, few = late_engine(2, (2, 3)), late_engine(2, (2, 2))
    load_engine._check_users(enough, enough._latest.values())
    with pytest.raises(MeasurementError, match="ran 4 of 5 users"):
        load_engine._check_users(few, few._latest.values())
