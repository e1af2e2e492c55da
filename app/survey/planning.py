"""Plan a round of a survey: which stations are measured, and how long it takes.

A station is one protocol, in one direction, by one address of the server; one series measures it. A round measures all
stations of a survey interleaved. Where a round was interrupted, the next one of the same hosts completes its series
instead of measuring everything again. The command ``survey`` and the survey's form plan here; ``record`` measures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.base import errors
from app.recording.process import MeasuringOrder
from app.recording.spec import SeriesRequest
from app.series.earlier_rate import measured_rate
from app.series.resume import Resumption, order_to_resume
from app.survey import stations
from app.survey.choices import SurveyChoices
from app.survey.reachability import Reachability
from forms.experiments.survey import Station, StationPlace, StationState, with_series
from forms.series import estimate
from storage import records
from storage.notebook import Notebook
from storage.recordings import held_text


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRound:
    """What a round will measure, and what an interrupted one has measured already."""

    experiment: records.Experiment
    """To which all series of the round belong."""
    stations: tuple[Station, ...]
    todo: tuple[tuple[int, SeriesRequest | Resumption], ...]
    """(index of the station, what to measure)."""
    continued: bool
    """Whether an interrupted round is resumed."""
    runs_to_come: tuple[int, ...] = ()
    """Of each station; 0 where nothing is to be done."""
    time_text: str = ""
    """How long it takes, in words."""
    seconds: float = 0.0
    """The same as a number, as far as can be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StationPlan:
    """What is to be done at a station."""

    station: Station
    todo: SeriesRequest | Resumption | None = None
    """None where its series is complete, or nothing answers."""
    runs_to_come: int = 0
    seconds: float = 0.0
    """How long these take, as far as can be told."""
    rate: estimate.ExpectedRate | None = None
    """From which that follows; None where there is nothing to do."""


def plan_round(
    choices: SurveyChoices, notebook: Notebook, log_in: stations.LogIn, *, again: bool = False
) -> SurveyRound:
    """The last round if incomplete, else (or ``again``) a new one. Raises UsageError, LoginError, UnreachableError."""
    if choices.smb is None and choices.ftp is None and not choices.iperf3:
        text = "nothing to measure: name a share, or a folder of the FTP server"
        raise errors.UsageError(text, options="--smb SHARE[/FOLDER], --ftp FOLDER")

    wanted_stations = stations.wanted_stations(choices, log_in)
    hosts = ", ".join(choices.hosts)
    unfinished: records.Experiment | None = None
    stored_series: dict[int, records.Series] = {}
    if not again:
        unfinished, stored_series = _unfinished_round(hosts, wanted_stations, notebook)
    experiment = unfinished or records.dated_experiment(records.ExperimentKind.SURVEY, hosts)

    reachability = Reachability()
    plans = [
        _plan_station(wanted_station, stored_series.get(index), experiment, notebook, reachability)
        for index, wanted_station in enumerate(wanted_stations)
    ]
    todo = tuple((index, plan.todo) for index, plan in enumerate(plans) if plan.todo is not None)
    if not todo and not stored_series:
        more = "" if choices.smb or choices.ftp else "or measure files: --smb SHARE[/FOLDER], --ftp FOLDER"
        raise errors.UnreachableError("; ".join(dict.fromkeys(reachability.problems())), options=more)

    seconds = sum(plan.seconds for plan in plans)
    rates = [plan.rate for plan in plans if plan.rate is not None]
    return SurveyRound(
        experiment=experiment,
        stations=tuple(plan.station for plan in plans),
        todo=todo,
        continued=bool(stored_series),
        runs_to_come=tuple(plan.runs_to_come for plan in plans),
        time_text=estimate.time_text(seconds, rates),
        seconds=seconds,
    )


def _unfinished_round(
    hosts: str, wanted_stations: Sequence[stations.WantedStation], notebook: Notebook
) -> tuple[records.Experiment | None, dict[int, records.Series]]:
    """The last round of these hosts, and its series by station; None where there is none or it is complete.

    Every station begins in the first turn, so an interrupted round has a series of each.
    """
    surveys = (entry.experiment for entry in notebook.experiments(records.ExperimentKind.SURVEY))
    last_round = next((survey for survey in surveys if survey.subject == hosts), None)
    if last_round is None:
        return None, {}

    stored_series: dict[int, records.Series] = {}
    for series in notebook.experiment(last_round.name):
        index = _station_of(series, wanted_stations)
        # Something else was asked for then, or it was measured on another machine.
        if index is None or series.imported_at is not None:
            return None, {}
        stored_series[index] = series

    recordings = notebook.recordings_of([last_round.recording_id or ""])
    is_whole = not recordings or recordings[0].status is not records.SeriesStatus.INTERRUPTED
    if is_whole and all(series.status is records.SeriesStatus.COMPLETE for series in stored_series.values()):
        return None, {}
    return last_round, stored_series


def _station_of(series: records.Series, wanted_stations: Sequence[stations.WantedStation]) -> int | None:
    """The index of the station that the series measures; None where it measures none of them."""
    for index, wanted_station in enumerate(wanted_stations):
        if _measures(series, wanted_station.request):
            return index
    return None


def _measures(series: records.Series, request: SeriesRequest) -> bool:
    """Whether the series is what the request asks for; what is looked at beside the runs may differ."""
    spec = request.spec
    plan = series.plan
    return (
        plan is not None
        and (series.command, series.target) == (spec.command, request.target)
        and (plan.client, plan.settings, plan.counts) == (spec.client, spec.settings, spec.counts)
    )


def _plan_station(
    wanted_station: stations.WantedStation,
    series: records.Series | None,
    experiment: records.Experiment,
    notebook: Notebook,
    reachability: Reachability,
) -> _StationPlan:
    """What is to be done at a station; ``series`` is that of an interrupted round, None in a new one.

    Raises UsageError.
    """
    station = wanted_station.station if series is None else with_series(wanted_station.station, series)
    if series is not None and series.running_by:
        text = f"{held_text(series.id, series.running_by)}, for the same survey: wait for its end"
        raise errors.UsageError(text)
    if series is not None and series.status is records.SeriesStatus.COMPLETE:
        return _StationPlan(station=station)

    request = wanted_station.request
    if problem := reachability.problem_of(request.target):
        left_out = replace(wanted_station.station, state=StationState.LEFT_OUT, why=problem)
        return _StationPlan(station=left_out)

    todo: SeriesRequest | Resumption
    if series is None:
        order = MeasuringOrder.of_request(request)
        todo = replace(request, experiment=experiment)
    else:
        order = order_to_resume(series, request.secrets)
        todo = Resumption(series_id=series.id, secrets=request.secrets)

    runs = order.spec.counts.warmups + order.spec.counts.runs - order.done_runs
    # A file that is made for a get is put before, which takes as long as a run.
    transfers = runs + 1 if request.spec.counts.make_file else runs
    size_bytes = request.spec.counts.size_bytes or stations.size_for(wanted_station.link_bits_per_second)
    rate = estimate.expected_rate(
        request.target,
        measured=measured_rate(notebook, request.target, order.spec.command),
        link=wanted_station.link_bits_per_second,
        is_this_machine=station.place is not StationPlace.NETWORK,
    )
    return _StationPlan(
        station=station,
        todo=todo,
        runs_to_come=runs,
        seconds=transfers * size_bytes / rate.bytes_per_second,
        rate=rate,
    )


def usual_time_text(choices: SurveyChoices) -> str:
    """How long a survey takes as a rule, in words; told while the choices are typed, so no server is asked."""
    counts = choices.spec.counts
    protocol_count = (choices.smb is not None) + (choices.ftp is not None) + choices.iperf3
    transfers_of_a_series = counts.runs + counts.warmups + 1  # with the put of the file that a get reads
    transfers = protocol_count * len(choices.commands) * transfers_of_a_series
    moved_bytes = transfers * (counts.size_bytes or stations.size_for(None))

    rates = [
        estimate.expected_rate(records.Target(protocol="smb", host=host, user=choices.user)) for host in choices.hosts
    ]
    seconds = sum(moved_bytes / rate.bytes_per_second for rate in rates)
    return estimate.time_text(seconds, rates)
