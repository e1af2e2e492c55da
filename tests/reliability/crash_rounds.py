"""What the crash campaign kills: one command in a folder of its own, what it reported, what must hold afterwards."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.cli.main import run
from app.clients.base import Secrets
from app.recording.process import Progressed, RunFinished, RunStarted, SeriesControl
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent
from app.series.interleaved import record_interleaved
from app.series.record import record
from app.series.requests import equal_requests
from app.series.resume import resume
from app.survey.choices import SurveyChoices
from app.survey.planning import plan_round
from app.survey.record import measure_round
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime, Settings
from storage.records import Command, Run, RunStatus, Series, SeriesStatus, Target
from tests.builders import export, one
from tests.reliability.figures import Figures
from tests.reliability.old_formats import old_notebook
from tests.servers.smbd import Smbd
from tests.specs import order_with, request_with, spec_with

SIZE_BYTES = 16_000_000
RUNS = 6
SERIES = 30
IMPORTED = 200
OLD = b"what was there before"
Report = Callable[[str], None]


@dataclass
class Round:
    """One command and what it reported."""

    kind: str
    folder: Path
    figures: Figures
    server: Smbd | None = None
    """Where it measures; None for a local folder."""
    old_format: int = 1
    reported: list[tuple[str, int, float]] = field(default_factory=list)
    """Phase, number and seconds of each run."""
    answers: list[str] = field(default_factory=list)
    """The lines of a command that measures nothing."""

    @property
    def book(self) -> Path:
        """Its notebook."""
        return self.folder / "notebook.db"

    @property
    def share(self) -> Path:
        """What is measured."""
        return self.server.folder if self.server else self.folder / "share"

    @property
    def secrets(self) -> Secrets:
        """What logs in there."""
        return self.server.secrets() if self.server else Secrets()

    def target(self, name: str = "") -> Target:
        """A file of the share, or the share itself."""
        return self.server.target(name) if self.server else Target(protocol="file", path=str(self.share / name))

    def lose(self, what: str) -> None:
        """Something happened that must not."""
        self.figures.losses.append(f"{self.kind}: {what}")

    def tell_by(self, report: Report, events: Iterator[RecorderEvent]) -> None:
        """Measure, and report each event once it was seen."""
        for event in events:
            if isinstance(event, RunFinished) and event.run.status is not RunStatus.FAILED:
                report(json.dumps([event.run.phase, event.run.number, event.run.seconds]))
            if not isinstance(event, Progressed):
                report(f"{event.phase} run" if isinstance(event, RunStarted) else type(event).__name__)

    def request(self, kind: str) -> SeriesRequest:
        """A series of some quick runs."""
        plan = order_with(
            command=Command.PUT if kind == "put" else Command.GET,
            target=self.target("file" if kind == "get" else ""),
            secrets=self.secrets,
            warmups=1,
            runs=RUNS,
            size_bytes=None if kind == "get" else SIZE_BYTES,
            make_file=kind == "make",
            settings=Settings(timeout_seconds=5.0),
        )
        return request_with(
            order=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP, link_bits_per_second=10**9
        )

    @property
    def measures(self) -> str:
        """What is measured, whoever is killed."""
        return self.kind.split()[-1]

    def survey(self) -> SurveyChoices:
        """The survey of the server."""
        assert self.server
        spec = spec_with(
            runs=2, warmups=1, size_bytes=SIZE_BYTES, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP
        )
        return SurveyChoices(
            hosts=("127.0.0.1",), smb=self.server.share, iperf3=False, ports={"smb": self.server.port},
            user=self.server.user, spec=spec,
        )  # fmt: skip

    def measure_survey(self, report: Report) -> None:
        """The survey, or what is left of it."""
        with Notebook(self.book) as notebook:
            planned = plan_round(self.survey(), notebook, lambda target: (target, self.secrets))
        report("planned")
        self.tell_by(report, (event for _, event in measure_round(planned, self.book, SeriesControl())))

    def do(self, report: Report) -> None:
        """The whole command, in the process that is to be killed."""
        if self.measures == "survey":
            self.measure_survey(report)
        elif self.measures == "selftest":
            turns = record_interleaved(equal_requests(self.request("make")), self.book, SeriesControl())
            self.tell_by(report, (event for _, event in turns))
        elif self.kind in CLI_WORDS:
            words = [word.format(folder=self.folder) for word in CLI_WORDS[self.kind]]
            run(["--db", str(self.book), *words], lambda *_args, **_more: 0)
        else:
            self.tell_by(report, record(self.request(self.measures), self.book, SeriesControl()))

    def prepare(self) -> None:
        """What must be there before."""
        if not self.server:
            self.share.mkdir(parents=True)
            (self.share / "file").write_bytes(os.urandom(SIZE_BYTES))
        if self.kind == "migrate":
            old_notebook(self.book, self.old_format, more=SERIES)
        elif self.kind in {"export json", "export xlsx", "delete"}:
            with Notebook(self.book) as notebook:
                notebook.add_all([numbered(number) for number in range(1, SERIES)])
            (self.folder / "out.json").write_bytes(OLD)
            (self.folder / "out.xlsx").write_bytes(OLD)
        elif self.kind == "import":
            (self.folder / "in.json").write_bytes(export([numbered(n) for n in range(1, IMPORTED)], "json"))

    # What must hold afterwards

    def check(self) -> None:
        """Everything; what was interrupted is then gone on with to its end."""
        self.check_export()
        if not self.book.exists() or not self.book.stat().st_size:
            return  # killed before it was begun
        self._check_notebook()
        found = self.check_runs()
        self.check_left(found)
        if self.kind not in CLI_WORDS:
            self._go_on(found)
        if self.kind == "import" and len(found) not in ({IMPORTED - 1} if self.answers else {0, IMPORTED - 1}):
            self.lose(f"{len(found)} of {IMPORTED - 1} series were imported, and {len(self.answers)} reported")
        if self.kind == "delete":
            there = {series.id for series in found}
            if there & set(self.answers) or not SERIES - 1 - len(self.answers) - 1 <= len(there) <= SERIES - 1:
                self.lose(f"{len(there)} of {SERIES - 1} are there, and {len(self.answers)} are said to be deleted")
        if self.kind == "migrate":
            if len(found) != SERIES + 1 or any(len(series.runs) != len(found[0].runs) for series in found):
                self.lose("a migration lost something")
            for copy in self.folder.glob("notebook.db.format-?*"):
                self._check_copy(copy)

    def _check_notebook(self) -> None:
        with Notebook(self.book) as notebook:
            if notebook.running():
                self.lose("a series is still said to be running")
        connection = sqlite3.connect(self.book)
        whole = connection.execute("PRAGMA integrity_check").fetchone()
        dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
        connection.close()
        if whole != ("ok",) or dangling:
            self.lose(f"the notebook is not whole: {whole}, {dangling}")

    def check_runs(self) -> list[Series]:
        """Every run that was reported is there exactly once."""
        with Notebook(self.book) as notebook:
            found = [notebook.series(head.id) for head in notebook.heads()]
        there = [self._told(run) for series in found for run in series.runs]
        for reported in self.reported:
            if there.count(reported) != self.reported.count(reported):
                self.lose(f"run {reported} is there {there.count(reported)} times")
        return found

    @staticmethod
    def _told(run: Run) -> tuple[str, int, float]:
        return run.phase.value, run.number, run.seconds or 0.0

    def check_left(self, found: list[Series]) -> None:
        """Nothing of ours lies there unnamed."""
        named = {(series.scratch_path or "").rpartition("/")[2] for series in found}
        for file in self.share.glob(".sharebench-*"):
            if file.name not in named:
                self.lose(f"{file.name} was left and is named nowhere")

    def check_export(self) -> None:
        """What was exported is there whole, or what was there before it; and nothing else."""
        parts = [*self.folder.glob(".sharebench-*"), *self.folder.glob("*.part")]
        if [part for part in parts if self.kind != "migrate"]:
            self.lose("an export left its part")
        if not self.kind.startswith("export"):
            return
        text, workbook = self.folder / "out.json", self.folder / "out.xlsx"
        if text.read_bytes() != OLD and len(json.loads(text.read_bytes())) != SERIES - 1:
            self.lose("an export is there in part")
        if workbook.read_bytes() != OLD and zipfile.ZipFile(workbook).testzip() is not None:
            self.lose("a workbook is there in part")

    def _check_copy(self, copy: Path) -> None:
        if copy.suffix == ".part":
            return
        connection = sqlite3.connect(copy)
        if connection.execute("SELECT count(*) FROM series").fetchone() != (SERIES + 1,):
            self.lose(f"the copy {copy.name} is not whole")
        connection.close()

    def _go_on(self, found: list[Series]) -> None:
        """Complete what is not complete, as a user would, and look again."""
        incomplete = [series for series in found if series.status is not SeriesStatus.COMPLETE]
        self.figures.counts["resumed"] += len(incomplete)
        if incomplete and self.measures == "survey":
            self.measure_survey(lambda _line: None)
        for series in incomplete if self.measures != "survey" else ():
            list(resume(series.id, self.secrets, self.book, SeriesControl()))
        after = self.check_runs()
        for series in after:
            if series.status is not SeriesStatus.COMPLETE or series.scratch_path:
                self.lose(f"gone on with, and {series.status}, {series.scratch_path}, {series.error}")
        self.check_left([replace(series, scratch_path=None) for series in after])


CLI_WORDS = {
    "import": ("import", "{folder}/in.json"),
    "export json": ("export", *(f"{n:012x}" for n in range(1, SERIES)), "-o", "{folder}/out.json"),
    "export xlsx": ("export", *(f"{n:012x}" for n in range(1, SERIES)), "-o", "{folder}/out.xlsx"),
    "delete": ("delete", *(f"{n:012x}" for n in range(1, SERIES)), "--yes"),
    "migrate": ("list",),
}
"""Commands that measure nothing."""


def numbered(number: int) -> Series:
    """A series with an id and a time of its own."""
    return one(number, created_at=f"2026-01-01T10:{number // 60:02d}:{number % 60:02d}.000Z")
