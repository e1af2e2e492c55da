"""The clients worksheet: how many clients a server carries."""

from app.errors import UsageError
from app.tui.worksheets.base import InputBox, WorksheetScreen, hints_of
from app.tui.worksheets.picking import MeasuredComponent
from app.tui.worksheets.typed import read_group
from app.workflows.worksheets import read_rate
from forms.worksheets.users import UsersCalculation

_ROWS = 5
"""As many as the paper form has."""
_COLUMNS = (
    ("name", "who", "What these clients are called."),
    ("clients", "how many", "How many of them there are."),
    ("transfers", "files/s each", "How many files each of them moves in a second, or office, imaging…"),
    ("size", "file size", "How large a file is: 12KB, 4M."),
)


class ClientsScreen(WorksheetScreen):
    """Clients times transfers a second times file size, against what the server moves."""

    ABOUT = (
        "How many clients a server carries: clients, times transfers a second of each, times the size of a file,"
        " against what the server moves. Enter on the first line lists your own series."
    )
    KIND = "clients"
    HEADING = "Clients"
    LINES = {
        "Server": (
            InputBox(
                id="capacity",
                placeholder="bytes a second that it moves, such as 112MB; Enter lists your series",
                hint="What the server moves, in bytes a second, such as 112MB. Enter lists your own series.",
                choice="What the server moves",
            ),
        )
    } | {
        f"Group {row + 1}": tuple(
            InputBox(id=f"{column}-{row}", placeholder=placeholder, hint=hint) for column, placeholder, hint in _COLUMNS
        )
        for row in range(_ROWS)
    }
    HINTS = hints_of(LINES)

    def read(self) -> UsersCalculation | None:
        values = self.values()
        if not values["capacity"].strip():
            return None
        known = self.known("capacity")
        groups = []
        for row in range(_ROWS):
            try:
                group = read_group(*(values[f"{column}-{row}"] for column, _, _ in _COLUMNS), number=row + 1)
            except UsageError as error:
                raise UsageError(f"group {row + 1}: {error}") from error
            if group is not None:
                groups.append(group)
        return UsersCalculation(
            capacity_bytes_per_second=known.bytes_per_second if known else read_rate(values["capacity"]),
            capacity_source=known.source if known else "",
            series_id=known.series_id if known else None,
            groups=tuple(groups),
        )

    def write(self, filled: UsersCalculation) -> None:
        """Fill in a saved worksheet; groups beyond the lines are left out and said so."""
        saved = MeasuredComponent(
            "as saved", filled.capacity_bytes_per_second, filled.capacity_source, filled.series_id
        )
        self.fill("capacity", saved)
        for row in range(_ROWS):
            shown = ("", "", "", "")
            if row < len(filled.groups):
                group = filled.groups[row]
                shown = (group.name, str(group.clients), f"{group.transfers_per_second:g}", f"{group.file_bytes}B")
            for (column, _, _), text in zip(_COLUMNS, shown, strict=True):
                self.fill(f"{column}-{row}", text)
        if len(filled.groups) > _ROWS:
            self.notify(f"Only the first {_ROWS} groups fit here; the command line has all.", severity="warning")
