"""The themes of the application, and what it does to each line that is drawn: readable colours, plain signs."""

from collections.abc import Sequence
from pathlib import Path

from textual.app import App
from textual.filter import LineFilter
from textual.reactive import Reactive
from textual.theme import Theme

from app.charts import ascii_only
from app.tui.frame import themes
from app.tui.frame.plain_signs import PlainSigns


class Themed(App[int]):
    """The part of the application that knows themes.

    The application calls ``take_themes`` when it is made, and ``follow_themes`` when it is mounted.
    """

    ansi_theme_dark = Reactive(themes.ANSI_ON_DARK, init=False)

    def take_themes(self, theme_file: Path | None) -> None:
        """Use the theme that the file names; None for the usual one, and to keep no choice."""
        self._theme_file = theme_file
        self._line_filters: list[LineFilter] = [themes.Readable()]
        if ascii_only():
            self._line_filters.append(PlainSigns())

        for theme in themes.THEMES:
            self.register_theme(theme)
        remembered = themes.remembered_theme(theme_file, self.available_themes) if theme_file else None
        # Before its mount: styles are read once.
        self.set_reactive(Themed.theme, remembered or themes.DARK.name)
        self.stylesheet.set_variables(self.get_css_variables())

    def follow_themes(self) -> None:
        """From now on keep each theme that is chosen."""
        self.ansi_theme_light = themes.ANSI_ON_LIGHT  # set here, so that a light theme at the start has its colours too
        if self._theme_file is not None:
            self.theme_changed_signal.subscribe(self, self._remember_theme)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._line_filters]

    def _remember_theme(self, theme: Theme) -> None:
        assert self._theme_file is not None
        themes.remember(self._theme_file, theme.name)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        if self.current_theme.ansi:
            return themes.VARIABLES | {"pane-border": "ansi_bright_black"}
        return themes.VARIABLES
