"""The record of a watch, which measures one path (a command and a target) again and again.

It says when the path becomes slower than its baseline. It is stored whole in the ``content`` of its recording.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from storage import records
from storage.codec import reports_damage
from storage.json_reader import Filled, Moment
from storage.recordings import WATCH, Recording, to_recording, with_head


class WatchState(StrEnum):
    """What a check of a watch found.

    The first three can be a *standing* as well: what holds of the path until a check finds otherwise. The last two are
    the state of one check only: after RECOVERED the path is steady, and POSTPONED leaves the standing as it was.
    """

    STEADY = "steady"
    SLOWER = "slower"
    UNMEASURABLE = "unmeasurable"
    RECOVERED = "recovered"
    """It was slower, and is as before."""
    POSTPONED = "postponed"
    """The check came to no result, for instance since others were at work; the next one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The watch of one path, as its last check left it."""

    id: Filled
    created_at: Moment
    subject: Filled
    """The path's URL without the user."""
    baseline: Filled
    """The name of the baseline that the path is compared with."""
    command: records.Command

    # What the checks found.
    state: WatchState = WatchState.POSTPONED
    """What the last check found."""
    standing: WatchState = WatchState.STEADY
    """Steady, slower or unmeasurable."""
    since: Moment
    """When that standing began."""
    told: WatchState = WatchState.STEADY
    """The standing that was last reported (to the command of ``watch --on-change``)."""
    attempted_at: Moment
    """When the last check was, whether it could measure or not."""
    succeeded_at: Moment | None = None
    """When the last check was that could measure; None where none could yet."""
    series_id: str | None = None
    """The last series that could be judged."""
    slow_ids: tuple[str, ...] = ()
    """The series that showed the slowdown; empty again after recovery."""
    unconfirmed_ids: tuple[str, ...] = ()
    """Series that were slower, each not confirmed by the next: they are left out where the path's history is used."""
    why: str = ""
    """The reason of the state, for people."""

    label: str = ""
    note: str = ""
    question: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether the last check could measure."""
        return self.succeeded_at == self.attempted_at


def unconfirmed_ids(watches: Iterable[Recording]) -> frozenset[str]:
    """The unconfirmed series of all these watches."""
    return frozenset(chain.from_iterable(watch_of(watch).unconfirmed_ids for watch in watches))


@reports_damage
def watch_of(recording: Recording) -> Watch:
    """The watch in a stored recording. Raises DamagedNotebookError."""
    return with_head(recording).record(Watch)


def recording_of_watch(watch: Watch) -> Recording:
    """The watch as the notebook stores it."""
    return to_recording(watch, WATCH, status=records.SeriesStatus.COMPLETE)
