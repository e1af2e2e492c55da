"""Keys sent all at once, before the screens have followed: each one acts where it was typed for, in its order."""

import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from app.tui.frame.screens import SCREENS
from app.tui.widgets.form_screen import FormScreen
from app.tui.worksheet import WorksheetScreen
from storage.records import Target
from tests.builders import book, one
from tests.tui import FakeBackend, app_on, here, painted, send_at_once, settled
from tests.waiting import HANG_SECONDS

FORMS = {
    "survey": ("hosts", "smb", "ftp"),
    "load": ("target", "users", "scenario"),
    "isolation": ("target", "clients", "rounds"),
    "audit": ("target", "ssh", "conf"),
    "diagnosis": ("target", "complaint", "only"),
    "quick": ("target", "size", "link"),
    "who": ("target", "seconds", "ssh"),
    "bottleneck": ("cpu", "disk", "network"),
    "clients": ("capacity", "group-1", "group-2"),
}
"""The screens with lines to type in, with their first three lines."""
READ_THE_NOTEBOOK = sorted(FORMS.keys() - {"bottleneck", "clients"})

SEARCHES = {"notebook": "filter", "catalogue": "search"}
"""The screens with a line to search in."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    nas = Target(protocol="smb", host="nas", share="public", path="big.iso", user="alice")
    return book(tmp_path / "notebook.db", one(1, (100e6,) * 5, target=nas))


@pytest.fixture
def slow_notebook(monkeypatch):
    """Reading what a form begins with takes until the event is set."""
    may_read = threading.Event()
    read = FormScreen._read_first_values

    def read_late(screen, notebook):
        assert may_read.wait(HANG_SECONDS)
        return read(screen, notebook)

    monkeypatch.setattr(FormScreen, "_read_first_values", read_late)
    yield may_read
    may_read.set()


def test_every_form_is_in_the_table():
    with_lines = {entry.name for entry in SCREENS if issubclass(entry.load(), FormScreen | WorksheetScreen)}
    assert with_lines == FORMS.keys()


@pytest.mark.varied(name=4)
@pytest.mark.parametrize("name", FORMS)
async def test_tab_acts_in_the_order_typed(path, name):
    lines = FORMS[name]
    app = app_on(path, first=name, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, "delete", *"50", "tab", *"57", "tab", *"8")
        await settled(app, pilot)
        assert [here(app).query_one(f"#{line}", Input).value for line in lines] == ["50", "57", "8"]


@pytest.mark.varied(name=3)
@pytest.mark.parametrize("name", READ_THE_NOTEBOOK)
async def test_keys_wait_until_the_form_is_filled(path, slow_notebook, name):
    first, second, _ = FORMS[name]
    app = app_on(path, first=name, backend=FakeBackend())
    async with app.run_test() as pilot:
        await send_at_once(app, *"mine", "tab", *"77")
        form = app.screen
        assert isinstance(form, FormScreen)
        assert not any(form.typed_texts().values()), "nothing is typed into a form that is not filled"
        assert not any(line.visible for line in form.query(Input))

        slow_notebook.set()
        await settled(app, pilot)
        assert form.query_one(f"#{first}", Input).value == "mine", "it replaces what the form began with"
        assert form.query_one(f"#{second}", Input).value == "77"
        assert all(line.visible for line in form.query(Input))


async def test_keys_wait_for_a_form_that_they_open_themselves(path, slow_notebook):
    app = app_on(path, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, "f7", *"bob@nas/data", "tab", *"root@nas")
        slow_notebook.set()
        await settled(app, pilot)
        assert here(app).typed_texts() == {"target": "bob@nas/data", "ssh": "root@nas", "conf": ""}


async def test_a_form_is_filled_with_what_is_usual_where_the_notebook_cannot_be_read(path, monkeypatch):
    def fail(*_):
        raise OSError("the disk does not answer")

    monkeypatch.setattr(FormScreen, "_read_first_values", fail)
    app = app_on(path, first="isolation", backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert "the disk does not answer" in painted(app)
        await send_at_once(app, "enter", *"nas/data")
        await settled(app, pilot)
        texts = here(app).typed_texts()
        assert (texts["target"], bool(texts["rounds"])) == ("nas/data", True)


@pytest.mark.parametrize("name", SEARCHES)
async def test_words_to_search_go_to_the_line_that_the_key_before_them_opens(path, name):
    app = app_on(path, first=name, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, "slash", *"log nas")
        await settled(app, pilot)
        assert here(app).query_one(f"#{SEARCHES[name]}", Input).value == "log nas"


async def test_a_path_of_an_export_is_typed_in_place_of_the_proposed_one(path):
    app = app_on(path, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, "x", *"mine.txt")
        await settled(app, pilot)
        assert here(app).query_one("#path", Input).value == "mine.txt"


async def test_label_and_note_go_to_their_lines(path):
    app = app_on(path, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, "e", *"old switch", "enter")
        await settled(app, pilot)
        assert "old switch" in painted(app)
