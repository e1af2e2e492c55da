"""Programs that tests start take signals as at a terminal, whatever the tests were started from."""

import signal
import subprocess
import sys

import pytest

from tests import signals
from tests.command_line import ROOT

STATUS_OF_A_PROGRAM = """
import subprocess
{change}
subprocess.run(["cat", "/proc/self/status"], check=True)
"""
CHANGE = "from tests import signals; signals.start_programs_as_at_a_terminal()"


def ignore_and_block() -> None:
    """As in the background of a script, under nohup, and under a service that blocks signals."""
    for number in signals.RELIED_ON:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals.RELIED_ON)


def numbers_in(status: str, mask: str) -> set[int]:
    """The signals of a mask of /proc/PID/status. Source: proc(5)."""
    line = next(line for line in status.splitlines() if line.startswith(f"{mask}:"))
    bits = int(line.split()[1], 16)
    return {number for number in map(int, signals.RELIED_ON) if bits >> (number - 1) & 1}


def status_of_program(change: str) -> str:
    """What a program has that is started by one that ignores and blocks all of them, after this change."""
    return subprocess.run(
        [sys.executable, "-c", STATUS_OF_A_PROGRAM.format(change=change)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        preexec_fn=ignore_and_block,
    ).stdout


def test_a_program_ignores_and_blocks_what_its_starter_did():
    status = status_of_program("")
    everything = set(map(int, signals.RELIED_ON))
    assert numbers_in(status, "SigBlk") == everything
    assert numbers_in(status, "SigIgn") == everything - {signal.SIGPIPE}, "subprocess resets that"


def test_a_program_that_a_test_starts_ignores_and_blocks_nothing():
    status = status_of_program(CHANGE)
    assert numbers_in(status, "SigBlk") == set()
    assert numbers_in(status, "SigIgn") == set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_the_tests_themselves_go_on_ignoring_what_they_ignored(number: signal.Signals):
    program = f"{CHANGE}; import os; os.kill(os.getpid(), {int(number)}); print('goes on')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=ignore_and_block,
    )
    assert (done.returncode, done.stdout) == (0, "goes on\n")
