"""What a kind of recording is: the methods that commands and screens call, whichever kind it is; and all kinds by name.

A recording is what the notebook keeps of one measurement: a series, a load, an audit and so on. Its head is the row
that recordings of all kinds have (`storage.recordings.Recording`); its record is all of it, a dataclass of its kind.

A subject derives its kind from `Kind` in its own `kind.py`, which is imported when the first of its recordings is met.
Forms are imported where they are used, since a list of recordings does not need them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from app.base.errors import UsageError
from forms import layout, wording
from forms.series.listing import done_text
from storage import recordings
from storage import records as stored_records
from storage.errors import with_article
from storage.json_reader import JSONNode
from storage.notebook import Notebook
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT
from storage.recordings import Recording

if TYPE_CHECKING:
    from forms.report import Field, Report
    from forms.series.summary import SeriesSummary
    from storage.load.records import Load
    from storage.quick.records import Quick

_OTHERS_LOOKED_AT = 20
"""Newest recordings of a kind whose targets are offered: nobody scrolls further."""

RUNNING = layout.Toned(f"{layout.Sign.RUNNING} Being measured: there is no answer before its end.", layout.Tone.CAUTION)


class HasId(Protocol):
    @property
    def id(self) -> str: ...


RecordT = TypeVar("RecordT", bound=HasId)
RunPlace = tuple[tuple[Any, ...], int]
"""Where a run stands in its record: the part that it belongs to, such as a layer, and its number there."""
Document = dict[str, Any]
"""A JSON document."""


@dataclass(frozen=True, slots=True)
class ComparedRecordings:
    """A comparison, and the exit code of the command that asked for it."""

    report: "Report"
    exit_code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonChoices:
    """What somebody chose for a comparison; a kind without repeats or limits ignores these choices."""

    references: Sequence[str] = ()
    """What the recordings were called, for messages; their ids where that is not known."""
    again: Sequence[str] = ()
    """References of series that repeat the base."""
    each_is_a_side: bool = False
    """Whether the third of three is compared by itself even where it has the settings of the base."""
    alone: bool = False
    """Whether just those that are named are compared, without the history of their path."""
    repeats: bool = False
    """Whether all complete series that repeat those named count as well."""
    noise_percent: float = NOISE_PERCENT
    """A change within plus or minus this is never faster or slower."""
    margin_percent: float = MARGIN_PERCENT
    """There is no change where its 95 % interval lies within plus or minus this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """What a list tells of a recording beside its head."""

    done: str
    """How many runs, points or rounds are finished, with the sign of its status."""
    answer: layout.Toned
    what: str
    """What was measured: the place, or what the recording is called."""
    label: str
    experiment: str = ""
    """The experiment that it is a part of; empty for none."""
    state: str = ""
    """How far it is, where the answer does not say so itself."""


class Kind(Generic[RecordT]):
    """What can be done with the recordings of one kind.

    A kind must say its ``name`` and ``record``, and have :meth:`report` and :meth:`answer`. The other methods have
    defaults that suit most kinds.
    """

    name: str
    """As the notebook and the commands call it."""
    record: type
    """The dataclass of whose fields its JSON documents are made."""

    resume = ""
    """The command that resumes an interrupted recording; empty where none does."""
    restored_by = ""
    """The command that restores what a recording left changed on a server; empty where `clean` does that."""
    is_made_of_series = False
    """Whether its recordings consist of series, which can be complete and still be continued."""
    has_interim_answer = False
    """Whether its answer says something before the measurement has ended."""
    shows_own_texts = False
    """Whether its report shows question and note by itself."""
    comes_first = False
    """Whether an import stores it before the other recordings of its file, since these may refer to it."""
    can_be_repeated = False
    """Whether a key measures a recording again with the same settings."""
    names_its_kind = True
    """Whether texts that name a recording say its kind before its label."""
    measured_fields: tuple[str, ...] = ()
    """Fields that are equal in two copies of one recording; empty: all of them."""
    has_history = False
    """Whether `sharebench history last` may mean the newest recording of this kind."""
    has_own_runs = False
    """Whether its records have runs, load points or layer runs: `runs_of` and `place_of_run` are for these kinds."""

    screen = "stored"
    """The name of the screen that shows a recording."""
    screen_argument = "recording_id"
    """The argument of that screen that takes the recording's id."""
    has_comparison_screen = False
    """Whether two recordings are compared on a screen of their own, not as a form."""

    @property
    def schema(self) -> str:
        return f"sharebench/{self.name}/1"

    # What a recording says

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        """The form without what all kinds have in common. Raises UsageError where there is none."""
        raise NotImplementedError

    def answer(self, notebook: Notebook, head: Recording) -> layout.Toned:
        """What the recording found, in a line."""
        raise NotImplementedError

    def current_answer(self, notebook: Notebook, head: Recording) -> layout.Toned:
        """The answer, or that it is being measured."""
        if head.running and not self.has_interim_answer:
            return RUNNING
        return self.answer(notebook, head)

    def form(self, notebook: Notebook, head: Recording) -> "Report":
        """The form, the answer first. Raises UsageError where there is none."""
        from forms.report import answer_field, fields_of, question_field

        report = self.report(notebook, head)
        answer: tuple[Field, ...] = (report.answer,) if report.answer else ()
        others = tuple(entry for entry in report.fields if entry is not report.answer)
        if head.running and not self.has_interim_answer:
            answer = (answer_field(RUNNING.text, RUNNING.tone),)
            others = tuple(entry for entry in others if not entry.is_known_at_end)

        texts = () if self.shows_own_texts else fields_of(question_field(head.question), ("Note", head.note))
        return replace(report, fields=(*answer, *texts, *others))

    def forms(self, notebook: Notebook, heads: Sequence[Recording]) -> "list[Report]":
        """The forms of several recordings of this kind, after an overview where the kind has one."""
        return [self.form(notebook, head) for head in heads]

    def page(
        self, notebook: Notebook, heads: Sequence[Recording], choices: ComparisonChoices | None = None
    ) -> "Report":
        """One page for somebody else: the form of one recording, or the comparison of several. Raises UsageError."""
        from forms.pages import one_page

        question = next((head.question for head in heads if head.question), "")
        if len(heads) == 1:
            answer = self.current_answer(notebook, heads[0])
            return one_page(self.form(notebook, heads[0]), question=question, answer=answer.text, tone=answer.tone)

        report = self.compare(notebook, heads, choices).report
        answers = [f"{head.label or head.id}: {self.current_answer(notebook, head).text}" for head in heads]
        return one_page(report, question=question, answer="; ".join(answers))

    def documents(self, notebook: Notebook, head: Recording) -> list[Document]:
        """The JSON documents that hold all of it. Raises UsageError."""
        return [self.form(notebook, head).document()]

    def recommendations(self, notebook: Notebook, head: Recording) -> list[str]:
        """What to do next, below the form."""
        leftover = self.leftover_text(notebook, head)
        return [leftover] if leftover else []

    def chart(self, notebook: Notebook, head: Recording, columns: int, lines: int, *, colour: bool) -> str:
        """The chart of `show --chart`; empty for kinds whose forms have charts, and without runs."""
        del notebook, head, columns, lines, colour
        return ""

    def series_summary(self, notebook: Notebook, head: Recording) -> "SeriesSummary | None":
        """The runs as a screen draws them in place of a form; None where the form is drawn."""
        del notebook, head
        return None

    # What a list shows

    def list_entries(self, notebook: Notebook, heads: Sequence[Recording]) -> dict[str, ListEntry]:
        """The entries of recordings of this kind by id, read at once."""
        return {head.id: self.list_entry(notebook, head) for head in heads}

    def list_entry(self, notebook: Notebook, head: Recording) -> ListEntry:
        return ListEntry(
            done=done_text(head, self.count_done(notebook, head)),
            answer=self.current_answer(notebook, head),
            what=self.what_was_measured(notebook, head),
            label=wording.plain(head.label),
        )

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        """How many runs, points or rounds are finished."""
        del notebook, head
        return 0

    def what_was_measured(self, notebook: Notebook, head: Recording) -> str:
        """Where it was measured, else what the recording is called."""
        target = self.target(notebook, head)
        return wording.place(target).removeprefix("smb://") if target else wording.plain(head.subject)

    # Where it was measured

    def target(self, notebook: Notebook, head: Recording) -> stored_records.Target | None:
        """What was measured; None for a kind without a target."""
        del notebook, head
        return None

    def folder(self, notebook: Notebook, head: Recording) -> stored_records.Target | None:
        """The folder to measure in again."""
        return self.target(notebook, head)

    def used_folders(self, notebook: Notebook) -> list[tuple[str, stored_records.Target]]:
        """The folders of the newest recordings, each with the moment of the recording."""
        folders = []
        for head in notebook.recordings(self.name, limit=_OTHERS_LOOKED_AT):
            target = self.target(notebook, head)
            if target is not None:
                folders.append((head.created_at, target))
        return folders

    def measured_series(self, notebook: Notebook, head: Recording) -> stored_records.Series | None:
        """The series whose path this recording is about; None where it has none."""
        parts = notebook.recordings(part_of=head.id)
        return notebook.series(parts[0].id) if parts else None

    def loads_alike(self, notebook: Notebook, head: Recording) -> "Sequence[Load]":
        """The loads of the same targets and scenario, itself included, oldest first; none where it is no load."""
        del notebook, head
        return ()

    def quick_tests_alike(self, notebook: Notebook, head: Recording) -> "Sequence[Quick]":
        """The quick tests of the same path, itself included, oldest first; none where it is no quick test."""
        del notebook, head
        return ()

    def before(self, notebook: Notebook, head: Recording) -> str:
        """The id of the recording of the same target before this one, to compare it with; empty for none."""
        del notebook, head
        return ""

    def leftover_text(self, notebook: Notebook, head: Recording) -> str:
        """Possible leftovers on a server and the command that removes them, or empty."""
        if head.leftovers is None or head.running or head.imported_at:
            return ""

        things = []
        for name, value in head.leftovers.items():
            if value and name not in _WAYS_TO_THE_SERVER:
                values = value if isinstance(value, list) else [value]
                things.append(f"{name.replace('_', ' ')} {', '.join(map(str, values))}")
        text = f"{head.kind} {head.id} left {wording.plain('; '.join(things))}"
        if self.restored_by:
            return f"{text}: the next `sharebench {self.restored_by}` restores it"

        target = self.target(notebook, head)
        return f"{text}: sharebench clean {wording.plain(stored_records.format_target(target))}" if target else text

    # Several recordings

    def compare(
        self, notebook: Notebook, heads: Sequence[Recording], choices: ComparisonChoices | None = None
    ) -> ComparedRecordings:
        """Compare the first with the others; by default side by side, without a verdict. Raises UsageError."""
        from forms.series.side_by_side import side_by_side

        del choices
        return ComparedRecordings(side_by_side(heads, [self.form(notebook, head) for head in heads]))

    def two_of(self, heads: Sequence[Recording]) -> tuple[Recording, Recording]:
        """The two to compare, of a kind that compares no more. Raises UsageError."""
        if len(heads) != 2:
            raise UsageError(f"{with_article(self.name)} is compared with one other {self.name}: name two")
        return heads[0], heads[1]

    def check_repeats(self, notebook: Notebook, ids: Sequence[str]) -> None:
        """Raises UsageError for recordings that cannot be one baseline."""

    def baseline_advice(self, notebook: Notebook, ids: Sequence[str], name: str) -> list[str]:
        """What recordings that were just named a baseline will show, and what is worth measuring before a change."""
        del notebook, ids, name
        return []

    def baseline_power(self, notebook: Notebook, ids: Sequence[str]) -> str:
        """What recordings that are a baseline will show after a change, in a sentence; empty where nobody can say."""
        del notebook, ids
        return ""

    # Runs

    def runs_of(self, record: RecordT) -> Sequence[Any]:
        """The runs of a record, measured or not."""
        raise NotImplementedError

    def place_of_run(self, run: Any) -> RunPlace:
        """By default a run belongs to no part, and its number says where it stands."""
        return (), run.number

    def judge(
        self, notebook: Notebook, head: Recording, run: str, status: stored_records.RunStatus, reason: str | None
    ) -> None:
        """Reject or accept a run (or load point, layer run, pair), named as the user names it. Raises UsageError."""
        with notebook.transaction():
            if not self.judge_run(notebook, head, run, status, reason):
                raise UsageError(f"{head.kind} {head.id} has no finished measured run {run}")

    def judge_run(
        self, notebook: Notebook, head: Recording, run: str, status: stored_records.RunStatus, reason: str | None
    ) -> bool:
        """As :meth:`judge`; returns whether there is such a run. Raises UsageError where the kind has no runs."""
        del notebook, run, status, reason
        raise UsageError(f"a {head.kind} has no runs of its own: reject a run of one of its series")

    # Reading and storing

    def read(self, notebook: Notebook, head: Recording) -> RecordT:
        """The whole record; by default one without tables of its own, read by the types of its fields."""
        del notebook
        record: RecordT = recordings.whole_record(head, self.record)
        return record

    def from_document(self, document: object) -> RecordT:
        """The record in a JSON document. Raises DocumentError."""
        from forms import importers

        record = self.from_node(JSONNode("", document).object())
        own_target = getattr(record, "target", None)
        targets = (*getattr(record, "targets", ()), *([own_target] if own_target else []))
        for target in targets:
            importers.check_target(target)
        return record

    def from_node(self, node: JSONNode) -> RecordT:
        record: RecordT = node.record(self.record, leave=recordings.OURS, needs=("id", "created_at"))
        return record

    def add(self, notebook: Notebook, record: RecordT) -> None:
        """Store a record with all that belongs to it; by default head and content."""
        notebook.add_recording(recordings.to_recording(record, self.name))

    def add_imported(self, notebook: Notebook, records: Sequence[RecordT], imported_at: str, source: str) -> None:
        """Store records of the document ``source``. Raises UsageError where one does not fit into the notebook."""
        del source
        for record in records:
            with notebook.transaction():
                self.add(notebook, record)
                notebook.mark_imported(record.id, imported_at)

    def is_stored(self, notebook: Notebook, record: RecordT, source: str) -> bool:
        """Whether the same was stored before. Raises UsageError where another is stored under its id."""
        heads = notebook.recordings_of([record.id])
        if not heads:
            return False
        if heads[0].kind == self.name and self.is_same(self.read(notebook, heads[0]), record):
            return True
        raise UsageError(
            f"{self.name} {record.id} is in the notebook and is not what {source} says: import it with --as-new"
        )

    def is_same(self, record: RecordT, other: RecordT) -> bool:
        """Whether the measurements are equal; labels and notes may differ."""
        if not self.measured_fields:
            return record == other
        return all(getattr(record, name) == getattr(other, name) for name in self.measured_fields)

    def ids_of(self, record: RecordT) -> list[str]:
        """The ids of the record and of all series in it."""
        return [record.id, *(series.id for series in self.series_of(record))]

    def series_of(self, record: RecordT) -> tuple[stored_records.Series, ...]:
        """The series that the record is or has inside."""
        del record
        return ()

    def experiment_of(self, record: RecordT) -> str | None:
        """The experiment that the record says it is a part of."""
        del record
        return None

    def with_new_ids(
        self, record: RecordT, series: Sequence[stored_records.Series], new_ids: Mapping[str, str]
    ) -> RecordT:
        """The record under another id, with its series, which have theirs already; ``new_ids`` is of the whole file."""
        del series, new_ids
        renamed: RecordT = replace(record, id=stored_records.new_series_id())  # type: ignore[type-var]
        return renamed


_WAYS_TO_THE_SERVER = frozenset({"ssh", "smb_conf"})
"""Among leftovers: how the server is reached, not what is left there."""


def measured_folder(series: stored_records.Series) -> stored_records.Target:
    """The folder of a series: its target where it made the file there, else where its file lies."""
    if series.command is stored_records.Command.PUT or (series.plan and series.plan.counts.make_file):
        return series.target
    parent = series.target.path.rpartition("/")[0]
    root = "" if series.target.abilities.has_share else "/"
    return replace(series.target, path=parent or root)


def parts_of(notebook: Notebook, head: Recording) -> list[Recording]:
    """The series that a recording consists of, in measured order."""
    return notebook.recordings(part_of=head.id)[::-1]


@dataclass(slots=True)
class KindsByName(Mapping[str, Kind[Any]]):
    """All kinds; the module of each is imported when it is first asked for."""

    places: dict[str, str]
    """Module and name of each kind."""
    loaded: dict[str, Kind[Any]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Kind[Any]:
        if name not in self.loaded:
            self.loaded[name] = resolve_name(self.places[name])
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        added = [name for name in self.loaded if name not in self.places]
        return iter([*self.places, *added])  # of a copy: kinds are loaded while others go through them

    def __len__(self) -> int:
        return len(self.places.keys() | self.loaded.keys())

    def add(self, kind: Kind[Any]) -> None:
        self.loaded[kind.name] = kind

    def remove(self, name: str) -> None:
        del self.loaded[name]


KINDS = KindsByName(
    {
        "series": "app.series.kind:SERIES_KIND",
        "load": "app.load.kind:LOAD_KIND",
        "isolation": "app.isolation.kind:ISOLATION_KIND",
        "audit": "app.audit.kind:AUDIT_KIND",
        "diagnosis": "app.diagnosis.kind:DIAGNOSIS_KIND",
        "quick": "app.quick.kind:QUICK_KIND",
        "watch": "app.watch.kind:WATCH_KIND",
        "who": "app.who.kind:WHO_KIND",
        "trial": "app.trial.kind:TRIAL_KIND",
        "sweep": "app.trial.kind:SWEEP_KIND",
        "survey": "app.survey.kind:SURVEY_KIND",
        "selftest": "app.series.kind:SELFTEST_KIND",
        "repeats": "app.series.kind:REPEATS_KIND",
    }
)


def kind_of(head: Recording) -> Kind[Any]:
    """Raises UsageError for a kind of a newer version."""
    if head.kind not in KINDS:
        raise UsageError(f"{head.id} is of kind {head.kind!r}, which this version does not know")
    return KINDS[head.kind]


def kind_with_schema(schema: object) -> Kind[Any] | None:
    """The kind whose documents have that schema."""
    return next((kind for kind in KINDS.values() if kind.schema == schema), None)
