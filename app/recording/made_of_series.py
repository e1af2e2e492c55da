"""Kinds whose recordings consist of series: trials, sweeps, surveys, self-tests, repeats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.base.errors import UsageError
from app.recording.experiments import INTERRUPTED, no_experiment, stored_experiment
from app.recording.kind import KINDS, Document, Kind, kind_of, measured_folder, parts_of
from forms.layout import Toned
from storage.json_reader import DocumentError, JSONNode
from storage.notebook import Notebook
from storage.recordings import SERIES, Recording
from storage.records import HEAD, Experiment, ExperimentKind, Series, Target, new_series_id

if TYPE_CHECKING:
    from forms.importers.trial_document import ImportedTrial
    from forms.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A trial, survey or self-test of a document, with its series."""

    id: str
    experiment: Experiment
    series: tuple[Series, ...]
    label: str = ""
    note: str = ""
    question: str = ""
    trial: "ImportedTrial | None" = None


class MadeOfSeries(Kind[Any]):
    """A kind whose recordings consist of series, and have no record of their own but an experiment."""

    record: type = Experiment
    is_made_of_series = True

    def __init__(self, name: str) -> None:
        self.name = name

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        return stored_experiment(notebook, head.subject)

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        try:
            report = stored_experiment(notebook, head.subject)
        except UsageError:  # no series is stored yet
            return INTERRUPTED

        answer = report.answer or next(iter(report.results), None)
        if answer is None:
            return Toned(next(iter(report.advice), ""))
        return Toned(answer.text, answer.tone)

    def form(self, notebook: Notebook, head: Recording) -> "Report":
        """The form; its document contains the series. Raises UsageError."""
        report = super().form(notebook, head)
        series = [notebook.series(part.id) for part in parts_of(notebook, head)]

        def document() -> Document:
            return _whole_document(report.document(), head, series)

        return replace(report, document=document)

    def documents(self, notebook: Notebook, head: Recording) -> list[Document]:
        """Its own document, or those of the series it has where it lacks one."""
        try:
            return super().documents(notebook, head)
        except UsageError:
            return self.documents_of_parts(notebook, head)

    def documents_of_parts(self, notebook: Notebook, head: Recording) -> list[Document]:
        documents = []
        for part in parts_of(notebook, head):
            documents += kind_of(part).documents(notebook, part)
        return documents

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(parts_of(notebook, head))

    def target(self, notebook: Notebook, head: Recording) -> Target | None:
        first = _first_series(notebook, head)
        return first.target if first else None

    def folder(self, notebook: Notebook, head: Recording) -> Target | None:
        first = _first_series(notebook, head)
        return measured_folder(first) if first else None

    def used_folders(self, notebook: Notebook) -> list[tuple[str, Target]]:
        """None of its own: those of its series are offered."""
        del notebook
        return []

    def read(self, notebook: Notebook, head: Recording) -> Any:
        """The experiment. Raises UsageError."""
        experiment = notebook.experiment_called(head.subject)
        if experiment is None:
            raise UsageError(no_experiment(notebook, head.subject))
        return experiment

    def from_document(self, document: object) -> Whole:
        from forms import importers
        from forms.series.document import series_inside

        top = JSONNode("", document)
        places = top.maybe("parts").items()
        if not places:
            raise DocumentError(f"parts: this {self.name} has no series inside: export it again, or its series")

        series = tuple(importers.check(series_inside(place)) for place in places)
        first = series[0]
        name = first.experiment or f"{self.name} {first.created_at[:19].replace('T', ' ')}"
        begun = min(part.created_at for part in series)
        experiment = Experiment(name=name, kind=ExperimentKind(self.name), created_at=begun)
        return self.read_whole(top, experiment, tuple(replace(part, experiment=name) for part in series))

    def read_whole(
        self, top: JSONNode, experiment: Experiment, series: tuple[Series, ...], trial: "ImportedTrial | None" = None
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
        """Whether all its series are; another whole of the same series is refused where it is stored."""
        del source
        stored = notebook.all_of([series.id for series in record.series])
        if len(stored) != len(record.series):
            return False
        return all(map(KINDS[SERIES].is_same, stored, record.series))

    def series_of(self, record: Any) -> tuple[Series, ...]:
        series: tuple[Series, ...] = record.series
        return series

    def with_new_ids(self, record: Any, series: Sequence[Series], new_ids: Mapping[str, str]) -> Whole:
        trial = record.trial
        if trial is not None:
            slots = tuple(replace(slot, series_id=new_ids[slot.series_id]) for slot in trial.slots)
            trial = replace(trial, slots=slots)
        renamed: Whole = replace(record, id=new_series_id(), series=tuple(series), trial=trial)
        return renamed


def _read_text(top: JSONNode, name: str) -> str:
    return top.maybe(name).read(str | None) or ""


def _first_series(notebook: Notebook, head: Recording) -> Series | None:
    """The first that is stored: a series may be deleted while its whole is read."""
    ids = [part.id for part in parts_of(notebook, head)]
    return next(iter(notebook.heads_of(ids)), None)


def _whole_document(document: Document, head: Recording, series: Sequence[Series]) -> Document:
    from forms.series.document import series_document

    whole_document = {name: getattr(head, name) for name in HEAD} | document
    whole_document |= {"label": head.label, "note": head.note, "question": head.question}

    # Forms of some kinds have whole series inside already; others only their ids, or none.
    series_in_form = whole_document.get("series")
    if not series_in_form or not isinstance(series_in_form[0], dict):
        whole_document["parts"] = [series_document(part) for part in series]
    return whole_document
