"""Measure a round of a survey that ``planning`` has planned, and read what came of it.

A round measures one series for each station: a protocol, in one direction, by one address of the server.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from app.recording.process import SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.writer import Recorder
from app.series.events import RecorderEvent, SeriesStored
from app.series.interleaved import record_interleaved
from app.survey.planning import SurveyRound
from forms.experiments.survey import Station, StationPlace, StationState, Survey, survey, with_series
from storage.notebook import Notebook
from storage.records import Target


def measure_round(
    planned: SurveyRound, notebook_path: Path, control: SeriesControl
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure the round, each event with its station's index; no refused login is tried again. Raises NotebookError."""
    logins = [_login_of(planned.stations[index]) for index, _ in planned.todo]
    name = planned.experiment.name
    expected_series = sum(station.state is not StationState.LEFT_OUT for station in planned.stations)

    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = Recorder(notebook, control)
        # While the notebook expects series, the survey counts as interrupted; the first series makes its recording.
        is_expecting = False
        for turn, event in record_interleaved([todo for _, todo in planned.todo], notebook_path, control, logins):
            if isinstance(event, SeriesStored) and not is_expecting:
                is_expecting = True
                recorder.write(lambda notebook: notebook.expect_parts(name, expected_series))
            for _warning in recorder.flush():
                pass  # the series themselves warn of a notebook that another program holds
            station_index, _ = planned.todo[turn]
            yield station_index, event

        if not control.cancelled.is_set():
            recorder.write(lambda notebook: notebook.expect_parts(name, 0))
        for _warning in recorder.finish():
            pass


def targets_like(station: Station, planned: SurveyRound, targets: Sequence[Target]) -> list[Target]:
    """Those of the targets to which one logs in as to the station's."""
    login = _login_of(station)
    places_of_login = {(other.protocol, other.host) for other in planned.stations if _login_of(other) == login}
    return [target for target in targets if (target.protocol, target.host) in places_of_login]


def _login_of(station: Station) -> str:
    """One login per protocol and machine, whatever the address."""
    host = station.host if station.place is StationPlace.NETWORK else ""
    return f"{station.protocol} {host}"


def result(planned: SurveyRound, notebook: Notebook) -> Survey:
    """What the notebook has for the stations of the round now."""
    name = planned.experiment.name
    stored_series = {
        (series.target.host, series.target.protocol, series.command): series for series in notebook.experiment(name)
    }
    stations = []
    for station in planned.stations:
        series = stored_series.get((station.host, station.protocol, station.command))
        stations.append(station if series is None else with_series(station, series))
    return survey(name, stations)
