"""What a check of a watch is asked for, and the stored watch that it is a check of.

A watch is stored once for a path and a baseline; while one process checks it, no other can.
"""

from dataclasses import dataclass, field
from pathlib import Path

from app.base import errors
from app.recording.rescue import notebook_to_measure_into
from app.recording.writer import Recorder
from forms import wording
from forms.stats.decision import Limits
from forms.watch import rule
from storage import records
from storage.notebook import Notebook
from storage.recordings import SERIES, WATCH
from storage.records import Series
from storage.watch.records import Watch, recording_of_watch, watch_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    """What is watched, and by which rules."""

    target: records.Target
    command: records.Command
    baseline: str
    """Its name in the notebook; collected where there is none of that name."""
    confirm: rule.Confirm = field(default_factory=rule.Confirm)
    """How many series of one check must agree that it is slower."""
    limits: Limits = field(default_factory=Limits)
    """How large a difference must be to count, and how sure."""

    @property
    def subject(self) -> str:
        """The target without its user, as a watch stores it."""
        return wording.place(self.target)

    def is_of(self, series: Series) -> bool:
        """Whether a series is of the path that is watched."""
        return wording.place(series.target) == self.subject and series.command == self.command

    def is_for(self, watch: Watch) -> bool:
        return (watch.subject, watch.command, watch.baseline) == (self.subject, self.command, self.baseline)


def begin_check(request: WatchRequest, path: Path) -> Watch:
    """The stored watch, held by this process until it is released. ``path`` is the notebook. Raises UsageError."""
    with notebook_to_measure_into(path) as notebook:
        heads = notebook.heads_of(notebook.baseline_ids(request.baseline, SERIES))
        if heads and not any(request.is_of(head) for head in heads):
            newest = heads[-1]
            raise errors.UsageError(
                f"baseline {request.baseline!r} is of {newest.command} {wording.place(newest.target)}: watch"
                " that, or choose another name and the watch collects a baseline"
            )

        watch = _stored_watch(notebook, request)
        # Leases it, or raises where another process checks it. What is measured has recorders of its own.
        Recorder(notebook).begin(watch.id, stored=True)
        return watch


def _stored_watch(notebook: Notebook, request: WatchRequest) -> Watch:
    """The watch of that path and baseline, which is stored where there is none yet."""
    for head in notebook.recordings(WATCH):
        watch = watch_of(head)
        if request.is_for(watch):
            return watch

    now = records.utc_now()
    new_watch = Watch(
        id=records.new_series_id(),
        created_at=now,
        subject=request.subject,
        baseline=request.baseline,
        command=request.command,
        since=now,
        attempted_at=now,
    )
    notebook.add_recording(recording_of_watch(new_watch))
    return new_watch
