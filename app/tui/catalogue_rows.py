"""The rows of the catalogue on the screen: rank, name, what the server had, and what is expected."""

from typing import NamedTuple

from textual.content import Content

from forms import layout, wording
from forms.tuning import catalogue, catalogue_text

_NAME_WIDTH = 38


_RANK_WIDTH = 4


_LEAST_ROOM_FOR_EXPECTATION = 60
"""Columns of the list below which a row has the name and the server's value only."""


class ServerValue(NamedTuple):
    """What the server had for a setting when it was read; empty where that is not known."""

    value: str = ""
    mark: str = ""
    """`measured_place.SET`, where it was set in smb.conf, or another mark of `MeasuredPlace.mark`; empty for none."""


def wrap_text(text: str, width: int, _height: int) -> str:
    return "\n".join(layout.wrap(text, width))


def draw_row(entry: catalogue.CatalogueEntry | str, room: int, server_value: ServerValue) -> Content:
    """A row of the list: rank, name, what the server had, and what the entry is expected to do."""
    value, mark = server_value
    mark_text = f"({mark})" if mark else ""
    value_text = wording.plain(f"{value} {mark_text}".strip())

    if isinstance(entry, str):
        rank = " " * _RANK_WIDTH
        name = entry
        expectation = ""
        is_history = False
    else:
        rank = f"{entry.rank:>3} "
        name = entry.name
        is_history = entry.is_history
        expectation = f"history: {catalogue_text.status_words(entry)}" if is_history else entry.expect

    bold_if_marked = "bold" if mark else ""
    style = "dim" if is_history else bold_if_marked
    if room < _LEAST_ROOM_FOR_EXPECTATION:
        text = f"{name} = {value_text}" if value_text else name
        lines = "\n    ".join(layout.wrap(text, room - _RANK_WIDTH))
        return Content.styled(f"{rank}{lines}", style)

    return Content.assemble(
        Content.styled(f"{rank}{layout.pad(name, _NAME_WIDTH)} ", style),
        (f"= {value_text}  ", bold_if_marked) if value_text else "",
        (wording.plain(expectation), "dim"),
    )
