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
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border-blurred": "ansi_default",
        "block-cursor-foreground": "ansi_black",
        "block-cursor-background": "ansi_cyan",
        "input-cursor-background": "ansi_default",
        "input-cursor-foreground": "ansi_default",
        "input-cursor-text-style": "reverse",
        "input-selection-background": "ansi_cyan",
        "input-selection-foreground": "ansi_black",
        "screen-selection-background": "ansi_cyan",
        "screen-selection-foreground": "ansi_black",
    },
)
"""Without these variables Textual's own widgets refer to colours that it only defines for its own ansi themes."""

THEMES = (DARK, LIGHT, ANSI)
