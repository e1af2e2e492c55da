"""The worksheets: they calculate as one types."""

from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.widgets import Input, OptionList

from app.tui.export import ExportScreen
from app.worksheets.screen import BottleneckScreen
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
        put(app, network="4 x 1 Gb/s Ethernet")
        await settled(app, pilot)
        assert "Bottleneck: disk at 270.0 MB/s" in painted(app)
        await pilot.press(*"Pentium 133")
        await settled(app, pilot)
        assert "could be more than one" in painted(app)
        put(app, cpu="Intel Pentium 133")
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


async def test_several_equal_parts_are_counted_and_an_unknown_name_lists_those_of_the_tables(path):
    app = app_on(path, first="bottleneck")
    async with app.run_test(size=(80, 50)) as pilot:
        await settled(app, pilot)
        put(app, disk="3 x SATA SSD", network="")
        await settled(app, pilot)
        assert "3 x SATA SSD, 560.0 MB/s each" in here(app).text_to_copy()
        put(app, disk="SSD of mine")
        await settled(app, pilot)
        assert "SATA SSD, NVMe PCIe 3.0 x4" in " ".join(text_of(app.screen, "#hint").split())
        put(app, disk="0 x SATA SSD")
        await settled(app, pilot)
        assert "! Disk: expected a whole number from 1" in text_of(app.screen, "#hint")


async def test_nothing_is_copied_or_exported_of_nothing(path):
    app = app_on(path, first="clients")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        await pilot.press("ctrl+t", "ctrl+y")
        await settled(app, pilot)
        assert type(app.screen).__name__ == "ClientsScreen"


async def test_clients_are_counted_against_what_the_server_moves(path):
    app = app_on(path, first="clients")
    async with app.run_test(size=(80, 50)) as pilot:
        await settled(app, pilot)
        assert "Fill in what is known" in painted(app)
        put(app, capacity="50MB", group_1="office=36:2.3:12KB")
        await settled(app, pilot)
        assert "✓ yes" in painted(app)
        put(app, group_2="900:1:1MB")
        await settled(app, pilot)
        assert "✗ no" in painted(app)
        assert "group 2 alone" in painted(app)
        put(app, group_2="900:1:big")
        await settled(app, pilot)
        assert "! group 900:1:big: write NAME=CLIENTS:TRANSFERS:SIZE" in text_of(app.screen, "#hint")


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
        assert seen == ["disk", "network", "disk", "network"]
