"""A survey while it is measured: where each of its series is, and what to say of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.charts.bars import bar
from app.measure.events import Failed, Finished, Paused, Progressed, RunFinished, RunStarted, ScratchMade, Warned
from app.recorder.recording import RecorderEvent
from app.workflows.event_words import words
from forms import wording
from forms.experiments.survey import Station, StationState
from forms.layout import cut, pad
from forms.stats.summary import mean
from storage.records import Command, Phase, RunStatus

_BAR = 10
_NAME = 27
_STATE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class StationProgress:
    """How far one series is."""

    station: Station
    doing: str
    percent: float | None = None
    """Of the current run; absent between runs."""
    rates: tuple[float, ...] = ()
    """Bytes per second of the measured runs so far."""

    def heard(self, event: RecorderEvent) -> "StationProgress":
        """The same series after an event."""
        doing, percent, rates = words(event), self.percent, self.rates
        match event:
            case ScratchMade() if self.station.command is Command.PUT or percent is not None:
                doing = ""
            case RunStarted():
                percent = 0.0
            case Progressed(moved_bytes=moved, size_bytes=size):
                percent = 100 * moved / size if size else None
            case RunFinished(run=run):
                doing, percent = "", None
                if run.phase is Phase.MEASURED and run.status is RunStatus.VALID and run.bytes_per_second:
                    rates = (*rates, run.bytes_per_second)
            case Paused():
                doing = ""
            case Failed() | Finished():
                percent = None
            case _:
                pass
        return replace(self, doing=doing or self.doing, percent=percent, rates=rates)

    def line(self, width: int) -> str:
        """One line of at most ``width`` columns: name, what it does, its average so far or the run's progress."""
        figure = bar(self.percent, _BAR) if self.percent is not None else ""
        average = mean(self.rates)
        told = figure or (wording.rate(average) if average is not None else "")
        return cut(f"{pad(self.station.name, _NAME)} {pad(cut(self.doing, _STATE), _STATE)} {told}", width)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyProgress:
    """Everything that a screen shows of a survey under way."""

    series: tuple[StationProgress, ...]
    warnings: tuple[str, ...] = ()

    def heard(self, index: int, event: RecorderEvent) -> "SurveyProgress":
        """The same survey after an event of its ``index``-th station."""
        series = list(self.series)
        series[index] = series[index].heard(event)
        warnings = (*self.warnings, event.text) if isinstance(event, Warned) else self.warnings
        return SurveyProgress(series=tuple(series), warnings=tuple(dict.fromkeys(warnings)))

    def text(self, width: int) -> str:
        """A line a series, those that are left out last and shorter."""
        going = [one.line(width) for one in self.series if one.station.state is not StationState.LEFT_OUT]
        out = [
            cut(f"{one.station.name}: left out", width)
            for one in self.series
            if one.station.state is StationState.LEFT_OUT
        ]
        return "\n".join([*going, *([""] if out else []), *out])


def begin(stations: Sequence[Station]) -> SurveyProgress:
    """The survey before its first event."""
    return SurveyProgress(
        series=tuple(
            StationProgress(station=station, doing=station.state.value, rates=_measured_before(station))
            for station in stations
        )
    )


def _measured_before(station: Station) -> tuple[float, ...]:
    """What a survey that goes on has of the station already."""
    runs = station.series.measured() if station.series else ()
    return tuple(rate for run in runs if (rate := run.bytes_per_second))
