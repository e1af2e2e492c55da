"""The two worksheets on the screen, bottleneck and clients, which calculate as one types.

`WorksheetScreen` has the lines to type into and the result; a worksheet says its lines and how they are read (`parse`).
"""

from collections.abc import Mapping

from app.tui.widgets import form_lines
from app.tui.worksheet import WorksheetScreen
from app.worksheets import parsing
from forms.worksheets import references, users
from forms.worksheets import summary as sheets

_MOST_PARTS = 999_999
_GROUPS = 5
"""Lines for groups of clients."""


_PART_HINT = "a rate (118MB, 70ops), or a name: 4 x SATA SSD; empty: no limit"


class BottleneckScreen(WorksheetScreen):
    """The least of CPU, disks and networks (Using Samba, table B-8)."""

    HEADING = "Bottleneck"
    LINES = (
        form_lines.FormLine(references.ReferenceKind.CPU, "CPU", _PART_HINT),
        form_lines.FormLine(references.ReferenceKind.DISK, "Disk", _PART_HINT, "HDD 7200 RPM"),
        form_lines.FormLine(references.ReferenceKind.NETWORK, "Network", _PART_HINT, "1 Gb/s Ethernet"),
        form_lines.FormLine("aim", "Aim", "bytes per second that it should move, such as 500MB: shows the steps"),
    )

    def parse(self, typed: Mapping[str, str]) -> sheets.BottleneckCalculation | None:
        machine = sheets.Machine(name="as it is")
        for kind in references.ReferenceKind:
            if typed[kind]:
                machine = _add_part(machine, kind, typed[kind])
        if not machine.parts:
            return None

        machines = sheets.way_to(machine, parsing.read_rate(typed["aim"])) if typed["aim"] else [machine]
        return sheets.BottleneckCalculation(machines=tuple(machines))


def _add_part(machine: sheets.Machine, kind: references.ReferenceKind, text: str) -> sheets.Machine:
    """The machine with a part such as ``4 x SATA SSD``, or ``118MB``. Raises UsageError."""
    number, separator, name = text.partition(" x ")
    if not separator:
        return machine.with_part(kind, parsing.read_part(kind, text, 1))
    count = form_lines.typed_count(kind.value.capitalize(), number, _MOST_PARTS)
    return machine.with_part(kind, parsing.read_part(kind, name or number, count))


_GROUP_HINT = "office=36:2.3:12KB: 36 clients, 2.3 files of 12 kB a second each"


class ClientsScreen(WorksheetScreen):
    """How many clients a server carries, by what it moves and what groups of clients need."""

    HEADING = "Clients"
    LINES = (
        form_lines.FormLine("capacity", "Server", "bytes per second that it moves, such as 112MB"),
        *(form_lines.FormLine(f"group-{number}", f"Group {number}", _GROUP_HINT) for number in range(1, _GROUPS + 1)),
    )

    def parse(self, typed: Mapping[str, str]) -> users.UsersCalculation | None:
        if not typed["capacity"]:
            return None

        groups = [typed[line.key] for line in self.LINES[1:]]
        return users.UsersCalculation(
            capacity_bytes_per_second=parsing.read_rate(typed["capacity"]),
            groups=tuple(parsing.group_from(text, number) for number, text in enumerate(groups, 1) if text),
        )
