"""How long processes are held by the processor: those that work, and those that wait for something else."""

import subprocess
import sys
import time

import psutil

from app.server.processes import Ours
from tests.waiting import wait_for


def test_work_and_waiting_for_a_processor_count_but_waiting_for_anything_else_does_not():
    """However busy the machine is: a program that never rests either works or waits for a processor."""
    words = ("while True: pass", "input()")
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", f"print(flush=True)\n{word}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for word in words
    ]
    try:
        for program in programs:
            assert program.stdout
            program.stdout.readline()  # past its start
        wait_for(lambda: psutil.Process(programs[1].pid).status() == psutil.STATUS_SLEEPING)
        ours = [Ours(trees=frozenset({program.pid})) for program in programs]
        early, before, began = time.monotonic(), [one.held_seconds() for one in ours], time.monotonic()
        time.sleep(1)
        ended, after, late = time.monotonic(), [one.held_seconds() for one in ours], time.monotonic()
        working, resting = (later - earlier for earlier, later in zip(before, after, strict=True))
    finally:
        for program in programs:
            program.kill()
            program.communicate()
    assert 0.85 * (ended - began) < working < 1.1 * (late - early) + 0.1
    assert resting < 0.1


def test_a_process_that_is_gone_holds_nothing():
    assert Ours(trees=frozenset({2**22 + 1})).held_seconds() == 0.0
