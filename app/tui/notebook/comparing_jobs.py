"""What the keys of ``series_actions`` compare: recordings with their base, with one another, and with another server.

Each function is called in a thread. The ``head`` of a recording is its row in the table of recordings.
"""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from app.method.choices import GuideChoices
    from app.recording.kind import Kind
    from app.recording.listing import ListedRecordings
    from forms.report import Report
    from forms.series.listing import RecordingLine
    from storage.notebook import Notebook

# The first paint does not wait for what comes after it, so kinds and forms are imported in the functions below.

_MOST_OFFERED = 100


def kind_of_recording(notebook: "Notebook", recording_id: str) -> "Kind[Any]":
    from app.recording.kind import kind_of

    return kind_of(notebook.recording(recording_id))


def comparison_report(notebook: "Notebook", ids: Sequence[str]) -> "Report":
    """The comparison of recordings whose kind has no screen of its own for that."""
    from app.recording.kind import kind_of

    heads = notebook.recordings_of(ids)
    return kind_of(heads[0]).compare(notebook, heads).report


def order_base_first(notebook: "Notebook", ids: Sequence[str]) -> list[str]:
    """Those that are named as a baseline first, then by age."""
    from app.recording.several import base_first, recordings_of_one_kind

    return base_first(notebook, [head.id for head in recordings_of_one_kind(notebook, ids)])


class ComparisonBase(NamedTuple):
    """What a recording is compared with, where nobody chose it."""

    recording_id: str
    name: str
    """For people: what it is."""
    baseline: str = ""
    """The name of the baseline whose newest recording it is, where it is compared as all of that; empty for none."""


def base_or_others(notebook: "Notebook", recording_id: str) -> "ComparisonBase | ListedRecordings":
    """What this is to be compared with, else what it could be compared with."""
    return _base_of(notebook, recording_id) or _others_of_its_kind(notebook, recording_id)


def _others_of_its_kind(notebook: "Notebook", recording_id: str) -> "ListedRecordings":
    """The newest others of its kind, those of the same subject first."""
    from app.recording.listing import ListedRecordings, readable_lines
    from storage.queries import SeriesQuery

    with notebook.snapshot():
        this = notebook.recording(recording_id)
        ids = [row.recording_id for row in notebook.find(SeriesQuery()) if row.kind == this.kind][:_MOST_OFFERED]
        other_ids = [other_id for other_id in ids if other_id != this.id]
        listed = readable_lines(notebook, other_ids) if other_ids else ListedRecordings([], {})
        heads = notebook.recordings_of([line.id for line in listed.lines])

    subjects = {head.id: head.subject for head in heads}
    listed.lines.sort(key=partial(_has_other_subject, subjects=subjects, subject=this.subject))
    return listed


def _has_other_subject(line: "RecordingLine", subjects: dict[str, str], subject: str) -> bool:
    return subjects[line.id] != subject


def _base_of(notebook: "Notebook", recording_id: str) -> ComparisonBase | None:
    """What a series with a change was made from, by it or by a repeat; else its baseline; else what it repeats."""
    repeats = next((ids for ids in notebook.repeated_ids() if recording_id in ids), (recording_id,))
    # Its own change says more than that of a repeat.
    others = [other_id for other_id in repeats if other_id != recording_id]
    heads = [*notebook.heads_of([recording_id]), *notebook.heads_of(others)]
    bases_of_changes = [series.base_id for series in heads if series.base_id and series.change]
    own_bases = [series.base_id for series in heads if series.base_id and series.id == recording_id]

    if bases_of_changes:
        return ComparisonBase(bases_of_changes[0], "the base of its change")
    # Who compares a repeat means what it was measured for: the baseline, and not the series before it.
    baseline = _baseline_of(notebook, recording_id)
    if baseline is not None:
        return baseline
    return ComparisonBase(own_bases[0], "the series that it repeats") if own_bases else None


def _baseline_of(notebook: "Notebook", recording_id: str) -> ComparisonBase | None:
    """The newest series of the baseline that was named last for the same file; else of the only one of the kind."""
    with notebook.snapshot():
        this = notebook.recording(recording_id)
        baselines = sorted(notebook.baselines(), key=attrgetter("set_at"), reverse=True)
        own_names = {baseline.name for baseline in baselines if baseline.recording_id == recording_id}
        heads = {head.id: head for head in notebook.recordings_of([baseline.recording_id for baseline in baselines])}
        kinds = notebook.kinds_of([recording_id, *heads])

    of_its_kind = [
        baseline
        for baseline in baselines
        if baseline.name not in own_names and kinds.get(baseline.recording_id) == kinds.get(recording_id)
    ]
    of_its_file = [baseline for baseline in of_its_kind if heads[baseline.recording_id].subject == this.subject]
    names = {baseline.name for baseline in of_its_kind}
    candidates = of_its_file or (of_its_kind if len(names) == 1 else [])
    if not candidates:
        return None

    name = candidates[0].name
    members = [heads[baseline.recording_id] for baseline in candidates if baseline.name == name]
    newest = max(members, key=attrgetter("created_at"))
    return ComparisonBase(newest.id, f"baseline {name}", name)


def round_beside(notebook: "Notebook", recording_id: str) -> "GuideChoices":
    """A round that measures a series again, to be compared with another server. Raises UsageError for other kinds."""
    from app.base.errors import UsageError
    from app.method.rounds import round_to_compare

    if not notebook.heads_of([recording_id]):
        raise UsageError("this is no series of runs: only those can be measured beside another server")
    return round_to_compare(notebook, recording_id)
