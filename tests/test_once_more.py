"""What failed beside others is asked once more; a fault stays one."""

import subprocess
import sys

import pytest

from tests import once_more

TESTS = """
import pathlib, pytest

def test_that_failed_once():
    mark = pathlib.Path(__file__).with_name("asked")
    if not mark.exists():
        mark.touch()
        raise AssertionError

@pytest.mark.parametrize("number", range(BROKEN))
def test_that_is_broken(number):
    raise AssertionError
"""


@pytest.mark.parametrize(("broken", "told"), [(0, 0), (1, 1), (once_more.AT_MOST, 1)])
def test_a_few_that_failed_are_asked_again_and_have_to_pass(tmp_path, broken, told):
    (tmp_path / "test_it.py").write_text(TESTS.replace("BROKEN", str(broken)))
    (tmp_path / "pytest.ini").write_text("[pytest]")
    assert subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, check=False).returncode == 1
    assert once_more.main(tmp_path) == told


def test_without_a_failed_test_something_else_went_wrong(tmp_path):
    assert once_more.main(tmp_path) == 1
