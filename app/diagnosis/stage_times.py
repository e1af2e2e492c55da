"""How long the stages of a diagnosis take: as usual on a local network, until those that have ended say otherwise."""

from collections.abc import Mapping, Sequence

from app.diagnosis.plan import Sizes
from app.recording.told_estimate import is_wrong_by_half
from storage.looks import StageName

_USUAL_SHARES: Mapping[StageName, float] = {
    StageName.DISTANCE: 0.1,
    StageName.SMALL_FILES: 0.4,
    StageName.FOLDERS: 0.15,
    StageName.PROTECTION: 0.15,
    StageName.LONG_RUN: 0.15,
    StageName.CARDS: 0.15,
}
"""Of the longest time of a stage, what it takes on a local network whose server is not busy."""

_USUAL_SHORT_SECONDS = 2.0
"""Of a stage that moves no files."""


class StageTimes:
    """The stages of a diagnosis under way."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._usual_seconds = 0.0
        """Of the stages that have ended and moved files, together."""
        self._taken_seconds = 0.0
        """What these took."""

    def end_stage(self, name: StageName, seconds: float) -> None:
        """Note what a stage took; a stage that moves no files says nothing of the others."""
        if name in _USUAL_SHARES:
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
            is_paced = name in _USUAL_SHARES
            seconds += min(longest, self._usual(name) * (pace if is_paced else 1.0))
        return seconds

    def _usual(self, name: StageName) -> float:
        share = _USUAL_SHARES.get(name)
        return _USUAL_SHORT_SECONDS if share is None else share * self._sizes.stage_seconds
