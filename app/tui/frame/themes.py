"""Themes of our own, besides Textual's: light, dark, and one in the terminal's own colours; text readable in all."""

from collections.abc import Container
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from app.base.user_files import config_file

_PARTS = "primary secondary accent success warning error foreground background surface panel"


def _theme(name: str, colours: str, **more: Any) -> Theme:
    parts: dict[str, Any] = dict(zip(_PARTS.split(), colours.split(), strict=True))
    return Theme(name=f"sharebench-{name}", **parts, **more)


DARK = _theme("dark", "#5fafff #5f87af #ffaf5f #87d787 #ffd75f #ff8787 #e4e4e4 #121212 #1c1c1c #303030", dark=True)
"""Colours of the 256-colour palette, so that a terminal without true colour shows the same."""

LIGHT = _theme(
    "light",
    "#005faf #5f87af #af5f00 #005f00 #875f00 #af0000 #1c1c1c #ffffff #eeeeee #dadada",
    dark=False,
    variables={"pane-border": "#a8a8a8"},
)

_GROUNDS, _CHOSEN = ("foreground", "background"), ("block-cursor", "input-selection", "screen-selection")

ANSI = _theme(
    "ansi",
    "ansi_blue ansi_cyan ansi_bright_blue ansi_green ansi_yellow ansi_red" + 4 * " ansi_default",
    ansi=True,
    boost="ansi_default",
    dark=True,
    luminosity_spread=0.0,
    text_alpha=1.0,
    variables={
        "pane-border": "ansi_bright_black",
        "border-blurred": "ansi_default",
        "input-cursor-text-style": "reverse",
        **{f"{part}-{ground}": "ansi_default" for part in ("ansi", "input-cursor") for ground in _GROUNDS},
        **{f"{part}-foreground": "ansi_black" for part in _CHOSEN},
        **{f"{part}-background": "ansi_cyan" for part in _CHOSEN},
    },
)
"""Without these variables Textual's own widgets refer to colours that it only defines for its own ansi themes."""

VARIABLES = {"pane-border": "#4e4e4e"}

THEMES = (DARK, LIGHT, ANSI)


def _sixteen(back: str, front: str, *colours: str) -> TerminalTheme:
    paper, ink, *rest = [(int(c[1:3], 16), int(c[3:5], 16), int(c[5:7], 16)) for c in (back, front, *colours)]
    return TerminalTheme(paper, ink, rest[:8], rest[8:])


ANSI_ON_DARK = _sixteen(
    *("#121212", "#e4e4e4"),
    *("#1c1c1c", "#ff8787", "#87d787", "#ffd75f", "#5f87af", "#af87d7", "#5fafaf", "#bcbcbc"),
    *("#808080", "#ff8787", "#afd787", "#ffd75f", "#5fafff", "#d7afff", "#87ffff", "#ffffff"),
)
"""What charts and forms are drawn in, in the colours of :data:`DARK`; other dark themes take them too."""

ANSI_ON_LIGHT = _sixteen(
    *("#ffffff", "#1c1c1c"),
    *("#1c1c1c", "#af0000", "#005f00", "#875f00", "#5f87af", "#5f00af", "#5fafaf", "#a8a8a8"),
    *("#767676", "#d70000", "#5f8700", "#af5f00", "#005faf", "#8700af", "#008787", "#4e4e4e"),
)


LEAST_CONTRAST = 4.5
"""Between a text and what is behind it: level AA of WCAG 2."""
_TOWARDS = 32


class Readable(LineFilter):
    """Moves the colour of a text towards black or white until it can be read; the terminal's own stay as they are."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        behind = background.rich_color
        return [
            Segment(text, readable, control)
            if style and (readable := _readable(style, behind)) is not style and any(map(str.isalnum, text))
            else Segment(text, style, control)
            for text, style, control in segments
        ]


@lru_cache(4096)
def _readable(style: Style, behind: RichColor) -> Style:
    front, back = style.color, style.bgcolor or behind
    if style.reverse:
        front, back = back, front
    if front is None or front.triplet is None or back is None or back.triplet is None:
        return style
    paper, ink = _luminance(*back.triplet), tuple(front.triplet)
    if _contrast(paper, _luminance(*ink)) >= LEAST_CONTRAST:
        return style
    goal = max(0, 255, key=lambda grey: _contrast(paper, _luminance(grey, grey, grey)))
    nearer = ([round(one + (goal - one) * step / _TOWARDS) for one in ink] for step in range(1, _TOWARDS + 1))
    colour = RichColor.from_rgb(*next(rgb for rgb in nearer if _contrast(paper, _luminance(*rgb)) >= LEAST_CONTRAST))
    return style + (Style(bgcolor=colour) if style.reverse else Style(color=colour))


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(red: int, green: int, blue: int) -> float:
    return 0.2126 * _LINEAR[red] + 0.7152 * _LINEAR[green] + 0.0722 * _LINEAR[blue]


_LINEAR = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (v / 255 for v in range(256))]


def remember(path: Path, word: str) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(word, encoding="utf-8")


def remembered_theme(path: Path, known: Container[str]) -> str | None:
    """The theme that was chosen last, else the settings file's; None where neither names one that there is."""
    try:
        name = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        name = ""
    if name in known:
        return name
    if not config_file().exists():
        return None
    from app.base.config import ConfigError, config  # noqa: PLC0415  the first paint waits for it only where there are settings

    try:
        name = config().theme
    except ConfigError:  # told by the line in the corner
        return None
    return name if name in known else None
