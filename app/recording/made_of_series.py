"""Kinds whose recordings consist of series: trials, sweeps, surveys, self-tests, repeats.

The notebook keeps such a recording as an experiment, which is a name and a kind, and its series as its parts. A JSON
document has it whole, with its series inside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.base.errors import UsageError
from app.recording import experiments
from app.recording import kind as recording_kind
from forms.layout import Toned
from storage import json_reader
from storage import records as stored_records
from storage.notebook import Notebook
from storage.recordings import SERIES, Recording

if TYPE_CHECKING:
    from forms.importers.trial_document import ImportedTrial
    from forms.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A recording that consists of series, as a document has it: with its series."""

    id: str
    """Empty where the document does not say it."""
    experiment: stored_records.Experiment
    series: tuple[stored_records.Series, ...]
    label: str = ""
    note: str = ""
    question: str = ""
    trial: "ImportedTrial | None" = None
    """Its plan, for a trial or a sweep."""


class MadeOfSeries(recording_kind.Kind[Any]):
    """A kind whose recordings consist of series, and have no record of their own but an experiment.

    Its methods are those of `Kind`, in the form that suits all such kinds; each kind may replace them again. A trial,
    whose documents have a plan too, has a ``from_document`` of its own, for which ``read_whole`` is here.
    """

    record: type = stored_records.Experiment
    is_made_of_series = True

    def __init__(self, name: str) -> None:
        self.name = name

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        return experiments.stored_experiment(notebook, head.subject)

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        try:
            report = experiments.stored_experiment(notebook, head.subject)
        except UsageError:  # no series is stored yet
            return experiments.INTERRUPTED

        answer = report.answer or next(iter(report.results), None)
        if answer is None:
            return Toned(next(iter(report.advice), ""))
        return Toned(answer.text, answer.tone)

    def form(self, notebook: Notebook, head: Recording) -> "Report":
        """The form; its document contains the series. Raises UsageError."""
        report = super().form(notebook, head)
        series = [notebook.series(part.id) for part in recording_kind.parts_of(notebook, head)]

        def document() -> recording_kind.Document:
            return _whole_document(report.document(), head, series)

        return replace(report, document=document)

    def documents(self, notebook: Notebook, head: Recording) -> list[recording_kind.Document]:
        """Its own document; where it has no form, those of its series."""
        try:
            return super().documents(notebook, head)
        except UsageError:
            return self.documents_of_parts(notebook, head)

    def documents_of_parts(self, notebook: Notebook, head: Recording) -> list[recording_kind.Document]:
        documents = []
        for part in recording_kind.parts_of(notebook, head):
            documents += recording_kind.kind_of(part).documents(notebook, part)
        return documents

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(recording_kind.parts_of(notebook, head))

    def target(self, notebook: Notebook, head: Recording) -> stored_records.Target | None:
        first = _first_series(notebook, head)
        return first.target if first else None

    def folder(self, notebook: Notebook, head: Recording) -> stored_records.Target | None:
        first = _first_series(notebook, head)
        return recording_kind.measured_folder(first) if first else None

    def used_folders(self, notebook: Notebook) -> list[tuple[str, stored_records.Target]]:
        """None of its own: those of its series are offered."""
        del notebook
        return []

    def read(self, notebook: Notebook, head: Recording) -> Any:
        """The experiment. Raises UsageError."""
        experiment = notebook.experiment_called(head.subject)
        if experiment is None:
            raise UsageError(experiments.no_experiment(notebook, head.subject))
        return experiment

    def from_document(self, document: object) -> Whole:
        from forms import importers
        from forms.series.document import series_inside

        top = json_reader.JSONNode("", document)
        places = top.maybe("parts").items()
        if not places:
            raise json_reader.DocumentError(
                f"parts: this {self.name} has no series inside: export it again, or its series"
            )

        series = tuple(importers.check(series_inside(place)) for place in places)
        first = series[0]
        name = first.experiment or f"{self.name} {first.created_at[:19].replace('T', ' ')}"
        begun = min(part.created_at for part in series)
        experiment = stored_records.Experiment(
            name=name, kind=stored_records.ExperimentKind(self.name), created_at=begun
        )
        return self.read_whole(top, experiment, tuple(replace(part, experiment=name) for part in series))

    def read_whole(
        self,
        top: json_reader.JSONNode,
        experiment: stored_records.Experiment,
        series: tuple[stored_records.Series, ...],
        trial: "ImportedTrial | None" = None,
    ) -> Whole:
        """The texts beside its series, from the top of a document."""
        return Whole(
            id=_read_text(top, "id"),
            label=_read_text(top, "label"),
            note=_read_text(top, "note"),
            question=_read_text(top, "question"),
            experiment=experiment,
            series=series,
            trial=trial,
        )

    def add_imported(self, notebook: Notebook, records: Sequence[Any], imported_at: str, source: str) -> None:
        for record in records:
            self._check_new(notebook, record, source)
            self._add_whole(notebook, record, imported_at)

    def _check_new(self, notebook: Notebook, record: Whole, source: str) -> None:
        """Raises UsageError where a part of it, or another recording of its name, is stored."""
        name = record.experiment.name
        stored = notebook.recordings_of([series.id for series in record.series])
        if stored and len(stored) < len(record.series):
            raise UsageError(f"some series of {name!r} are in the notebook and some are not: import it with --as-new")
        if stored:
            raise UsageError(
                f"the series of {name!r} are in the notebook and are not what {source} says: import it with --as-new"
            )
        if notebook.experiment_called(name) is not None and notebook.heads(1, experiment=name):
            raise UsageError(f"{name!r} is in the notebook already, with other series: {source} cannot be imported")

    def _add_whole(self, notebook: Notebook, record: Whole, imported_at: str) -> None:
        experiment = replace(record.experiment, recording_id=record.id or None)
        recording_id = notebook.add_experiment(
            experiment, note=record.note, question=record.question, imported_at=imported_at
        )
        if recording_id and record.label:
            notebook.describe(recording_id, label=record.label)

        notebook.add_all(record.series)
        if record.trial:
            notebook.set_trial(experiment.name, record.trial.plan)
            for slot in record.trial.slots:
                notebook.add_slot(slot)

    def is_stored(self, notebook: Notebook, record: Any, source: str) -> bool:
        """Whether all its series are; if only some are, storing it raises UsageError."""
        del source
        stored = notebook.all_of([series.id for series in record.series])
        if len(stored) != len(record.series):
            return False
        return all(map(recording_kind.KINDS[SERIES].is_same, stored, record.series))

    def series_of(self, record: Any) -> tuple[stored_records.Series, ...]:
        series: tuple[stored_records.Series, ...] = record.series
        return series

    def with_new_ids(self, record: Any, series: Sequence[stored_records.Series], new_ids: Mapping[str, str]) -> Whole:
        trial = record.trial
        if trial is not None:
            slots = tuple(replace(slot, series_id=new_ids[slot.series_id]) for slot in trial.slots)
            trial = replace(trial, slots=slots)
        renamed: Whole = replace(record, id=stored_records.new_series_id(), series=tuple(series), trial=trial)
        return renamed


def _read_text(top: json_reader.JSONNode, name: str) -> str:
    return top.maybe(name).read(str | None) or ""


def _first_series(notebook: Notebook, head: Recording) -> stored_records.Series | None:
    """The first that is stored: a series may be deleted while the recording that it is a part of is read."""
    ids = [part.id for part in recording_kind.parts_of(notebook, head)]
    return next(iter(notebook.heads_of(ids)), None)


def _whole_document(
    document: recording_kind.Document, head: Recording, series: Sequence[stored_records.Series]
) -> recording_kind.Document:
    from forms.series.document import series_document

    whole_document = {name: getattr(head, name) for name in stored_records.HEAD} | document
    whole_document |= {"label": head.label, "note": head.note, "question": head.question}

    # Forms of some kinds have whole series inside already; others only their ids, or none.
    series_in_form = whole_document.get("series")
    if not series_in_form or not isinstance(series_in_form[0], dict):
        whole_document["parts"] = [series_document(part) for part in series]
    return whole_document
