"""Notebooks for the tests of the screens that show them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from storage.notebook import Notebook
from storage.records import Series
from tests.forms.samples import series

NASTY = "[bold]x[/] \x1b[31mred =1+1"


def one(number: int, rates: Sequence[float] = (100e6, 101e6, 99e6, 100e6, 100e6), **fields: Any) -> Series:
    """A series of January 2026, its id the number in hexadecimal."""
    usual = {"id": f"{number:012x}", "created_at": f"2026-01-{number:02d}T10:00:00.000Z", "label": f"series {number}"}
    return series(rates, **{**usual, **fields})


def book(path: Path, *found: Series, baselines: dict[str, str] | None = None) -> Path:
    """A notebook with these series and baselines."""
    with Notebook(path) as notebook:
        for each in found:
            notebook.add(each)
        for name, series_id in (baselines or {}).items():
            notebook.set_baseline(name, series_id)
    return path


def app_on(path: Path, *, first: str = "", **arguments: Any) -> SharebenchApp:
    """The app on a notebook, with no keys file of the person's own."""
    context = Context(notebook_path=path, keys_file=path.with_name("keys.toml"))
    return SharebenchApp(context, first=first, **arguments)
