"""What `sharebench load` prints while several machines make their loads in turn, each line with the machine's name."""

from collections.abc import Callable, Sequence

from app.load import events
from app.load.measurement import LoadStep
from app.load.progress import time_text, whole_seconds
from app.load.progress_lines import LoadProgressLines
from app.recording.told_estimate import ToldEstimate
from storage.load.records import Load


class PlacesLines:
    """The lines of all machines, which share the time that is left."""

    def __init__(self, hosts: Sequence[str], draw: Callable[[str], None], say: Callable[[str], None]) -> None:
        """As `LoadProgressLines`."""
        self._lines = {host: _PlaceLines(host, self, draw, say) for host in hosts}
        self._planned_seconds: float | None = None
        """How long the whole load of one machine takes; None before the first begins."""
        self._estimate = ToldEstimate(0.0)
        """Of all machines, once the first has begun."""

    def show(self, host: str, step: LoadStep) -> None:
        self._lines[host].show(step)

    def whole_time_text(self, load: Load, creates_on: int) -> str:
        """Said by the first machine for all of them; empty for the others."""
        if self._planned_seconds is not None:
            return ""
        self._planned_seconds = whole_seconds(load.scenario, load.choices, creates_on)
        self._estimate = ToldEstimate(len(self._lines) * self._planned_seconds)
        return time_text(load.scenario, load.choices, creates_on=creates_on, machines=len(self._lines))

    def correction(self) -> str:
        """The new estimate where the one that was told is wrong; else empty."""
        return self._estimate.correction(self.seconds_left or 0.0)

    @property
    def seconds_left(self) -> float | None:
        """Of all machines; None where nobody can say."""
        if self._planned_seconds is None:
            return None

        seconds_left = 0.0
        has_later_begun = False
        # They begin in this order: one that has not, although a later one has, never will.
        for lines in reversed(self._lines.values()):
            if lines.has_begun:
                has_later_begun = True
                seconds_left += lines.seconds_left or 0.0
            elif not has_later_begun:
                seconds_left += self._planned_seconds
        return seconds_left


class _PlaceLines(LoadProgressLines):
    """The lines of one machine."""

    def __init__(self, host: str, places: PlacesLines, draw: Callable[[str], None], say: Callable[[str], None]) -> None:
        super().__init__(draw, say)
        self.about = f"{host}: "
        self._places = places

    @property
    def has_begun(self) -> bool:
        return self._progress.phase is not None

    def _tell_whole_time(self, first_phase: events.LoadPhase) -> None:
        load = self._progress.load
        if load is None:
            return
        creates_on = len(load.targets) if first_phase is events.LoadPhase.FILES else 0
        self._tell_of_all(self._places.whole_time_text(load, creates_on))

    def _tell_time_left(self) -> None:
        self._tell_of_all(self._places.correction())

    def _tell_of_all(self, text: str) -> None:
        if text:
            self._say(f"sharebench: {text}")

    def _seconds_left_in_all(self) -> float | None:
        return self._places.seconds_left
