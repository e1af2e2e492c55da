"""Text from outside in every field of a notebook: no screen, dialog or note in the corner hands it to the terminal."""

import ast
from pathlib import Path

import pytest
from textual.widgets import Input

from app.tui.frame.parts import LineInput
from app.tui.notebook.dialogs import EditDialog, LinesInput
from storage.notebook import Notebook
from storage.records import Worksheet
from tests.builders import book, hostile_series
from tests.tui import app_on, painted, settled

ROOT = Path(__file__).resolve().parents[3]
CLIPBOARD = "\x1b]52;c;SGFja2VkIQ==\x1b\\"
HOSTILE = f"e{CLIPBOARD}\x9b31mred\x07\x08\r\u202egnp\u200f[bold]x[/][@click=app.quit]y[/]"


def steering(text: str) -> set[str]:
    """The characters in what is painted that a terminal would obey, or that turn the text round."""
    return {c for c in text if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u200f"} - {"\n"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = book(tmp_path / "notebook.db", hostile_series(HOSTILE), baselines={HOSTILE: "0123456789ab"})
    with Notebook(path) as notebook:
        for kind in ("bottleneck", "clients"):
            notebook.save_worksheet(Worksheet(kind=kind, name=HOSTILE, saved_at="2026-01-01", content={}))
    return path


@pytest.mark.long
async def test_dialogs_notes_and_inputs_of_the_notebook(path):
    app = app_on(path)
    seen = ""
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        for keys in (["e"], ["tab"], ["escape", "b"], ["escape", "enter"], ["x"], ["escape", "escape", "d"],
                     ["left"], ["enter"], ["u"], ["s"], ["escape", "f1"], ["escape", "E"], ["ctrl+p"]):  # fmt: skip
            await pilot.press(*keys)
            await settled(app, pilot)
            shown = painted(app)
            assert steering(shown) == set(), keys
            seen += shown + "".join(note.message for note in app._notifications)
    assert "Press u in this list to undo" in seen
    assert seen.count("␛]52;c;") > 10


@pytest.mark.long
async def test_what_was_not_changed_in_a_dialog_stays_as_it_was(path):
    app = app_on(path)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(app, pilot)
        await pilot.press("e")
        await settled(app, pilot)
        assert isinstance(app.screen, EditDialog)
        for box in app.screen.query(LineInput):
            assert steering(box.value) == set()
            box.insert(CLIPBOARD, 0)
            assert steering(box.value) == set()
            box.value = HOSTILE
        lines = app.screen.query_one(LinesInput)
        assert steering(lines.text) == set()
        await pilot.press("ctrl+s")
        await settled(app, pilot)
    with Notebook(path) as notebook:
        assert notebook.series("last").label == HOSTILE
        assert notebook.series("last").note == HOSTILE


async def test_a_paste_steers_nothing(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", hostile_series("x")))
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        await pilot.press("e")
        await settled(app, pilot)
        lines = app.screen.query_one(LinesInput)
        lines.insert(CLIPBOARD)
        assert steering(lines.text) == set()


@pytest.mark.long
async def test_worksheets_with_hostile_names(path):
    app = app_on(path)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        for keys in (["ctrl+k"], ["ctrl+e"], ["f4"]):
            await pilot.press(*keys)
            await settled(app, pilot)
            assert steering(painted(app)) == set(), keys


def test_no_screen_uses_an_input_that_draws_what_it_is_given():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "app/tui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"Input", "TextArea", "MaskedInput"}
    ]
    assert found == []
    assert issubclass(LineInput, Input)


async def test_a_note_in_the_corner_is_plain_text_whoever_gives_it(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", hostile_series("x")))
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        app.screen.notify(f"{CLIPBOARD}[bold]", title=CLIPBOARD)
        await settled(app, pilot)
        assert "[bold]" in painted(app)
        assert "␛]52;c;" in painted(app)
        assert steering(painted(app)) == set()
