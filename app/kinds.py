"""The table of kinds, over which commands and screens are written once; forms are imported on first use."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from app.base.errors import UsageError
from forms import wording
from forms.layout import Sign, Tone, Toned
from forms.series.listing import RecordingLine, done_text, done_tone, series_lines, side_by_side
from storage import looks, records
from storage.changes import TrialPlan
from storage.errors import DamagedNotebookError, did_you_mean, with_article
from storage.isolation import Isolation, Layer, isolation_from_json
from storage.json_reader import JSONNode
from storage.load.records import Load
from storage.notebook import Notebook
from storage.recordings import ISOLATION, LOAD, OURS, SERIES, Recording, to_recording, with_head
from storage.records import HEAD, Experiment, RunStatus, Series, Target, format_target
from storage.shared import LAST

if TYPE_CHECKING:
    from forms.report import Field, Report
    from forms.trial.report import ChangeSummary

SLOWER, INCONCLUSIVE = 1, 3
_SERIES_LOOKED_AT, _OTHERS_LOOKED_AT = 300, 20


@dataclass(frozen=True, slots=True)
class Compared:
    report: "Report"
    exit_code: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    name: str
    schema: str
    record: type
    report: Callable[[Notebook, Recording], "Report"]
    answer: Callable[[Notebook, Recording], Toned]
    done: Callable[[Notebook, Recording], int] = lambda _notebook, _head: 0
    resume: str = ""
    target: Callable[[Notebook, Recording], Target | None] = lambda _notebook, _head: None
    judge: "Callable[[Notebook, Recording, str, RunStatus, str | None], bool] | None" = None
    compare: "Callable[[Notebook, Sequence[Recording]], Compared] | None" = None
    """Compares the first with the others; None means side by side, without a verdict."""
    read: Callable[[Notebook, str], Any] | None = None
    from_document: Callable[[JSONNode], Any] | None = None
    """None reads by the types of the fields. Raises DocumentError."""
    add: Callable[[Notebook, Any], None] | None = None
    """None stores head and content."""
    whole: bool = False
    restored_by: str = ""
    """The command that restores leftover changes and needs the recording; else `clean` is recommended."""

    def form(self, notebook: Notebook, head: Recording) -> "Report":
        """The form; its document contains the member series. Raises UsageError."""
        from forms.report import fields_of  # noqa: PLC0415  as the module says

        report = self.report(notebook, head)
        rest = tuple(one for one in report.fields if one is not report.answer)
        answer: tuple[Field, ...] = (report.answer,) if report.answer else ()
        if head.running and head.kind != SERIES:
            answer = fields_of((wording.ANSWER, RUNNING.text, RUNNING.tone))
            rest = tuple(one for one in rest if one.name not in {"Status", "Leftovers"})  # known at its end
        if head.kind not in {SERIES, LOAD, looks.AUDIT}:
            answer += fields_of(("Question", head.question), ("Note", head.note))
        report = replace(report, fields=(*answer, *rest))
        if not self.whole:
            return report
        from forms.series.document import series_document  # noqa: PLC0415  as the module says

        series = [notebook.series(one.id) for one in parts(notebook, head)]

        def document() -> dict[str, Any]:
            found = {**{name: getattr(head, name) for name in HEAD}, **report.document()}
            found |= {"label": head.label, "note": head.note, "question": head.question}
            inside = found.get("series")
            if not inside or not isinstance(inside[0], dict):
                found["parts"] = [series_document(one) for one in series]
            return found

        return replace(report, document=document)


def answer_of(notebook: Notebook, head: Recording) -> Toned:
    return RUNNING if head.running and head.kind != SERIES else kind_of(head).answer(notebook, head)


RUNNING = Toned(f"{Sign.RUNNING} Being measured: there is no answer before its end.", Tone.CAUTION)


def parts(notebook: Notebook, head: Recording) -> list[Recording]:
    return notebook.recordings(part_of=head.id)[::-1]


def _later(name: str) -> Callable[..., Any]:
    return lambda *arguments: resolve_name(name)(*arguments)  # noqa: PLW0108  not before it is called


def _of(read: Callable[[Notebook, str], Any], name: str) -> Callable[[Notebook, Recording], Any]:
    return lambda notebook, head: _later(name)(read(notebook, head.id))


def _two(read: Callable[[Notebook, str], Any], name: str) -> "Callable[[Notebook, Sequence[Recording]], Compared]":
    """What the function ``MODULE:NAME`` says of one record beside another. Raises UsageError."""

    def compare(notebook: Notebook, heads: Sequence[Recording]) -> Compared:
        kind = heads[0].kind
        if len(heads) != 2:
            raise UsageError(f"{with_article(kind)} is compared with one other {kind}: name two")
        return Compared(_later(name)(*(read(notebook, head.id) for head in heads)))

    return compare


def _series_answer(notebook: Notebook, head: Recording) -> Toned:
    for line in series_lines(notebook.heads_of([head.id]), notebook.rates_of([head.id])):
        return line.answer
    return Toned("what was measured is gone: deleted a moment ago, or the notebook is damaged", Tone.CAUTION)


def _judge_run(notebook: Notebook, head: Recording, name: str, status: RunStatus, reason: str | None) -> bool:
    return notebook.judge("runs", {"series_id": head.id, "phase": "measured", "number": name}, status.value, reason)


def _compare_loads(notebook: Notebook, heads: Sequence[Recording]) -> Compared:
    from forms.load.comparison import compare_loads, load_comparison_report  # noqa: PLC0415  as the module says

    if len(heads) != 2:
        raise UsageError("loads are compared two at a time: name one OTHER")
    base, other = (notebook.load(head.id) for head in heads)
    earlier = [one for one in notebook.loads_like(base, base.created_at) if one.id != other.id]
    found = compare_loads(base, other, earlier)
    return Compared(load_comparison_report(found), exit_code([found.verdict]))


def _isolation_answer(notebook: Notebook, head: Recording) -> Toned:
    found = notebook.isolation(head.id)
    if not found.runs:
        return Toned(head.error or "no valid run", Tone.CAUTION)
    verdict = _later("forms.isolation.summary:isolation_summary")(found).verdict
    return Toned(_later("forms.isolation.wording:verdict_sentence")(verdict))


def _judge_layer_run(notebook: Notebook, head: Recording, name: str, status: RunStatus, reason: str | None) -> bool:
    turn, _, rest = name.partition(":")
    layer, _, clients = rest.rpartition(":") if rest.rpartition(":")[2].isdecimal() else (rest, "", "")
    numbers = [int(clients)] if clients else list(notebook.isolation(head.id).clients)
    if layer not in tuple(Layer) or not turn.isdecimal() or len(numbers) != 1:
        raise UsageError(
            f"a run of an isolation is named ROUND:LAYER or ROUND:LAYER:CLIENTS, such as 1:server:4; not {name!r}"
        )
    key = {"isolation_id": head.id, "round": turn, "layer": layer, "clients": numbers[0]}
    return notebook.judge("layer_runs", key, status.value, reason)


def _content(kind: str, read: Callable[[Recording], Any]) -> Callable[[Notebook, str], Any]:
    return lambda notebook, reference: read(notebook.recording(reference, kind))


_audit = _content(looks.AUDIT, looks.audit_of)
_diagnosis = _content(looks.DIAGNOSIS, looks.diagnosis_of)
_watch = _content(looks.WATCH, looks.watch_of)


def _audit_answer(notebook: Notebook, head: Recording) -> Toned:
    found = _audit(notebook, head.id)
    sign = _later("forms.audit.report:audit_sign")(found)
    return Toned(f"{sign} {_later('forms.audit.report:audit_answer')(found)}", sign.tone)


def stored_experiment(notebook: Notebook, name: str, only: str | None = None) -> "Report":
    """``only`` is the kind it must be. Raises UsageError."""
    from forms.experiments.report import experiment_report  # noqa: PLC0415  as the module says
    from forms.trial.report import KINDS as CHANGES  # noqa: PLC0415  as the module says
    from forms.trial.report import change_report, server_fields  # noqa: PLC0415  as the module says

    experiment, series = notebook.experiment_called(name), notebook.experiment(name)
    if experiment is None or not series:
        raise UsageError(no_experiment(notebook, name))
    if only is not None and experiment.kind != only:
        raise UsageError(f"{name!r} is no {only}: export it as an experiment", options="--form experiment")
    server = tuple(server_fields(notebook.journal(experiment=name)))
    if (change := stored_change(notebook, name)) is not None:
        report = change_report(change)
        return replace(report, fields=(*report.fields, *server))
    try:
        if experiment.kind not in CHANGES:
            return experiment_report(name, series, experiment.kind)
        steps = experiment_report(name, series)
        said = RUNNING if any(one.running_by for one in series) else _INTERRUPTED
        if all(one.status is records.SeriesStatus.COMPLETE for one in series):
            why = "A series of it is missing" if notebook.trial(name) else "It was imported without its plan"
            said = Toned(f"{why}, so it has no verdict of its own.", Tone.CAUTION)
        answer = replace(steps.fields[0], text=said.text, tone=said.tone)
        return replace(steps, fields=(answer, *steps.fields[1:], *server), results=())
    except ValueError as error:
        raise UsageError(f"{name!r} was not completed: measure it again with sharebench selftest") from error


def no_experiment(notebook: Notebook, name: str) -> str:
    meant = did_you_mean(name, (each.experiment.name for each in notebook.experiments()))
    return f"no experiment is called {name!r}; {meant}`sharebench experiment list` shows what there is"


def stored_change(notebook: Notebook, name: str) -> "ChangeSummary | None":
    """A trial or sweep; None before each value was measured, without its plan, or for no such one."""
    from forms.trial.report import KINDS as CHANGES  # noqa: PLC0415  as the module says
    from forms.trial.report import judge_change  # noqa: PLC0415  as the module says

    experiment = notebook.experiment_called(name)
    if experiment is None or experiment.kind not in CHANGES:
        return None
    plan = notebook.trial(name)
    with suppress(ValueError):  # a series is missing
        return judge_change(experiment, plan, notebook.experiment(name), notebook.slots(name)) if plan else None
    return None


_INTERRUPTED = Toned("Interrupted before each value was measured once.", Tone.CAUTION)


def _whole_answer(notebook: Notebook, head: Recording) -> Toned:
    try:
        change = stored_change(notebook, head.subject)
        if change is not None:
            from forms.trial.report import change_answer  # noqa: PLC0415  as the module says

            return change_answer(change)
        report = stored_experiment(notebook, head.subject)
    except UsageError:  # no series is stored yet
        return _INTERRUPTED
    if said := report.answer or next(iter(report.results), None):
        return Toned(said.text, said.tone)
    return Toned(next(iter(report.advice), ""))


def _pairs(notebook: Notebook, head: Recording) -> int:
    found = stored_change(notebook, head.subject)
    return len(getattr(found, "pairs", ())) or getattr(found, "blocks", 0)


def _target(notebook: Notebook, head: Recording) -> Target | None:
    ids = [head.id] if head.kind == SERIES else [part.id for part in parts(notebook, head)]
    return next((one.target for one in notebook.heads_of(ids)), None)


_OF_SERIES = partial(
    Kind, record=Experiment, answer=_whole_answer, target=_target, whole=True,
    report=lambda notebook, head: stored_experiment(notebook, head.subject),
    done=lambda notebook, head: len(parts(notebook, head)),
)  # fmt: skip
_OF_PAIRS = partial(
    _OF_SERIES, record=TrialPlan, done=_pairs, resume="try --resume",
    judge=lambda notebook, head, *what: all(_judge_run(notebook, part, *what) for part in parts(notebook, head)),
    read=_later("app.trial.spec:stored_trial"),
)  # fmt: skip

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name=SERIES, schema="sharebench/series/1", record=Series, read=Notebook.series, resume="run --resume",
            report=lambda notebook, head: _later("forms.series.report:series_report")(
                _later("forms.series.summary:run_form")(notebook.series(head.id))
            ),
            answer=_series_answer, done=lambda notebook, head: len(notebook.rates_of([head.id]).get(head.id, ())),
            target=_target, judge=_judge_run,
        ),
        Kind(
            name=LOAD, schema="sharebench/load/1", record=Load, read=Notebook.load, resume="load --resume",
            report=lambda notebook, head: _later("app.worksheets.prediction:load_form")(
                notebook, notebook.load(head.id)
            ),
            answer=lambda notebook, head: next(_later("forms.load.wording:load_headline")(notebook.load(head.id))),
            done=lambda notebook, head: len(notebook.load(head.id).points),
            target=lambda notebook, head: notebook.load(head.id).targets[0],
            judge=lambda notebook, head, name, status, reason: notebook.judge(
                "load_points", {"load_id": head.id, "number": name}, status.value, reason
            ),
            compare=_compare_loads, from_document=_later("forms.load.report:load_from_document"), add=Notebook.add_load,
        ),
        Kind(
            name=ISOLATION, schema="sharebench/isolation/1", record=Isolation, read=Notebook.isolation,
            report=_of(Notebook.isolation, "forms.isolation.report:isolation_report"), answer=_isolation_answer,
            done=lambda notebook, head: len({run.round for run in notebook.isolation(head.id).runs}),
            resume="isolate --resume", restored_by="isolate", judge=_judge_layer_run,
            target=lambda notebook, head: notebook.isolation(head.id).target,
            compare=_two(Notebook.isolation, "forms.isolation.comparison:isolation_comparison"),
            from_document=isolation_from_json, add=Notebook.add_isolation,
        ),
        Kind(
            name=looks.AUDIT, schema="sharebench/audit/1", record=looks.Audit, read=_audit, answer=_audit_answer,
            report=lambda notebook, head: _later("app.comparison.history:audit_form")(
                notebook, _audit(notebook, head.id)
            ),
            done=lambda notebook, head: len(_audit(notebook, head.id).findings),
            compare=_two(_audit, "forms.audit.report:audit_comparison_report"), from_document=looks.audit_from_json,
            add=lambda notebook, audit: notebook.add_recording(looks.recording_of(audit)),
        ),
        Kind(
            name=looks.DIAGNOSIS, schema="sharebench/diagnosis/1", record=looks.Diagnosis, read=_diagnosis,
            report=_of(_diagnosis, "forms.diagnosis.report:diagnosis_report"), resume="diagnose --resume",
            answer=_of(_diagnosis, "forms.diagnosis.report:diagnosis_answer"),
            done=lambda notebook, head: len(_diagnosis(notebook, head.id).stages),
            target=lambda notebook, head: _diagnosis(notebook, head.id).target,
            compare=_two(_diagnosis, "forms.diagnosis.report:diagnosis_comparison"),
            from_document=looks.diagnosis_from_json,
            add=lambda notebook, diagnosis: notebook.add_recording(looks.recording_of(diagnosis)),
        ),
        Kind(
            name=looks.WATCH, schema="sharebench/watch/1", record=looks.Watch, read=_watch,
            report=lambda notebook, head: _later("forms.watch.report:watch_report")(
                _later("app.watch.record:last_check")(notebook, _watch(notebook, head.id))
            ),
            answer=_of(_watch, "forms.watch.report:watch_answer"),
            add=lambda notebook, watch: notebook.add_recording(looks.recording_of(watch)),
        ),
        _OF_PAIRS(name="trial", schema="sharebench/trial/1"),
        _OF_PAIRS(name="sweep", schema="sharebench/sweep/1"),
        _OF_SERIES(name="survey", schema="sharebench/survey/1"),
        _OF_SERIES(name="selftest", schema="sharebench/selftest/1"),
        _OF_SERIES(name="repeats", schema="sharebench/repeats/1"),
    )
}  # fmt: skip


def kind_of(head: Recording) -> Kind:
    """Raises UsageError for a kind of a newer version."""
    if head.kind not in KINDS:
        raise UsageError(f"{head.id} is of kind {head.kind!r}, which this version does not know")
    return KINDS[head.kind]


def used_targets(notebook: Notebook, pointed: str = "") -> list[Target]:
    """The folders that recordings measured in: that of ``pointed`` first, then the newest first."""
    first = (_folder(notebook, head) for head in notebook.recordings_of([pointed] if pointed else []))
    found = [(one.created_at, _folder_of(one)) for one in notebook.heads(limit=_SERIES_LOOKED_AT)]
    for kind in (each for each in KINDS.values() if each.name != SERIES and not each.whole):
        heads = notebook.recordings(kind.name, limit=_OTHERS_LOOKED_AT)
        found += [(head.created_at, target) for head in heads if (target := kind.target(notebook, head))]
    return [*filter(None, first), *(target for _, target in sorted(found, key=itemgetter(0), reverse=True))]


def _folder(notebook: Notebook, head: Recording) -> Target | None:
    measured = notebook.heads_of([head.id] if head.kind == SERIES else [part.id for part in parts(notebook, head)])
    return _folder_of(measured[0]) if measured else kind_of(head).target(notebook, head)


def _folder_of(series: Series) -> Target:
    if series.command is records.Command.PUT or (series.plan and series.plan.counts.make_file):
        return series.target
    parent = series.target.path.rpartition("/")[0]
    return replace(series.target, path=parent or ("" if series.target.abilities.has_share else "/"))


def lines(notebook: Notebook, heads: Iterable[Recording]) -> list[RecordingLine]:
    heads = list(heads)
    names: dict[str, list[str]] = {}
    for baseline in notebook.baselines():
        names.setdefault(baseline.recording_id, []).append(wording.plain(baseline.name))
    ids = [head.id for head in heads if head.kind == SERIES]
    of_series = {one.series.id: one for one in series_lines(notebook.heads_of(ids), notebook.rates_of(ids))}
    machines = notebook.machines([head.id for head in heads])
    found = []
    for head in heads:
        kind, series = kind_of(head), of_series.get(head.id)
        found.append(
            RecordingLine(
                id=head.id,
                kind=head.kind,
                created_at=head.created_at,
                done=series.runs_text if series else done_text(head, kind.done(notebook, head)),
                done_tone=done_tone(head),
                answer=series.answer if series else answer_of(notebook, head),
                what=series.what if series else _what(notebook, head),
                label=series.label if series else wording.plain(head.label),
                baselines=tuple(names.get(head.id, ())),
                experiment=wording.plain(series.series.experiment or "") if series else "",
                left_behind=head.leftovers is not None and not head.running,
                machine=wording.plain(machines.get(head.id, "")),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class ListedRecordings:
    lines: list[RecordingLine]
    problems: dict[str, str]
    """Why a recording cannot be listed, by its id."""


def readable_lines(notebook: Notebook, ids: Sequence[str]) -> ListedRecordings:
    """The lines of those that can be read; the others are found by halves, since there are few or none."""
    try:
        return ListedRecordings(lines(notebook, notebook.recordings_of(ids)), {})
    except (DamagedNotebookError, UsageError) as error:
        if len(ids) == 1:
            return ListedRecordings([], {ids[0]: str(error)})
    middle = len(ids) // 2
    first, second = (readable_lines(notebook, half) for half in (ids[:middle], ids[middle:]))
    return ListedRecordings([*first.lines, *second.lines], first.problems | second.problems)


def _what(notebook: Notebook, head: Recording) -> str:
    """What was tried, or where it was measured; else what the recording is called."""
    if plan := notebook.trial(head.subject) if head.kind in {"trial", "sweep"} else None:
        return wording.plain(f"{plan.name} = {wording.listed([value or 'empty' for value in plan.values], 'or')}")
    target = kind_of(head).target(notebook, head)
    return wording.place(target).removeprefix("smb://") if target else wording.plain(head.subject)


def forms(notebook: Notebook, references: Sequence[str], *kinds: str) -> "list[Report]":
    """Several series get an overview first. Raises UsageError."""
    from forms.reports import series_reports  # noqa: PLC0415  as the module says

    heads = [notebook.recording(one, *kinds) for one in references]
    if all(head.kind == SERIES for head in heads):
        return series_reports([notebook.series(head.id) for head in heads])
    return [kind_of(head).form(notebook, head) for head in heads]


def compare(notebook: Notebook, heads: Sequence[Recording]) -> Compared:
    kind = kind_of(heads[0])
    if kind.compare is not None:
        return kind.compare(notebook, heads)
    return Compared(side_by_side(heads, [kind.form(notebook, head) for head in heads]))


def exit_code(verdicts: Sequence[str]) -> int:
    return SLOWER if "slower" in verdicts else INCONCLUSIVE if "unknown" in verdicts else 0


def alike(notebook: Notebook, references: Sequence[str]) -> list[Recording]:
    """All of one kind; ``last`` is the newest of it. Raises UsageError."""
    named = {one: notebook.recording(one) for one in references if one != LAST}
    of_kind = {head.kind for head in named.values()} or {notebook.recording(LAST, *KINDS).kind}
    if len(of_kind) > 1:
        told = ", ".join(
            f"{head.label or head.subject or head.kind} ({one}) is {with_article(head.kind)}"
            for one, head in named.items()
        )
        raise UsageError(f"{told}: compare recordings of one kind")
    return [named.get(one) or notebook.recording(LAST, *of_kind) for one in references]


def check_repeats(notebook: Notebook, ids: Sequence[str]) -> None:
    from forms.tuning.differences import (  # noqa: PLC0415  as the module says
        differences,
        differences_prose,
        same_path,
    )

    first, *others = notebook.heads_of(ids)
    for one in others:
        if not same_path(first, one):
            named = f"{wording.name_of(first)} and {wording.name_of(one, beside=first)}"
            why = differences_prose(differences(first, one))
            raise UsageError(f"{named} differ ({why}): a baseline holds repeats of the same settings")


def losses_text(notebook: Notebook, ids: Sequence[str]) -> str:
    """Which baselines and experiments lose a part if these are deleted, or empty."""
    every = Counter(one.name for one in notebook.baselines())
    named = Counter(one.name for one in notebook.baselines() if one.recording_id in ids)
    steps = Counter(head.experiment for head in notebook.heads_of(ids) if head.experiment)
    lost = [
        f'The baseline "{name}" '
        + (f"loses {wording.count(gone, 'recording')}." if gone < every[name] else "is deleted too.")
        for name, gone in sorted(named.items())
    ]
    lost += [f'The experiment "{name}" loses {wording.count(steps[name], "step")}.' for name in sorted(steps)]
    return wording.plain(" ".join(lost))


def leftover_text(notebook: Notebook, head: Recording) -> str:
    """Possible leftovers on a server and the command that removes them, or empty."""
    if head.leftovers is None or head.running or head.imported_at:
        return ""
    things = [
        f"{name.replace('_', ' ')} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in head.leftovers.items()
        if value and name not in {"ssh", "smb_conf"}
    ]
    kind = kind_of(head)
    target = None if kind.restored_by else kind.target(notebook, head)
    how = f"the next `sharebench {kind.restored_by}` restores it" if kind.restored_by else ""
    if target is not None:
        how = f"sharebench clean {wording.plain(format_target(target))}"
    return f"{head.kind} {head.id} left {wording.plain('; '.join(things))}: {how}".rstrip(": ")


def judge(notebook: Notebook, head: Recording, name: str, status: RunStatus, reason: str | None) -> None:
    """Reject or accept a run, load point, layer run or pair. Raises UsageError."""
    kind = kind_of(head)
    if kind.judge is None:
        raise UsageError(f"a {head.kind} has no runs of its own: reject a run of one of its series")
    with notebook.at_once():
        if not kind.judge(notebook, head, name, status, reason):
            raise UsageError(f"{head.kind} {head.id} has no finished measured run {name}")


def stored_record(notebook: Notebook, head: Recording) -> Any:
    """Parsed by its types if it has no tables of its own."""
    kind = kind_of(head)
    return kind.read(notebook, head.id) if kind.read else with_head(head).record(kind.record, leave=OURS)


def resumed(notebook: Notebook, reference: str, *kinds: str, confirmed: bool = False) -> tuple[Any, Target]:
    """The record to resume, and where it logs in. Raises UsageError where it cannot be resumed."""
    from app.series.record import resumable  # noqa: PLC0415  as the module says

    head = resumable(notebook, reference, *kinds, open_ended=KINDS[kinds[0]].whole, confirmed=confirmed)
    target = kind_of(head).target(notebook, head)
    assert target
    return stored_record(notebook, head), target


def add_record(notebook: Notebook, kind: Kind, record: Any, imported_at: str) -> None:
    with notebook.at_once():
        if kind.add is not None:
            kind.add(notebook, record)
        else:
            notebook.add_recording(to_recording(record, kind.name))
        notebook.mark_imported(record.id, imported_at)
