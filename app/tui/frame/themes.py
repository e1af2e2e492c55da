"""Themes of our own, besides Textual's: light, dark, and one in the terminal's own colours; text readable in all."""

from collections.abc import Container, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from app.base.user_files import config_file

DARK = Theme(
    name="sharebench-dark",
    primary="#5fafff",
    secondary="#5f87af",
    accent="#ffaf5f",
    success="#87d787",
    warning="#ffd75f",
    error="#ff8787",
    foreground="#e4e4e4",
    background="#121212",
    surface="#1c1c1c",
    panel="#303030",
    dark=True,
)
"""Colours of the 256-colour palette, so that a terminal without true colour shows the same."""

LIGHT = Theme(
    name="sharebench-light",
    primary="#005faf",
    secondary="#5f87af",
    accent="#af5f00",
    success="#005f00",
    warning="#875f00",
    error="#af0000",
    foreground="#1c1c1c",
    background="#ffffff",
    surface="#eeeeee",
    panel="#dadada",
    dark=False,
    variables={"pane-border": "#a8a8a8"},
)

ANSI = Theme(
    name="sharebench-ansi",
    primary="ansi_blue",
    secondary="ansi_cyan",
    accent="ansi_bright_blue",
    success="ansi_green",
    warning="ansi_yellow",
    error="ansi_red",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    ansi=True,
    dark=True,
    luminosity_spread=0.0,
    text_alpha=1.0,
    variables={
        "pane-border": "ansi_bright_black",
        "border-blurred": "ansi_default",
        "input-cursor-text-style": "reverse",
        "ansi-foreground": "ansi_default",
        "ansi-background": "ansi_default",
        "input-cursor-foreground": "ansi_default",
        "input-cursor-background": "ansi_default",
        "block-cursor-foreground": "ansi_black",
        "block-cursor-background": "ansi_cyan",
        "input-selection-foreground": "ansi_black",
        "input-selection-background": "ansi_cyan",
        "screen-selection-foreground": "ansi_black",
        "screen-selection-background": "ansi_cyan",
    },
)
"""Without these variables Textual's own widgets refer to colours that it only defines for its own ansi themes."""

VARIABLES = {"pane-border": "#4e4e4e"}

THEMES = (DARK, LIGHT, ANSI)


def _terminal_theme(background: str, foreground: str, colours: Sequence[str]) -> TerminalTheme:
    """A theme of the sixteen colours, eight plain ones and then eight bright ones."""
    triplets = [_triplet(colour) for colour in colours]
    return TerminalTheme(_triplet(background), _triplet(foreground), triplets[:8], triplets[8:])


def _triplet(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#rrggbb``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


ANSI_ON_DARK = _terminal_theme(
    "#121212",
    "#e4e4e4",
    (
        *("#1c1c1c", "#ff8787", "#87d787", "#ffd75f", "#5f87af", "#af87d7", "#5fafaf", "#bcbcbc"),
        *("#808080", "#ff8787", "#afd787", "#ffd75f", "#5fafff", "#d7afff", "#87ffff", "#ffffff"),
    ),
)
"""What charts and forms are drawn in, in the colours of :data:`DARK`; other dark themes take them too."""

ANSI_ON_LIGHT = _terminal_theme(
    "#ffffff",
    "#1c1c1c",
    (
        *("#1c1c1c", "#af0000", "#005f00", "#875f00", "#5f87af", "#5f00af", "#5fafaf", "#a8a8a8"),
        *("#767676", "#d70000", "#5f8700", "#af5f00", "#005faf", "#8700af", "#008787", "#4e4e4e"),
    ),
)


LEAST_CONTRAST = 4.5
"""Between a text and what is behind it: level AA of WCAG 2."""
_STEPS_TO_THE_GOAL = 32
_BLACK = 0
_WHITE = 255


class Readable(LineFilter):
    """Moves the colour of a text towards black or white until it can be read; the terminal's own stay as they are."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        behind = background.rich_color
        return [self._make_readable(segment, behind) for segment in segments]

    def _make_readable(self, segment: Segment, behind: RichColor) -> Segment:
        text, style, control = segment
        if style and any(map(str.isalnum, text)):
            return Segment(text, _readable_style(style, behind), control)
        return segment


@lru_cache(4096)
def _readable_style(style: Style, behind: RichColor) -> Style:
    front = style.color
    back = style.bgcolor or behind
    if style.reverse:
        front, back = back, front
    if front is None or front.triplet is None or back is None or back.triplet is None:
        return style

    back_luminance = _luminance(*back.triplet)
    if _contrast(back_luminance, _luminance(*front.triplet)) >= LEAST_CONTRAST:
        return style

    contrast_of_black = _contrast(back_luminance, _luminance(_BLACK, _BLACK, _BLACK))
    contrast_of_white = _contrast(back_luminance, _luminance(_WHITE, _WHITE, _WHITE))
    goal = _WHITE if contrast_of_white > contrast_of_black else _BLACK

    colour = _nearest_readable(tuple(front.triplet), goal, back_luminance)
    return style + (Style(bgcolor=colour) if style.reverse else Style(color=colour))


def _nearest_readable(front: tuple[int, ...], goal: int, back_luminance: float) -> RichColor:
    """The first colour on the way from this one to black or white whose contrast is enough."""
    for step in range(1, _STEPS_TO_THE_GOAL):
        red, green, blue = [round(part + (goal - part) * step / _STEPS_TO_THE_GOAL) for part in front]
        if _contrast(back_luminance, _luminance(red, green, blue)) >= LEAST_CONTRAST:
            return RichColor.from_rgb(red, green, blue)
    return RichColor.from_rgb(goal, goal, goal)  # black or white stands out from any colour


def _contrast(luminance: float, other_luminance: float) -> float:
    """The ratio of WCAG 2, from 1 to 21."""
    brighter = max(luminance, other_luminance)
    darker = min(luminance, other_luminance)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(red: int, green: int, blue: int) -> float:
    """The relative luminance of WCAG 2, from 0 to 1."""
    return 0.2126 * _LINEAR[red] + 0.7152 * _LINEAR[green] + 0.0722 * _LINEAR[blue]


def _linear(value: int) -> float:
    """The light of a part of sRGB, from 0 to 1."""
    share = value / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


_LINEAR = [_linear(value) for value in range(256)]


def remember(path: Path, word: str) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(word, encoding="utf-8")


def remembered_theme(path: Path, known_names: Container[str]) -> str | None:
    """The theme that was chosen last, else the settings file's; None where neither names one that there is."""
    try:
        name = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        name = ""
    if name in known_names:
        return name

    if not config_file().exists():
        return None
    from app.base.config import ConfigError, config

    try:
        name = config().theme
    except ConfigError:  # told by the line in the corner
        return None
    return name if name in known_names else None
