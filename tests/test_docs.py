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
FOR_CONTRIBUTORS = CONTRIBUTING + "".join(page.read_text() for page in sorted((ROOT / "tests").rglob("README.md")))
SECURITY = (ROOT / "SECURITY.md").read_text()


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
    asked = {word.split("=")[0] for word in words if word.startswith("--") and " " not in word}
    assert asked <= known or command.context_settings.get("ignore_unknown_options")


def test_the_readme_names_commands_at_all():
    assert len(written_commands()) > 10


@for_each("path", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README + CONTRIBUTING))))
def test_each_picture_and_page_is_there(path: str):
    assert (ROOT / path).is_file()


@for_each("path", sorted(set(re.findall(r"`((?:tests|storage|app|forms|\.ci)/[\w./-]+)`", FOR_CONTRIBUTORS))))
def test_each_path_that_contributors_read_is_there(path: str):
    assert (ROOT / path).exists()


@for_each("name", sorted(set(re.findall(r"`([\w.-]+\.(?:py|sh|sql|txt))`", FOR_CONTRIBUTORS))))
def test_each_file_that_contributors_read_of_by_its_name_is_there(name: str):
    assert [path for folder in ("app", "forms", "storage", "tests") for path in (ROOT / folder).rglob(name)]


def paths_named_in(path: Path) -> set[str]:
    """Each file of ours that a text names with its folder, comments and docstrings included."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r"(?<![\w./-])(?:app|forms|storage|tests)/[\w./-]+\.(?:py|toml|sh|sql|txt|md)\b", text))


@for_each("folder", ["app", "forms", "storage"])
def test_each_file_that_the_source_names_is_there(folder: str):
    sources = [
        path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".toml", ".sh", ".sql", ".txt", ".jinja"}
    ]
    assert len(sources) > 10
    gone = [(str(source), name) for source in sources for name in paths_named_in(source) if not (ROOT / name).exists()]
    assert gone == []


def test_make_targets_are_listed_and_there():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)", README + FOR_CONTRIBUTORS))
    assert named
    assert named <= targets
    assert targets <= set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))


def test_every_test_that_the_threat_model_names_is_there():
    table = SECURITY.partition("## Threat model")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith(("| who", "| ---"))]
    named = re.findall(r"`(tests/[^`]+)`", table)
    assert len(named) >= len(rows) >= 7
    for row in rows:
        assert "`tests/" in row, row
    for one in named:
        file, _, name = one.partition("::")
        assert (ROOT / file).is_file(), one
        assert not name or f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), one
    for party in ("another local user", "another machine on the network", "a foreign document", "a hostile server"):
        assert f"| {party}" in table
