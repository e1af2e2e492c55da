"""The reading end of the measuring process, whatever that process does."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import child_process
from app.measure import process
from app.measure.process import Event, Failed, Finished, MeasurementPlan, MeasuringProcess, SeriesControl
from app.messages import line_of
from storage.records import Command, Target


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of the test's own in place of the measuring process."""
    package = tmp_path / "app" / "measure"
    package.mkdir(parents=True)
    for folder in (tmp_path / "app", package):
        (folder / "__init__.py").touch()
    monkeypatch.setattr(child_process, "_ROOT", tmp_path)
    return package / "child.py"


def events_of(control: SeriesControl | None = None) -> list[Event]:
    plan = MeasurementPlan(command=Command.GET, target=Target(protocol="file", path="/x"))
    with MeasuringProcess(plan, control or SeriesControl()) as measuring:
        return list(measuring.events())


def test_a_process_that_dies_in_the_middle_of_a_word_has_died(child: Path):
    child.write_text('import sys\nsys.stdin.readline()\nsys.stdout.write(\'{"event": "Fini\')\nsys.exit(3)\n')
    (failed,) = events_of()
    assert isinstance(failed, Failed)
    assert failed.kind == "ChildDiedError"
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
