"""Holds a recording that was received against the stored one of the same id: same, gone on, or another one.

A measurement that was interrupted may have been resumed on another machine, so that its copy has more runs. Runs are
matched by their place: a group, such as the load point, and a number in it.
"""

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum, auto
from typing import Any

from app.exchange.importing import ImportedRecording, recording_in
from app.recording.kind import KINDS, Kind, RunPlace, kind_of
from app.recording.made_of_series import Whole
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.recordings import SERIES, Recording
from storage.records import SeriesStatus
from storage.shared import WRITTEN_BY_PEOPLE

_VALID = "valid"
_REJECTED = "rejected"
_FAILED = "failed"
"""In the statuses of runs, load points and layer runs alike."""
_IDENTITY = ("created_at", "command", "target", "targets", "script")
"""Fields that two copies of one measurement have in common, as far as their kind has them."""


class Copy(Enum):
    """What a received copy is to the stored one."""

    NO_FURTHER = auto()
    """The same, or as it was earlier, with fewer runs."""
    FURTHER = auto()
    """It begins with what is stored, and goes on."""
    DIFFERENT = auto()
    """Of another measurement."""


def copy_received(notebook: Notebook, stored: Recording, received: ImportedRecording) -> Copy:
    """Which of these the received copy is. Raises UsageError where the stored recording has no document."""
    if stored.kind != received.kind.name:
        return Copy.DIFFERENT
    try:
        # Read back as the other one was: so both have the same limits, and times that are written alike.
        mine = recording_in(kind_of(stored).form(notebook, stored).document())
    except DocumentError:
        return Copy.DIFFERENT
    if mine.kind.is_made_of_series:
        return _copy_of_whole(mine.record, received.record)
    return _copy_of_record(mine.kind, mine.record, received.record)


def _copy_of_whole(stored: Whole, received: Whole) -> Copy:
    """Of a trial, sweep or survey, which is made of series: all series must agree, and one side has them all."""
    if stored.experiment.name != received.experiment.name or _plan_of(stored) != _plan_of(received):
        return Copy.DIFFERENT

    mine = {series.id: series for series in stored.series}
    theirs = {series.id: series for series in received.series}
    kind = KINDS[SERIES]
    in_both = mine.keys() & theirs.keys()
    copies = {_copy_of_record(kind, mine[series_id], theirs[series_id]) for series_id in in_both}
    if Copy.DIFFERENT in copies:
        return Copy.DIFFERENT

    goes_on = Copy.FURTHER in copies or bool(theirs.keys() - mine.keys())
    lacks_runs = any(_lacks_runs(kind, mine[series_id], theirs[series_id]) for series_id in in_both)
    lacks_some = lacks_runs or bool(mine.keys() - theirs.keys())
    if goes_on and lacks_some:
        return Copy.DIFFERENT
    return Copy.FURTHER if goes_on else Copy.NO_FURTHER


def _plan_of(record: Whole) -> Any:
    """The plan of a trial or sweep; None for what has none."""
    return record.trial and record.trial.plan


def _copy_of_record(kind: Kind[Any], stored: Any, received: Any) -> Copy:
    """Of one record: by its runs where its kind has some, else both must be the same but for people's texts."""
    if any(getattr(stored, name, None) != getattr(received, name, None) for name in _IDENTITY):
        return Copy.DIFFERENT
    if kind.has_own_runs:
        return _copy_of_runs(kind, stored, received)
    return Copy.NO_FURTHER if _without_texts(stored) == _without_texts(received) else Copy.DIFFERENT


def _copy_of_runs(kind: Kind[Any], stored: Any, received: Any) -> Copy:
    """The runs that both have must be the same, and new ones come after those or in place of failed ones."""
    mine = _measured_runs(kind, stored)
    theirs = _measured_runs(kind, received)
    if any(mine[place] != theirs[place] for place in mine.keys() & theirs.keys()):
        return Copy.DIFFERENT

    added = theirs.keys() - mine.keys()
    lacking = mine.keys() - theirs.keys()
    if not added:
        # The same runs, or fewer: it goes on only where it was ended as complete, after the last run.
        was_completed = received.status is SeriesStatus.COMPLETE and stored.status is not SeriesStatus.COMPLETE
        return Copy.FURTHER if was_completed and not lacking else Copy.NO_FURTHER

    # Resuming repeats failed runs in their places, and adds others at the end.
    repeatable_places = {kind.place_of_run(run) for run in kind.runs_of(stored) if run.status == _FAILED}
    last_number = _last_numbers(mine)
    is_inserted = any(number <= last_number.get(group, 0) for group, number in added - repeatable_places)
    return Copy.DIFFERENT if lacking or is_inserted else Copy.FURTHER


def _lacks_runs(kind: Kind[Any], stored: Any, received: Any) -> bool:
    """Whether the stored one has measured runs that the received one has not."""
    return bool(_measured_runs(kind, stored).keys() - _measured_runs(kind, received).keys())


def _last_numbers(places: Iterable[RunPlace]) -> dict[tuple[Any, ...], int]:
    """The highest number of a run in each group."""
    last_number: dict[tuple[Any, ...], int] = {}
    for group, number in places:
        last_number[group] = max(number, last_number.get(group, 0))
    return last_number


def _measured_runs(kind: Kind[Any], record: Any) -> dict[RunPlace, Any]:
    """The measured runs by their place, as they were before anybody rejected one."""
    runs = {}
    for run in kind.runs_of(record):
        if run.status == _FAILED:
            continue
        as_measured = run
        if run.status == _REJECTED:
            as_measured = replace(run, status=type(run.status)(_VALID), reason=None)
        runs[kind.place_of_run(run)] = as_measured
    return runs


def _without_texts(record: Any) -> Any:
    """The record without what people wrote on it, which may differ on each machine."""
    empty_texts = {name: "" for name in WRITTEN_BY_PEOPLE if hasattr(record, name)}
    return replace(record, **empty_texts)
