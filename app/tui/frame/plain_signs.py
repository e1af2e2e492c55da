"""Plain signs for a terminal without UTF-8."""

from itertools import islice

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from forms import layout


class PlainSigns(LineFilter):
    """Puts plain ASCII in the place of signs that a terminal without UTF-8 cannot show."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        line = iter(layout.plain_signs("".join(segment.text for segment in segments)))
        return [Segment("".join(islice(line, len(text))), style, control) for text, style, control in segments]
