"""The screens of the TUI by name, each loaded when it is first visited."""

from importlib import import_module
from typing import NamedTuple, cast

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand


class ScreenEntry(NamedTuple):
    """A screen by name, with the module that is loaded for it; a tuple, since that is made four times as fast."""

    name: str
    home: str
    """``module:class`` of a BaseScreen in ``app.tui``."""
    title: str
    help: str
    key: str = ""
    measures: bool = False
    """Whether it needs Linux."""

    def load(self) -> type[BaseScreen]:
        module, _, name = self.home.partition(":")
        return cast("type[BaseScreen]", getattr(import_module(f"app.tui.{module}"), name))

    def command(self) -> KeyCommand:
        return KeyCommand(
            f"screen.{self.name}",
            self.key,
            self.title,
            self.help,
            action=f"app.visit('{self.name}')",
            hidden=not self.key.startswith("f"),
            priority=len(self.key) > 1,  # a letter is typed where text is
        )


_MEASURING = {"guide", "survey", "load", "isolation", "audit", "diagnosis", "trial"}
_ROWS = (
    ("notebook", "notebook.screen:NotebookScreen", "Notebook", "All series: find, read, compare, name, export.", "f2"),
    ("guide", "guide.screen:GuideScreen", "Measure", "Time transfers of one file, five runs (1 to 5 minutes).", "f3"),
    ("survey", "measuring.survey:SurveyScreen", "Survey", "Measure everything on one server: SMB, FTP, network.", "f4"),
    ("load", "measuring.load:LoadScreen", "Load", "Find out how many users the server carries.", "f5,ctrl+n"),
    (
        "isolation",
        "measuring.isolation:IsolationScreen",
        "Isolate",
        "Find out if it is the disk, the network or Samba.",
        "f6,ctrl+g",
    ),
    (
        "audit",
        "measuring.audit:AuditScreen",
        "Audit",
        "Check the server's settings; nothing is measured or changed.",
        "f7",
    ),
    (
        "diagnosis",
        "measuring.diagnosis:DiagnosisScreen",
        "Diagnose",
        "Find out why users complain: small files, large folders, distance, the first connect and more.",
        "f8,ctrl+b",
    ),
    (
        "experiment",
        "experiment:ExperimentScreen",
        "Experiments",
        "An experiment step by step: what each change gained, and the total.",
        "E",
    ),
    ("catalogue", "catalogue:CatalogueScreen", "Catalogue", "What can be changed, in order of impact.", "C"),
    (
        "bottleneck",
        "worksheets:BottleneckScreen",
        "Bottleneck",
        "Which of CPU, disks and network limits a server, and what each step would give.",
        "ctrl+k",
    ),
    ("clients", "worksheets:ClientsScreen", "Clients", "How many clients a server carries.", "ctrl+e"),
    ("entry", "catalogue:EntryScreen", "Entry", "One entry of the catalogue.", ""),
    (
        "trial",
        "measuring.trial:TrialScreen",
        "Trial",
        "Change one setting, measure with and without it, and restore it.",
        "",
    ),
    ("series", "notebook.reading:SeriesScreen", "Series", "The form and the chart of one series.", ""),
    ("stored", "measuring.stored:StoredScreen", "Recording", "The form of one recording of any kind.", ""),
    ("history", "notebook.history:HistoryScreen", "History", "All recordings of one path over time.", ""),
    ("export", "export:ExportScreen", "Export", "Forms as a document.", ""),
    ("compare", "notebook.reading:CompareScreen", "Compare", "Two series side by side.", ""),
    ("table", "notebook.reading:TableScreen", "Table", "Several series against the first of them.", ""),
)
SCREENS = tuple(ScreenEntry(*row, measures=row[0] in _MEASURING) for row in _ROWS)
"""In the order of the footer; the first is where the TUI opens."""


def entry(name: str) -> ScreenEntry:
    """The screen of that name. Raises KeyError."""
    for candidate in SCREENS:
        if candidate.name == name:
            return candidate
    raise KeyError(name)
