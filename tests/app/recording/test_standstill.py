"""A measuring process notices that it stood still, and not that it only waited."""

import os
import signal
import subprocess
import sys
import time

import pytest

from app.recording.standstill import StandstillWatch
from tests.command_line import ROOT


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("passed", "standstill"), [(0.74, 0.0), (0.76, 0.51), (3.25, 3.0)])
def test_half_a_second_beyond_the_next_look_is_a_standstill(passed: float, standstill: float):
    clock = FakeClock()
    watch = StandstillWatch(clock)
    watch.begin()
    clock.now += passed
    assert watch.standstill_seconds() == pytest.approx(standstill)


def test_what_was_before_a_run_is_no_standstill_of_it():
    clock = FakeClock()
    watch = StandstillWatch(clock)
    clock.now += 5.0
    watch.begin()
    clock.now += 0.25
    assert watch.standstill_seconds() == 0.0


_WATCHED = """
import sys, time
from app.recording.standstill import StandstillWatch
with StandstillWatch() as watch:
    watch.begin()
    print("began", flush=True)
    sys.stdin.readline()
    print(watch.standstill_seconds(), flush=True)
"""


TRIES = 5
"""Where others take the processor for a second, a process that waits did stand still."""


def told_seconds(stopped: float) -> float:
    """How long a process that waits says that it stood still, of which ``stopped`` seconds it was stopped."""
    words = [sys.executable, "-c", _WATCHED]
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        if stopped:
            os.kill(process.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(process.pid, signal.SIGCONT)
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())


def test_a_stopped_process_notices_it():
    assert told_seconds(1.5) > 1.0


def test_one_that_waits_does_not_take_it_for_a_standstill():
    assert any(told_seconds(0.0) < 1.0 for _ in range(TRIES))
