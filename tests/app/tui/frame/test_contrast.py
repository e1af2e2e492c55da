"""Every text is readable in every theme: at least 4.5:1 between its colour and what is behind it (WCAG 2, AA)."""

from collections.abc import Iterator
from typing import Any

import pytest
from rich.color import Color, ColorType
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color as TextualColor

from app.tui.frame.themes import Readable
from screenshots.drawing import shown
from screenshots.scenes import COMPARED, REJECTED, SMALL, Scene

LEAST = 4.5
SCENES = (
    Scene(name="notebook"),
    Scene(name="export", size=SMALL, keys=("space", "down", "space", "x")),
    Scene(name="series", size=SMALL, screen="series", arguments={"series_id": REJECTED}),
    Scene(name="compare", size=SMALL, screen="compare", arguments=COMPARED),
    Scene(name="guide", size=SMALL, screen="guide"),
    Scene(name="load", size=SMALL, screen="load"),
)
"""A list, a dialog with inputs, a form with rejected runs, a verdict, the guide's steps and choices, a form to fill."""


def _linear(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def _luminance(colour: Color) -> float:
    red, green, blue = (_linear(channel) for channel in colour.get_truecolor())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: Color, other: Color) -> float:
    """The contrast of two colours, 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def texts(app: App[Any]) -> Iterator[tuple[str, Style]]:
    """What is painted now and has a letter or a digit, each with its style."""
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if any(sign.isalnum() for sign in text):
                yield text.strip(), style or Style.null()


def colours(style: Style) -> tuple[Color, Color]:
    """Of the text and of what is behind it."""
    front, back = style.color or Color.default(), style.bgcolor or Color.default()
    return (back, front) if style.reverse else (front, back)


def fault(style: Style, *, native: bool) -> str:
    """What is wrong with a text's colours; empty if nothing is."""
    front, back = colours(style)
    said = f"{front.name} on {back.name}"
    if native:  # the terminal's own colours, whichever they are: no text in one that is unlike them, or invisible
        fixed = any(one.type not in (ColorType.DEFAULT, ColorType.STANDARD) for one in (front, back))
        return f"{said}, not the terminal's" if fixed else f"{said} twice" if front == back != Color.default() else ""
    if style.dim or ColorType.DEFAULT in (front.type, back.type):
        return f"{said}{' dim' * bool(style.dim)}: the terminal decides how it looks"
    found = ratio(front, back)
    return "" if found >= LEAST else f"{said}: {found:.2f}:1"


def faults(app: App[Any]) -> Iterator[str]:
    """A line for each text that cannot be read now."""
    for text, style in texts(app):
        if wrong := fault(style, native=app.native_ansi_color):
            yield f"{app.theme}: {wrong}: {text!r}"


@pytest.mark.long
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_every_text_can_be_read_in_every_theme(scene: Scene):
    found: list[str] = []
    async with shown(scene) as (app, pilot):
        for theme in app.available_themes:
            app.theme = theme
            await pilot.pause()
            assert next(texts(app), None), "something is painted"
            found += faults(app)
    assert not found, "\n".join(dict.fromkeys(found))


@pytest.mark.varied
@pytest.mark.parametrize(
    "theme", ["sharebench-dark", "sharebench-light", "sharebench-ansi", "ansi-dark", "solarized-light"]
)
async def test_the_palette_can_be_read(theme: str):
    async with shown(Scene(name="palette", theme=theme, keys=("ctrl+p",))) as (app, _):
        assert not list(faults(app))


BEHIND = Color.parse("#ffffff")
READ, UNREAD = "#767676", "#777777"
"""The palest grey on white that can be read, and the next: 4.54:1 and 4.48:1."""


def painted(text: str, style: str) -> Style:
    """The style that a text of this one is painted in, on white."""
    (segment,) = Readable().apply([Segment(text, Style.parse(style))], TextualColor.parse("#ffffff"))
    assert segment.style
    return segment.style


def test_a_text_changes_no_more_than_it_must():
    assert ratio(Color.parse(READ), BEHIND) >= LEAST > ratio(Color.parse(UNREAD), BEHIND)
    assert painted("1", READ) == Style.parse(READ)
    changed = painted("1", UNREAD).color
    assert changed
    assert LEAST <= ratio(changed, BEHIND) < LEAST + 0.5


@pytest.mark.parametrize("behind", ["#000000", "#757575", "#767676", "#777777", "#ff0000", "#00ff00", "#0000ff"])
def test_a_text_on_its_own_colour_can_be_read(behind: str):
    for style in (f"{behind} on {behind}", f"reverse {behind} on {behind}"):
        assert ratio(*colours(painted("a", style))) >= LEAST


def test_frames_marks_and_the_terminals_own_colours_stay():
    for text, style in (("── ⣿ ▄", UNREAD), ("a", "bright_black on black"), ("a", "default on default")):
        assert painted(text, style) == Style.parse(style)
