"""Signals for what the tests start, as a program started at a terminal has them.

In the background of a script SIGINT and SIGQUIT are ignored, under nohup SIGHUP is, and some services start their
programs with signals blocked: all of that would be inherited by the processes to which tests send these signals.
"""

import signal
from types import FrameType

RELIED_ON = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE, signal.SIGTERM)


def start_programs_as_at_a_terminal() -> None:
    """Let no program that this process executes inherit that a signal is ignored or blocked.

    This process itself goes on ignoring what it ignored, since `nohup make test` outlives its terminal: a handler that
    does nothing ignores a signal too, and unlike SIG_IGN ends with exec. Python always ignores SIGPIPE in itself, and
    ``subprocess`` resets that in what it starts.
    """
    for number in RELIED_ON:
        if number != signal.SIGPIPE and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _take_no_notice)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, RELIED_ON)


def outlive_the_terminal() -> None:
    """For a process that waits in the background of the tests, and ends by itself with them."""
    signal.signal(signal.SIGHUP, _take_no_notice)


def become_as_at_a_terminal() -> None:
    """For a forked process, which keeps its parent's handlers as no exec takes them away."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, RELIED_ON)


def _take_no_notice(_number: int, _frame: FrameType | None) -> None:
    """Handles a signal by doing nothing."""
