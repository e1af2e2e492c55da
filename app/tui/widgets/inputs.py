"""Inputs in which no text steers the terminal: what comes from outside (an import, a paste) is made visible."""

from textual.widgets import Input

from forms.layout import control_pictures, visible


class LineInput(Input):
    """One line of text."""

    def validate_value(self, value: str) -> str:
        """The value as it may be drawn."""
        return visible(value)


def kept(before: str, shown: str) -> str:
    """What an input is to be taken for: the text before, where nothing but its drawing differs."""
    return before if shown in {visible(before), control_pictures(before)} else shown
