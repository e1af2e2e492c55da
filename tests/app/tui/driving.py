"""How the tests drive the TUI: wait for its work, and read what stands on a screen."""

from contextlib import suppress
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import WorkerCancelled

MEASURING = "measure"
"""The group of the work that goes on while a series is measured."""


_QUIET = 2
"""A message on its way between widgets can still start work when nothing seems to be left to do."""


async def settle(app: App[Any], pilot: Pilot[Any]) -> None:
    """All work of all screens is done and its messages are handled; a series under way goes on."""
    for worker in list(app.workers):
        if worker.group != MEASURING or worker.is_finished:
            with suppress(WorkerCancelled):
                await worker.wait()
    await pilot.pause()


def text_of(screen: Screen[Any], selector: str) -> str:
    """The plain text of the labels that the selector finds, a line each."""
    return "\n".join(str(widget.render()) for widget in screen.query(selector).results(Static))


def painted(app: App[Any]) -> str:
    """What the screen shows now, cell by cell, as lines of text."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width] for strip in strips[:height])


async def measured(app: App[Any], pilot: Pilot[Any]) -> None:
    """The series under way is over, and its screen knows."""
    for worker in list(app.workers):
        if worker.group == MEASURING:
            await worker.wait()
    await settled(app, pilot)


async def press(app: App[Any], pilot: Pilot[Any], *keys: str) -> None:
    """Each key after the one before has had its whole effect."""
    for key in keys:
        await pilot.press(key)
        await settled(app, pilot)


async def settled(app: App[Any], pilot: Pilot[Any]) -> None:
    """Work that starts other work is done as well: nothing runs and nothing waits any more, twice running."""
    quiet = 0
    for _ in range(150):
        await settle(app, pilot)
        quiet = quiet + 1 if all(w.is_finished for w in app.workers if w.group != MEASURING) else 0
        if quiet == _QUIET:
            return
    raise AssertionError("the screens do not come to rest")
