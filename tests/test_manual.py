"""The manual pages: one of the program, one of each command, each with all that its help tells."""

import importlib.metadata
import re
from collections.abc import Iterator

import click
import pytest

from app.cli.main import cli
from tests.release import manual
from tests.servers import independent_smb
from tests.servers.debian_servers import pinned_servers

STORED = {path.name: path.read_text(encoding="utf-8") for path in manual.FOLDER.glob("*")}


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command


def test_each_command_has_a_page_and_no_page_is_left_over():
    names = {"sharebench.1", *(f"sharebench-{name}.1" for name, _ in commands())}
    assert set(manual.pages()) == names
    assert set(STORED) == names, "`make man` renews them"


@pytest.mark.parametrize("pages", [manual.pages(), STORED], ids=["made now", "stored"])
def test_the_programs_page_names_the_page_of_each_command(pages: dict[str, str]):
    for name, _ in commands():
        assert manual.roff(f"sharebench-{name}(1)") in pages["sharebench.1"]


@pytest.mark.parametrize("pages", [manual.pages(), STORED], ids=["made now", "stored"])
def test_a_commands_page_shows_all_its_options_and_commands(pages: dict[str, str]):
    assert_options_are_in(pages["sharebench.1"], cli)
    for name, command in commands():
        page = pages[f"sharebench-{name}.1"]
        assert f".B {manual.roff(f'sharebench {name}')}" in page
        assert_options_are_in(page, command)

        if isinstance(command, click.Group):
            sections = dict(section.split("\n", 1) for section in re.split(r"(?m)^\.S[SH] ", page)[1:])
            for inner_name, inner in command.commands.items():
                title = next(title for title in sections if f"sharebench {name} {inner_name} " in title)
                assert_options_are_in(sections[title], inner)


def assert_options_are_in(text: str, command: click.Command):
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            for word in option.opts:
                assert manual.roff(word) in text, f"{word} of {command.name}: `make man` renews the pages"


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("compare", ["0", "1", "2", "3", "4", "130"]),
        ("run", ["0", "1", "2", "3", "4", "130"]),
        ("verify", ["0", "1", "2", "4", "130"]),
        ("list", ["0", "2", "4", "130"]),
    ],
)
def test_a_page_tells_the_exit_codes_of_its_command(name: str, codes: list[str]):
    _, _, section = manual.pages()[f"sharebench-{name}.1"].partition(".SH EXIT STATUS")
    assert re.findall(r"\\fB(\d+)\\fR", section) == codes


def test_the_table_of_what_was_tried_has_the_pinned_versions():
    table = " ".join(manual.tried_servers())
    for name, pinned in pinned_servers().items():
        upstream = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", pinned.version)
        assert upstream, pinned.version
        version = name.removeprefix("samba ") if name.startswith("samba") else upstream[1]
        assert version in table
    assert independent_smb.VERSION in table
    assert importlib.metadata.version("impacket").rpartition(".")[0] in table


def test_every_hyphen_is_one_that_can_be_copied():
    for page in manual.pages().values():
        text = "\n".join(line for line in page.splitlines() if line[:1] != ".")
        assert not re.search(r"(?m)^'|(?<!\\)-", text)


def test_text_is_never_a_command_of_the_manual_page():
    assert manual.roff(".so /etc/passwd\n'quoted\na\\b -x") == "\\&.so /etc/passwd\n\\&'quoted\na\\eb \\-x"
