"""Loads as a kind of recording: how commands and screens show, compare, judge, import and store them.

`Kind` tells what each attribute and method is for.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.base.exit_codes import exit_code_of
from app.recording import kind as recording_kind
from forms.layout import Toned
from storage import records
from storage.json_reader import JSONNode
from storage.load.records import Load, LoadPoint
from storage.notebook import Notebook
from storage.recordings import LOAD, Recording

if TYPE_CHECKING:
    from forms.report import Report


class LoadKind(recording_kind.Kind[Load]):
    name = LOAD
    record: type = Load
    resume = "load --resume"
    shows_own_texts = True
    has_history = True
    has_own_runs = True
    measured_fields = ("targets", "points")

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from app.worksheets.prediction import load_form

        return load_form(notebook, self.read(notebook, head))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        from forms.load.wording import load_headline

        return next(load_headline(self.read(notebook, head)))

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(self.read(notebook, head).points)

    def target(self, notebook: Notebook, head: Recording) -> records.Target:
        return self.read(notebook, head).targets[0]

    def compare(
        self, notebook: Notebook, heads: Sequence[Recording], choices: recording_kind.ComparisonChoices | None = None
    ) -> recording_kind.ComparedRecordings:
        """Point by point, as far as earlier loads of the same kind tell how much they differ. Raises UsageError."""
        from forms.load.comparison import compare_loads, load_comparison_report

        del choices
        if len(heads) != 2:
            raise UsageError("loads are compared two at a time: name one OTHER")
        # What they are called here may be the name of a baseline.
        base, other = (replace(self.read(notebook, head), label=head.label) for head in heads)
        earlier = [load for load in notebook.loads_like(base, base.created_at) if load.id != other.id]
        comparison = compare_loads(base, other, earlier)
        return recording_kind.ComparedRecordings(load_comparison_report(comparison), exit_code_of([comparison.verdict]))

    def loads_alike(self, notebook: Notebook, head: Recording) -> Sequence[Load]:
        return notebook.loads_like(self.read(notebook, head), records.utc_now())

    def runs_of(self, record: Load) -> Sequence[LoadPoint]:
        return record.points

    def judge_run(
        self, notebook: Notebook, head: Recording, run: str, status: records.RunStatus, reason: str | None
    ) -> bool:
        return notebook.judge("load_points", {"load_id": head.id, "number": run}, status.value, reason)

    def read(self, notebook: Notebook, head: Recording) -> Load:
        return notebook.load(head.id)

    def from_node(self, node: JSONNode) -> Load:
        from forms.load.document import load_from_document

        return load_from_document(node)

    def add(self, notebook: Notebook, record: Load) -> None:
        notebook.add_load(record)


LOAD_KIND = LoadKind()
