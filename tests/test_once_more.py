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
@pytest.mark.long
def test_a_few_that_failed_are_asked_again_and_have_to_pass(tmp_path, broken, told):
    (tmp_path / "test_it.py").write_text(TESTS.replace("BROKEN", str(broken)))
    (tmp_path / "pytest.ini").write_text("[pytest]")
    assert subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, check=False).returncode == 1
    assert once_more.main(tmp_path) == told


@pytest.mark.parametrize("name", ["test_of[a@b]", "test_of[c]"])
def test_a_test_of_a_group_is_found_by_its_own_name(tmp_path, name):
    body = '@pytest.mark.parametrize("word", ["a@b", "c"])\ndef test_of(word): pass\n'
    (tmp_path / "test_it.py").write_text(f"import pytest\n\n{body}")
    (tmp_path / "pytest.ini").write_text("[pytest]")
    kept = tmp_path / once_more.FAILED
    kept.parent.mkdir(parents=True)
    kept.write_text(f'{{"test_it.py::{name}@sshd": true}}')
    assert once_more.main(tmp_path) == 0


def test_without_a_failed_test_something_else_went_wrong(tmp_path):
    assert once_more.main(tmp_path) == 1
