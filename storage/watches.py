"""Watches: one path compared with its baseline again and again, and the state that was last reported."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from storage.codec import of_a_sound_file
from storage.json_reader import Filled, Moment
from storage.recordings import Recording, recorded, with_head
from storage.records import Command, SeriesStatus

WATCH = "watch"


class WatchState(StrEnum):
    """What a check found; the first three last."""

    STEADY = "steady"
    SLOWER = "slower"
    UNMEASURABLE = "unmeasurable"
    RECOVERED = "recovered"
    POSTPONED = "postponed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The watch of one path, as its last check left it."""

    id: Filled
    created_at: Moment
    subject: Filled
    """The path's URL without the user."""
    baseline: Filled
    command: Command
    state: WatchState = WatchState.POSTPONED
    """What the last check found."""
    standing: WatchState = WatchState.STEADY
    """Steady, slower or unmeasurable."""
    since: Moment
    told: WatchState = WatchState.STEADY
    """The standing that was last reported."""
    attempted_at: Moment
    succeeded_at: Moment | None = None
    series_id: str | None = None
    """The last series that could be judged."""
    slow_ids: tuple[str, ...] = ()
    """The series that showed the slowdown; empty again after recovery."""
    unconfirmed_ids: tuple[str, ...] = ()
    """Series that were slower, each not confirmed by the next: no history of the path."""
    why: str = ""
    """Why the last check gave no verdict."""
    label: str = ""
    note: str = ""
    question: str = ""


def recording_of_watch(watch: Watch) -> Recording:
    """The watch as the notebook stores it."""
    return recorded(watch, WATCH, status=SeriesStatus.COMPLETE)


def unconfirmed_ids(watches: Iterable[Recording]) -> frozenset[str]:
    """Series that a watch found slower and could not confirm."""
    return frozenset(one for watch in watches for one in watch_of(watch).unconfirmed_ids)


@of_a_sound_file
def watch_of(recording: Recording) -> Watch:
    """The watch in a stored recording. Raises DamagedNotebookError."""
    return with_head(recording).record(Watch)
