"""Targets completed while they are typed: from recordings, the settings file, and shares that a server has listed."""

from pathlib import Path

import pytest
from textual.widgets import Input

from app.base.config import config
from app.clients.browsing import BrowsedFolder, Item, ItemKind
from app.method.listed_shares import keep_listed_shares, read_listed_shares
from app.tui.widgets.completion import TargetSuggester, known_places
from storage.notebook import Notebook
from storage.records import Target, format_target
from tests.builders import book, one
from tests.tui import SMB, FakeBackend, app_on, here, press, send_at_once, settled

DOCS = Target(protocol="smb", host="nas", share="public", path="docs/big.iso", user="alice")
PLACES = known_places(["@archive"], [Target(protocol="smb", host="nas", share="public", path="docs", user="alice")])

FORMS = ("load", "isolation", "audit", "diagnosis")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return book(tmp_path / "notebook.db", one(1, (100e6,) * 5, target=DOCS))


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("na", "nas/public"),
        ("NA", "nas/public"),
        ("nas/public", None),
        ("nas/public/", "nas/public/docs"),
        ("al", "alice@nas/public"),
        ("smb://n", "smb://nas/public"),
        ("smb://alice", "smb://alice@nas/public"),
        ("@", "@archive"),
        ("nas/public/docs", None),
        ("other", None),
    ],
)
async def test_the_first_place_that_begins_so_is_suggested(typed, completed):
    suggester = TargetSuggester(PLACES)
    assert await suggester.get_suggestion(typed.casefold()) == completed


@pytest.mark.varied
@pytest.mark.parametrize("name", FORMS)
async def test_the_right_arrow_takes_what_is_suggested_and_tab_does_not(path, name):
    app = app_on(path, first=name, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, *"alice", "right")
        await settled(app, pilot)
        assert here(app).query_one("#target", Input).value == "alice@nas/public"

        await send_at_once(app, "ctrl+u", *"nas", "tab")
        await settled(app, pilot)
        assert here(app).query_one("#target", Input).value == "nas"


async def test_names_of_the_settings_file_are_completed(path, monkeypatch, tmp_path):
    settings = tmp_path / "config.toml"
    settings.write_text("[servers.archive]\naddress = 'archive'\nshare = 'old'\n")
    monkeypatch.setattr("app.base.config.config_file", lambda: settings)
    config.cache_clear()
    app = app_on(path, first="audit", backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, *"@a", "right")
        await settled(app, pilot)
        assert here(app).query_one("#target", Input).value == "@archive"
    config.cache_clear()


async def test_shares_that_a_server_has_listed_are_completed_without_asking_again(path):
    backend = FakeBackend()
    app = app_on(path, first="audit", backend=backend)
    server = Target(protocol="smb", host="filer")
    listed = BrowsedFolder(target=server, items=(Item(ItemKind.SHARE, "photos", "photos"),))
    app.context.listed_shares.update(dict.fromkeys(listed.shares))
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, *"filer/", "right")
        await settled(app, pilot)
        assert here(app).query_one("#target", Input).value == "filer/photos"
        assert backend.logins == [], "no server was asked"


@pytest.mark.parametrize("name", ["audit", "guide"])
async def test_shares_that_were_listed_before_a_restart_are_completed(path, name):
    with Notebook(path) as notebook:
        keep_listed_shares(notebook, [Target(protocol="smb", host="filer", share="photos")])
    app = app_on(path, first=name, backend=FakeBackend())
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await send_at_once(app, *"filer/", "right")
        await settled(app, pilot)
        assert here(app).query_one(Input).value == "filer/photos"


def test_so_many_listed_shares_are_kept_the_newest_last(path):
    def share(number: int) -> Target:
        return Target(protocol="smb", host="filer", port=445, share=f"share{number}")

    with Notebook(path) as notebook:
        assert read_listed_shares(notebook) == ()
        keep_listed_shares(notebook, map(share, range(199)))
        keep_listed_shares(notebook, [share(199)])
        assert read_listed_shares(notebook) == tuple(map(share, range(200)))
        keep_listed_shares(notebook, [share(5), share(200)])
        assert read_listed_shares(notebook) == tuple(map(share, range(1, 201)))
        notebook.remember("listed shares", {"urls": ["smb://user:secret@filer/x", 7, "smb://filer/a"]})
        assert read_listed_shares(notebook)[-1].share == "a", "what cannot be read is left out"


@pytest.mark.long
async def test_the_guide_completes_its_target_and_remembers_the_shares_that_it_listed(guide_app, backend):
    async with guide_app.run_test() as pilot:
        await settled(guide_app, pilot)
        await send_at_once(guide_app, *"smb://bench@127", "right")
        await settled(guide_app, pilot)
        assert here(guide_app).query_one(Input).value == format_target(SMB)
        await press(guide_app, pilot, "escape")

        await press(guide_app, pilot, "enter")
        shares = {share.share for share in guide_app.context.listed_shares}
        assert shares == {"data"}, "those that are not hidden"
        await settled(guide_app, pilot)
    with Notebook(guide_app.context.notebook_path) as notebook:
        assert {share.share for share in read_listed_shares(notebook)} == shares
