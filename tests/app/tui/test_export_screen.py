"""The export of forms from the TUI: formats, files that are there, places that cannot be written."""

import asyncio
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Button, Input, OptionList

from app.tui.export import ExportScreen
from app.tui.frame.dialogs import ConfirmDialog, MessageDialog
from app.tui.notebook.screen import NotebookScreen
from forms.exporters import FORMATS
from storage.notebook import Notebook
from storage.records import Target
from tests.builders import NASTY, book, one
from tests.recordings import MAKERS
from tests.tui import app_on, here, painted, press, settled, text_of
from tests.waiting import HANG_SECONDS

SMB = Target(protocol="smb", host="files.example", user="alice", share="data", path="big.bin")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return book(tmp_path / "notebook.db", one(1, label="before"), one(2, label=NASTY))


def text(name: str) -> str:
    """What is in a file."""
    return Path(name).read_text()


def begins_of(name: str) -> bytes:
    """The first bytes of a file."""
    return Path(name).read_bytes()[:20]


def before(content: str) -> None:
    """A file that is there already."""
    Path("before.html").write_text(content)


def names_in(folder: str | Path) -> list[str]:
    """The files of a folder, hidden ones too."""
    return [each.name for each in Path(folder).iterdir()]


def marks_of(count: int) -> list[str]:
    """The keys that mark so many lines, from the one with the cursor on."""
    return ["space", *["down", "space"] * (count - 1)] if count else []


def taken_from(folder: str) -> list[str]:
    """The files of a folder, which is empty then."""
    names = names_in(folder)
    for name in names:
        Path(folder, name).unlink()
    return names


@pytest.mark.long
async def test_with_enter_alone_the_series_becomes_a_document(path):
    app = app_on(path)
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        await pilot.press("down", "x")
        await settled(app, pilot)
        assert isinstance(app.screen, ExportScreen)
        assert "1 to export: before" in painted(app)
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        assert isinstance(here(app), NotebookScreen)
        assert "<html" in text("before.html")
        assert any("/desk/before.html" in note.message for note in app._notifications)


async def test_the_footer_says_what_enter_does_in_the_file_field(path):
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("x")
        await settled(app, pilot)
        assert "⏎ To the file name" in painted(app)
        assert "Mark several" in painted(app)
        await press(app, pilot, "enter")
        assert "⏎ Write" in painted(app)
        assert "⏎ To the file name" not in painted(app)


@pytest.mark.long
async def test_every_format_can_be_written(path):
    app = app_on(path)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        for at, name in enumerate(FORMATS):
            app.visit("export", ids=[f"{1:012x}", f"{2:012x}"])
            await settled(app, pilot)
            app.screen.query_one(OptionList).highlighted = at
            await pilot.press("enter", "ctrl+l", "enter")
            await settled(app, pilot)
            assert taken_from(".") == [f"before-and-bold-x-31mred-1-1{FORMATS[name].suffix}"], "named by both labels"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("label", "target", "name"),
    [
        ("", SMB, "2026-01-30-files.example-data-get.html"),
        ("", replace(SMB, protocol="ftp", share=None, port=2121), "2026-01-30-ftp-files.example-2121-get.html"),
        ("", Target(protocol="file", path="/mnt/new disk/x"), "2026-01-30-file-mnt-new-disk-x-get.html"),
        ("after: 10 Gb/s?", SMB, "after-10-Gb-s.html"),
        ("größer", SMB, "größer.html"),
        ("Con", SMB, "sharebench-Con.html"),
        ("com1.old", SMB, "sharebench-com1.old.html"),
        ("console", SMB, "console.html"),
        ("..", SMB, "sharebench.html"),
        ("x" * 61, SMB, f"{'x' * 60}.html"),
    ],
)
async def test_a_file_is_named_by_its_label_or_by_day_place_and_what_was_done(
    tmp_path, monkeypatch, label, target, name
):
    monkeypatch.chdir(tmp_path)
    made = one(1, label=label, target=target, created_at="2026-01-30T12:00:00.000Z")
    app = app_on(book(tmp_path / "notebook.db", made), first="export", ids=[made.id])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert app.screen.query_one("#path", Input).value == name


@pytest.mark.parametrize("kind", ["load", "isolation"])
async def test_a_recording_of_another_kind_is_named_in_the_same_way(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    with Notebook(tmp_path / "notebook.db") as notebook:
        made = MAKERS[kind](notebook)
        notebook.describe(made, label="")
    app = app_on(tmp_path / "notebook.db", first="export", ids=[made])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert f"1 to export: {kind} " in painted(app)
        assert made not in painted(app)
        assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d-[\w.-]+-{kind}\.html", app.screen.query_one("#path", Input).value)


async def test_several_kinds_are_called_recordings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Notebook(tmp_path / "notebook.db") as notebook:
        ids = [MAKERS[kind](notebook) for kind in ("series", "load", "trial")]
    app = app_on(tmp_path / "notebook.db", first="export", ids=ids)
    async with app.run_test(size=(120, 24)) as pilot:
        await settled(app, pilot)
        assert "3 to export: series 1, trial strict sync = v1 of 2026-01-05 10:00, load before" in painted(app)
        assert app.screen.query_one("#path", Input).value == "3-recordings.html"


@pytest.mark.long
async def test_several_marked_series_go_into_one_document(path):
    app = app_on(path)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("space", "down", "space", "x")
        await settled(app, pilot)
        app.screen.query_one(OptionList).highlighted = list(FORMATS).index("json")
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        assert {one["label"] for one in json.loads(text("before-and-bold-x-31mred-1-1.json"))} == {"before", NASTY}


@pytest.mark.long
async def test_a_file_that_is_there_is_asked_about(path):
    before("precious")
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        assert isinstance(app.screen, ConfirmDialog)
        await pilot.press("enter")
        await settled(app, pilot)
        assert text("before.html") == "precious"
        assert isinstance(here(app), ExportScreen)
        await pilot.press("enter")
        await settled(app, pilot)
        await pilot.press("left", "enter")
        await settled(app, pilot)
        assert "<html" in text("before.html")


@pytest.mark.varied
@pytest.mark.parametrize(
    ("typed", "why"),
    [("/proc/nothing/x.html", "cannot make /proc/nothing"), (".", "it is a folder"), ("/proc/x.html", "cannot write")],
)
async def test_a_place_that_cannot_be_written_is_told_and_nothing_is_lost(path, typed, why):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        app.screen.query_one("#path", Input).value = typed
        await settled(app, pilot)
        previewed = text_of(app.screen, "#folder")
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        if "nothing" in typed:
            assert "There is no folder /proc/nothing." in text_of(app.screen, ".dialog-text")
            await press(app, pilot, "enter")
        assert isinstance(app.screen, MessageDialog)
        assert why in text_of(app.screen, ".dialog-text")
        assert typed.startswith("/proc") or previewed in text_of(app.screen, ".dialog-text")
        await pilot.press("enter")
        assert isinstance(here(app), ExportScreen)
        assert here(app).query_one("#path", Input).value == typed
        assert not here(app).query_one("#write", Button).disabled, "nothing is written any more"


@pytest.mark.long
async def test_a_folder_that_is_missing_is_made_when_asked(path, tmp_path):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#path", Input).value = f"{tmp_path}/on/paper/form.html"
        app.screen.query_one("#path", Input).focus()
        await press(app, pilot, "enter")
        assert f"There is no folder {tmp_path}/on/paper." in text_of(app.screen, ".dialog-text")
        assert not (tmp_path / "on").exists()
        await press(app, pilot, "enter")
    assert (tmp_path / "on/paper/form.html").read_text().startswith("<!DOCTYPE")


@pytest.mark.long
async def test_a_name_of_ones_own_stays_when_the_format_changes(path):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("enter", "ctrl+u", *"mine", "shift+tab", "down")
        assert app.screen.query_one("#path", Input).value == "mine"
        app.screen.query_one("#path", Input).value = ""
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        assert isinstance(app.screen, ExportScreen)


async def test_a_series_that_is_gone_is_told(path):
    app = app_on(path, first="export", ids=["nothing"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        assert "no recording or baseline" in text_of(app.screen, ".dialog-text")
        assert names_in(".") == []


@pytest.mark.long
async def test_several_formats_are_written_at_once_and_the_folder_is_remembered(path, tmp_path):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await pilot.press("space", "down", "down", "space", "enter")
        app.screen.query_one("#path", Input).value = str(tmp_path / "paper" / "form.html")
        (tmp_path / "paper").mkdir()
        await settled(app, pilot)
        assert f"Writes form.html, form.pdf into {tmp_path}/paper" in painted(app)
        await pilot.press("enter")
        await settled(app, pilot)
    assert sorted(names_in(tmp_path / "paper")) == ["form.html", "form.pdf"]
    again = app_on(path, first="export", ids=[f"{1:012x}"])
    async with again.run_test(size=(120, 36)) as pilot:
        await settled(again, pilot)
        assert again.screen.query_one("#path", Input).value == f"{tmp_path}/paper/before", "what the two names share"
        assert f"Writes before.html, before.pdf into {tmp_path}/paper" in painted(again), "and so are the formats"


async def test_space_marks_and_stays_and_up_leads_back_from_the_file(path):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        formats = app.screen.query_one("#formats", OptionList)
        html = list(FORMATS).index("html")
        await press(app, pilot, "space", "down", "down", "space")
        assert (here(app).marked, formats.highlighted) == (["html", list(FORMATS)[html + 2]], html + 2)
        await press(app, pilot, "space")
        assert (here(app).marked, formats.highlighted) == (["html"], html + 2), "the same key takes the mark away"
        await press(app, pilot, "end", "space", "enter")
        assert app.focused is app.screen.query_one("#path")
        await press(app, pilot, "up")
        assert app.focused is formats
        assert formats.highlighted == len(FORMATS) - 1, "the key has done one thing"
        await press(app, pilot, "up")
        assert formats.highlighted == len(FORMATS) - 2


@pytest.mark.parametrize(
    ("typed", "marks", "written"),
    [
        ("f.pdf", 0, {"f.pdf (pdf)": b"%PDF"}),
        ("F.CSV", 0, {"F.CSV (csv)": b"\xef\xbb\xbfForm,"}),
        ("f.old", 0, {"f.old (html)": b"<!DOCTYPE html>"}),
        ("f.pdf", 1, {"f.html": b"<!DOCTYPE html>"}),
        ("F.CSV", 2, {"F.html": b"<!DOCTYPE html>", "F.xlsx": b"PK"}),
    ],
)
@pytest.mark.long
async def test_the_ending_decides_the_format_where_none_is_marked_and_what_is_written_is_said_before(
    path, typed, marks, written
):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, *marks_of(marks), "enter")
        app.screen.query_one("#path", Input).value = typed
        await settled(app, pilot)
        assert text_of(app.screen, "#folder") == f"Writes {', '.join(written)} into {Path.cwd()}"
        await press(app, pilot, "enter")
    assert sorted(names_in(".")) == [each.split()[0] for each in written]
    assert all(begins_of(each.split()[0]).startswith(begins) for each, begins in written.items())


@pytest.mark.parametrize(("marks", "endings"), [(0, ["html"]), (2, ["html", "xlsx"])])
@pytest.mark.long
async def test_a_name_that_ends_with_a_slash_is_the_folder_to_write_into(path, tmp_path, marks, endings):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, *marks_of(marks))
        app.screen.query_one("#path", Input).value = f"{tmp_path}/paper/"
        await settled(app, pilot)
        assert f"there is no folder {tmp_path}/paper" in text_of(app.screen, "#folder")
        app.screen.query_one("#path", Input).focus()
        await press(app, pilot, "enter")
        assert not (tmp_path / "paper").exists(), "no folder is made unasked"
        assert "paper" in text_of(app.screen, ".dialog-text")
        (tmp_path / "paper").mkdir()
        await press(app, pilot, "escape", "enter")
    assert sorted(names_in(tmp_path / "paper")) == [f"before.{ending}" for ending in endings]


@pytest.mark.varied
@pytest.mark.parametrize(
    ("typed", "marks", "said"),
    [
        ("", 0, "Name a file."),
        ("", 2, "Name a file."),
        ("/", 0, "Writes before.html (html) into /"),
        ("/", 2, "Writes before.html, before.xlsx into /"),
        (".", 0, "cannot write .: it is a folder; name a file in it"),
        (".", 2, "Writes before.html, before.xlsx into "),
        ("~nobody-of-that-name", 0, "Writes ~nobody-of-that-name (html) into "),
        ("~nobody-of-that-name", 2, "Writes ~nobody-of-that-name.html, "),
    ],
)
async def test_half_typed_names_break_nothing(path, typed, marks, said):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, *marks_of(marks))
        app.screen.query_one("#path", Input).value = typed
        await settled(app, pilot)
        assert text_of(app.screen, "#folder").startswith(said)


async def test_a_slow_look_at_an_older_name_says_nothing_of_the_newer(path, monkeypatch):
    goes_on = threading.Event()
    monkeypatch.setattr(
        "app.tui.export.output.is_there", lambda path: path.name == "older.html" and goes_on.wait(HANG_SECONDS)
    )
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        for name in ("older.html", "newer.html"):
            app.screen.query_one("#path", Input).value = name
            await asyncio.sleep(0.2)
        goes_on.set()
        await settled(app, pilot)
        assert text_of(app.screen, "#folder").startswith("Writes newer.html (html) into ")


@pytest.mark.varied
@pytest.mark.parametrize(("how", "said"), [("typed", "a b~x"), ("at once", "abx"), ("pasted", "a b~x")])
async def test_text_over_the_formats_goes_to_the_file_line_in_place_of_the_proposed_name(path, how, said):
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        if how == "typed":
            await press(app, pilot, *said)
        elif how == "at once":
            for character in said:  # each is for the list, which has the focus when they arrive
                app.screen.query_one("#formats").post_message(events.Key(character, character))
            await settled(app, pilot)
        else:
            app.screen.post_message(events.Paste(said))
            await settled(app, pilot)
        assert app.focused is app.screen.query_one("#path")
        assert app.screen.query_one("#path", Input).value == said
        assert here(app).marked == [], "a space within the name is no mark"
        await press(app, pilot, "up", "question_mark")
        assert not isinstance(here(app), ExportScreen), "a key that has a meaning keeps it"


async def test_it_is_printed_on_the_printer_that_is_chosen(path, monkeypatch):
    programs = path.parent / "programs"
    programs.mkdir()
    lpstat = "[ $1 = -e ] && printf 'attic\\noffice\\n' || echo 'system default destination: office'"
    lp = f'echo "$@" > {path.parent}/asked; cat > {path.parent}/paper; echo request id is attic-1'
    for name, does in (("lpstat", lpstat), ("lp", lp)):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+r")
        await settled(app, pilot)
        assert "office" in painted(app)
        await pilot.press("down", "enter")
        await settled(app, pilot)
        assert any("attic-1" in note.message for note in app._notifications)
    assert (path.parent / "paper").read_bytes().startswith(b"%PDF")
    assert "-d attic" in (path.parent / "asked").read_text()


async def test_without_lp_it_says_what_to_install(path, monkeypatch):
    monkeypatch.setenv("PATH", str(path.parent))
    app = app_on(path, first="export", ids=[f"{1:012x}"])
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+r")
        await settled(app, pilot)
        assert isinstance(app.screen, MessageDialog)
        assert "cups-client" in painted(app)
