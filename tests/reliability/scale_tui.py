"""The TUI at scale: what its screens take of the processor, on few runs and on a thousand times as many.

Processor time, since on a machine that has other work too the time by the clock says little.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

from textual.widgets import Input

from app.tui.frame.app import SharebenchApp
from tests.tui import app_on, here, settled

REPEATS = 5
SIZE = (140, 45)
FIRST, SECOND = f"{1:012x}", f"{2:012x}"
Step = Callable[[], Awaitable[None]]


@contextmanager
def _uncollected() -> Iterator[None]:
    """A step that Python does not interrupt to collect garbage: of all apps before it, a tenth of a second and more."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def _timed(step: Step) -> float:
    with _uncollected():
        began = time.process_time()
        await step()
        return time.process_time() - began


async def _once(path: Path) -> dict[str, float]:
    """What each thing that a user does takes until the screens are at rest, in seconds of the processor."""
    app: SharebenchApp = app_on(path)
    found: dict[str, float] = {}
    async with AsyncExitStack() as opened:
        with _uncollected():
            began = time.process_time()
            pilot = await opened.enter_async_context(app.run_test(size=SIZE))
            await settled(app, pilot)
            found["open"] = time.process_time() - began

        def key(name: str) -> Step:
            async def press() -> None:
                await pilot.press(name)
                await settled(app, pilot)

            return press

        async def filter_text() -> None:
            box = here(app).query_one("#filter", Input)
            box.value = "nas 000000000001"
            await pilot.pause(0.2)
            await settled(app, pilot)

        async def compare() -> None:
            app.visit("compare", base=FIRST, other=SECOND)
            await settled(app, pilot)

        async def open_series() -> None:
            app.visit("series", series_id=FIRST)
            await settled(app, pilot)

        for name, step in (
            ("page down", key("pagedown")),
            ("go to the end", key("end")),
            ("filter", filter_text),
            ("compare", compare),
            ("go back", key("escape")),
            ("show", open_series),
        ):
            found[name] = await _timed(step)
    return found


def tui_seconds(*paths: Path) -> list[dict[str, float]]:
    """For each notebook the least of several times for each thing that a user does, in seconds; they take turns."""
    found: list[dict[str, float]] = [{} for _ in paths]
    asyncio.run(_once(paths[0]))  # loads what is loaded when it is first needed
    for _ in range(REPEATS):
        for path, shortest in zip(paths, found, strict=True):
            for name, seconds in asyncio.run(_once(path)).items():
                shortest[name] = min(seconds, shortest.get(name, seconds))
    return found
