"""Phrases that a reader would stumble over: in no help, form, screen, error, catalogue, docstring or document."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.recording.kind import KINDS, kind_of
from app.tui.frame.app_keys import APP_KEYS
from app.tui.frame.commands import Commanded
from app.tui.frame.screens import SCREENS
from forms.exporters import markdown
from forms.exporters.text import report_text
from storage.notebook import Notebook
from tests.cases import for_each
from tests.recordings import MAKERS, made_up_kind
from tests.release import manual

ROOT = Path(__file__).resolve().parents[1]
AVOIDED = (
    "gone on with", "go on with", "goes on with", "ladder", "rung", "put back", "puts back", "so many", "of ours",
    "far end", "this end", "the words were wrong", "by lot", "in turns", "wander", "scatter",
)  # fmt: skip
_PATTERN = re.compile(rf"\b({'|'.join(AVOIDED)})(?:s|ed|ing)?\b".replace(" ", r"\s+"), re.IGNORECASE)
STORED = {
    "ladder", "rungs", "in_turns", "scatter", "wandered", "the rounds scatter too much", "scatter-gather",
    "ladder.revert", r"^ladder\.",
}  # fmt: skip
"""Keys and values that notebooks, documents and settings files have had since version 0.1, and a feature of cards."""


def found_in(text: str) -> list[str]:
    """The avoided phrases in a text."""
    return [" ".join(match[1].lower().split()) for match in _PATTERN.finditer(text.replace("'ladder'", ""))]


def written(path: Path) -> Iterator[str]:
    """Every string of a module, docstrings included, but for the stored ones."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in STORED:
            yield node.value


def kinds_of_node(kind: type[Commanded] = Commanded) -> Iterator[type[Commanded]]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds_of_node(below)


@for_each("phrase", AVOIDED)
def test_each_phrase_is_noticed(phrase: str):
    assert found_in(f"It was {phrase.upper()} here.") == [phrase]
    assert found_in(f"It was {phrase.replace(' ', chr(10))} here.") == [phrase]


def test_words_that_only_look_like_them_are_let_through():
    assert found_in("grungy bladders of course end there, in turn") == []


@for_each("folder", ["app", "forms", "storage"])
def test_no_string_and_no_docstring_has_one(folder: str):
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert len(modules) > 10
    found = [(str(path), phrase) for path in modules for text in written(path) for phrase in found_in(text)]
    assert found == []


@for_each("folder", ["app", "forms"])
def test_no_data_for_people_has_one(folder: str):
    files = sorted((ROOT / folder).rglob("*.toml"))
    assert files
    stored = re.compile(rf'^key = "({"|".join(STORED)})"$', re.MULTILINE)
    texts = [(path.name, stored.sub("", path.read_text(encoding="utf-8"))) for path in files]
    assert [(name, phrase) for name, text in texts for phrase in found_in(text)] == []


@for_each("name", ["README.md", "TRUTH.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_no_document_has_one(name: str):
    assert found_in((ROOT / name).read_text(encoding="utf-8")) == []


def test_no_help_has_one():
    text = "\n".join(manual.pages().values())
    assert len(text) > 20_000
    assert found_in(text) == []


def test_no_key_and_no_screen_has_one():
    for entry in SCREENS:
        entry.load()
    texts = [text for entry in SCREENS for text in (entry.name, entry.title, entry.help)]
    commands = list(APP_KEYS)
    for kind in kinds_of_node():
        commands += kind.KEYS
        texts += [kind.ABOUT, *getattr(kind, "HINTS", {}).values()]
    assert len(commands) > 100
    texts += [text for one in commands for text in (one.id, one.name, one.help, one.footer)]
    assert [(text, phrase) for text in texts for phrase in found_in(text)] == []


@pytest.mark.parametrize("kind", MAKERS)
def test_no_form_has_one(kind: str, tmp_path: Path):
    with made_up_kind(), Notebook(tmp_path / "notebook.db") as notebook:
        head = notebook.recording(MAKERS[kind](notebook), *KINDS)
        report = kind_of(head).form(notebook, head)
        assert found_in(report_text(report)) == []
        assert found_in(markdown.render([report], paper="a4").decode()) == []
