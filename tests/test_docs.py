"""What the documents say is there: commands and their options, pictures, files, make targets."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from app.cli.main import cli
from tests.cases import for_each

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def written_commands() -> list[str]:
    """Each ``sharebench …`` in the README, from code blocks and between backticks."""
    blocks = re.findall(r"```\n(.*?)```", README, re.DOTALL)
    lines = [line.split("#")[0] for block in blocks for line in block.splitlines()]
    spans = [span.replace("\n", " ") for span in re.findall(r"(?<!`)`(?!`)([^`]+)`(?!`)", README)]
    return sorted({line.strip() for line in [*lines, *spans] if line.startswith("sharebench ")})


@for_each("line", written_commands())
def test_each_command_of_the_readme_is_there_with_its_options(line: str):
    words = shlex.split(line)[1:]
    context, command = click.Context(cli), cli
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        found = command.get_command(context, words.pop(0))
        assert found is not None, line
        command = found  # type: ignore[assignment]
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    known |= set(command.get_help_option_names(context))
    asked = {word.split("=")[0] for word in words if word.startswith("--")}
    assert asked <= known


def test_the_readme_names_commands_at_all():
    assert len(written_commands()) > 10


@for_each("path", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README))))
def test_each_picture_and_page_is_there(path: str):
    assert (ROOT / path).is_file()


@for_each("path", sorted(set(re.findall(r"`((?:tests|storage|app|forms|\.ci)/[\w./-]+)`", CONTRIBUTING))))
def test_each_path_of_contributing_is_there(path: str):
    assert (ROOT / path).exists()


def test_make_targets_are_listed_and_there():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)", README + CONTRIBUTING))
    assert named
    assert named <= targets
    assert targets <= set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
