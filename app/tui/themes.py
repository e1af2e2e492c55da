"""Themes of our own, besides Textual's: light, dark, and one in the terminal's own colours."""

from __future__ import annotations

from textual.theme import Theme

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
)

ANSI = Theme(
    name="sharebench-ansi",
    ansi=True,
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
    dark=True,
    luminosity_spread=0.0,
    text_alpha=1.0,
)

THEMES = (DARK, LIGHT, ANSI)
