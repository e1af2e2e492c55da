"""Draws a scene of the real app as SVG, the same on every machine."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, chdir, contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

from screenshots import invented
from screenshots.scenes import Scene
from tests.tui import measured, settled

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from app.tui.frame.app import SharebenchApp

FOLDER = Path(__file__).parent
MADE_WITH = FOLDER / "made-with.txt"
"""The versions of the libraries that draw: with others the same scene may differ in details."""
_LIBRARIES = ("textual", "rich", "plotext")
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_UNIQUE = re.compile(r"terminal-\d+-")


def libraries() -> str:
    """The drawing libraries with their versions, a line each."""
    return "".join(f"{name} {version(name)}\n" for name in _LIBRARIES)


@cache
def _notebook(make: Callable[[Path], Path]) -> bytes:
    """The invented notebook as a file, made once."""
    with TemporaryDirectory() as folder:
        return make(Path(folder) / "notebook.db").read_bytes()


def _maker_of(scene: Scene) -> Callable[[Path], Path]:
    """What writes the notebook of the scene."""
    if scene.nights:
        return invented.make_nights
    return invented.make_pair if scene.pair else invented.make


@asynccontextmanager
async def shown(scene: Scene) -> AsyncIterator[tuple[SharebenchApp, Pilot[int]]]:
    """The real app, at rest, after the scene's keys."""
    from app.tui.frame.app import SharebenchApp
    from app.tui.frame.context import Context
    from screenshots.still_backend import StillBackend

    with TemporaryDirectory() as folder, _same_everywhere():
        path = Path(folder) / "notebook.db"
        if not scene.empty:
            path.write_bytes(_notebook(_maker_of(scene)))
        context = Context(notebook_path=path, backend=(still := StillBackend()))
        app = SharebenchApp(context, first=scene.screen, **scene.arguments)
        async with app.run_test(size=scene.size) as pilot:
            if scene.theme:
                app.theme = scene.theme
            for key in ("", *scene.keys):
                if key:
                    await pilot.press(key)
                if key and scene.midway:
                    assert await asyncio.to_thread(still.is_midway.wait, 60)
                    app.screen.tick()  # type: ignore[attr-defined]  # a recording's
                    await settled(app, pilot)
                else:
                    await measured(app, pilot)
            yield app, pilot


async def draw(scene: Scene) -> str:
    """The scene as SVG, without fonts from elsewhere."""
    async with shown(scene) as (app, _):
        return _plain(app.export_screenshot(title="sharebench"))


@contextmanager
def _same_everywhere() -> Iterator[None]:
    """Colours as on a terminal that has them all, in a folder that every machine has, however slowly it draws."""
    kept = {name: os.environ.pop(name) for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME") if name in os.environ}
    try:
        with (
            chdir("/tmp"),  # noqa: S108  nothing is written there
            patch("app.guide.run_screen.STALL_SECONDS", float("inf")),
            patch("app.load.run_screen.PART_SECONDS", 0.0),
            patch("app.tui.frame.help.config_file", lambda: Path("~/.config/sharebench/config.toml")),
        ):
            yield
    finally:
        os.environ.update(kept)


def _plain(svg: str) -> str:
    """Without random names, fonts to be fetched, and blanks at line ends."""
    svg = _UNIQUE.sub("terminal-", _FONT_FACE.sub("", svg))
    svg = svg.replace("Fira Code, monospace", "'Fira Code', 'DejaVu Sans Mono', Menlo, Consolas, monospace")
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())
