"""How far a survey has come, for its screen: a line for each station, from the events of the series measured there.

A station is one protocol, in one direction, by one address of the server; one series measures it. Nothing here is
changed in place: each event gives a new progress.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.charts.series_charts import bar
from app.recording import process
from app.series.events import RecorderEvent, words
from forms import wording
from forms.experiments.survey import Station, StationState
from forms.layout import cut, hanging, pad
from forms.stats.summary import mean
from storage.records import Command, Phase, Run, RunStatus

_BAR_WIDTH = 10
_NAME_WIDTH = 27
_STATE_WIDTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class StationProgress:
    """How far the series of a station has come; what its line shows."""

    station: Station
    doing: str
    """What happens there now, in a few words."""
    percent: float | None = None
    """Of the bytes of the run under way; None between runs, or where its size is unknown."""
    rates: tuple[float, ...] = ()
    """Bytes per second of the runs that count."""

    def after(self, event: RecorderEvent) -> "StationProgress":
        """The progress after an event of its series."""
        # The file of a put is made by each run, and so its line tells of that run and not of the file.
        is_made_by_run = self.station.command is Command.PUT or self.percent is not None

        match event:
            case process.RunStarted():
                return replace(self, doing=words(event) or self.doing, percent=0.0)
            case process.Progressed(moved_bytes=moved, size_bytes=size):
                percent = 100 * moved / size if size else None
                return replace(self, doing=words(event) or self.doing, percent=percent)
            case process.RunFinished(run=run):
                rate = _counted_rate(run)
                return replace(self, percent=None, rates=self.rates if rate is None else (*self.rates, rate))
            case process.Failed() | process.Finished():
                return replace(self, doing=words(event) or self.doing, percent=None)
            case process.Paused():
                # Another series has its turn: the line keeps what this one did last.
                return self
            case process.ScratchMade() if is_made_by_run:
                return self
            case _:
                return replace(self, doing=words(event) or self.doing)

    def line(self, width: int) -> str:
        """Name, what happens now, and a bar of the run under way, else the average rate so far."""
        average = mean(self.rates)
        figure = ""
        if self.percent is not None:
            figure = bar(self.percent, _BAR_WIDTH)
        if not figure and average is not None:
            figure = wording.rate(average)

        name = pad(self.station.name, _NAME_WIDTH)
        state = pad(cut(self.doing, _STATE_WIDTH), _STATE_WIDTH)
        return cut(f"{name} {state} {figure}", width)


def _counted_rate(run: Run) -> float | None:
    """Bytes per second of a run that counts; None for a warm-up, or one that failed."""
    counts = run.phase is Phase.MEASURED and run.status is RunStatus.VALID
    return run.bytes_per_second if counts and run.bytes_per_second else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyProgress:
    """How far a survey has come, and what its series warn of, each warning once."""

    series: tuple[StationProgress, ...]
    """In the order of the stations."""
    warnings: tuple[str, ...] = ()

    def after(self, index: int, event: RecorderEvent) -> "SurveyProgress":
        """The progress after an event of the series at this place."""
        series = list(self.series)
        series[index] = series[index].after(event)
        warnings = self.warnings
        if isinstance(event, process.Warned) and event.text not in warnings:
            warnings = (*warnings, event.text)
        return SurveyProgress(series=tuple(series), warnings=warnings)

    def draw(self, width: int) -> str:
        """A line for each series, and below them what was left out, and why."""
        lines: list[str] = []
        lines_left_out: list[str] = []
        for progress in self.series:
            station = progress.station
            if station.state is StationState.LEFT_OUT:
                lines_left_out += hanging(f"{station.name}: left out, {station.why}", width)
            else:
                lines.append(progress.line(width))

        if lines_left_out:
            lines += ["", *lines_left_out]
        return "\n".join(lines)


def begin(stations: Sequence[Station]) -> SurveyProgress:
    """The progress before anything is measured; a survey that is resumed has runs already."""
    return SurveyProgress(series=tuple(map(_begin_station, stations)))


def _begin_station(station: Station) -> StationProgress:
    runs = station.series.measured() if station.series else ()
    rates = tuple(run.bytes_per_second for run in runs if run.bytes_per_second)
    return StationProgress(station=station, doing=station.state.value, rates=rates)
