"""The way into the program."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INTERRUPTED = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
sys.argv[1:] = ["list"]
from app.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["app.base.this_process", "app.cli.main"])
def test_ctrl_c_while_the_program_loads_is_a_cancel(module: str):
    done = ended(INTERRUPTED.format(module=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


MADE_ANOTHER_ERROR = """
import os, signal, sys
import app.cli.main

class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)

def command(*_):
    type("Report", (), {"document": Field()})

app.cli.main._LazyGroup.get_command = command
sys.argv[1:] = ["list"]
from app.__main__ import main
main()
"""


def test_ctrl_c_while_a_command_loads_is_a_cancel_whatever_python_makes_of_it():
    done = ended(MADE_ANOTHER_ERROR)
    # From Python 3.12 on it stays a KeyboardInterrupt, for which click begins a new line after the ^C.
    assert (done.returncode, done.stdout, done.stderr.lstrip("\n")) == (130, "", "sharebench: cancelled\n")


PRESSED_AGAIN = """
import os, signal, sys
from app.cli import failures, main as cli
from app.base.errors import MeasurementError

def press(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)

def told(*_, **__):
    press()
    return 130

def failed(*_, **__):
    raise MeasurementError("it failed")

cli.cli.main = press if {first} else failed
failures.fail = told
from app.__main__ import main
main()
"""


@pytest.mark.parametrize("first", [True, False])
def test_ctrl_c_while_a_cancel_or_an_error_is_told_ends_it_quietly(first: bool):
    done = ended(PRESSED_AGAIN.format(first=first))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


PRESSED_LATER = """
import os, signal, sys, time
from app.cli import failures, main as cli

def press(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)

def told(*_, **__):
    press()
    print("told")
    return 130

moments = [10.0, 10.0 + {later}]
time.monotonic = lambda: moments.pop(0)
cli.cli.main = press
failures.fail = told
from app.__main__ import main
main()
"""


@pytest.mark.parametrize(("later", "said"), [(2.0, "told\n"), (2.0 + 1e-6, "")])
def test_ctrl_c_two_seconds_after_the_first_ends_what_hangs_while_it_is_told(later: float, said: str):
    done = ended(PRESSED_LATER.format(later=later))
    assert (done.returncode, done.stdout, done.stderr) == (130, said, "")


def ended(program: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)


def test_an_interrupt_that_was_ignored_from_the_start_stays_so():
    """As in the background of a script, which a Ctrl-C for the script in front reaches too."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = subprocess.Popen([sys.executable, "-m", "app", "--version"], cwd=ROOT, stdout=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        time.sleep(0.005)
    assert child.returncode == 0
    assert child.stdout is not None
    assert child.stdout.read().startswith(b"sharebench ")
