"""The frame of the TUI: commands, keys, help, palette, errors, and leaving."""

import gc
import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Label

from app import tui
from app.audit.screen import AuditScreen
from app.base.config import read_config
from app.base.errors import UnreachableError
from app.tui.frame.app import SharebenchApp
from app.tui.frame.app_keys import APP_KEYS, known_commands
from app.tui.frame.base import BaseScreen, WorkDone
from app.tui.frame.commands import Commanded, KeyCommand, keys_of, table_lines
from app.tui.frame.context import Context
from app.tui.frame.dialogs import AskDialog, ConfirmDialog, MessageDialog
from app.tui.frame.help import HelpDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.palette import CommandProvider
from app.tui.frame.plain_signs import PlainSigns
from app.tui.frame.themes import THEMES
from app.tui.frame.user_keys import KeysError, are_allowed, check_keys
from app.tui.notebook.screen import NotebookScreen
from storage.notebook import Notebook
from tests.builders import book, one
from tests.tui import app_on, painted, press, settled, shows, text_of


def test_every_widget_has_the_look_of_what_it_is():
    """Textual takes a look from the first base alone; a screen without a background has those under it drawn too."""
    for module in pkgutil.walk_packages(tui.__path__, "app.tui."):
        importlib.import_module(module.name)
    kinds = [Widget]
    for kind in kinds:
        kinds += kind.__subclasses__()
    own = {kind for kind in kinds if kind.__module__.startswith("app.")}
    assert len(own) > 50
    assert not [kind for kind in own if not {"Widget", *["Screen"] * issubclass(kind, Screen)} <= kind._css_type_names]


NASTY = "[bold]share[/] \x1b[31mred\x1b[0m"


class Bench(BaseScreen):
    """A screen for the tests."""

    ABOUT = "A screen for the tests."
    HINTS: ClassVar = {"box": "The box for the tests."}
    AUTO_FOCUS = ""
    KEYS: ClassVar = (
        KeyCommand("test.count", "n", "Count", "Counts one up."),
        KeyCommand("test.fail", "x", "Fail", "Fails in a thread.", hidden=True),
    )
    counted = 0
    question: str | None = None

    def compose(self):
        yield Label("bench")
        yield Input(id="box")

    def action_count(self):
        self.counted += 1

    def action_fail(self):
        def job():
            raise UnreachableError(NASTY)

        self.in_background(job, lambda _: None)

    def quit_question(self):
        return self.question


@pytest.fixture
def app(tmp_path):
    return SharebenchApp(Context(notebook_path=tmp_path / "notebook.db"))


async def test_a_command_is_key_footer_palette_and_help_at_once(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        await pilot.press("n")
        assert app.screen.counted == 1
        binding = app.screen.active_bindings["n"].binding
        assert (binding.description, binding.id, binding.show) == ("Count", "test.count", True)
        await pilot.press("f1")
        assert "Count: Counts one up." in text_of(app.screen, ".help-box Static")
        await pilot.press("f1")
        await pilot.press("ctrl+p")
        await pilot.press(*"count")
        await settled(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert app.screen.counted == 2


@pytest.mark.parametrize(("typed", "found"), [("signing", True), ("sig", True), ("si", False)])
async def test_the_palette_finds_settings_too(app, typed, found):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        await settled(app, pilot)
        hits = [hit async for hit in CommandProvider(app.screen).search(typed)]
        assert ("server signing (catalogue)" in [str(hit.prompt) for hit in hits]) is found


@pytest.mark.varied
@pytest.mark.parametrize(
    ("typed", "best", "lines"), [("one request", "Recordings with", 1), ("strict sync", "strict sync (catalogue)", 0)]
)
@pytest.mark.parametrize("first", ["notebook", "catalogue"])
async def test_the_palette_leads_to_the_recordings_with_what_was_typed(tmp_path, first, typed, best, lines):
    path = book(tmp_path / "notebook.db", one(1, label="one request"), one(2))
    app = app_on(path, first=first)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        hits = [hit async for hit in CommandProvider(app.screen).search(typed)]
        assert str(max(hits, key=lambda hit: hit.score).prompt).startswith(best)
        (leading,) = (hit for hit in hits if str(hit.prompt) == f'Recordings with "{typed}"')
        leading.command()
        await settled(app, pilot)
        assert isinstance(app.screen, NotebookScreen)
        assert app.screen.query_one("#filter", Input).value == typed
        assert len(app.screen.rows.rows) == lines


async def test_what_is_typed_into_the_palette_is_no_markup(app):
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+p", *"[/x] [global]")
        await settled(app, pilot)
        assert 'Recordings with "[/x] [global]"' in painted(app)


async def test_the_palette_over_a_dialog_finds_no_settings(app):
    async with app.run_test() as pilot:
        await app.push_screen(MessageDialog("Told", "So it is."))
        await settled(app, pilot)
        assert not [
            hit async for hit in CommandProvider(app.screen).search("signing") if "catalogue" in str(hit.prompt)
        ]


async def test_a_setting_of_the_palette_is_read(app):
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+p", *"server signing")
        await settled(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert "Whether every message must carry a signature" in painted(app)


async def test_garbage_is_collected_again_once_the_screen_is_painted(app):
    gc.disable()
    try:
        async with app.run_test() as pilot:
            for _ in range(100):
                if gc.isenabled():
                    break
                await pilot.pause(0.1)
            assert gc.isenabled()
    finally:
        gc.enable()


async def test_the_palette_begins_with_what_the_key_line_has(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        await settled(app, pilot)
        names = [name.partition(" (")[0] for name, _, _ in CommandProvider(app.screen)._palette_lines()]
        assert names[0] == "Count"
        assert names.index("Fail") > names.index("Quit")


async def test_help_explains_the_focused_widget_first(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        app.screen.query_one("#box").focus()
        await pilot.press("f1")
        about = text_of(app.screen, ".help-box Static")
        assert about.startswith("The box for the tests.\n\nA screen for the tests.")
        assert "config.toml, with lines such as" in about
        await pilot.press("escape")
        assert isinstance(app.screen, Bench)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[keys]\n"no.such" = "k"', "no command 'no.such'"),
        ('[keys]\n"test.count" = "ctrl+shift+k"', "every terminal"),
        ('[keys]\n"test.count" = 3', "every terminal"),
    ],
)
def test_a_bad_key_is_named_with_its_fault(tmp_path, text, why):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(KeysError, match=why):
        check_keys(read_config(path).keys, path, lambda: {"test.count"})


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The settings file that the app reads."""
    monkeypatch.setattr("app.tui.frame.user_keys.config_file", lambda: tmp_path / "config.toml")
    monkeypatch.setattr("app.base.config.config", lambda: read_config(tmp_path / "config.toml"))
    return tmp_path / "config.toml"


async def test_keys_can_be_changed_in_the_settings_file(app, settings):
    settings.write_text('[keys]\n"test.count" = "k,f9"\n')
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        await pilot.press("n", "k", "f9")
        assert app.screen.counted == 2
        await pilot.press("f1")
        assert re.search(r"k f9 +Count", text_of(app.screen, ".help-box Static"), re.IGNORECASE)


async def test_keys_of_the_file_of_before_are_still_read(app, settings):
    settings.with_name("keys.toml").write_text('[keys]\n"test.count" = "w"\n')
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        await pilot.press("n", "w")
        assert app.screen.counted == 1


@pytest.mark.varied
@pytest.mark.parametrize("name", ["config.toml", "keys.toml"])
@pytest.mark.parametrize("text", ["[keys", "keys = 3", '[keys]\n"no.such" = "k"'])
async def test_bad_settings_leave_the_usual_keys(app, settings, name, text):
    settings.with_name(name).write_text(text)
    async with app.run_test(notifications=True) as pilot:
        await app.push_screen(Bench())
        await pilot.press("n")
        assert app.screen.counted == 1


def test_every_key_is_one_that_every_terminal_hands_on():
    known_commands()
    kinds = [Commanded]
    while kinds:
        kind = kinds.pop()
        kinds.extend(kind.__subclasses__())
        for command in keys_of(kind):
            assert are_allowed(command.keys), command
            assert command.help.endswith("."), command


def test_no_screen_has_a_key_that_leads_to_another_screen_from_everywhere():
    known_commands()
    taken = {key for command in APP_KEYS if command.priority for key in command.keys.split(",")}
    kinds: list[type[Commanded]] = [BaseScreen]
    while kinds:
        kind = kinds.pop()
        kinds.extend(kind.__subclasses__())
        for command in keys_of(kind):
            assert taken.isdisjoint(command.keys.split(",")), f"{command}: the app's own key is heard before it"


def test_each_command_name_means_one_thing():
    known_commands()
    meaning: dict[str, KeyCommand] = {}
    kinds = [Commanded]
    while kinds:
        kind = kinds.pop()
        kinds.extend(kind.__subclasses__())
        for command in keys_of(kind):
            assert meaning.setdefault(command.id, command) == command


async def test_an_error_in_a_thread_becomes_one_dialog_and_its_text_is_no_markup(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        await pilot.press("x")
        await settled(app, pilot)
        assert isinstance(app.screen, MessageDialog)
        assert "[bold]share[/] ␛[31mred␛[0m" in text_of(app.screen, ".dialog-text")
        await pilot.press("enter")
        assert [type(screen) for screen in app.screen_stack[1:]] == [Bench]


@pytest.mark.parametrize(("seconds", "stays"), [(0.59, True), (0.6, False)])
async def test_an_enter_meant_for_what_lay_on_top_before_closes_no_message(app, monkeypatch, seconds, stays):
    now = 0.0
    monkeypatch.setattr("app.tui.frame.dialogs.monotonic", lambda: now)
    monkeypatch.setattr(MessageDialog, "UNREAD_SECONDS", 0.6)
    async with app.run_test() as pilot:
        app.tell_text("That did not work", "no such file")
        await settled(app, pilot)
        now += seconds
        await press(app, pilot, "enter")
        assert isinstance(app.screen, MessageDialog) is stays


async def test_a_message_below_another_is_unread_until_it_lies_on_top(app, monkeypatch):
    now = 0.0
    monkeypatch.setattr("app.tui.frame.dialogs.monotonic", lambda: now)
    monkeypatch.setattr(MessageDialog, "UNREAD_SECONDS", 0.6)
    async with app.run_test() as pilot:
        for text in ("the first", "the second"):
            app.tell_text("That did not work", text)
            await settled(app, pilot)
        now = 5.0
        await press(app, pilot, "enter", "enter")
        assert isinstance(app.screen, MessageDialog)
        assert app.screen.text == "the first"


async def test_an_unexpected_error_says_that_it_is_ours(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        app.screen.in_background(lambda: 1 / 0, lambda _: None)
        await settled(app, pilot)
        assert "A fault in sharebench" in text_of(app.screen, ".dialog-heading")
        assert "ZeroDivisionError" in text_of(app.screen, ".dialog-text")


async def test_notebook_work_comes_back_to_the_screen(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        found: list[int] = []
        app.screen.with_notebook(Notebook.count_recordings, found.append)
        await settled(app, pilot)
        assert found == [0]


async def test_what_a_newer_job_has_silenced_is_not_shown_however_late_it_comes(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        found: list[str] = []
        worker = app.screen.in_background(lambda: "new", found.append, group="look")
        await settled(app, pilot)
        worker.cancel()
        app.screen.post_message(WorkDone(found.append, "old", worker))
        await settled(app, pilot)
        assert found == ["new"]


async def test_a_notebook_that_cannot_be_opened_is_told(app):
    app.context.notebook_path = Path("/proc/no/notebook.db")
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        app.screen.with_notebook(Notebook.count_recordings)
        await settled(app, pilot)
        assert "cannot use /proc/no/notebook.db as a notebook" in text_of(app.screen, ".dialog-text")


async def test_quitting_asks_while_something_is_under_way(app):
    async with app.run_test() as pilot:
        await app.push_screen(Bench())
        app.screen.question = "A run is on."
        await pilot.press("ctrl+q")
        assert isinstance(app.screen, ConfirmDialog)
        await pilot.press("escape")
        assert len(app.screen_stack) == 2
        await pilot.press("ctrl+q", "left", "enter")
    assert app.return_code == 0


async def test_ctrl_c_says_what_leaves_and_no_notice_covers_the_buttons_of_a_dialog(app):
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert "Ctrl+Q leaves" in painted(app)
        assert "[b]" not in painted(app)
        app.push_screen(ConfirmDialog("Really?", "\n".join(["All of it"] * 9), yes="Yes"))
        await pilot.pause()
        lines = painted(app).splitlines()
        told = next(i for i, line in enumerate(lines) if "Ctrl+Q leaves" in line)
        assert told == 20, "above both rows of the keys below the dialog"
        assert next(i for i, line in enumerate(lines) if "Yes (y)" in line) < told
        assert sum("Ctrl+Q leaves" in line for line in lines) == 1, "not behind the dialog as well"
        await pilot.press("escape")
        await pilot.pause()
        assert "Ctrl+Q leaves" in painted(app)


def test_the_names_that_commands_had_before_are_still_understood(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[keys]\n"room.guide" = "g"\n"survey.anew" = "n"\n"ladder.keep" = "b"\n"run.go-on" = "h"\n')
    assert check_keys(read_config(path).keys, path, known_commands) == {
        "screen.guide": "g",
        "survey.restart": "n",
        "experiment.keep": "b",
        "run.resume": "h",
    }


async def test_escape_goes_back_but_never_past_the_first_screen(app):
    async with app.run_test() as pilot:
        first = app.screen
        await app.push_screen(Bench())
        await pilot.press("escape", "escape", "escape")
        assert app.screen is first


async def test_questions_answer_with_text_or_nothing(app):
    async with app.run_test() as pilot:
        answers: list[Any] = []
        await app.push_screen(AskDialog("Why?", "A reason", needed=True), answers.append)
        await pilot.press("enter")
        assert isinstance(app.screen, AskDialog)
        assert "empty: type it here" in painted(app)
        await pilot.press(*"noise", "enter")
        await app.push_screen(AskDialog("Why?", "A reason"), answers.append)
        await pilot.press("escape")
        assert answers == ["noise", None]


async def test_help_explains_the_words_of_the_screens_and_says_how_it_is_closed(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await press(app, pilot, "f1")
        box = app.screen.query_one(".help-box")
        assert "esc Close" in str(box.border_subtitle)
        said = text_of(app.screen, "#help-words")
        for word in ("interleaved", "pair", "equal series", "95 % interval", "ceiling", "baseline", "p50, p95, p99"):
            assert f"\n{word}: " in said
        assert max(map(len, said.splitlines())) <= 80 - 12
        words = [line.partition(": ")[0] for line in table_lines("words.txt")]
        assert len(words) == len(set(words)), "each is explained once"


async def test_end_shows_the_first_of_the_words_then_the_last(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await press(app, pilot, "f1")
        box, words = app.screen.query_one(".help-box"), app.screen.query_one("#help-words")
        await press(app, pilot, "end")
        assert words.region.y == box.content_region.y
        await press(app, pilot, "end")
        await pilot.pause(0.5)
        assert box.scroll_y == box.max_scroll_y > words.virtual_region.y


async def test_f1_opens_help_and_closes_it(app):
    async with app.run_test() as pilot:
        await pilot.press("f1")
        assert [isinstance(screen, HelpDialog) for screen in app.screen_stack] == [False, True]
        await pilot.press("f1")
        assert len(app.screen_stack) == 1


@pytest.mark.parametrize("in_dialog", [False, True])
async def test_help_names_only_the_keys_that_work_where_it_was_opened(app, in_dialog):
    async with app.run_test(size=(120, 60)) as pilot:
        if in_dialog:
            await app.push_screen(AskDialog("Why?", "A reason"))
        await pilot.press("f1")
        named = text_of(app.screen, "#help-keys")
        assert ("F4" in named) is not in_dialog
        assert all(key in named for key in ("^p", "F1", "^q"))


@pytest.mark.parametrize(("columns", "narrow"), [(80, True), (120, False)])
async def test_below_100_columns_the_layout_is_narrow(app, columns, narrow):
    async with app.run_test(size=(columns, 24)) as pilot:
        await pilot.pause()
        assert app.screen.has_class("-narrow") is narrow


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_each_theme_draws_the_usual_widgets(app, theme):
    async with app.run_test() as pilot:
        app.theme = theme.name
        await app.push_screen(ConfirmDialog("Sure?", "Really?", yes="Yes"))
        await pilot.pause()
        assert app.theme == theme.name
        assert "Really?" in painted(app)


async def test_from_the_screen_that_was_asked_for_one_goes_back_to_the_first_and_forth_again(tmp_path):
    context = Context(notebook_path=tmp_path / "notebook.db")
    app = SharebenchApp(context, first="catalogue")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        seen = []
        for key in ("escape", "escape", "C", "escape"):
            await pilot.press(key)
            await settled(app, pilot)
            seen.append(type(app.screen).__name__)
        assert seen == ["NotebookScreen", "NotebookScreen", "CatalogueScreen", "NotebookScreen"]


def app_in(folder: Path) -> SharebenchApp:
    return SharebenchApp(Context(notebook_path=folder / "notebook.db", theme_file=folder / "state" / "theme"))


@pytest.mark.varied
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
@pytest.mark.parametrize(
    ("screen", "arguments", "title"),
    [("notebook", {}, "Notebook"), ("entry", {"entry": "strict sync"}, "Catalogue · strict sync")],
)
async def test_a_screen_begins_with_its_title_and_its_lines_can_be_copied(tmp_path, size, screen, arguments, title):
    app = app_on(book(tmp_path / "notebook.db", one(1)), first=screen, **arguments)
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        assert painted(app).startswith(f"─sharebench · {title}")
        assert "│" not in painted(app).partition("Rate of each run")[0]


@pytest.mark.parametrize("lines", [3, 30])
async def test_a_note_over_a_dialog_covers_neither_its_heading_nor_a_button(tmp_path, lines):
    app = app_in(tmp_path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(app, pilot)
        app.push_screen(ConfirmDialog("Really?", "\n".join(["All of it"] * lines), yes="Yes"))
        app.notify("Told at length, in words that take two lines of a note.")
        await settled(app, pilot)
        note = app.screen.query_one("Toast").region
        assert note.bottom == 22
        for each in ("Button", ".dialog-heading"):
            assert not any(widget.region.overlaps(note) for widget in app.screen.query(each)), each


@pytest.mark.varied(dialog=1)
@pytest.mark.parametrize("dialog", [False, True])
@pytest.mark.parametrize(("screen", "rows"), [("notebook", 2), ("guide", 1), ("catalogue", 1)])
async def test_a_note_stands_above_the_keys_of_the_footer(tmp_path, screen, rows, dialog):
    app = app_on(book(tmp_path / "notebook.db", *(one(number) for number in range(1, 12))), first=screen)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(app, pilot)
        keys = app.screen.query_one(KeyBar).region
        assert keys.height == rows
        if dialog:
            app.push_screen(ConfirmDialog("Really?", "All of it", yes="Yes"))
        app.notify("Told at length, in words that take two lines of a note.", timeout=600)
        await settled(app, pilot)
        assert app.screen.query_one("Toast").region.bottom == (22 if dialog else keys.y), "near the edge as well"


async def test_a_note_covers_no_more_rows_of_a_list_than_its_text_has(tmp_path):
    app = app_in(tmp_path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(app, pilot)
        app.notify("One line.", timeout=600)
        await settled(app, pilot)
        assert app.screen.query_one("Toast").outer_size.height == 1
        app.notify("A lasting one.", timeout=15)
        await settled(app, pilot)
        assert len(app.screen.query("Toast")) == 2
        app.notify("A short one.", timeout=14.9)
        await settled(app, pilot)
        assert len(app.screen.query("Toast")) == 1


NO_GLYPH = "★✓▶‖◆…⏎╭╮╰╯"


@pytest.mark.parametrize(("term", "plain"), [("linux", True), ("xterm-256color", False)])
async def test_stars_ticks_and_round_corners_are_drawn_plainly_on_the_linux_console(tmp_path, monkeypatch, term, plain):
    monkeypatch.setenv("TERM", term)
    app = app_on(book(tmp_path / "notebook.db", one(1)), first="guide")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        drawn = painted(app)
        assert "Target" in drawn
        assert bool(set(NO_GLYPH) & set(drawn)) is not plain
        assert any(isinstance(each, PlainSigns) for each in app.get_line_filters()) is plain


async def test_a_message_of_several_lines_has_them_one_below_the_other(tmp_path: Path):
    app = app_on(tmp_path / "notebook.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.push_screen(MessageDialog("Edits", "--- before\n+++ after\x1b[2J"))
        await settled(app, pilot)
        first = next(i for i, line in enumerate(painted(app).splitlines()) if "--- before" in line)
        assert "+++ after␛[2J" in painted(app).splitlines()[first + 1]


async def test_while_something_is_measured_no_other_measurement_is_opened_beside_it(app):
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        first, second = Bench(), Bench()
        first.question = second.question = "It is measured. Stop it?"
        app.push_screen(first)
        await settled(app, pilot)
        assert app.check_action("visit", ("load",)) is False, "the key is not shown there"
        await press(app, pilot, "f2")
        assert shows(app, NotebookScreen)
        await press(app, pilot, "f5")
        assert app.screen_stack[-1] is first
        app.push_screen(second)
        app.visit("notebook")
        await settled(app, pilot)
        assert app.returned_to_measurement()
        assert app.screen_stack[-1] is second, "the newest; what is above it alone is left"
        app.visit("audit")
        await settled(app, pilot)
        assert shows(app, AuditScreen), "which only reads"
