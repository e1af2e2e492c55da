"""How long processes are held by the processor: those that work, and those that wait for something else."""

import subprocess
import sys
import time

from app.environment.host.processes import Ours


def test_work_and_waiting_for_a_processor_count_but_waiting_for_anything_else_does_not():
    """However busy the machine is: a program that never rests either works or waits for a processor."""
    words = ("while True: pass", "import time; time.sleep(600)")
    programs = [subprocess.Popen([sys.executable, "-c", word]) for word in words]
    try:
        time.sleep(0.5)  # past their start
        ours = [Ours(trees=frozenset({program.pid})) for program in programs]
        before, began = [one.held_seconds() for one in ours], time.monotonic()
        time.sleep(1)
        seconds = time.monotonic() - began
        working, resting = ((one.held_seconds() - earlier) / seconds for one, earlier in zip(ours, before, strict=True))
    finally:
        for program in programs:
            program.kill()
            program.wait()
    assert 0.85 < working < 1.2
    assert resting < 0.1


def test_a_process_that_is_gone_holds_nothing():
    assert Ours(trees=frozenset({2**22 + 1})).held_seconds() == 0.0
