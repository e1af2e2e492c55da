"""The worksheets on the screen, which calculate as one types: what limits a server, how many clients it carries."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, Static

from app.errors import UsageError
from app.tui.export import ExportScreen
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import AskDialog, PickDialog
from app.tui.frame.parts import KeyBar, LineInput, Pane
from app.tui.widgets.reading import Copies
from app.tui.widgets.views import AnsiView
from app.units import parse_size
from app.workflows.worksheets import read_demand, read_part, read_rate
from forms.exporters.text import report_text
from forms.report import Report
from forms.series.listing import SeriesLine, series_lines
from forms.wording import plain, rate
from forms.worksheets.report import from_record, to_record, worksheet_report
from forms.worksheets.summary import (
    DEMANDS,
    TABLES,
    BottleneckCalculation,
    Machine,
    Part,
    ReferenceKind,
    UserGroup,
    UsersCalculation,
    of_kind,
    way_to,
)
from storage.notebook import Notebook
from storage.records import Worksheet


def read_count(text: str) -> int:
    """A number of equal things, at least 1. Raises UsageError."""
    if not text.strip().isascii() or not text.strip().isdigit() or not int(text) or len(text) > 6:
        raise UsageError("a number from 1 on")
    return int(text)


def read_parts(kind: ReferenceKind, words: str, count: str) -> Part | None:
    """The count of parts of that name in the tables, or of that rate; None for nothing typed. Raises UsageError."""
    if not words.strip():
        return None
    number = read_count(count)
    try:
        return read_part(kind, words, number)
    except UsageError:
        raise UsageError("no such name; Enter lists them, or type bytes a second, such as 118MB, or 70ops") from None


def read_group(name: str, clients: str, transfers: str, size: str, *, number: int) -> UserGroup | None:
    """Clients that work alike; None for an empty line. Raises UsageError."""
    if not any(text.strip() for text in (clients, transfers, size)):
        return None
    each, file_bytes = _demand(transfers, size)
    preset = "" if size.strip() else transfers.strip()
    return UserGroup(
        name=name.strip() or preset or f"group {number}",
        clients=read_count(clients),
        transfers_per_second=each,
        file_bytes=file_bytes,
    )


def _demand(transfers: str, size: str) -> tuple[float, int]:
    if not size.strip():
        with contextlib.suppress(UsageError):
            return read_demand(transfers)
    try:
        each = float(transfers)
    except ValueError:
        each = -1.0
    if not 0 <= each < 1e9:
        raise UsageError(f"transfers a second, such as 2.3, or {', '.join(DEMANDS)} with no size")
    try:
        return each, parse_size(size)
    except UsageError:
        raise UsageError("a file size, such as 12KB or 4M") from None


_NEWEST = 200
"""Number of series offered."""


@dataclass(frozen=True, slots=True)
class MeasuredComponent:
    """A rate that was measured or calculated, with where it is from."""

    name: str
    bytes_per_second: float
    source: str
    series_id: str | None = None

    @property
    def shown(self) -> str:
        return f"{self.name}: {rate(self.bytes_per_second)}"


WorksheetChoice = tuple[str | MeasuredComponent | None, str]
"""What a row of a list stands for, and its text; a heading stands for nothing."""
_PICK = "Choose with up and down, take with Enter; Escape leaves the line as it is."


def of_tables(kind: ReferenceKind) -> list[WorksheetChoice]:
    """The names of the tables for a part."""
    found: list[WorksheetChoice] = []
    for table, references in TABLES.items():
        own: list[WorksheetChoice] = [(e.name, f"  {e.line}") for e in of_kind(kind, references)]
        found += [(None, f"─ {table}"), *own] if own else []
    return found


def measured(notebook: Notebook) -> list[MeasuredComponent]:
    """The averages of the newest series, and the totals of saved calculations."""
    heads = notebook.heads(_NEWEST)
    lines = series_lines(heads, notebook.rates_of([head.id for head in heads]))
    return [found for line in lines if (found := _of_series(line)) is not None]


def of_measured(found: Sequence[MeasuredComponent]) -> list[WorksheetChoice]:
    """Lines for what was measured."""
    lines: list[WorksheetChoice] = [(e, f"  {rate(e.bytes_per_second)}  {e.name}") for e in found]
    return [(None, "─ measured"), *lines] if lines else []


def _of_series(line: SeriesLine) -> MeasuredComponent | None:
    average = line.average_bytes_per_second
    if average is None:
        return None
    series = line.series
    name = f"{series.command} {line.label}" if line.label else line.what
    return MeasuredComponent(plain(name), average, f"measured, series {series.id}", series.id)


Filled = BottleneckCalculation | UsersCalculation


@dataclass(frozen=True, slots=True, kw_only=True)
class InputBox:
    """One input of a worksheet."""

    id: str
    placeholder: str
    hint: str
    """What F1 says of it."""
    value: str = ""
    short: bool = False
    choice: str = ""
    """The heading of what Enter lists: what was measured, and what the tables have of a kind; empty for nothing."""
    kind: ReferenceKind | None = None


class WorksheetScreen(Copies):
    """A worksheet that calculates as one types."""

    KIND = ""
    HEADING = ""
    LINES: ClassVar[dict[str, tuple[InputBox, ...]]] = {}
    KEYS = keys("worksheet.save worksheet.open worksheet.export")
    SCOPED_CSS = False
    DEFAULT_CSS = """
    WorksheetScreen #filling-pane { height: auto; }
    WorksheetScreen .filling { height: 1; }
    WorksheetScreen .filling > Label { width: 9; }
    WorksheetScreen .filling > Input { background: $panel; margin-right: 1; width: 1fr; }
    WorksheetScreen .filling > Input.short { width: 12; }
    WorksheetScreen .filling > Input:focus { text-style: bold; background: $primary 30%; }
    WorksheetScreen .hint { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    WorksheetScreen #result-box { height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.worksheet_name = name
        self.filled: Filled | None = None
        self.measured: dict[str, MeasuredComponent] = {}
        """Where an input stands for a series, or for a part of a saved worksheet."""

    def read(self) -> Filled | None:
        """What the lines say; None while too little is filled in. Raises UsageError for what cannot be read."""
        raise NotImplementedError

    def write(self, filled: Any) -> None:
        raise NotImplementedError

    def report(self, filled: Any) -> Report:
        return worksheet_report(to_record(filled, self.worksheet_name))

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {self.HEADING}", id="filling-pane"):
            for label, boxes in self.LINES.items():
                with Horizontal(classes="filling"):
                    yield Label(label)
                    for box in boxes:
                        yield _input(box)
            yield Static(id="hint", classes="hint")
        with VerticalScroll(id="result-box", can_focus=True, classes="pane") as result:
            result.border_title = "Result"
            yield AnsiView(id="result")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query(Input).first().focus()
        self.calculate()

    @on(Input.Changed)
    def calculate(self) -> None:
        try:
            self.filled = self.read()
        except UsageError as error:
            self._say(f"! {error}")
            return
        self._say("" if self.filled else "Fill in what is known; Enter on a line lists what there is.")
        filled = self.filled
        shown = self.query_one("#result", AnsiView)
        shown.show(None if filled is None else lambda width, _height: _text(self.report(filled), width))

    def values(self) -> dict[str, str]:
        return {box.id or "": box.value for box in self.query(Input)}

    def fill(self, name: str, value: str | MeasuredComponent) -> None:
        if isinstance(value, MeasuredComponent):
            self.measured[name] = value
        self.query_one(f"#{name}", Input).value = value if isinstance(value, str) else value.shown

    def known(self, name: str) -> MeasuredComponent | None:
        """What an input stands for; None where something was typed over it."""
        found = self.measured.get(name)
        return found if found is not None and found.shown == self.query_one(f"#{name}", Input).value else None

    @on(Input.Submitted)
    def _choose(self, event: Input.Submitted) -> None:
        box = next(box for boxes in self.LINES.values() for box in boxes if box.id == event.input.id)
        if box.choice:
            self.with_notebook(measured, lambda found: self._ask(box, found))
        else:
            self.focus_next()

    def _ask(self, box: InputBox, found: list[MeasuredComponent]) -> None:
        choices = [*(of_tables(box.kind) if box.kind else []), *of_measured(found)]
        if not choices:
            self.notify("No series has an average yet: type bytes a second.", severity="warning")
            return

        def answered(chosen: str | MeasuredComponent | None) -> None:
            if chosen is not None:
                self.fill(box.id, chosen)

        dialog: PickDialog[str | MeasuredComponent] = PickDialog(box.choice, choices, about=_PICK)
        self.app.push_screen(dialog, answered)

    def _say(self, text: str) -> None:
        self.query_one("#hint", Static).update(Content(plain(text)))

    def key_down(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous()

    def text_to_copy(self) -> str:
        return report_text(self.report(self.filled)) if self.filled else ""

    # The notebook

    def action_save(self) -> None:
        filled = self.filled
        if filled is None:
            self.notify("There is nothing to save yet.", severity="warning")
            return

        def answered(name: str | None) -> None:
            if name and name.strip():
                self._named(name.strip())
                record = to_record(filled, self.worksheet_name)
                self.with_notebook(lambda notebook: notebook.save_worksheet(record), lambda _: self._saved())

        text = "A name for the worksheet; one of the same name is replaced."
        self.app.push_screen(AskDialog("Save", text, value=self.worksheet_name, needed=True), answered)

    def _saved(self) -> None:
        self.notify(f"{self.worksheet_name} is in the notebook.", title="Saved", markup=False)

    def _named(self, name: str) -> None:
        self.worksheet_name = name
        self.query_one("#filling-pane", Pane).called(f"sharebench · {self.HEADING} · {name}")
        self.calculate()

    def action_open(self) -> None:
        self.with_notebook(lambda notebook: notebook.worksheets(self.KIND), self._offer)

    def _offer(self, found: list[Worksheet]) -> None:
        if not found:
            self.notify("No worksheet of this kind was saved yet.", severity="warning")
            return
        choices = [(each, f"{each.saved_at[:10]}  {plain(each.name)}") for each in found]

        def answered(record: Worksheet | None) -> None:
            if record is not None:
                with self.prevent(Input.Changed):
                    self.write(from_record(record))
                self._named(record.name)

        self.app.push_screen(PickDialog("Saved worksheets", choices, about=_PICK), answered)

    def action_export(self) -> None:
        if self.filled is not None:
            report = self.report(self.filled)
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.worksheet_name or self.KIND))


def _text(report: Report, width: int) -> str:
    answer = report_text(replace(report, fields=(), tables=()), width=width, ansi=True)
    way = report_text(replace(report, title="", results=(), advice=(), drawn=()), width=width, ansi=True)
    return f"{answer}\n{way.lstrip()}"


def hints_of(lines: dict[str, tuple[InputBox, ...]]) -> dict[str, str]:
    """What F1 says of each input."""
    return {box.id: box.hint for boxes in lines.values() for box in boxes}


def _input(box: InputBox) -> Input:
    line = LineInput(
        box.value, placeholder=box.placeholder, id=box.id, compact=True, classes="short" if box.short else None
    )
    line.cursor_blink = False
    return line


_NOW = "as it is"
_USUAL = {ReferenceKind.DISK: "HDD 7200 RPM", ReferenceKind.NETWORK: "1 Gb/s Ethernet"}


def _line(kind: ReferenceKind, name: str) -> tuple[InputBox, ...]:
    return (
        InputBox(
            id=f"{kind.value}-what",
            placeholder="not known: leave it out, or Enter to choose",
            hint=f"What one {name} moves: a name of the tables, or bytes a second such as 118MB. Enter lists the names"
            " and your own series.",
            value=_USUAL.get(kind, ""),
            choice=name,
            kind=kind,
        ),
        InputBox(
            id=f"{kind.value}-count", placeholder="number", hint="How many of them there are.", value="1", short=True
        ),
    )


class BottleneckScreen(WorksheetScreen):
    """The least of CPU, disks and networks (Using Samba, table B-8)."""

    KIND = "bottleneck"
    HEADING = "Bottleneck"
    LINES = {  # noqa: RUF012
        "CPU": _line(ReferenceKind.CPU, "CPU"),
        "Disk": _line(ReferenceKind.DISK, "Disk"),
        "Network": _line(ReferenceKind.NETWORK, "Network"),
        "Aim": (
            InputBox(
                id="aim",
                placeholder="bytes a second that it should move, such as 500MB",
                hint="How much the server should move, in bytes a second: shows the steps that lead there.",
            ),
        ),
    }
    HINTS = hints_of(LINES)

    def read(self) -> BottleneckCalculation | None:
        machine = Machine(name=_NOW)
        for kind in ReferenceKind:
            machine = machine.with_part(kind, self._part(kind))
        if not machine.parts:
            return None
        aim = self.values()["aim"]
        machines = way_to(machine, read_rate(aim)) if aim.strip() else [machine]
        return BottleneckCalculation(machines=tuple(machines))

    def _part(self, kind: ReferenceKind) -> Part | None:
        values = self.values()
        what, count = values[f"{kind.value}-what"], values[f"{kind.value}-count"]
        known = self.known(f"{kind.value}-what")
        if known is None:
            return read_parts(kind, what, count)
        return Part(
            name=known.name, bytes_per_second=known.bytes_per_second, count=read_count(count), source=known.source
        )

    def write(self, filled: BottleneckCalculation) -> None:
        first, last = filled.machines[0], filled.machines[-1]
        for kind in ReferenceKind:
            part = first.part(kind)
            known = part and MeasuredComponent(part.name, part.bytes_per_second, part.source)
            self.fill(f"{kind.value}-what", known or "")
            self.fill(f"{kind.value}-count", str(part.count if part else 1))
        total = last.total_bytes_per_second if len(filled.machines) > 1 else None
        self.fill("aim", "" if total is None else f"{int(total // 1000)}KB")


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
