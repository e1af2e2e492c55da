"""Pytest's hooks that count the tests that were skipped for what this machine or user lacks."""

from collections.abc import Generator

import pytest

from tests import packages
from tests.servers.process import NotPossibleHereError

_MISSING_PROGRAMS = "missing programs"
_NEEDS_ROOT = "needs root"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test lacked goes with its report, also from the process that ran it."""
    report = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, NotPossibleHereError):
        report.user_properties += [(_MISSING_PROGRAMS, error.programs), (_NEEDS_ROOT, error.needs_root)]
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of all says what to install for the tests that were skipped."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None:  # in a process that runs tests for another one
        return
    lacking = [dict(report.user_properties) for report in terminal.stats.get("skipped", ())]
    programs = [facts[_MISSING_PROGRAMS] for facts in lacking if facts.get(_MISSING_PROGRAMS)]
    without_root = sum(1 for facts in lacking if facts.get(_NEEDS_ROOT))
    if line := packages.summary(programs, without_root):
        terminal.write_line(line)
