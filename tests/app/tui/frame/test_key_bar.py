"""The last line of a screen: which keys it shows, and that a click presses them."""

from typing import Any, ClassVar

import pytest
from textual.widgets import Button, Label

from app.tui.frame.app import SharebenchApp
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.context import Context
from app.tui.frame.dialogs import ConfirmDialog, MessageDialog, PickDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Choices
from app.tui.notebook.dialogs import EditDialog
from tests.tui import painted, press, settled


class Bench(BaseScreen):
    """A screen with a key that comes and goes."""

    KEYS: ClassVar[Any] = (
        KeyCommand("bar.count", "n,k", "Count", "Counts one up."),
        KeyCommand("bar.other", "o", "Other", "Comes and goes."),
        KeyCommand("bar.hidden", "h", "Hidden", "Not in the bar.", action="count", hidden=True),
    )
    counted = 0
    offers_other = True

    def compose(self):
        yield Label("bench")
        yield KeyBar()

    def action_count(self):
        self.counted += 1

    def check_action(self, action, parameters):
        return action != "other" or self.offers_other


class Hides(Bench):
    """With hidden keys: one of its own, and one more for what has a key."""

    KEYS: ClassVar[Any] = (
        KeyCommand("bar.more", "m", "More", "Counts too.", action="count", hidden=True),
        KeyCommand("bar.secret", "h", "Hidden", "Not in the bar by itself.", hidden=True),
    )


@pytest.fixture
def app(tmp_path):
    return SharebenchApp(Context(notebook_path=tmp_path / "notebook.db"))


def last_line(app):
    return painted(app).splitlines()[-1]


async def test_keys_that_do_not_fit_are_left_out_whole_and_the_ways_out_stay(app):
    async with app.run_test(size=(60, 12)) as pilot:
        await app.push_screen(Bench())
        await pilot.pause()
        assert last_line(app) == " n Count  o Other       esc Back  ^p Find  F1 Help  ^q Quit "
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert last_line(app) == "    esc Back  ^p Find  F1 Help  ^q Quit "
        await pilot.resize_terminal(8, 12)
        await pilot.pause()
        assert last_line(app) == " ^q Quit"


async def test_a_shorter_key_does_not_jump_the_queue(app):
    async with app.run_test(size=(76, 12)) as pilot:
        await app.push_screen(Bench())
        await pilot.pause()
        assert "F2 Notebook" in last_line(app)
        assert "F3 Measure" not in last_line(app)
        assert "F5 Load" not in last_line(app), "although there is room"


async def test_no_other_screen_is_offered_below_a_dialog(app):
    async with app.run_test(size=(120, 24)) as pilot:
        await app.push_screen(Bench())
        await settled(app, pilot)
        assert "F2 Notebook" in last_line(app)
        await app.push_screen(MessageDialog("Not understood", "It is not a target."))
        await settled(app, pilot)
        assert last_line(app).split() == ["⏎", "OK", "esc", "Close", "^p", "Find", "F1", "Help", "^q", "Quit"], (
            "no key that is dead there"
        )
        await pilot.press("f2")
        assert isinstance(app.screen, MessageDialog)
        await pilot.press("enter")
        await settled(app, pilot)
        assert "n Count" in last_line(app)
        assert "F2 Notebook" in last_line(app)


async def test_a_dialog_says_what_enter_does_where_the_focus_is(app):
    async with app.run_test(size=(120, 24)) as pilot:
        await app.push_screen(Bench())
        await app.push_screen(ConfirmDialog("Delete?", "It is a baseline.", yes="Delete"))
        await settled(app, pilot)
        assert last_line(app).startswith(" ⏎ Cancel  ")
        await press(app, pilot, "left")
        assert last_line(app).startswith(" ⏎ Delete  ")
        app.screen.withdraw("It is gone.")
        await settled(app, pilot)
        assert last_line(app).startswith(" ⏎ OK  ")
        await press(app, pilot, "escape")
        await app.push_screen(PickDialog("Sort by", [(1, "label")], about="What to sort by."))
        await settled(app, pilot)
        assert last_line(app).startswith(" ⏎ Choose  ")
        await press(app, pilot, "enter")
        await app.push_screen(EditDialog())
        await settled(app, pilot)
        assert last_line(app).startswith(" ⏎ Save  ")
        await press(app, pilot, "tab")
        assert last_line(app).startswith(" ^s Save  "), "in the note, Enter begins a line"


@pytest.mark.parametrize("prefer_yes", [False, True])
async def test_the_coloured_button_is_the_one_that_enter_presses(app, prefer_yes: bool):
    async with app.run_test(size=(120, 24)) as pilot:
        dialog = ConfirmDialog("Restore it?", "As it was before.", yes="Restore", prefer_yes=prefer_yes)
        await app.push_screen(dialog)
        await settled(app, pilot)
        (primary,) = (button for button in dialog.query(Button) if button.variant == "primary")
        assert primary.has_focus
        assert dialog.enter_now() == ("Restore" if prefer_yes else "Cancel")


@pytest.mark.varied
@pytest.mark.parametrize(
    ("name", "key", "first"), [("notebook", "F2", "F3"), ("guide", "F3", "F2"), ("load", "F5", "F2")]
)
async def test_the_key_of_the_screen_that_is_open_is_not_offered(app, name, key, first):
    async with app.run_test(size=(200, 24)) as pilot:
        await settled(app, pilot)
        app.visit(name)
        await settled(app, pilot)
        assert f" {key} " not in last_line(app)
        assert f" {first} " in last_line(app) or first == "F3", "n measures there"
        app.visit("catalogue")
        await settled(app, pilot)
        assert f" {key} " in last_line(app)
        await pilot.press(key.lower())
        await settled(app, pilot)
        assert f" {key} " not in last_line(app)


@pytest.mark.varied
@pytest.mark.parametrize(
    ("name", "does"),
    [("notebook", "Choose"), ("guide", "Choose"), ("catalogue", "Open"), ("export", "To the file name")],
)
async def test_enter_is_offered_where_a_list_has_the_focus(app, name, does):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.visit(name)
        await settled(app, pilot)
        app.screen.query_one(Choices).focus()
        await settled(app, pilot)
        assert f"⏎ {does}" in last_line(app)


async def test_a_second_row_takes_up_the_keys_that_the_first_has_no_room_for(app):
    async with app.run_test(size=(60, 12)) as pilot:
        await app.push_screen(Bench())
        bar = app.screen.query_one(KeyBar)
        bar.styles.height = 2
        for width, first, second in (
            (60, " n Count  o Other  F2 Notebook  F3 Measure  F4 Survey", " F5 Load  F6 Isolate    esc Back  ^p Find"),
            (44, " n Count  o Other  F2 Notebook  F3 Measure ", "        esc Back  ^p Find  F1 Help  ^q Quit"),
        ):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            above, below = painted(app).splitlines()[-2:]
            assert above.rstrip() == first.rstrip()
            assert below.startswith(second)
        bar.put_first("other", hides_others=True)
        await pilot.pause()
        above, below = painted(app).splitlines()[-2:]
        assert (above.strip(), below.split()[0]) == ("o Other", "esc")


async def test_what_is_put_first_is_shown_though_it_is_hidden_otherwise(app):
    async with app.run_test(size=(60, 12)) as pilot:
        await app.push_screen(Hides())
        await pilot.pause()
        assert "Hidden" not in last_line(app)
        app.screen.query_one(KeyBar).put_first("secret")
        await pilot.pause()
        assert last_line(app).startswith(" h Hidden  n Count")
        app.screen.query_one(KeyBar).put_first("count")
        await pilot.pause()
        assert last_line(app).startswith(" n Count  o Other"), "by the key that is shown usually"


async def test_a_click_presses_the_key_and_beside_the_keys_nothing(app):
    async with app.run_test(size=(60, 12)) as pilot:
        await app.push_screen(Bench())
        await pilot.pause()
        await pilot.click(KeyBar, offset=(2, 0))
        assert app.screen.counted == 1
        await pilot.click(KeyBar, offset=(21, 0))
        assert app.screen.counted == 1


async def test_a_key_that_can_no_longer_be_pressed_goes(app):
    async with app.run_test(size=(60, 12)) as pilot:
        await app.push_screen(Bench())
        await pilot.pause()
        assert "o Other" in last_line(app)
        app.screen.offers_other = False
        app.screen.refresh_bindings()
        await pilot.pause()
        assert "o Other" not in last_line(app)
