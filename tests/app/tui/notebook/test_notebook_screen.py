"""The notebook's list: what it shows, how it is sorted, filtered and grouped, and what is done from it."""

import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from textual.app import App
from textual.widgets import Input, Label, OptionList, TextArea

from app.base.errors import UsageError
from app.guide.screen import GuideScreen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep
from app.method.rounds import branch_from
from app.recording.kind import kind_of, parts_of
from app.trial.screen import TrialScreen
from app.tui.catalogue import CatalogueScreen
from app.tui.frame.commands import offered
from app.tui.frame.dialogs import MessageDialog, PickDialog
from app.tui.frame.help import HelpDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.notebook import series_list
from app.tui.notebook.columns import COLUMNS, PlacedColumn, fit_columns
from app.tui.notebook.compare_screen import CompareScreen
from app.tui.notebook.deletion import question_before
from app.tui.notebook.dialogs import BaselineDialog, EditDialog, SeriesTexts
from app.tui.notebook.screen import NotebookScreen
from app.tui.notebook.series_list import SeriesList
from app.tui.notebook.series_screen import SeriesScreen
from app.tui.widgets.views import ChartView, in_columns
from forms.layout import Tone, Toned, visible
from forms.series.listing import RecordingLine
from forms.wording import default_title
from storage.notebook import Notebook
from storage.queries import Found, SortKey
from storage.records import Change, Command, Run, RunStatus, SeriesStatus, Target, utc_now
from tests.builders import CLIENT, NASTY, book, interleaved, one
from tests.recordings import MAKERS, lose_series
from tests.specs import plan_with
from tests.tui import FakeBackend, app_on, footer_of, here, painted, press, settled, shows, text_of


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return book(
        tmp_path / "notebook.db",
        one(1, (100e6, 100e6, 101e6, 99e6, 100e6), experiment="signing"),
        one(2, (80e6, 81e6, 80e6, 79e6, 80e6), experiment="signing", command=Command.PUT),
        one(3, (110e6,) * 5, target=Target(protocol="ftp", host="box", path="/pub/x")),
        baselines={"before": f"{1:012x}"},
    )


def shown(app) -> list[str]:
    """The labels in the list, from the top."""
    rows = app.screen.query_one(SeriesList)
    return [rows.lines[row.recording_id].label if hasattr(row, "recording_id") else f"# {row[0]}" for row in rows.rows]


def help_of(app) -> str:
    """The commands that F1 lists now, one a line."""
    return "\n".join(f"{one.command.name}: {one.command.help}" for one in offered(app.screen))


async def test_the_tui_opens_on_the_notebook_and_lists_the_newest_first(three):
    app = app_on(three)
    async with app.run_test(size=(140, 24)) as pilot:
        await settled(app, pilot)
        assert isinstance(app.screen, NotebookScreen)
        lines = painted(app).splitlines()
        assert "When (UTC)▼" in lines[2]
        assert lines[3].split()[:5] == [">", "2026-01-03", "10:00", "series", "series"]
        assert lines[4].split()[0] == "2026-01-02"
        assert "B 2026-01-01" in lines[5]
        for part in ("80.00 MB/s", "± 1.1 %", "64 %", "put 80.00", "nas/data/big.bin", "signing"):
            assert part in lines[4]
        assert "before" in lines[5]
        assert "3 recordings" in lines[0]


async def test_the_program_can_be_left_as_soon_as_it_is_painted(three, monkeypatch):
    app = app_on(three)
    display = type(app)._display

    def leave(self, screen, update):
        display(self, screen, update)
        self.exit(0)

    monkeypatch.setattr(type(app), "_display", leave)
    assert await app.run_async(headless=True, size=(120, 36)) == 0
    assert app.return_code == 0, "no fault on the way out"


async def test_while_the_filter_is_typed_only_the_keys_that_work_in_it_are_shown(three):
    app = app_on(three)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f")
        footer = footer_of(app)
        assert footer.split("  ")[0].strip() == "⏎ List"
        assert "esc Clear filter" in footer
        assert all(key not in footer for key in ("n Measure", "f3", "x Export"))
        await press(app, pilot, *"n3", "enter")
        assert "n Measure" in footer_of(app)


async def test_a_notebook_under_another_screen_is_not_read_again_until_it_is_seen(three):
    app = app_on(three)
    async with app.run_test(size=(140, 24)) as pilot:
        await settled(app, pilot)
        notebook = app.screen
        assert isinstance(notebook, NotebookScreen)
        notebook._seen_state = ()  # as if another program had written
        app.push_screen(MessageDialog("Measuring", "what is drawn under it takes time from a transfer"))
        await settled(app, pilot)
        notebook._look_again()
        assert notebook._seen_state == ()
        await press(app, pilot, "enter")
        assert notebook._seen_state != ()


async def test_at_80_columns_each_line_has_its_kind_a_name_and_its_answer(tmp_path):
    nas = Target(protocol="smb", host="10.79.0.2", share="share", path="big.iso", user="bench")
    title = default_title(Command.GET, nas)
    path = book(
        tmp_path / "notebook.db",
        one(1, target=nas, label="", title=title),
        one(2, target=replace(nas, host="10.79.0.3"), label="as delivered", command=Command.PUT),
        one(3, target=Target(protocol="ftp", host="10.79.0.4", path="/pub/big.iso", user="bench"), label="", title=""),
        one(4, target=replace(nas, host="198.18.219.218", port=34999), label="", title=""),
    )
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        long, ftp, second, first = painted(app).splitlines()[3:7]
        assert " 198.18.219…/big.iso " in long, "what is cut is not the file"
        assert " ftp://10.7…/big.iso " in ftp
        assert "as delivered" in second
        assert " 10.79.0.2/…/big.iso " in first, "where there is no label, what was measured names it"
        assert all("smb:" not in line and "bench" not in line for line in (ftp, second, first))
        assert "put 100.0 MB/s" in second
        assert all(" series " in line and "100.0 MB/s ± 0.9 %" in line for line in (ftp, second, first))
        whole = text_of(app.screen, "#whole").splitlines()
        assert whole == ["get 100.0 MB/s ± 0.9 %, 80 % of link", "198.18.219.218:34999/share/big.iso"]
        await press(app, pilot, "down", "down")
        assert text_of(app.screen, "#whole").startswith("as delivered\nput 100.0 MB/s")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 36)])
async def test_an_answer_has_the_room_of_columns_that_nobody_fills(tmp_path, columns, rows):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        for kind in ("load", "audit", "isolation"):
            MAKERS[kind](notebook)
    app = app_on(path)
    async with app.run_test(size=(columns, rows)) as pilot:
        await settled(app, pilot)
        lines = painted(app).splitlines()
        assert ("Target" in lines[2]) is (columns == 120)
        assert any("20 users carried, 40 not; the limit: errors" in line for line in lines[3:6])
        assert any("No problems found." in line for line in lines[3:6])
        told = "Inconclusive: there is nothing to compare the server with"
        assert (told in lines[3]) is (columns == 120)
        assert told in "".join(lines[6:]), "what is cut in the line stands whole below the list"


async def test_a_date_has_its_year_in_a_narrow_list_only_where_it_is_another_one(tmp_path):
    old = replace(one(2), created_at="2025-12-31T10:00:00.000Z")
    app = app_on(book(tmp_path / "notebook.db", one(1), old))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        newer, older = painted(app).splitlines()[3:5]
        assert newer.split()[1:4] == ["1", "Jan", "10:00"]
        assert older.split()[:3] == ["31", "Dec", "2025"]


async def test_what_was_measured_stands_once_in_a_line_that_has_room_for_the_target(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1, label="", title=""), one(2, label="as delivered")))
    for width in (80, 120, 200):
        async with app.run_test(size=(width, 24)) as pilot:
            await settled(app, pilot)
            labelled, bare = painted(app).splitlines()[3:5]
            assert "as delivered" in labelled
            assert bare.count("nas") == 1, width
        app = app_on(tmp_path / "notebook.db")


async def test_a_screen_that_grows_shows_the_form_of_the_series_pointed_at(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1, label="as delivered")))
    async with app.run_test(size=(80, 18)) as pilot:
        await settled(app, pilot)
        assert "Average:" not in painted(app)
        await pilot.resize_terminal(120, 36)
        await settled(app, pilot)
        assert "Average:" in painted(app)


@pytest.mark.parametrize("recordings", [0, 1])
async def test_until_it_was_read_nobody_knows_whether_anything_was_measured(tmp_path, monkeypatch, recordings: int):
    path = book(tmp_path / "notebook.db", *[one(number) for number in range(1, recordings + 1)])
    app = app_on(path)
    with monkeypatch.context() as patched:
        patched.setattr(NotebookScreen, "look", Mock())
        async with app.run_test() as pilot:
            await settled(app, pilot)
            assert "Reading the notebook …" in painted(app)
            assert "Nothing measured yet" not in painted(app)

            patched.undo()
            here(app).look()
            await settled(app, pilot)
            assert "Reading the notebook" not in painted(app)
            assert ("Nothing measured yet" in painted(app)) is (recordings == 0)


async def test_an_empty_notebook_says_what_to_do(tmp_path):
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "Nothing measured yet. Choose where to start." in painted(app)
        assert [line.split()[:2] for line in painted(app).splitlines() if re.match(r" ?(F\d|Shift\+Q) ", line)] == [
            ["F3", "Measure"],
            ["Shift+Q", "Quick"],
            ["F8", "Diagnose"],
            ["F4", "Survey"],
            ["F5", "Load"],
            ["F6", "Isolate"],
            ["F7", "Audit"],
        ]
        keys = painted(app).splitlines()[-1]
        assert keys.startswith(" n Measure ")
        assert keys.count("Measure") == 1
        assert keys.endswith("^p Find  F1 Help  ^q Quit ")
        await pilot.press("e", "b", "c", "x", "d", "space", "g", "s")
        await settled(app, pilot)
        assert isinstance(app.screen, NotebookScreen)
        await pilot.press("down", "down", "enter")
        await settled(app, pilot)
        assert type(app.screen).__name__ == "DiagnosisScreen"
        await pilot.press("f2", "n")
        assert type(app.screen).__name__ == "GuideScreen"


@pytest.mark.parametrize(("count", "opened"), [(0, "GuideScreen"), (2, "SeriesScreen")])
async def test_an_enter_pressed_before_the_notebook_is_read_is_carried_out_then(tmp_path, monkeypatch, count, opened):
    app = app_on(book(tmp_path / "notebook.db", *map(one, range(1, count + 1))))
    look = NotebookScreen.look
    monkeypatch.setattr(NotebookScreen, "look", lambda *_, **__: None)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(app, pilot, "enter")
        assert isinstance(app.screen, NotebookScreen)
        look(here(app))
        await settled(app, pilot)
        assert type(app.screen).__name__ == opened


@pytest.mark.long
async def test_after_a_measurement_the_list_has_the_focus_and_the_cursor_is_on_the_newest(tmp_path):
    path = tmp_path / "notebook.db"
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("f3")
        book(path, one(1), one(2))
        await settled(app, pilot)
        await pilot.press("f2")
        await settled(app, pilot)
        assert footer_of(app).startswith(" n Measure  ⏎ Open  c Compare  f Filter  x Export ")
        await pilot.press("end")
        for newer, expected in ((None, 1), (3, 3)):
            await pilot.press("f3")
            await settled(app, pilot)
            if newer:
                book(path, one(newer))
            await pilot.press("f2")
            await settled(app, pilot)
            assert here(app).pointed_id() == f"{expected:012x}", (
                "it stays where it was, unless there is something newer"
            )
        book(path, one(4))
        here(app)._look_again()
        await settled(app, pilot)
        assert here(app).pointed_id() == f"{3:012x}", "another program's recording does not move the cursor"
        book(path, one(5))
        here(app)._points_to_newest = True
        here(app).look()
        here(app)._look_again()
        await settled(app, pilot)
        assert here(app).pointed_id() == f"{5:012x}", "looking again does not forget that one just came back"


@pytest.mark.varied
@pytest.mark.parametrize("dialog", ["ctrl+p", "f1"])
async def test_what_arrives_from_outside_under_a_dialog_does_not_move_the_cursor(three, dialog: str):
    app = app_on(three)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "end", dialog)
        book(three, one(4))
        await press(app, pilot, "escape")
        assert "4 recordings" in painted(app)
        assert here(app).pointed_id() == f"{1:012x}"


@pytest.mark.varied
@pytest.mark.parametrize(("columns", "rows"), [(80, 2), (149, 2), (150, 1), (200, 1)])
async def test_label_baseline_and_delete_are_among_the_keys_at_every_size(three, columns: int, rows: int):
    app = app_on(three)
    async with app.run_test(size=(columns, 24)) as pilot:
        await settled(app, pilot)
        keys = "n Measure", "⏎ Open", "c Compare", "f Filter", "x Export", "e Label", "b Baseline", "d Delete"
        assert [key for key in keys if key not in footer_of(app)] == []
        assert app.screen.query_one(KeyBar).size.height == rows
        assert ("n Measure" in painted(app).splitlines()[-1]) is (rows == 1)


async def test_what_is_told_covers_no_key(three):
    app = app_on(three)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(app, pilot)
        before = painted(app).splitlines()[-2:]
        here(app).notify("The notebook has no other recording of this kind yet.")
        await settled(app, pilot)
        assert "The notebook has no other" in painted(app)
        assert painted(app).splitlines()[-2:] == before


async def test_the_question_mark_helps_and_q_leaves_but_not_from_an_input(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("f", "question_mark", "q")
        await settled(app, pilot)
        assert app.screen.query_one("#filter", Input).value == "?q"
        await pilot.press("enter", "question_mark")
        assert isinstance(app.screen, HelpDialog)
        await pilot.press("escape", "q")
        await pilot.pause()
    assert app.return_code == 0


async def test_ctrl_z_suspends(three, monkeypatch):
    suspended = Mock()
    monkeypatch.setattr(App, "action_suspend_process", suspended)
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+z")
    suspended.assert_called_once()


async def test_no_number_of_recordings_is_shown_before_they_are_counted(three, monkeypatch):
    monkeypatch.setattr(NotebookScreen, "look", lambda _screen: None)
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert painted(app).splitlines()[0].startswith("─sharebench · Notebook──")
        monkeypatch.undo()
        here(app).look()
        await settled(app, pilot)
        assert "─sharebench · Notebook · 3 recordings──" in painted(app)


@pytest.mark.long
async def test_words_filter_as_they_are_typed(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("f", *"signing PUT")
        here(app).look()
        await settled(app, pilot)
        assert shown(app) == ["series 2"]
        assert "1 of 3 recordings" in painted(app)
        await pilot.press("enter")
        assert app.focused is app.screen.query_one(SeriesList)
        assert "esc Clear filter" in painted(app)
        await press(app, pilot, "space")
        assert "esc Clear filter" in painted(app), "whether it hides a mark or not"
        await press(app, pilot, "f")
        assert "esc Clear filter" in painted(app), "in its line"
        await press(app, pilot, "enter", "escape")
        here(app).look()
        await settled(app, pilot)
        assert len(shown(app)) == 3
        assert len(here(app).marked_ids()) == 1
        assert "esc Clear marks" in painted(app)
        await press(app, pilot, "escape")
        assert "esc" not in painted(app)


async def test_the_notebook_that_is_open_twice_has_the_same_marks(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "space")
        marked = here(app).marked_ids()
        app.push_screen(NotebookScreen())
        await settled(app, pilot)
        assert "1 marked" in painted(app)
        assert here(app).marked_ids() == marked
        await press(app, pilot, "escape")
        assert here(app).marked_ids() == []
        assert "esc Back" in painted(app)
        await press(app, pilot, "escape")
        assert "marked" not in painted(app)
        assert "esc" not in footer_of(app), "nothing is below the first"


@pytest.mark.long
async def test_what_was_deleted_over_a_screen_that_measures_can_be_restored_below_it(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        app.push_screen(NotebookScreen())
        await settled(app, pilot)
        await press(app, pilot, "d")
        assert "2 recordings" in painted(app)
        await press(app, pilot, "escape", "u")
        assert "3 recordings" in painted(app)


@pytest.mark.long
async def test_the_filter_goes_before_marks_that_it_hides(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "space")
        marked = here(app).marked_ids()
        await pilot.press("f", *"signing PUT", "enter")
        here(app).look()
        await settled(app, pilot)
        assert "1 marked (1 hidden by the filter)" in painted(app)
        await press(app, pilot, "escape")
        here(app).look()
        await settled(app, pilot)
        assert (len(shown(app)), here(app).marked_ids()) == (3, marked)
        await press(app, pilot, "escape")
        assert here(app).marked_ids() == []


@pytest.mark.parametrize(
    ("typed", "kinds"),
    [
        ("inconclusive no difference", ["trial"]),
        ("no problems", ["audit"]),
        ("20 users", ["load"]),
        ("strict = v1", ["trial"]),
        ("strict=v1", ["trial"]),
        ("80 % of link", ["series"]),
        ("31 jan before", ["load"]),
        ("diagnosis 3.25", ["diagnosis"]),
    ],
)
@pytest.mark.parametrize("at_once", [1, 1000])
@pytest.mark.long
async def test_a_filter_finds_what_the_row_shows(tmp_path, monkeypatch, typed: str, kinds: list[str], at_once: int):
    monkeypatch.setattr("app.tui.notebook.readings._READ_AT_ONCE", at_once)
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        for kind in ("series", "load", "trial", "audit", "diagnosis"):
            MAKERS[kind](notebook)
    app = app_on(path)
    async with app.run_test(size=(140, 36)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#filter", Input).value = typed
        here(app).look()
        await settled(app, pilot)
        rows = app.screen.query_one(SeriesList)
        assert [row.kind for row in rows.rows if isinstance(row, Found)] == kinds
        assert len(here(app)._up_to_date) == 5, "all are read, however few at once"


@pytest.mark.long
async def test_a_filter_finds_what_a_recording_shows_since_it_was_read(three):
    app = app_on(three)
    async with app.run_test(size=(140, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f", *"100.0")
        here(app).look()
        await settled(app, pilot)
        assert shown(app) == ["series 1"]
        with Notebook(three) as notebook:
            head = notebook.recording(f"{2:012x}")
            for number in range(1, 6):
                kind_of(head).judge(notebook, head, str(number), RunStatus.REJECTED, "the backup ran")
        here(app).rows.ask_again()
        here(app).look()
        await settled(app, pilot)
        await press(app, pilot, "ctrl+u", *"no valid")
        here(app).look()
        await settled(app, pilot)
        assert shown(app) == ["series 2"]


@pytest.mark.long
async def test_a_filter_that_finds_nothing_leaves_nothing_to_act_on(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("slash", *"zebra", "down")
        here(app).look()
        await settled(app, pilot)
        assert "No recording has all of these words" in painted(app)
        assert here(app).pointed_id() is None
        await pilot.press("e", "d", "enter", "space")
        await settled(app, pilot)
        assert "0 of 3 recordings" in painted(app)
        assert [
            key for key in ("Label and note", "Delete", "Compare", "Try", "Again") if f"{key}: " in help_of(app)
        ] == []
        assert [key for key in ("Filter", "Sort", "Group") if f"{key}: " in help_of(app)] == ["Filter", "Sort", "Group"]
        footer = footer_of(app)
        assert "esc Clear filter" in footer
        assert "Open" not in footer
        assert "Export" not in footer
        await press(app, pilot, "f", *["backspace"] * 5, "enter")
        here(app).look()
        await settled(app, pilot)
        assert "⏎ Open" in footer_of(app)


@pytest.mark.long
async def test_a_trial_from_the_notebook_measures_the_file_of_the_series_pointed_at(three):
    app = app_on(three)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert "t Try" in footer_of(app)
        await press(app, pilot, "t")
        assert isinstance(app.screen, CatalogueScreen)
        with Notebook(three) as notebook:
            choices = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
        assert (choices.target, choices.file) == (Target(protocol="ftp", host="box", path="/pub"), "/pub/x")
        await press(app, pilot, "enter", "t")
        assert isinstance(app.screen, TrialScreen)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("Sweep (S)", "sharebench sweep 'NAME=VALUE1,VALUE2' TARGET"),
        ("Tune (T)", "sharebench tune TARGET"),
    ],
)
@pytest.mark.long
async def test_sweep_and_tune_are_found_among_all_commands(three, name, command):
    app = app_on(three)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "ctrl+p", *name.partition(" ")[0].lower())
        assert name in painted(app)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, MessageDialog)
        assert command in text_of(app.screen, ".dialog-text")


async def test_sorting_by_a_column_and_the_other_way_round(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        for expected in (["series 3", "series 1", "series 2"], ["series 2", "series 1", "series 3"]):
            await pilot.press("s")
            assert isinstance(app.screen, PickDialog)
            app.screen.query_one(OptionList).highlighted = 6
            await pilot.press("enter")
            await settled(app, pilot)
            assert shown(app) == expected


@pytest.mark.long
async def test_a_click_on_a_heading_sorts_and_on_a_row_points(three):
    app = app_on(three)
    async with app.run_test(size=(120, 24)) as pilot:
        await settled(app, pilot)
        heading = painted(app).splitlines()[2]
        await pilot.click(SeriesList, offset=(heading.index("Answer") + 1, 0))
        await settled(app, pilot)
        assert shown(app) == ["series 3", "series 1", "series 2"]
        await pilot.click(SeriesList, offset=(10, 3))
        assert here(app).pointed_id() == f"{2:012x}"
        await pilot.click(SeriesList, offset=(10, 2), times=2)
        await settled(app, pilot)
        assert isinstance(app.screen, SeriesScreen)
        assert app.screen.series_id == f"{1:012x}"


async def test_grouping_puts_headings_that_the_cursor_passes_over(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("g")
        await settled(app, pilot)
        assert shown(app) == ["# signing", "series 2", "series 1", "# None", "series 3"]
        assert "─ signing (2 recordings)" in painted(app)
        assert "─ No experiment (1 recording)" in painted(app)
        rows = app.screen.query_one(SeriesList)
        seen = []
        await pilot.press("home")
        for key in ("down", "down", "up", "up"):
            seen.append(rows.cursor)
            await pilot.press(key)
        assert seen == [1, 2, 4, 2]
        assert rows.cursor == 1


@pytest.mark.long
async def test_a_deleted_series_is_gone_and_comes_back_whole(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("end", "d")
        await settled(app, pilot)
        asked = 'series 1 (2026-01-01 10:00). The baseline "before" is deleted too. The experiment "signing"'
        assert text_of(app.screen, ".dialog-text").startswith(asked)
        await press(app, pilot, "escape")
        assert len(shown(app)) == 3
        await press(app, pilot, "d", "n")
        assert len(shown(app)) == 3
        await press(app, pilot, "d", "y")
        assert shown(app) == ["series 3", "series 2"]
        with Notebook(three) as notebook:
            assert len(notebook.heads()) == 2
            assert not notebook.baselines()
        await press(app, pilot, "home", "u")
        assert shown(app) == ["series 3", "series 2", "series 1"]
        assert here(app).pointed_id() == f"{1:012x}", "the cursor goes to what is back"
        with Notebook(three) as notebook:
            assert notebook.series("before").label == "series 1"
        await pilot.press("u")
        await settled(app, pilot)
        assert len(shown(app)) == 3


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.long
async def test_what_is_deleted_is_called_as_the_list_calls_it_and_undo_is_offered(tmp_path, alike: bool):
    when = "2026-01-03T10:00:30.000Z" if alike else "2026-01-04T10:00:00.000Z"
    path = book(tmp_path / "notebook.db", one(3, label=""), one(4, label="", created_at=when))
    app = app_on(path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(app, pilot)
        assert "u Undo" not in footer_of(app)
        assert "Undo the last deletion" not in help_of(app)
        await press(app, pilot, "end", "d")
        named = f"nas/data/big.bin (2026-01-03 10:00){f' ({3:012x})' if alike else ''}"
        assert [note.message for note in app._notifications] == [
            f"{named}. Press u in this list to undo, until you quit."
        ]
        assert footer_of(app).startswith(" u Undo  n Measure ")
        await press(app, pilot, "u")
        assert [note.message for note in app._notifications] == [f"{named}."]
        assert "u Undo" not in footer_of(app)


@pytest.mark.long
async def test_delete_takes_all_that_are_marked_and_undo_puts_all_back(tmp_path):
    made = (one(1), one(2), one(3, base_id=f"{1:012x}"))
    path = book(tmp_path / "notebook.db", *made, baselines={"before": f"{1:012x}"})
    app = app_on(path)
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        await pilot.press("end", "space", "home", "space")
        assert here(app).pointed_id() == f"{3:012x}", "the cursor stays"
        assert "2 marked · 3 recordings" in painted(app)
        await press(app, pilot, "d")
        named = "2 recordings are marked: series 1 (2026-01-01 10:00) and series 3 (2026-01-03 10:00)."
        assert named in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "left", "enter")
        assert shown(app) == ["series 2"]
        assert [note.message for note in app._notifications] == [
            "2 recordings. Press u in this list to undo, until you quit."
        ]
        assert here(app).marked_ids() == []
        await pilot.press("u")
        await settled(app, pilot)
        assert [note.message for note in app._notifications] == ["2 recordings."], "one note at a time"
        assert shown(app) == ["series 3", "series 2", "series 1"]
        with Notebook(path) as notebook:
            assert notebook.series("before").label == "series 1"
            assert notebook.series(f"{3:012x}").base_id == f"{1:012x}"


@pytest.mark.long
async def test_what_could_not_be_restored_is_restored_later(three, monkeypatch):
    restored = Notebook.restore

    def full(notebook, removed):
        if removed.recording.label == "series 2":
            raise sqlite3.OperationalError("database or disk is full")
        restored(notebook, removed)

    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "end", "space", "up", "space", "home", "space", "d", "y")
        assert shown(app) == []
        with monkeypatch.context() as patched:
            patched.setattr(Notebook, "restore", full)
            await press(app, pilot, "u")
        assert "disk is full" in text_of(app.screen, ".dialog-text")
        await press(app, pilot, "escape", "u")
        assert shown(app) == ["series 3", "series 2", "series 1"]


@pytest.mark.long
async def test_what_is_being_measured_stays_while_the_other_marked_series_go(three):
    with Notebook(three) as notebook:
        notebook.take(f"{2:012x}")
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "A", "d", "left", "enter")
        assert isinstance(app.screen, MessageDialog)
        assert "being measured" in text_of(app.screen, ".dialog-text")
        await pilot.press("enter")
        await settled(app, pilot)
        assert shown(app) == ["series 2"]
        assert here(app).marked_ids() == [f"{2:012x}"]


@pytest.mark.long
async def test_all_those_listed_or_the_others_are_marked_with_a_key(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("f", *"signing", "enter")
        here(app).look()
        await settled(app, pilot)
        await pilot.press("A")
        assert here(app).marked_ids() == [f"{2:012x}", f"{1:012x}"]
        assert "2 marked · 2 of 3 recordings" in painted(app)
        keys = footer_of(app)
        assert keys.index("Compare") < keys.index("Export") < keys.index("Delete") < keys.index("Measure")
        await pilot.press("home", "space", "i")
        assert here(app).marked_ids() == [f"{2:012x}"]
        await pilot.press("escape")
        await settled(app, pilot)
        keys = footer_of(app)
        assert keys.index("Measure") < keys.index("Open")


@pytest.mark.varied(marks=1)
@pytest.mark.parametrize(
    ("marks", "said"),
    [((), ""), (("space",), " of the marked recording"), (("space", "down", "space"), " of 2 marked recordings")],
)
@pytest.mark.parametrize(("key", "heading"), [("e", "Label and note"), ("b", "Baseline")])
async def test_what_is_asked_for_says_whose_it_is_where_the_cursor_does_not(three, key, heading, marks, said):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, *marks, key)
        assert str(app.screen.query_one(".dialog-heading", Label).content) == heading + said


async def test_a_label_is_given_to_all_marked_series_and_their_notes_stay_their_own(three):
    with Notebook(three) as notebook:
        notebook.annotate(replace(notebook.series(f"{1:012x}"), note="the first"))
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("space", "end", "space", "up", "e")
        await settled(app, pilot)
        assert app.screen.query_one("#label", Input).value == ""
        app.screen.query_one("#label", Input).value = "old switch"
        await pilot.press("enter")
        await settled(app, pilot)
        assert shown(app) == ["old switch", "series 2", "old switch"]
        with Notebook(three) as notebook:
            assert [notebook.series(f"{n:012x}").note for n in (1, 3)] == ["the first", ""]


async def test_lines_that_were_read_before_a_change_are_not_listed_after_it(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        rows = here(app).rows
        edition, lines = rows.edition, [*rows.lines.values()]
        with Notebook(three) as notebook:
            notebook.annotate(replace(notebook.series(f"{1:012x}"), label="new switch"))
        here(app).changed(f"{1:012x}")
        await settled(app, pilot)
        rows.fill(lines, edition)
        assert shown(app) == ["series 3", "series 2", "new switch"]


async def test_a_row_is_listed_as_it_was_until_it_is_read_again_and_changes_meanwhile_keep_no_answer_away(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        rows = here(app).rows
        before = [*rows.lines.values()]
        rows.ask_again()
        assert [*rows.lines.values()] == before, "no row is empty while it is read again"
        asked_at = rows.edition
        rows.ask_again()  # something else was written before the answer came
        rows.fill([replace(line, label=f"{line.label} now") for line in before], asked_at)
        assert shown(app) == ["series 3 now", "series 2 now", "series 1 now"]
        rows.fill(before, asked_at - 1)
        assert shown(app) == ["series 3 now", "series 2 now", "series 1 now"], "an older answer replaces no newer one"
        rows.fill(before, asked_at)
        assert shown(app) == ["series 3", "series 2", "series 1"], "one of the same time does"


async def test_lines_in_view_stay_when_those_of_very_many_recordings_are_forgotten(three, monkeypatch):
    monkeypatch.setattr(series_list, "_MOST_LINES_KEPT", 2)
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        rows = here(app).rows
        asked_at = rows.edition
        newest, *others = rows.lines.values()
        rows.ask_again()
        await settled(app, pilot)

        rows.fill([newest], rows.edition)
        assert shown(app) == ["series 3", "series 2", "series 1"], "those in view were not asked for anew"
        rows.fill([replace(line, label="as it was before") for line in others], asked_at)
        assert shown(app) == ["series 3", "series 2", "series 1"], "an older answer replaces no newer one"


async def test_lines_out_of_view_are_forgotten_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(series_list, "_MOST_LINES_KEPT", 10)
    every = [replace(one(n, (1e6,) * 3), created_at=f"2026-01-01T10:{n:02}:00.000Z") for n in range(1, 60)]
    path = book(tmp_path / "notebook.db", *every)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        rows = here(app).rows
        for key in ("end", "home", "end", "home"):
            await pilot.press(key)
            await settled(app, pilot)
            assert [row.recording_id for row in rows._rows_around_view(0) if row.recording_id not in rows.lines] == []
        assert len(rows.lines) < 59


async def test_a_recording_that_is_gone_needs_no_id_to_tell_another_apart_from_it(tmp_path):
    path = book(tmp_path / "notebook.db", *(replace(one(n, (1e6,) * 3), label="same") for n in (1, 2)))
    with Notebook(path) as notebook:
        times = {notebook.series(f"{n:012x}").created_at for n in (1, 2)}
    app = app_on(path)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        rows = here(app).rows
        both = [replace(line, created_at="2026-01-31T10:00:00.000Z") for line in rows.lines.values()]
        rows.fill(both, rows.edition)
        ids = [f"{1:012x}", f"{2:012x}"]
        assert all(one in rows.names(ids)[one] for one in ids), times
        with Notebook(path) as notebook:
            notebook.remove(ids[1])
        here(app).look()
        await settled(app, pilot)
        assert ids[0] not in rows.names(ids[:1])[ids[0]]


@pytest.mark.long
async def test_a_name_goes_to_all_marked_series_if_they_are_repeats(tmp_path):
    made = (one(1), one(2, command=Command.PUT), one(3))
    three = book(tmp_path / "notebook.db", *made, baselines={"before": f"{1:012x}"})
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("space", "b")
        await settled(app, pilot)
        await pilot.press(*"fast", "enter")
        await settled(app, pilot)
        await pilot.press("end", "space", "b")
        await settled(app, pilot)
        assert (here(app).own_names, here(app).other_names) == (["before", "fast"], [])
        await pilot.press(*"both", "enter")
        await settled(app, pilot)
        await pilot.press("A", "b")
        await settled(app, pilot)
        await pilot.press(*"all", "enter")
        await settled(app, pilot)
        assert "differ (command get → put)" in text_of(app.screen, ".dialog-text")
    with Notebook(three) as notebook:
        assert notebook.baseline_ids("fast") == [f"{3:012x}"]
        assert notebook.baseline_ids("both") == [f"{1:012x}", f"{3:012x}"]
        assert notebook.baseline_ids("all") == []


async def test_label_and_note_are_kept_as_typed(three):
    app = app_on(three)
    async with app.run_test(size=(200, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("e")
        await settled(app, pilot)
        assert isinstance(app.screen, EditDialog)
        app.screen.query_one("#label", Input).value = NASTY
        app.screen.query_one("#note", TextArea).text = "two\nlines"
        await pilot.press("ctrl+s")
        await settled(app, pilot)
        assert "[bold]x[/] ␛[31mred" in painted(app)
        with Notebook(three) as notebook:
            series = notebook.series("last")
        assert (series.label, series.note) == (visible(NASTY), "two\nlines")
        await pilot.press("e")
        await settled(app, pilot)
        app.screen.query_one("#label", Input).value = "thrown away"
        await pilot.press("escape")
        await settled(app, pilot)
        with Notebook(three) as notebook:
            assert notebook.series("last").label == visible(NASTY)


@pytest.mark.parametrize(("name", "told"), [("before", ", and no longer 1 other"), ("after", "")])
async def test_a_baseline_that_is_moved_says_so(three, name, told):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "b", *name, "enter")
        (said,) = (one.message for one in app._notifications)
        assert said.startswith(f"{name!r} now names this recording{told}. This base will show a change of ")
        assert said.endswith(" B marks it; the filter (f) finds it by baseline.")


BASE_PLACE = Target(protocol="smb", host="nas", port=445, share="data", path="big.bin", user="alice")


@pytest.mark.varied
@pytest.mark.parametrize(("count", "age_seconds", "offers"), [(1, 60, True), (1, 3660, False), (3, 60, False)])
async def test_a_name_for_a_fresh_base_offers_its_repeats_before_the_change(
    tmp_path, count: int, age_seconds: int, offers: bool
):
    made = [
        one(number, target=BASE_PLACE, created_at=utc_now(seconds_ago=age_seconds + count - number))
        for number in range(1, count + 1)
    ]
    path = book(tmp_path / "notebook.db", *made)
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "A", "b", *"before", "enter")
        assert isinstance(here(app), PickDialog) is offers
        with Notebook(path) as notebook:
            assert len(notebook.baseline_ids("before")) == count
        if not offers:
            return

        assert "This base will show a change of" in text_of(app.screen, ".dialog-text")
        plans = here(app).rows[:-1]
        await press(app, pilot, *["down"] * (len(plans) - 1), "enter")
        assert isinstance(app.screen, GuideScreen)
        choices = app.screen.session.choices
        longest_plan, _ = plans[-1]
        assert (choices.planned_repeats, choices.spacing_seconds) == (longest_plan.series, longest_plan.spacing_seconds)
        assert choices.spec.lineage.base_id == made[-1].id
        assert choices.step is MethodStep.RUN


async def test_who_measures_no_repeats_of_a_baseline_now_stays_in_the_notebook(tmp_path):
    path = book(tmp_path / "notebook.db", one(1, target=BASE_PLACE, created_at=utc_now()))
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "b", *"before", "enter")
        assert isinstance(here(app), PickDialog)
        await press(app, pilot, "end", "enter")
        assert isinstance(here(app), NotebookScreen)
        with Notebook(path) as notebook:
            assert notebook.baseline_ids("before") == [f"{1:012x}"]
            assert notebook.remembered(MEMORY_KEY) is None, "nothing was planned"


@pytest.mark.varied
@pytest.mark.parametrize("key", ["e", "b"])
async def test_enter_typed_twice_in_one_go_answers_a_dialog_once_and_leaves_the_screen_below_it(three, key):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, key)
        box = app.focused
        assert isinstance(box, Input)
        box.value = "new name"
        for _ in range(2):
            box.post_message(Input.Submitted(box, box.value))
        await settled(app, pilot)
        assert isinstance(app.screen, NotebookScreen)
        with Notebook(three) as notebook:
            named = [notebook.series("last").label, *(one.name for one in notebook.baselines())]
        assert named.count("new name") == 1


async def test_what_is_typed_right_after_a_key_goes_into_its_dialog_and_not_to_the_list(three):
    app = app_on(three)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        here(app).action_edit()
        assert isinstance(app.screen, EditDialog), "before the notebook was read"
        await press(app, pilot, "escape", "e", *"fast")
        here(app).fill(SeriesTexts("too late", "a note"))
        assert (app.screen.query_one("#label", Input).value, app.screen.query_one("#note", TextArea).text) == (
            "fast", "a note",
        )  # fmt: skip
        await press(app, pilot, "escape")
        here(app).action_baseline()
        assert isinstance(app.screen, BaselineDialog)
        await settled(app, pilot)
        assert "Move the name here: before" in painted(app)


async def test_baselines_are_given_moved_and_taken_away(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("b")
        await settled(app, pilot)
        assert isinstance(app.screen, BaselineDialog)
        await pilot.press(*"fast", "enter")
        await settled(app, pilot)
        assert names(three) == {"before": f"{1:012x}", "fast": f"{3:012x}"}
        await pilot.press("b")
        await settled(app, pilot)
        await pilot.press("tab", "down", "enter")
        await settled(app, pilot)
        assert names(three) == {"before": f"{3:012x}", "fast": f"{3:012x}"}
        await pilot.press("b")
        await settled(app, pilot)
        await pilot.press("tab", "enter")
        await settled(app, pilot)
        assert names(three) == {"fast": f"{3:012x}"}


async def test_enter_takes_the_offered_name_of_a_baseline_unless_it_names_another(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("b")
        await settled(app, pilot)
        assert "reference" in painted(app)
        await pilot.press("enter")
        await settled(app, pilot)
        assert names(three) == {"before": f"{1:012x}", "reference": f"{3:012x}"}
        await pilot.press("down", "b")
        await settled(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert isinstance(app.screen, BaselineDialog), "nothing is offered, nothing typed"
        assert names(three)["reference"] == f"{3:012x}"


def names(path: Path) -> dict[str, str]:
    with Notebook(path) as notebook:
        return {baseline.name: baseline.recording_id for baseline in notebook.baselines()}


async def test_the_older_of_two_marked_series_is_the_base_whichever_was_marked_first(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("space", "end", "space", "c")
        await settled(app, pilot)
        assert isinstance(app.screen, CompareScreen)
        assert "? series 3 is probably faster than before: 100 → 110 MB/s, +10.0 % (" in text_of(app.screen, "#verdict")
        await pilot.press("s")
        await settled(app, pilot)
        assert "? before is probably slower than series 3: 110 → 100 MB/s, −9.1 % (" in text_of(app.screen, "#verdict")


async def test_the_form_below_the_list_names_the_baseline(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1), one(2), baselines={"good": f"{2:012x}"}))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await pilot.pause(0.5)
        await settled(app, pilot)
        assert "─series 2 · baseline good─" in painted(app)
        await press(app, pilot, "down")
        await pilot.pause(0.5)
        await settled(app, pilot)
        assert "─series 1─" in painted(app)


@pytest.mark.long
async def test_a_baseline_is_the_base_of_an_older_series_and_is_named(tmp_path):
    path = book(tmp_path / "notebook.db", one(1), one(2), one(3), baselines={"good": f"{2:012x}"})
    app = app_on(path)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("end", "space", "up", "space", "c")
        await settled(app, pilot)
        assert (here(app).base_reference, here(app).other_reference) == (f"{2:012x}", f"{1:012x}")
        assert "series 1 against good─" in painted(app)
        await press(app, pilot, "s")
        assert "good against series 1──" in painted(app), "it keeps its name on the other side"
        await pilot.press("escape", "A", "c")
        await settled(app, pilot)
        assert here(app).ids == (f"{2:012x}", f"{1:012x}", f"{3:012x}")


async def test_a_repeat_is_compared_with_its_baseline_and_not_with_the_series_before_it(tmp_path):
    before = one(1, label="", link_bits_per_second=None)
    after = one(2, label="", link_bits_per_second=None)
    again = one(3, label="", link_bits_per_second=None, base_id=after.id)
    path = book(tmp_path / "notebook.db", before, after, again, baselines={"before-switch": before.id})
    app = app_on(path)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "before-switch" in painted(app).splitlines()[5], "a baseline without a label is called by its name"
        await pilot.press("c")
        await settled(app, pilot)
        assert (here(app).base_reference, here(app).other_reference) == ("before-switch", again.id)
        assert "baseline before-switch" in " ".join(notification.message for notification in app._notifications)


@pytest.mark.long
async def test_one_marked_or_none_compares_with_what_is_pointed_at(three):
    app = app_on(three)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("c")
        await settled(app, pilot)
        assert (here(app).base_reference, here(app).other_reference) == ("before", f"{3:012x}")
        await pilot.press("escape", "space", "end", "c")
        await settled(app, pilot)
        assert (here(app).base_reference, here(app).other_reference) == (f"{1:012x}", f"{3:012x}")


@pytest.mark.parametrize(("kind", "does"), [("trial", TrialScreen), ("sweep", MessageDialog)])
async def test_what_was_ended_in_its_first_pair_is_opened_and_resumed(tmp_path, kind, does):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        made = MAKERS[kind](notebook)
        lose_series(notebook, parts_of(notebook, notebook.recording(made))[1:], "interrupted")
    app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert text_of(app.screen, "#headline") == "Interrupted before each value was measured once."
        await press(app, pilot, "g")
        assert isinstance(app.screen, does)


async def test_a_trial_that_lost_a_series_offers_no_way_on(tmp_path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        made = MAKERS["trial"](notebook)
        lose_series(notebook, parts_of(notebook, notebook.recording(made))[1:], "complete")
    app = app_on(path, first="stored", recording_id=made)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        assert "A series of it is missing" in text_of(app.screen, "#headline")
        assert not app.screen.check_action("resume", ())


async def test_a_trial_whose_series_are_not_stored_yet_is_listed_without_an_error(tmp_path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        MAKERS["trial"](notebook)
        notebook._db.execute("DELETE FROM series")
    app = app_on(path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        here(app)._read_pointed()
        await settled(app, pilot)
        assert isinstance(app.screen, NotebookScreen)
        assert "Interrupted before each value" in painted(app)
        await press(app, pilot, "f3")
        notebook_screen = next(one for one in app.screen_stack if isinstance(one, NotebookScreen))
        notebook_screen._seen_state = ()
        notebook_screen._look_again()
        assert notebook_screen._seen_state == (), "what another screen hides is not read"


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_a_comparison_has_its_figures_and_its_chart_at_every_size(tmp_path, size):
    app = app_on(book(tmp_path / "notebook.db", one(1), one(2)), first="compare", base=f"{1:012x}", other=f"{2:012x}")
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        for part in ("Averages of the valid runs", "series 2  ", "├─┼─┤ 19 of 20 such series"):
            assert part in painted(app), part
        await press(app, pilot, "v")
        assert "Averages of the valid runs" not in painted(app)
        assert "├─┼─┤ 19 of 20 such series" in painted(app)
        await press(app, pilot, "v", "m")
        assert "Side by side" in painted(app)


async def test_comparing_offers_what_to_compare_with_where_nothing_is_marked_and_no_base_is_known(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1), one(2)))
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "c")
        assert "Compare with" in painted(app)
        await press(app, pilot, "enter")
        assert (here(app).base_reference, here(app).other_reference) == (f"{1:012x}", f"{2:012x}"), (
            "the older one is the base"
        )


async def test_a_repeat_of_a_changed_series_is_compared_with_what_was_changed(tmp_path):
    changed = one(2, base_id=f"{1:012x}", change=Change(name="in-flight", value="1", previous="4"))
    app = app_on(book(tmp_path / "notebook.db", one(1), changed, one(3, base_id=changed.id)))
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await press(app, pilot, "c")
        assert (here(app).base_reference, here(app).other_reference) == (f"{1:012x}", f"{3:012x}")


async def test_comparing_the_only_recording_says_that_there_is_no_other(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1)))
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "c")
        assert any("no other recording of this kind" in note.message for note in app._notifications)


async def test_with_room_the_form_and_chart_of_the_series_stand_below(three):
    app = app_on(three)
    async with app.run_test(size=(130, 44)) as pilot:
        await settled(app, pilot)
        here(app)._read_pointed()
        await settled(app, pilot)
        text = painted(app)
        assert "110,000,000" in text
        assert "Rate of each run" in text
        await pilot.resize_terminal(80, 24)
        await settled(app, pilot)
        assert "Rate of each run" not in painted(app)


async def test_the_form_has_the_room_that_the_list_has_no_series_for_whatever_is_filtered(three):
    app = app_on(three)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        detail = app.screen.query_one("#detail")
        assert detail.size.height == 24, "the list keeps room for five series"
        assert "Command:" in painted(app), "and below its runs there is more of the form"
        await pilot.press("f", *"box")
        await settled(app, pilot)
        assert detail.size.height == 24
        await pilot.resize_terminal(120, 30)
        await settled(app, pilot)
        assert detail.size.height == 18


async def test_columns_that_nothing_listed_fills_give_their_room_to_the_others(three):
    app = app_on(three)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        headings = painted(app).splitlines()[2].split()
        assert headings[headings.index("Baseline") + 1] == "Experiment"
        await pilot.press("f", *"box")
        await settled(app, pilot)
        assert "Experiment" not in painted(app).splitlines()[2]
        with Notebook(three) as notebook:
            notebook.remove_baseline("before")
        here(app).look()
        await settled(app, pilot)
        assert "Baseline" not in painted(app).splitlines()[2]


async def test_where_some_were_imported_host_and_site_of_each_are_a_column(three):
    app = app_on(three)
    async with app.run_test(size=(140, 36)) as pilot:
        await settled(app, pilot)
        assert "Measured on" not in painted(app).splitlines()[2]
        away = {"client": {"host.name": "desk", "measured.site": "Bonn"}}
        with Notebook(three) as notebook:
            notebook.add_all([one(9, environment=away)])
        here(app).look()
        await settled(app, pilot)
        assert "Measured on" in painted(app).splitlines()[2]
        assert "desk, Bonn" in painted(app)


@pytest.mark.parametrize("size", [(120, 36), (200, 50)])
async def test_an_empty_notebook_has_no_empty_form_below_it(tmp_path, size):
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        assert not app.screen.query_one("#detail").display


async def test_series_that_failed_or_stopped_say_so_in_words_and_signs(tmp_path):
    failed = one(1, (), status=SeriesStatus.FAILED, plan=plan_with(runs=5))
    app = app_on(book(tmp_path / "notebook.db", failed, one(2, (1e8,), status=SeriesStatus.INTERRUPTED)))
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "0/5✗" in painted(app)
        assert "1/1‖" in painted(app)


async def test_a_notebook_that_cannot_be_read_is_told_and_the_screen_stays(tmp_path):
    path = tmp_path / "notebook.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE something (x)")
    app = app_on(path)
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert isinstance(app.screen, MessageDialog)
        assert "not a notebook" in text_of(app.screen, ".dialog-text")


@pytest.mark.long
async def test_a_list_asks_only_for_the_lines_near_the_view(tmp_path):
    many = [one(1 + n % 28, (1e8,), id=f"{n:012x}", runs=(), label=f"n{n}") for n in range(700)]
    app = app_on(book(tmp_path / "notebook.db", *many))
    async with app.run_test() as pilot:
        await settled(app, pilot)
        rows = app.screen.query_one(SeriesList)
        assert len(rows.rows) == 700
        assert 0 < len(rows.lines) < 300
        await pilot.press("end")
        await settled(app, pilot)
        assert rows.cursor == 699
        assert rows.lines[here(app).pointed_id()].label in painted(app)
        assert len(rows.lines) < 500
        await pilot.press("pageup", "pageup", "home")
        await settled(app, pilot)
        assert rows.cursor == 0
        assert rows.scroll_offset.y == 0


async def test_a_tiny_terminal_breaks_nothing(three):
    app = app_on(three)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        for size in ((1, 1), (10, 3), (30, 6), (200, 60)):
            await pilot.resize_terminal(*size)
            await settled(app, pilot)
            await pilot.press("down", "up")
        assert "series 3" in painted(app)


async def test_a_progress_of_a_run_is_drawn_over_time(tmp_path):
    series = one(1, (1e8,))
    run: Run = series.runs[-1]
    curve = tuple((n / 10, n * 10_000_000) for n in range(1, 100))
    app = app_on(
        book(tmp_path / "notebook.db", one(1, runs=(*series.runs[:-1], _with(run, curve)))),
        first="series",
        series_id="last",
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(app, pilot)
        assert "Rate of each run" in painted(app)
        await pilot.press("v")
        await settled(app, pilot)
        assert "Throughput within run 1" in painted(app)
        assert "throughput over time" in painted(app)
        await pilot.resize_terminal(80, 24)
        await settled(app, pilot)
        views = []
        for _ in range(3):
            views.append("100,000,000" in painted(app))
            await pilot.press("v")
            await settled(app, pilot)
        assert sorted(views) == [False, False, True]


def _with(run: Run, progress: tuple[tuple[float, int], ...]) -> Run:
    return Run(number=run.number, phase=run.phase, size_bytes=run.size_bytes, seconds=run.seconds, progress=progress)


async def test_a_series_that_is_gone_is_told(three):
    app = app_on(three, first="series", series_id="nothing")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "no series or baseline is called 'nothing'" in text_of(app.screen, ".dialog-text")


PARAGRAPHS = ["\x1b[1mone\x1b[0m\ntwo\nthree", "four\nfive", "six"]


def draw(width: int) -> str:
    return "\n\n".join(PARAGRAPHS) + f"\n{'-' * width}\n"


def test_what_fits_or_has_no_room_beside_it_stays_as_it_is():
    assert in_columns(draw, 200, 9) == draw(200).rstrip()
    assert in_columns(draw, 158, 3) == draw(158).rstrip()
    assert in_columns(draw, 159, 3) != draw(159).rstrip()


def test_what_would_run_out_of_sight_stands_in_two_columns_broken_between_paragraphs():
    lines = in_columns(draw, 200, 8).split("\n")
    assert lines[0] == f"\x1b[1mone\x1b[0m{' ' * 99}four", "a style takes no room"
    assert [line.split() for line in lines[1:]] == [["two", "five"], ["three"], ["six"], ["-" * 98]]
    assert lines[-1].index("-") == 102


async def test_what_another_program_stores_is_listed_without_leaving_the_screen(three):
    app = app_on(three)
    async with app.run_test(size=(140, 24)) as pilot:
        await settled(app, pilot)
        await pilot.press("down")
        pointed = here(app).pointed_id()
        book(three, one(4, (90e6,) * 5, label="by cron"))
        for _ in range(100):
            await pilot.pause(0.1)
            if "by cron" in painted(app):
                break
        assert "4 recordings" in painted(app)
        assert "by cron" in shown(app)
        assert here(app).pointed_id() == pointed, "whoever reads is left where they are"


async def test_an_empty_notebook_offers_no_filter(tmp_path):
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(app, pilot)
        assert "Filter" not in painted(app).splitlines()[-1]
        book(tmp_path / "notebook.db", one(1))
        here(app).look()
        await settled(app, pilot)
        assert "Filter" in footer_of(app)


@pytest.mark.parametrize("count", [7, 8])
async def test_a_small_terminal_shows_the_form_where_the_list_leaves_it_room(tmp_path, count):
    app = app_on(book(tmp_path / "notebook.db", *(one(number) for number in range(1, count + 1))))
    async with app.run_test(size=(80, 22)) as pilot:
        await settled(app, pilot)
        assert ("Run No" in painted(app)) is (count == 7)
        await pilot.resize_terminal(80, 24)
        await settled(app, pilot)
        assert "Run No" in painted(app)
        assert all(f"series {number} " in painted(app) for number in range(1, count + 1)), "no recording gives way"


async def test_the_number_of_runs_stands_once(tmp_path):
    path = book(tmp_path / "notebook.db", one(1, (1e8,), status=SeriesStatus.INTERRUPTED, plan=plan_with(runs=15)))
    for width in (80, 120):
        app = app_on(path)
        async with app.run_test(size=(width, 36)) as pilot:
            await settled(app, pilot)
            line = painted(app).splitlines()[3]
            assert line.count("1/15‖") == 1, line


async def test_statistics_stand_beside_the_chart_only_where_its_names_fit(tmp_path):
    named = replace(one(2), label="a name of thirty letters, uncut")
    app = app_on(book(tmp_path / "notebook.db", one(1), named), first="compare", base=f"{1:012x}", other=f"{2:012x}")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "m")
        for width, has_chart in ((120, False), (159, False), (160, True), (200, True)):
            await pilot.resize_terminal(width, 50)
            await settled(app, pilot)
            assert app.screen.query_one("#compared-picture").display is has_chart, width
            picture = app.screen.query_one("#compared-picture")
            assert picture.border_title == here(app).report.chart.title, "an interval is what its title says"
            assert not has_chart or named.label in app.screen.query_one("#compared-chart", ChartView).drawn_text


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 14), (80, 24), (100, 28), (120, 36)], ids=str)
@pytest.mark.parametrize(
    "label", ["new switch", "a label that is as long as a line, twice " * 2], ids=("short", "long")
)
async def test_a_comparison_shows_the_rows_of_its_table_at_any_size(tmp_path, size, label):
    """Whatever the verdict takes, no heading stands there without what it is the heading of."""
    runs = (76.9e6, 97e6, 80e6, 90e6, 86e6)
    path = book(tmp_path / "notebook.db", one(1, runs, label="old switch"), one(2, (151e6, 121e6, 183e6), label=label))
    app = app_on(path, first="compare", base=f"{1:012x}", other=f"{2:012x}")
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        sides = re.findall(r"^ ?(old switch|new switch|a label) .*\d[\d,]{6,}", painted(app), re.MULTILINE)
        assert sides == ["old switch", "new switch" if label == "new switch" else "a label"]


async def test_the_runs_of_both_sides_stand_below_their_averages_where_the_report_leaves_room(tmp_path):
    path = book(tmp_path / "notebook.db", one(1), one(2))
    app = app_on(path, first="compare", base=f"{1:012x}", other=f"{2:012x}")
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        height = 36 + 20 - app.screen.query_one("#compared-charts").size.height
        await pilot.resize_terminal(120, height - 1)
        await settled(app, pilot)
        assert app.screen.query_one("#compared-charts").size.height == 19
        assert "Rate of each run" not in painted(app)
        await pilot.resize_terminal(120, height)
        await settled(app, pilot)
        sides = ("series 1", "series 2")
        averages, _, runs = painted(app).partition("Rate of each run")
        assert all(f"{side} █" in averages for side in sides), "no bar of the averages gives way"
        assert all(f"{run} {side} " in runs for side in sides for run in range(1, 6)), runs
        await press(app, pilot, "v")
        chart = app.screen.query_one("#compared-runs", ChartView)
        box = app.screen.query_one("#compared-runs-picture")
        assert chart.size.height == box.size.height, "it takes the room that is there now"


LINES = [
    RecordingLine(
        id="1",
        kind="load",
        created_at="2026-11-24T16:27:00+00:00",
        done="2",
        done_tone=Tone.PLAIN,
        answer=Toned(answer),
        what=what,
        label=label,
    )
    for what, label, answer in (
        (
            "load redpaper smb://127.0.0.1/bench",
            "",
            "4 users carried; the limit was not reached (they pause 0.1 s on average)",
        ),
        ("get 127.0.0.1:59289/bench", "first day", "get 2.896 GB/s ± 3.7 %"),
    )
]


def test_what_an_answer_cut_at_a_clause_leaves_empty_goes_to_the_label():
    placed = {one.column.order: one for one in fit_columns(80, LINES)}
    label, answer = placed[SortKey.LABEL], placed[SortKey.AVERAGE]
    assert answer.cell(LINES[0].answer.text).rstrip() == "4 users carried; the li…"
    assert label.cell(LINES[0].name).rstrip() == "redpaper smb://127.0.0.1/bench"


@pytest.mark.parametrize(("short", "label_width"), [(1, 30), (2, 16)])
def test_the_cell_to_spare_goes_to_the_column_that_is_cut_in_most_lines(short: int, label_width: int):
    """Of three lines one or two have a long answer, the others a long label; with as many, the narrower one grows."""
    of = replace(LINES[0], what="")
    wordy = replace(of, label="", answer=Toned("x" * 60))
    named = replace(of, label="n" * 30, answer=Toned("x"))
    placed = {one.column.order: one for one in fit_columns(80, [*[wordy] * short, *[named] * (3 - short)])}
    assert placed[SortKey.LABEL].width == label_width


@pytest.mark.parametrize(
    ("width", "answer", "target", "length", "seen"),
    [(200, 90, 90, 30, 30), (210, 90, 90, 60, 40), (132, 36, 90, 60, 29), (133, 36, 90, 60, 23), (200, 30, 0, 60, 60)],
)
def test_a_name_comes_before_long_targets_and_answers(width: int, answer: int, target: int, length: int, seen: int):
    """A name has 44 cells before a target has more than 26, and a baseline's 24 before a target any, from 133 on."""
    others = [replace(LINES[0], answer=Toned("x" * answer), what="t" * target, label="l")] * 3
    last = replace(others[0], label="n" * length, baselines=("b" * length,))
    placed = {one.column.order: one for one in fit_columns(width, [*others, last])}
    cells = {order: one.cell(one.column.text(last)) for order, one in placed.items()}
    assert cells[SortKey.BASELINE].count("b") == seen
    assert width < 200 or cells[SortKey.LABEL].count("n") == seen
    assert placed[SortKey.AVERAGE].width >= min(answer, 66)
    assert (SortKey.TARGET in placed) is (width > 132 and target > 0)


@pytest.mark.parametrize(("width", "has_target"), [(99, True), (100, False)])
def test_a_baseline_claims_room_for_its_name_from_100_columns_on(width: int, has_target: bool):
    line = replace(LINES[0], answer=Toned("x" * 20), what="t" * 20, label="l", baselines=("b" * 60,))
    assert any(one.column.order is SortKey.TARGET for one in fit_columns(width, [line])) is has_target


@pytest.mark.parametrize(("width", "shown"), [(22, "4 users carried…"), (23, "4 users carried; the l…")])
def test_an_answer_is_cut_at_a_clause_that_fills_two_thirds_of_its_column(width: int, shown: str):
    column = PlacedColumn(next(one for one in COLUMNS if one.order is SortKey.AVERAGE), width)
    assert column.cell(LINES[0].answer.text).rstrip() == shown


@pytest.mark.parametrize(("length", "seen"), [(26, 26), (27, 25)])
def test_a_target_of_26_cells_comes_before_the_end_of_a_long_answer(length: int, seen: int):
    lines = [replace(LINES[1], what="t" * length, label="", answer=Toned("x" * size)) for size in (90, 20, 20)]
    named = [replace(line, label="l" * 20, baselines=("b" * 24,), experiment="e" * 36) for line in lines]
    placed = {one.column.order: one for one in fit_columns(198, named)}
    assert placed[SortKey.TARGET].cell("t" * length).count("t") == seen
    assert 50 < placed[SortKey.AVERAGE].width < 90


@pytest.mark.parametrize("behind", range(12))
def test_a_column_that_gives_cells_away_still_shows_the_same_clause(behind: int):
    answer = f"Limit: Samba, 14 % of both together, with 8 clients; {'x' * behind}"
    column = PlacedColumn(next(one for one in COLUMNS if one.order is SortKey.AVERAGE), 51 + behind)
    lines = [replace(LINES[0], answer=Toned(f"{answer} and so on"))]
    narrower = column._replace(width=column.used_width(lines))
    assert narrower.cell(lines[0].answer.text).rstrip() == column.cell(lines[0].answer.text).rstrip()
    assert narrower.width <= column.width


@pytest.mark.parametrize(
    ("kind", "done", "shown"),
    [("series", "5", "said"), ("series", "3/5●", "3/5● said"), ("trial", "8‖", "said"), ("isolation", "1●", "said")],
)
def test_without_a_column_of_runs_only_a_series_that_is_not_complete_has_them_before_its_answer(kind, done, shown):
    state = done if shown != "said" else ""
    line = replace(LINES[0], kind=kind, done=done, state=state, answer=Toned("said"))
    assert COLUMNS[3].text(line) == shown


async def test_try_on_a_trial_points_at_its_setting(tmp_path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        MAKERS["trial"](notebook)
    app = app_on(path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "t")
        assert here(app).pointed.name == "strict sync"


@pytest.mark.parametrize(("keys", "at"), [(("down", "t"), 1), (("t",), 2), (("down", "enter", "C"), 1)])
@pytest.mark.long
async def test_a_change_starts_from_the_series_pointed_at(tmp_path, keys, at):
    facts = {"server": {"smb.conf/global/log level": "0"}}
    path = book(tmp_path / "notebook.db", one(1, environment=facts), one(2, environment=facts))
    with Notebook(path) as notebook:
        branch_from(notebook, f"{3 - at:012x}")  # the guide is at the other one
    app = app_on(path, backend=FakeBackend())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, *keys, "f", *"block", "enter", "enter", "enter", "enter")
        chosen = here(app).session.choices
        assert (chosen.spec.lineage.change_name, chosen.spec.lineage.base_id) == ("block", f"{at:012x}")
        assert f"Base: series {at}." in painted(app)


@pytest.mark.parametrize("way", [("t", "enter"), ("enter", "t")])
@pytest.mark.parametrize(("keys", "at"), [(("down", "t"), 1), (("t",), 2), (("down", "enter", "C"), 1)])
@pytest.mark.long
async def test_a_trial_measures_the_series_pointed_at(tmp_path, keys, at, way):
    facts = {"server": {"smb.conf/global/log level": "0"}}
    path = book(tmp_path / "notebook.db", one(1, environment=facts), one(2, environment=facts))
    app = app_on(path, backend=FakeBackend())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, *keys, "f", *"strict sync", "enter", *way)
        assert shows(app, TrialScreen)
    with Notebook(path) as notebook:
        assert GuideChoices.from_memory(notebook.remembered(MEMORY_KEY)).spec.lineage.base_id == f"{at:012x}"


@pytest.mark.long
async def test_a_setting_of_the_palette_is_that_of_the_series_shown(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1), one(2)))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "down", "enter", "ctrl+p")
        await pilot.press(*"strict sync")
        await settled(app, pilot)
        await press(app, pilot, "enter")
        assert here(app).series_id == f"{1:012x}"


async def test_what_is_to_be_deleted_is_named_with_its_kind(tmp_path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        MAKERS["load"](notebook)
        notebook.add(one(1))
    app = app_on(path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "home", "space", "down", "space", "d")
        said = text_of(app.screen, ".dialog-text")
        assert re.match(r"2 recordings are marked: (load .* and series 1 \(|series 1 \(.* and load )", said)


async def test_only_a_series_is_measured_again(tmp_path):
    path = tmp_path / "notebook.db"
    with Notebook(path) as notebook:
        MAKERS["load"](notebook)
        notebook.add(one(1))
    app = app_on(path)
    async with app.run_test(size=(200, 36)) as pilot:
        await settled(app, pilot)
        kinds = {app.screen.query_one(SeriesList).lines[here(app).pointed_id()].kind: "a Again" in painted(app)}
        await press(app, pilot, "down")
        kinds[app.screen.query_one(SeriesList).lines[here(app).pointed_id()].kind] = "a Again" in painted(app)
    assert kinds == {"load": False, "series": True}


@pytest.mark.parametrize("more", [0, 1])
def test_a_dialog_names_four_of_those_to_delete_and_counts_the_rest(tmp_path, more: int):
    names = {f"{number:012x}": f"series {number}" for number in range(1, 5 + more)}
    with Notebook(tmp_path / "notebook.db") as notebook:
        asked = question_before(notebook, names)
    told = (
        "series 1, series 2, series 3, series 4 and 1 more." if more else "series 1, series 2, series 3 and series 4."
    )
    assert asked.startswith(f"{4 + more} recordings are marked: {told}")


@pytest.mark.parametrize(("baselines", "first"), [({"before": f"{1:012x}"}, True), ({}, False)])
async def test_an_answered_comparison_offers_the_report_and_the_end(tmp_path, baselines: dict[str, str], first: bool):
    """First of all beside a baseline, whose change is answered for; else after what can be measured."""
    path = book(tmp_path / "notebook.db", one(1, (100e6,) * 5), one(2, (200e6,) * 5), baselines=baselines)
    app = app_on(path, first="compare", base=f"{1:012x}", other=f"{2:012x}")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        assert isinstance(screen, CompareScreen)
        steps = list(screen.next_steps())
        places = [place for place, step in enumerate(steps) if step.screen in ("export", "notebook")]
        assert places == ([0, 1] if first else [len(steps) - 2, len(steps) - 1])
        assert steps[places[0]].arguments["is_page"]
        # Where one series a side has the answer, a later one narrows its range.
        assert any("narrows the range to" in step.name for step in steps) is first

        screen.take_step(steps[places[1]])
        await settled(app, pilot)
        assert isinstance(here(app), NotebookScreen)


async def test_what_stood_weeks_ago_is_reported_first_and_not_measured_again(tmp_path):
    of_january = one(1, (100e6, 101e6, 99e6), created_at="2026-01-05T10:00:00.000Z")
    of_march = one(2, (101e6, 100e6, 102e6), created_at="2026-03-05T10:00:00.000Z")
    baselines = {"january": of_january.id, "march": of_march.id}
    path = book(tmp_path / "notebook.db", of_january, of_march, baselines=baselines)
    app = app_on(path, first="compare", base="january", other="march")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        assert isinstance(screen, CompareScreen)
        assert screen.form is not None
        step = screen.form.comparison.settle
        assert step is not None
        assert step.needs_past
        steps = list(screen.next_steps())
        assert [step.screen for step in steps[:2]] == ["export", "notebook"]
        assert not any(step.name.startswith("Measure") for step in steps)


async def test_more_goes_on_where_the_visible_text_ended(tmp_path):
    before = [one(number, (100e6,) * 5) for number in range(1, 9)]
    ids = [series.id for series in before]
    path = book(tmp_path / "notebook.db", *before, one(9, (200e6,) * 5))
    with Notebook(path) as notebook:
        notebook.set_baseline("before", *ids)
    app = app_on(path, first="compare", base="before", other=f"{9:012x}")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        box = here(app).query_one("#comparison-box")
        end_before = box.scroll_offset.y + box.size.height
        assert box.max_scroll_y > 0, "some rows have no room"
        await pilot.press("m")
        await settled(app, pilot)
        assert 0 < box.scroll_offset.y <= end_before


async def test_interleaved_series_stand_for_the_two_that_were_marked(tmp_path):
    """One verdict at a time: that of the interleaved series, or with a key that of the two."""
    few = replace(CLIENT, in_flight=1)
    wild = [100e6, 140e6, 95e6, 120e6, 85e6]
    pair = interleaved(one(3, base_id=f"{1:012x}"), one(4, (50e6, 50.5e6) * 3, client=few, base_id=f"{2:012x}"))
    series = (one(1, wild), one(2, wild[::-1], client=few), *pair)
    app = app_on(book(tmp_path / "notebook.db", *series), first="compare", base=f"{1:012x}", other=f"{2:012x}")
    async with app.run_test(size=(160, 36)) as pilot:
        await settled(app, pilot)
        screen = here(app)
        assert isinstance(screen, CompareScreen)
        lines = painted(app).splitlines()
        assert "series 4 against series 3─" in lines[0]
        assert lines[1].startswith("▼ Slower by")
        assert "(press o for the two series alone)" in painted(app)
        assert "Inconclusive" not in painted(app)
        assert next(iter(screen.next_steps())).name.startswith("Make another change, starting from series 3")
        assert "o Only two" in footer_of(app)

        await press(app, pilot, "o")
        lines = painted(app).splitlines()
        assert "series 2 against series 1─" in lines[0]
        assert lines[1].startswith("? Inconclusive")
        assert "o All series" in footer_of(app)
        assert "o Only two" not in footer_of(app)


async def test_a_comparison_counts_the_repeats_and_leaves_them_out(tmp_path):
    series = (one(1), one(2, (60e6,) * 5, base_id=f"{1:012x}"), one(3))
    app = app_on(book(tmp_path / "notebook.db", *series), first="compare", base=f"{1:012x}", other=f"{3:012x}")
    async with app.run_test(size=(160, 36)) as pilot:
        await settled(app, pilot)
        for _ in range(2):
            assert "series 3 against series 1 (2 series)" in painted(app)
            assert "(press o for one series of each side alone)" in painted(app)
            await press(app, pilot, "o")
            assert "series 3 against series 1─" in painted(app)
            assert "Of these two series alone (press o for 1 repeat of them, too)." in painted(app)
            await press(app, pilot, "o")


async def test_nothing_else_is_offered_where_no_other_series_count(tmp_path):
    app = app_on(book(tmp_path / "notebook.db", one(1), one(2)), first="compare", base=f"{1:012x}", other=f"{2:012x}")
    async with app.run_test(size=(160, 36)) as pilot:
        await settled(app, pilot)
        assert "(o" not in painted(app)
        assert "o Only two" not in footer_of(app)


@pytest.mark.parametrize(
    ("words", "said"), [("", "2 marked ·"), ("ser", "2 marked ·"), ("ies 3", "2 marked (1 hidden by the filter) ·")]
)
@pytest.mark.long
async def test_marks_that_the_filter_hides_are_counted_above_the_list(three, words: str, said: str):
    app = app_on(three)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await press(
            app, pilot, "space", "down", "space", "f", *(letter if letter != " " else "space" for letter in words)
        )
        here(app).look()
        await settled(app, pilot)
        assert said in painted(app).splitlines()[0]


async def test_what_is_deleted_before_its_line_was_read_is_told_by_its_name(three):
    app = app_on(three)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        name = here(app).rows.names([here(app).pointed_id()])[here(app).pointed_id()]
        here(app).rows.lines.clear()
        await press(app, pilot, "d")
        assert [one.message for one in app._notifications] == [f"{name}. Press u in this list to undo, until you quit."]


async def test_what_cannot_be_read_is_deleted_all_the_same(three, monkeypatch):
    app = app_on(three)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        series_id = here(app).pointed_id()
        here(app).rows.lines.clear()
        monkeypatch.setattr("app.tui.notebook.readings.read_lines", Mock(side_effect=UsageError("of a newer version")))
        here(app).action_delete()
        for _ in range(50):
            await pilot.pause(0.02)
        assert f"{series_id}. Press u in this list to undo, until you quit." in [
            one.message for one in app._notifications
        ]


@pytest.mark.long
async def test_help_lists_the_keys_of_a_line_of_text_and_no_letters(three):
    app = app_on(three)
    async with app.run_test(size=(120, 50)) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "f", "f1")
        assert "List: Go to what was found." in painted(app)
        assert "Experiments:" not in painted(app)


@pytest.mark.varied(columns=2)
@pytest.mark.parametrize("columns", [80, 81, 100, 120, 200])
async def test_a_note_shows_all_its_lines_above_the_keys(tmp_path, columns: int):
    app = app_on(book(tmp_path / "notebook.db", *(one(number) for number in range(1, 6))))
    async with app.run_test(size=(columns, 24), notifications=True) as pilot:
        await settled(app, pilot)
        await press(app, pilot, "d")
        await settled(app, pilot)
        said = " ".join(" ".join(line.partition("▌")[2] for line in painted(app).splitlines()).split())
        assert said.endswith("Deleted series 5 (2026-01-05 10:00). Press u in this list to undo, until you quit.")
