"""How long the stages of a diagnosis take: as usual on a local network, until those that have ended say otherwise."""

from collections.abc import Mapping, Sequence

from app.diagnosis import plan
from app.recording.told_estimate import is_wrong_by_half
from storage.looks import Effort, StageName

_USUAL_SECONDS: Mapping[Effort, Mapping[StageName, float]] = {
    Effort.QUICK: {
        StageName.DISTANCE: 1.0,
        StageName.SMALL_FILES: 1.5,
        StageName.FOLDERS: 3.0,
        StageName.PROTECTION: 1.5,
        StageName.LONG_RUN: 3.0,
        StageName.CARDS: 2.0,
    },
    Effort.USUAL: {
        StageName.DISTANCE: 4.0,
        StageName.SMALL_FILES: 6.0,
        StageName.FOLDERS: 22.0,
        StageName.PROTECTION: 11.0,
        StageName.LONG_RUN: 6.0,
        StageName.CARDS: 10.0,
    },
    Effort.THOROUGH: {
        StageName.DISTANCE: 4.0,
        StageName.SMALL_FILES: 7.0,
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

    def __init__(self, effort: Effort) -> None:
        self._sizes = plan.SIZES[effort]
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
        pace = 1.0
        if self._usual_seconds and is_wrong_by_half(self._usual_seconds, self._taken_seconds):
            pace = self._taken_seconds / self._usual_seconds

        seconds = 0.0
        for name in stages:
            longest = self._sizes.seconds((name,))
            is_paced = name in self._usual_by_stage
            seconds += min(longest, self._usual(name) * (pace if is_paced else 1.0))
        return seconds

    def _usual(self, name: StageName) -> float:
        return self._usual_by_stage.get(name, _USUAL_SHORT_SECONDS)
