"""How long the stages of a diagnosis take: as usual on a local network, until those that have ended say otherwise."""

import os
from collections.abc import Mapping, Sequence

from app.diagnosis import plan
from app.recording.told_estimate import is_wrong_by_half
from forms.diagnosis.summary import BUSY_LOAD
from storage.looks import Effort, StageName

_USUAL_SECONDS: Mapping[Effort, Mapping[StageName, float]] = {
    Effort.QUICK: {
        StageName.DISTANCE: 1.0,
        StageName.SMALL_FILES: 2.0,
        StageName.FOLDERS: 3.0,
        StageName.PROTECTION: 1.5,
        StageName.LONG_RUN: 3.0,
        StageName.CARDS: 2.0,
    },
    Effort.USUAL: {
        StageName.DISTANCE: 4.0,
        StageName.SMALL_FILES: 8.0,
        StageName.FOLDERS: 22.0,
        StageName.PROTECTION: 11.0,
        StageName.LONG_RUN: 6.0,
        StageName.CARDS: 10.0,
    },
    Effort.THOROUGH: {
        StageName.DISTANCE: 4.0,
        StageName.SMALL_FILES: 9.0,
        StageName.FOLDERS: 40.0,
        StageName.PROTECTION: 22.0,
        StageName.LONG_RUN: 80.0,
        StageName.CARDS: 18.0,
    },
}
"""What a stage took over 1 Gb/s from a server of two cores, with other work beside it."""

_USUAL_SHORT_SECONDS = 1.0
"""Of a stage that moves no files."""


class StageTimes:
    """The stages of a diagnosis under way."""

    def __init__(self, effort: Effort, complaint: StageName | None = None, pace: float = 1.0) -> None:
        """``pace``: how many times as long stages take that move files, until some have ended."""
        self._sizes = plan.sizes_of(effort, complaint)
        self._share_of_entries = sum(self._sizes.entries) / sum(plan.SIZES[effort].entries)
        self._first_pace = pace
        self._usual_by_stage = _USUAL_SECONDS[effort]
        self._usual_seconds = 0.0
        """Of the stages that have ended and moved files, together."""
        self._taken_seconds = 0.0
        """What these took."""

    def end_stage(self, name: StageName, seconds: float) -> None:
        """Note what a stage took; a stage that moves no files says nothing of the others."""
        if name in self._usual_by_stage:
            self._usual_seconds += self._usual(name)
            self._taken_seconds += seconds

    def seconds(self, stages: Sequence[StageName]) -> float:
        """How long these stages will probably take."""
        pace = self._first_pace
        if self._usual_seconds and is_wrong_by_half(pace * self._usual_seconds, self._taken_seconds):
            pace = self._taken_seconds / self._usual_seconds

        seconds = 0.0
        for name in stages:
            longest = self._sizes.seconds((name,))
            is_paced = name in self._usual_by_stage
            seconds += min(longest, self._usual(name) * (pace if is_paced else 1.0))
        return seconds

    def _usual(self, name: StageName) -> float:
        usual_seconds = self._usual_by_stage.get(name, _USUAL_SHORT_SECONDS)
        return usual_seconds * self._share_of_entries if name is StageName.FOLDERS else usual_seconds


_MOST_PACE = 3.0
"""Where nine processes waited for each processor, a diagnosis took three times as long."""


def pace_of_this_machine() -> float:
    """How many times as long stages take here that move files, as busy as this machine is now."""
    load_of_last_minute, *_ = os.getloadavg()
    load_per_processor = load_of_last_minute / (os.cpu_count() or 1)
    return min(_MOST_PACE, load_per_processor) if load_per_processor >= BUSY_LOAD else 1.0
