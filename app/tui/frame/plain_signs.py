"""Signs that a console's few glyphs have, in place of those that it would show as boxes."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_PLAIN = str.maketrans("★✓▶▸◆…⏎╭╮╰╯▔▁▂▃▅▆▇▎▏", "*+>>*.┘┌┐└┘─__▄▄██││")
"""One cell each; all on the right are in code page 437, which every console font has."""


class PlainSigns(LineFilter):
    """Changes the signs of each line just before it is drawn."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  Textual's
        """The same segments in plain signs."""
        return [Segment(text.translate(_PLAIN), style, control) for text, style, control in segments]
