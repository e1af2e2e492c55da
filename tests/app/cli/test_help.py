"""What ``--help`` prints of each command, on a terminal of 80 columns; its examples, and what leads to it."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli.declare import GroupedCommand
from app.cli.help import COMMANDS, examples, grouped_options, path_of, texts
from app.cli.main import cli
from app.practice.servers import PracticeServers
from storage.records import format_target
from tests.cases import for_each
from tests.command_line import QUICK, Inside

EXAMPLES = texts()["examples"]


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Each command below, with its path such as ``baseline set`` and its context."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            below = click.Context(inner, info_name=name, parent=context)
            yield path_of(below), inner, below
            yield from walk(inner, below)


CONTEXT = click.Context(cli, info_name="sharebench", help_option_names=["-h", "--help"], max_content_width=80)
BELOW = {path: (command, context) for path, command, context in walk(cli, CONTEXT)}
ALL = {"": (cli, CONTEXT), **BELOW}
HELPS = {path: command.get_help(context) for path, (command, context) in ALL.items()}
QUICK_ONES = (
    "run smb://alice@nas/public/big.iso --link 1G", "list", "ls",
    "list nas --limit 10", "list --json", "show last", "show last --json",
    "reject last 3 --reason 'backup was running'",
    "accept last 3", "note last 'new switch, 10 Gbit/s'", "rename last 'new switch'", "baseline set before last",
    "run smb://alice@nas/public/big.iso --link 1G",
    "compare before last", "findings last", "catalogue", "catalogue 'strict sync'", "restore --list",
    "worksheet bottleneck --tables", "worksheet bottleneck --cpu 60M --disk 8M --disks 4",
    "worksheet clients --group 36:2.3:12KB --capacity 960KB", "export last -o form.pdf", "import --example", "help try",
    "baseline remove before",
)  # fmt: skip
"""Those that need no second machine and no consent, and end within seconds; in an order in which each can work."""


@for_each("path", ALL)
def test_help_is_no_wider_than_80_columns(path: str):
    assert [line for line in HELPS[path].splitlines() if len(line) > 80] == []


@for_each("path", ALL)
def test_each_command_groups_its_options_and_ends_with_examples(path: str):
    command, context = ALL[path]
    assert isinstance(command, GroupedCommand)
    assert 1 <= len(EXAMPLES[path]) <= 5
    for line in examples(context):
        assert line.split()[-1] in HELPS[path]
    shown = [name for records in grouped_options(command, context).values() for name, _ in records]
    assert len(shown) == len({*shown}) >= 1
    for option in command.get_params(context):
        if isinstance(option, click.Option) and not option.hidden:
            assert option.help, (path, option.name)


def test_every_command_has_a_group_and_a_sentence_of_its_own():
    names = [name for group in COMMANDS.values() for name in group]
    assert len(names) == len({*names})
    assert set(names) == {path for path in BELOW if " " not in path}
    positions = [HELPS[""].index(f"\n{title}:") for title in COMMANDS]
    assert positions == sorted(positions)


@for_each("line", [(path, line) for path, lines in EXAMPLES.items() for line in lines if not line.startswith("eval ")])
def test_each_example_is_a_command_line_of_its_command(line: tuple[str, str]):
    path, text = line
    words = shlex.split(text)
    if path == "":
        path = words[0]
    else:
        assert text.startswith(path)
    command = cli.get_command(CONTEXT, "help") if path == "help" else BELOW[path][0]
    assert command
    command.make_context(path, words[len(path.split()) :], parent=click.Context(cli, obj={}))


def test_the_quick_examples_run_on_the_practice_servers(tmp_path: Path):
    with PracticeServers(1024 * 1024) as servers:
        command = Inside(tmp_path / "n.db", password=servers.secrets.password)
        for example in QUICK_ONES:
            words = [word.replace("smb://alice@nas/public/big.iso", format_target(servers.smb)) for word in
                     shlex.split(example)]  # fmt: skip
            done = command(*words, *((*QUICK, "--warmup", "0") if words[0] == "run" else ()))
            assert done.returncode in ((0, 1, 3) if words[0] == "compare" else (0,)), (example, done.stderr)
            assert "Traceback" not in done.stderr


def test_protocols_are_spelled_as_people_write_them(inside: Inside):
    said = " ".join(inside("survey", "--help").stdout.split())
    for name in ("SMB", "FTP", "iperf3"):
        assert f"Port of {name} on the server." in said


def test_the_quick_examples_are_those_of_the_helps():
    written = {line for lines in EXAMPLES.values() for line in lines}
    assert set(QUICK_ONES) - {"ls"} <= written


def test_help_of_a_command_is_asked_for_in_three_ways(tmp_path: Path):
    command = Inside(tmp_path / "n.db")
    asked = [command(*words).stdout for words in (("help", "run"), ("run", "-h"), ("run", "--help"))]
    assert asked[0] == asked[1] == asked[2]
    assert command("help").stdout == command("--help").stdout
    assert "baseline set [OPTIONS] NAME RECORDING..." in command("help", "baseline", "set").stdout
    assert "no such command 'rum'; did you mean run" in command.fails(2, "help", "rum")
    assert "has no commands of its own" in command.fails(2, "help", "run", "set")


@pytest.mark.parametrize(("short", "long"), [("-V", "--version"), ("-h", "--help")])
def test_short_options_mean_the_long_ones(tmp_path: Path, short: str, long: str):
    command = Inside(tmp_path / "n.db")
    assert command(short).stdout == command(long).stdout != ""


def test_what_one_would_type_is_the_command_of_another_name(tmp_path: Path):
    command = Inside(tmp_path / "n.db")
    for short, long in (("ls", "list"), ("find", "list"), ("filter", "list"), ("rm", "delete"), ("measure", "run")):
        assert BELOW[long][0].get_help(BELOW[long][1]).split("\n", 1)[1] in command(short, "--help").stdout


def test_help_says_what_may_be_left_out():
    assert "export [OPTIONS] [RECORDING]..." in HELPS["export"], "--all and --blank need none"
    for path in ("try", "run", "isolate"):
        assert "Log in to the server by ssh" in " ".join(HELPS[path].split()), "it changes or starts things there"
