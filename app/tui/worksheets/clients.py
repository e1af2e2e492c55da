"""The clients worksheet: how many clients a server carries."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from app.errors import UsageError
from app.tui.worksheets.base import WorksheetScreen, input_box, values_of
from app.tui.worksheets.picking import MeasuredComponent, PickDialog, measured, of_measured
from app.tui.worksheets.typed import read_group, read_rate
from forms.worksheets.users import UsersCalculation

_ROWS = 5
"""As many as the paper form has."""
_COLUMNS = (("name", "who"), ("clients", "how many"), ("transfers", "transfers/s each"), ("size", "file size"))


class ClientsScreen(WorksheetScreen):
    """Clients times transfers a second times file size, against what the server moves."""

    ABOUT = (
        "How many clients a server carries: clients, times transfers a second of each, times the size of a file,"
        " against what the server moves. Enter on the first line lists your own series."
    )
    KIND = "clients"
    HEADING = "Clients"
    HINTS: ClassVar[dict[str, str]] = {
        "capacity": "What the server moves, in bytes a second, such as 112MB. Enter lists your own series.",
        **{f"name-{row}": "What these clients are called." for row in range(_ROWS)},
        **{f"clients-{row}": "How many of them there are." for row in range(_ROWS)},
        **{
            f"transfers-{row}": "How many files each of them moves in a second, or office, imaging…"
            for row in range(_ROWS)
        },
        **{f"size-{row}": "How large a file is: 12KB, 4M." for row in range(_ROWS)},
    }

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.measured: MeasuredComponent | None = None

    def lines(self) -> ComposeResult:
        """The server, then a line a group."""
        with Horizontal(classes="filling"):
            yield Label("Server")
            yield input_box("capacity", "", "bytes a second that it moves, such as 112MB; Enter lists your series")
        for row in range(_ROWS):
            with Horizontal(classes="filling"):
                yield Label(f"Group {row + 1}")
                for column, hint in _COLUMNS:
                    yield input_box(f"{column}-{row}", "", hint)

    def read(self) -> UsersCalculation | None:
        """The server and its groups."""
        values = values_of(self)
        capacity = values["capacity"]
        if not capacity.strip():
            return None
        known = self.measured if self.measured is not None and capacity == self.measured.shown else None
        groups = []
        for row in range(_ROWS):
            try:
                group = read_group(*(values[f"{column}-{row}"] for column, _ in _COLUMNS), number=row + 1)
            except UsageError as error:
                raise UsageError(f"group {row + 1}: {error}") from error
            if group is not None:
                groups.append(group)
        return UsersCalculation(
            capacity_bytes_per_second=known.bytes_per_second if known else read_rate(capacity),
            capacity_source=known.source if known else "",
            groups=tuple(groups),
        )

    def write(self, filled: UsersCalculation) -> None:
        """Fill in a saved worksheet; groups beyond the lines are left out and said so."""
        self.measured = MeasuredComponent("as saved", filled.capacity_bytes_per_second, filled.capacity_source)
        self.query_one("#capacity", Input).value = self.measured.shown
        for row in range(_ROWS):
            group = filled.groups[row] if row < len(filled.groups) else None
            shown = (
                ("", "", "", "")
                if group is None
                else (group.name, str(group.clients), f"{group.transfers_per_second:g}", f"{group.file_bytes}B")
            )
            for (column, _), text in zip(_COLUMNS, shown, strict=True):
                self.query_one(f"#{column}-{row}", Input).value = text
        if len(filled.groups) > _ROWS:
            self.notify(f"Only the first {_ROWS} groups fit here; the command line has all.", severity="warning")

    @on(Input.Submitted)
    def _choose(self, event: Input.Submitted) -> None:
        if event.input.id == "capacity":
            self.with_notebook(measured, self._ask)
        else:
            self.focus_next()

    def _ask(self, found: list[MeasuredComponent]) -> None:
        if not found:
            self.notify("No series has an average yet: type bytes a second.", severity="warning")
            return

        def answered(chosen: str | MeasuredComponent | None) -> None:
            if isinstance(chosen, MeasuredComponent):
                self.measured = chosen
                self.query_one("#capacity", Input).value = chosen.shown

        self.sharebench_app.push_screen(PickDialog("What the server moves", of_measured(found)), answered)
