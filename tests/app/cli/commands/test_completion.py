"""``completion``: what the shell is given, and what it gets when it asks."""

import pytest

from tests.command_line import Inside, Sharebench


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_what_completes_commands_and_options(inside: Inside, shell: str):
    assert "_SHAREBENCH_COMPLETE" in inside("completion", shell).stdout


def test_a_commands_options_are_completed(inside: Inside):
    asked = {"COMP_WORDS": "sharebench run --warm", "COMP_CWORD": "2", "_SHAREBENCH_COMPLETE": "bash_complete"}
    assert Sharebench(inside.db, environment=asked)().stdout == "plain,--warmup\n"


def test_another_shell_is_refused_with_those_that_are_known(inside: Inside):
    assert "bash" in inside.fails(2, "completion", "tcsh")
