"""The reading end of the measuring process, whatever that process does."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base import child_process
from app.base.errors import ChildDiedError
from app.base.messages import line_of
from app.recording import process
from app.recording.process import (
    ControlMessage,
    Event,
    Failed,
    Finished,
    MeasuringProcess,
    SeriesControl,
    TimeLimit,
)
from storage.records import Command, Target
from tests.specs import order_with


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of the test's own in place of the measuring process."""
    package = tmp_path / "app" / "recording"
    package.mkdir(parents=True)
    for folder in (tmp_path / "app", package):
        (folder / "__init__.py").touch()
    monkeypatch.setattr(child_process, "_ROOT", tmp_path)
    return package / "child.py"


def events_of(control: SeriesControl | None = None) -> list[Event]:
    plan = order_with(command=Command.GET, target=Target(protocol="file", path="/x"))
    with MeasuringProcess(plan, control or SeriesControl()) as measuring:
        return list(measuring.events())


def test_a_process_that_dies_in_the_middle_of_a_word_has_died(child: Path):
    child.write_text('import sys\nsys.stdin.readline()\nsys.stdout.write(\'{"event": "Fini\')\nsys.exit(3)\n')
    (failed,) = events_of()
    assert isinstance(failed, Failed)
    assert failed.kind is ChildDiedError
    assert "exit code 3" in failed.text
    assert "--" not in failed.text, "a screen shows it too"
    assert failed.options == "--resume"


def test_one_that_closes_its_end_and_hangs_is_ended(child: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.5)
    child.write_text("import os, threading\nos.close(1)\nthreading.Event().wait()\n")
    (failed,) = events_of()
    assert isinstance(failed, Failed)
    assert "SIGKILL" in failed.text


def test_one_that_has_more_to_say_than_the_pipe_takes_can_still_clean_up(child: Path, tmp_path: Path):
    cleaned = tmp_path / "cleaned"
    child.write_text(
        "import sys\n"
        "sys.stdin.readline()\n"
        f"print({line_of(Finished())!r}, flush=True)\n"
        "sys.stdin.read()\n"
        "try:\n"
        "    print('x' * 1_000_000, flush=True)\n"
        "except BrokenPipeError:\n"
        "    pass\n"
        f"open({str(cleaned)!r}, 'w').close()\n"
        "import os; os._exit(0)\n"
    )
    assert events_of() == [Finished()]
    assert cleaned.exists()


def test_a_word_and_a_cancel_from_the_same_thread_do_not_wait_for_each_other():
    """As when a signal arrives while the main thread is saying a word."""
    control = SeriesControl()
    ended: list[bool] = []
    control.attach(lambda _word: control.cancel(), lambda: ended.append(True))
    control.tell(process.ControlMessage.PAUSE)
    assert ended == [True]


class Hands:
    """A clock that somebody moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def limited(seconds: float) -> tuple[TimeLimit, Hands]:
    clock = Hands()
    limit = TimeLimit(seconds, clock)
    clock.now += 5
    limit.start()
    return limit, clock


@pytest.mark.parametrize(("seconds", "allowed"), [(30.0, True), (29.9, False)])
def test_one_more_begins_only_if_it_ends_in_time_by_the_longest_so_far(seconds: float, allowed: bool):
    limit, clock = limited(seconds)
    for took in (10.0, 7.0):
        limit.begin_timing()
        clock.now += took
        limit.end_timing()
    clock.now += 3.0
    assert limit.has_time_for_another() is allowed, "20 of the seconds are over, and the longest took 10"


@pytest.mark.parametrize(("seconds", "allowed"), [(30.0, True), (29.9, False)])
def test_a_round_takes_as_long_as_the_longest_of_each_kind(seconds: float, allowed: bool):
    limit, clock = limited(seconds)
    for kind, took in ((1, 2.0), (2, 10.0), (1, 3.0)):
        limit.begin_timing()
        clock.now += took
        limit.end_timing(kind)
    assert limit.has_time_for_another(1, 2, 3) is (seconds >= 28.0)
    clock.now += 2.0
    assert limit.has_time_for_another(1, 2, 3) is allowed, "17 are over, and a round takes 13"


def test_the_time_counts_from_the_start_and_only_once():
    limit, clock = limited(60.0)
    assert limit.seconds_left == 60.0
    clock.now += 20
    limit.start()
    assert limit.seconds_left == 40.0
    assert TimeLimit().has_time_for_another()


def test_the_end_of_the_time_cancels_and_says_so():
    control = SeriesControl(120.0)
    assert control.why_cancelled == "cancelled"
    control.end_in_time()
    assert control.cancelled.is_set()
    assert control.why_cancelled == "time is over (--within 2)"


def test_what_is_asked_while_a_trial_logs_in_reaches_the_process_that_measures():
    control, said = SeriesControl(), list[ControlMessage]()
    control.attach(None, lambda: None)
    control.tell(ControlMessage.PAUSE)
    control.detach()
    control.tell(ControlMessage.STEP)
    control.attach(said.append, lambda: None)
    control.tell(ControlMessage.RESUME)
    assert said == [ControlMessage.PAUSE, ControlMessage.STEP, ControlMessage.RESUME]


def test_the_end_of_the_time_does_not_cancel_what_ends_by_itself_or_was_cancelled():
    control, said = SeriesControl(90.0), list[ControlMessage]()
    control.attach(said.append, lambda: None)
    assert control.finish_in_time("run").text.startswith("no further run would end in time (--within 1.5)")
    control.end_in_time()
    assert said == [ControlMessage.FINISH]
    assert not control.cancelled.is_set()
    control = SeriesControl(90.0)
    control.cancel()
    control.end_in_time()
    assert control.why_cancelled == "cancelled", "by somebody"
