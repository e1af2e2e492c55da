"""What ``--help`` prints of each command, on a terminal of 80 columns."""

from collections.abc import Iterator

import click
import pytest

from app.cli.main import cli


def helps(command: click.Command, parent: click.Context | None, name: str) -> Iterator[tuple[str, str]]:
    context = click.Context(command, parent=parent, info_name=name, terminal_width=80, max_content_width=80)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found, each
            yield from helps(found, context, each)


HELPS = dict(helps(cli, None, "sharebench"))


@pytest.mark.parametrize("path", HELPS)
def test_help_is_no_wider_than_80_columns(path: str):
    assert [line for line in HELPS[path].splitlines() if len(line) > 80] == []


def test_help_says_what_may_be_left_out():
    assert "export [OPTIONS] [RECORDING]..." in HELPS["sharebench export"], "--all and --blank need none"
    for path in ("sharebench try", "sharebench run", "sharebench isolate"):
        assert "The way to the server, by ssh." in " ".join(HELPS[path].split()), "it changes or starts things there"
