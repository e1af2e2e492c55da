"""The worksheets: they calculate as one types, take what was measured, and are kept in the notebook."""

from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.widgets import Input, OptionList

from app.errors import UsageError
from app.tui.export import ExportScreen
from app.tui.frame.dialogs import PickDialog
from app.tui.worksheets import BottleneckScreen, read_count, read_group, read_parts
from app.workflows.worksheets import read_rate
from forms.worksheets.summary import ReferenceKind
from storage.notebook import Notebook
from tests.builders import book, one
from tests.tui import app_on, here, painted, settled, text_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return book(tmp_path / "notebook.db", one(1, (50e6,) * 5, label="old disk"))


def put(app: App[Any], **values: str) -> None:
    """Type into the lines."""
    for name, value in values.items():
        app.screen.query_one(f"#{name.replace('_', '-')}", Input).value = value


async def test_the_bottleneck_follows_what_is_typed(path):
    app = app_on(path, first="bottleneck")
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(app, pilot)
        assert "Bottleneck: network at 117.7 MB/s" in painted(app)
        assert "< 1 network" in painted(app)
        put(app, network_count="4")
        await settled(app, pilot)
        assert "Bottleneck: disk at 270.0 MB/s" in painted(app)
        await pilot.press(*"Pentium 133")
        await settled(app, pilot)
        assert "could be more than one" in painted(app) or "no such name" in painted(app)
        put(app, cpu_what="Intel Pentium 133")
        await settled(app, pilot)
        assert "Bottleneck: CPU at 5.600 MB/s" in painted(app)


async def test_the_aim_shows_the_steps_that_lead_there(path):
    app = app_on(path, first="bottleneck")
    async with app.run_test(size=(80, 60)) as pilot:
        await settled(app, pilot)
        put(app, aim="500MB")
        await settled(app, pilot)
        copied = here(app).text_to_copy()
        assert "Gained in all:" in copied
        assert "5" in copied
        put(app, aim="a lot")
        await settled(app, pilot)
        assert "! bytes a second, such as 560KB" in painted(app)
        assert "Gained in all" in here(app).text_to_copy()


async def test_a_measured_series_stands_for_a_disk_and_its_words_can_be_overwritten(path):
    app = app_on(path, first="bottleneck")
    async with app.run_test(size=(80, 60)) as pilot:
        await settled(app, pilot)
        app.screen.query_one("#disk-what").focus()
        await pilot.press("enter")
        await settled(app, pilot)
        assert isinstance(app.screen, PickDialog)
        choices = app.screen.query_one(OptionList)
        choices.highlighted = choices.option_count - 1
        await pilot.press("enter")
        await settled(app, pilot)
        assert "Bottleneck: disk at 50.00 MB/s" in painted(app)
        assert f"measured, series {1:012x}" in here(app).text_to_copy()
        put(app, disk_what="SATA SSD")
        await settled(app, pilot)
        assert "measured" not in here(app).text_to_copy()


async def test_what_is_saved_is_opened_as_it_was(path):
    app = app_on(path, first="bottleneck")
    async with app.run_test(size=(80, 60)) as pilot:
        await settled(app, pilot)
        put(app, disk_count="3", aim="200MB")
        await settled(app, pilot)
        before = here(app).text_to_copy()
        await pilot.press("ctrl+s", *"file server", "enter")
        await settled(app, pilot)
        with Notebook(path) as notebook:
            assert [sheet.name for sheet in notebook.worksheets("bottleneck")] == ["file server"]
        put(app, disk_count="1", aim="", network_what="")
        await settled(app, pilot)
        await pilot.press("ctrl+o")
        await settled(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert "file server" in painted(app).splitlines()[0]
        assert app.screen.query_one("#disk-count", Input).value == "3"
        after = here(app).text_to_copy()
        for line in ("Disk:", "Gained in all:"):
            assert [x for x in before.splitlines() if x.startswith(line)] == [
                x for x in after.splitlines() if x.startswith(line)
            ]


async def test_without_saved_worksheets_opening_says_so_and_nothing_is_saved_of_nothing(path):
    app = app_on(path, first="clients")
    async with app.run_test(notifications=True) as pilot:
        await settled(app, pilot)
        for key, said in (("o", "No worksheet of this kind was saved yet."), ("s", "There is nothing to save yet.")):
            await pilot.press(f"ctrl+{key}")
            await settled(app, pilot)
            assert said in [note.message for note in app._notifications]
        await pilot.press("ctrl+t", "ctrl+y")
        await settled(app, pilot)
        assert type(app.screen).__name__ == "ClientsScreen"


async def test_clients_are_counted_against_what_the_server_moves(path):
    app = app_on(path, first="clients")
    async with app.run_test(size=(80, 50)) as pilot:
        await settled(app, pilot)
        assert "Fill in what is known" in painted(app)
        await pilot.press("enter")
        await settled(app, pilot)
        await pilot.press("down", "enter")
        await settled(app, pilot)
        put(app, name_0="office", clients_0="36", transfers_0="2.3", size_0="12KB")
        await settled(app, pilot)
        assert "✓ yes" in painted(app)
        put(app, clients_1="900", transfers_1="1", size_1="1MB")
        await settled(app, pilot)
        assert "✗ no" in painted(app)
        assert "group 2 alone" in painted(app)
        put(app, size_1="big")
        await settled(app, pilot)
        assert "! group 2: a file size, such as 12KB or 4M" in text_of(app.screen, "#hint")
        await pilot.press("ctrl+s", *"office", "enter")
        await settled(app, pilot)
        put(app, clients_0="1")
        await pilot.press("ctrl+o")
        await settled(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert app.screen.query_one("#clients-0", Input).value == "36"
        assert f"measured, series {1:012x}" in here(app).text_to_copy()


async def test_a_worksheet_is_exported(path):
    app = app_on(path, first="bottleneck")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+t")
        await settled(app, pilot)
        assert isinstance(app.screen, ExportScreen)
        target = path.with_name("sheet.txt")
        app.screen.query_one(OptionList).highlighted = 0
        await settled(app, pilot)
        put(app, path=str(target))
        await pilot.press("enter", "enter")
        await settled(app, pilot)
        assert "Bottleneck calculation" in target.read_text()
        assert isinstance(here(app), BottleneckScreen)


async def test_arrows_go_from_line_to_line(path):
    app = app_on(path, first="bottleneck")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        seen = []
        for key in ("down", "down", "up", "tab"):
            await pilot.press(key)
            seen.append(app.focused.id if app.focused else "")
        assert seen == ["cpu-count", "disk-what", "cpu-count", "disk-what"]


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "x", "²", "9999999"])
def test_what_is_no_number_of_things_is_refused(text):
    with pytest.raises(UsageError):
        read_count(text)


def test_rates_and_parts_are_read_as_typed():
    assert read_rate("560KB") == 560_000
    assert read_rate(" 118MB/s ") == 118_000_000
    assert read_parts(ReferenceKind.DISK, "", "1") is None
    part = read_parts(ReferenceKind.DISK, "sata ssd", "2")
    assert part is not None
    assert part.total_bytes_per_second == 1_120_000_000
    with pytest.raises(UsageError, match="no such name"):
        read_parts(ReferenceKind.DISK, "zebra", "1")


def test_groups_are_read_as_typed():
    assert read_group("x", "", " ", "", number=1) is None
    imaging = read_group("", "2", "Imaging", "", number=1)
    assert imaging
    assert (imaging.name, imaging.demand_bytes_per_second) == ("Imaging", 20e6)
    group = read_group("", "3", "0.5", "4M", number=2)
    assert group is not None
    assert (group.name, group.clients, group.each_bytes_per_second) == ("group 2", 3, 2 * 1024 * 1024)
    for broken in (("", "1", "4K"), ("3", "nan", "4K"), ("3", "-1", "4K"), ("3", "1", "4X"), ("3", "1e10", "4K")):
        with pytest.raises(UsageError):
            read_group("g", *broken, number=1)
