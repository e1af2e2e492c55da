"""The screens of the TUI by name, each loaded when it is first visited."""

from importlib import import_module
from typing import NamedTuple, cast

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand


class ScreenEntry(NamedTuple):
    """A screen by name, with the module that is loaded for it; a tuple, since that is made four times as fast."""

    name: str
    home: str
    """``module:class`` of a BaseScreen."""
    title: str
    help: str
    key: str = ""
    """The key that leads there from everywhere; empty for one that other screens lead to."""
    measures: bool = False
    """Whether it needs Linux."""

    def load(self) -> type[BaseScreen]:
        module, _, name = self.home.partition(":")
        return cast("type[BaseScreen]", getattr(import_module(module), name))

    def command(self) -> KeyCommand:
        return KeyCommand(
            f"screen.{self.name}",
            self.key,
            self.title,
            self.help,
            action=f"app.visit('{self.name}')",
            footer=self.title if self.key.startswith("f") else "",
            priority=len(self.key) > 1,  # a letter is typed where text is
        )


SCREENS = (
    ScreenEntry(
        name="notebook",
        home="app.tui.notebook.screen:NotebookScreen",
        title="Notebook",
        help="All series: find, read, compare, name, export.",
        key="f2",
    ),
    ScreenEntry(
        name="guide",
        measures=True,
        home="app.tui.guide.screen:GuideScreen",
        title="Measure",
        help="Time transfers of one file, five runs (1 to 5 minutes).",
        key="f3",
    ),
    ScreenEntry(
        name="survey",
        measures=True,
        home="app.tui.measuring.survey:SurveyScreen",
        title="Survey",
        help="Measure everything on one server: SMB, FTP, network.",
        key="f4",
    ),
    ScreenEntry(
        name="load",
        measures=True,
        home="app.tui.measuring.load:LoadScreen",
        title="Load",
        help="Find out how many users the server carries.",
        key="f5,ctrl+n",
    ),
    ScreenEntry(
        name="isolation",
        measures=True,
        home="app.tui.measuring.isolation:IsolationScreen",
        title="Isolate",
        help="Find out if it is the disk, the network or Samba.",
        key="f6,ctrl+g",
    ),
    ScreenEntry(
        name="audit",
        measures=True,
        home="app.tui.measuring.audit:AuditScreen",
        title="Audit",
        help="Check the server's settings; nothing is measured or changed.",
        key="f7",
    ),
    ScreenEntry(
        name="diagnosis",
        measures=True,
        home="app.tui.measuring.diagnosis:DiagnosisScreen",
        title="Diagnose",
        help="Find out why users complain: small files, large folders, distance, the first connect and more.",
        key="f8,ctrl+b",
    ),
    ScreenEntry(
        name="experiment",
        home="app.tui.experiment:ExperimentScreen",
        title="Experiments",
        help="An experiment step by step: what each change gained, and the total.",
        key="E",
    ),
    ScreenEntry(
        name="catalogue",
        home="app.tui.catalogue:CatalogueScreen",
        title="Catalogue",
        help="What can be changed, in order of impact.",
        key="C",
    ),
    ScreenEntry(
        name="bottleneck",
        home="app.tui.worksheets:BottleneckScreen",
        title="Bottleneck",
        help="Which of CPU, disks and network limits a server, and what each step would give.",
        key="ctrl+k",
    ),
    ScreenEntry(
        name="clients",
        home="app.tui.worksheets:ClientsScreen",
        title="Clients",
        help="How many clients a server carries.",
        key="ctrl+e",
    ),
    ScreenEntry(
        name="entry",
        home="app.tui.catalogue:EntryScreen",
        title="Entry",
        help="One entry of the catalogue.",
    ),
    ScreenEntry(
        name="trial",
        measures=True,
        home="app.tui.measuring.trial:TrialScreen",
        title="Trial",
        help="Change one setting, measure with and without it, and restore it.",
    ),
    ScreenEntry(
        name="series",
        home="app.tui.notebook.reading:SeriesScreen",
        title="Series",
        help="The form and the chart of one series.",
    ),
    ScreenEntry(
        name="stored",
        home="app.tui.measuring.stored:StoredScreen",
        title="Recording",
        help="The form of one recording of any kind.",
    ),
    ScreenEntry(
        name="history",
        home="app.tui.notebook.history:HistoryScreen",
        title="History",
        help="All recordings of one path over time.",
    ),
    ScreenEntry(
        name="export",
        home="app.tui.export:ExportScreen",
        title="Export",
        help="Forms as a document.",
    ),
    ScreenEntry(
        name="compare",
        home="app.tui.notebook.reading:CompareScreen",
        title="Compare",
        help="Two series side by side.",
    ),
    ScreenEntry(
        name="table",
        home="app.tui.notebook.reading:TableScreen",
        title="Table",
        help="Several series against the first of them.",
    ),
)
"""In the order of the footer; the first is where the TUI opens."""


def entry(name: str) -> ScreenEntry:
    """The screen of that name. Raises KeyError."""
    for candidate in SCREENS:
        if candidate.name == name:
            return candidate
    raise KeyError(name)
