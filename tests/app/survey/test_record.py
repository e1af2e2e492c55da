"""The survey's planning, and its rounds against real servers."""

import socket
from pathlib import Path

import pytest

from app.base.errors import UnreachableError, UsageError
from app.clients.base import Secrets
from app.recording.process import SeriesControl
from app.recording.spec import SeriesRequest
from app.series.events import SeriesClosed
from app.series.resume import Resumption
from app.survey.choices import SurveyChoices
from app.survey.planning import SurveyRound, plan_round
from app.survey.record import measure_round, result
from app.survey.stations import places, size_for
from forms.experiments.survey import StationPlace, StationState
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command, ExperimentKind, SeriesStatus, Target
from tests.builders import all_series
from tests.servers.process import require_localhost
from tests.servers.smbd import Smbd
from tests.specs import spec_with, varied


def as_nobody(target: Target) -> tuple[Target, Secrets]:
    return target, Secrets()


def as_bench(target: Target) -> tuple[Target, Secrets]:
    return target, Secrets(password=Smbd.password)


def choices(server: Smbd, **more) -> SurveyChoices:
    usual = {
        "hosts": ("127.0.0.1",),
        "smb": server.share,
        "iperf3": False,
        "ports": {"smb": server.port},
        "user": server.user,
        "spec": spec_with(size_bytes=1 << 20, runs=3, warmups=1, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP),
    }
    return SurveyChoices(**{**usual, **more})


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "notebook.db"


def plan(chosen: SurveyChoices, book: Path, *, again: bool = False) -> SurveyRound:
    with Notebook(book) as notebook:
        return plan_round(chosen, notebook, as_bench, again=again)


def test_places_of_this_machine_and_of_others():
    require_localhost()
    assert places(["127.0.0.1"])[0] == (StationPlace.LOOPBACK, "127.0.0.1")
    assert places(["localhost"])[0] == (StationPlace.LOOPBACK, "localhost")
    assert all(place is not StationPlace.NETWORK for place, _ in places(["127.0.0.1"]))
    assert places(["198.51.100.7"]) == [(StationPlace.NETWORK, "198.51.100.7")]
    assert places(["no-such-host.invalid"]) == [(StationPlace.NETWORK, "no-such-host.invalid")]
    for wrong in ("smb://nas", "user@nas", "", "a b"):
        with pytest.raises(UsageError, match="not a host"):
            places([wrong])


def test_an_own_address_brings_the_loopback_along():
    own = [host for place, host in places(["127.0.0.1"]) if place is StationPlace.OWN_ADDRESS]
    if not own:
        pytest.skip("this machine has no address but the loopback's")
    assert places(own) == [(StationPlace.LOOPBACK, "127.0.0.1"), (StationPlace.OWN_ADDRESS, own[0])]


@pytest.mark.parametrize(
    ("link", "size"),
    [(None, 512 << 20), (10_000_000, 16 << 20), (1_000_000_000, 512 << 20), (100_000_000_000, 1 << 30)],
)
def test_the_file_is_sized_by_the_link(link, size):
    assert size_for(link) == size


def test_nothing_to_measure_and_nothing_that_answers(book: Path):
    with Notebook(book) as notebook:
        with pytest.raises(UsageError, match="name a share") as nothing:
            plan_round(SurveyChoices(hosts=("127.0.0.1",), iperf3=False), notebook, as_nobody)
        assert "--smb" in nothing.value.options
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            deaf = SurveyChoices(hosts=("127.0.0.1",), ports={"iperf3": unused.getsockname()[1]})
            with pytest.raises(UnreachableError, match="iperf3 -s there starts a server"):
                plan_round(deaf, notebook, as_nobody)
        with pytest.raises(UnreachableError, match=r"no host can be called aaa.*: check the name"):
            plan_round(SurveyChoices(hosts=("a" * 70,)), notebook, as_nobody)
        with pytest.raises(UnreachableError, match=r"^nosuchhost.invalid: no host of that name is known") as unknown:
            plan_round(SurveyChoices(hosts=("nosuchhost.invalid",)), notebook, as_nobody)
        assert "iperf3 -s" not in str(unknown.value)


def test_stations_and_their_orders(smbd: Smbd, book: Path):
    planned = plan(choices(smbd, ftp="/pub"), book)
    assert not planned.continued
    assert planned.experiment.name.startswith("survey 127.0.0.1 20")
    loopback = [s for s in planned.stations if s.place is StationPlace.LOOPBACK]
    assert [s.name for s in loopback] == [
        "loopback FTP get",
        "loopback FTP put",
        "loopback SMB get",
        "loopback SMB put",
    ]
    requests = [request for _, request in planned.todo if isinstance(request, SeriesRequest)]
    smb = [request for request in requests if request.target.protocol == "smb"]
    assert [(o.spec.command, o.spec.counts.make_file, o.spec.texts.label) for o in smb][:2] == [
        (Command.GET, True, "loopback SMB get"),
        (Command.PUT, False, "loopback SMB put"),
    ]
    assert {o.experiment for o in requests} == {planned.experiment}


@pytest.mark.long
def test_an_interrupted_round_goes_on_and_repeats_nothing_that_is_finished(smbd: Smbd, book: Path):
    chosen, control = choices(smbd), SeriesControl()
    for _, event in measure_round(plan(chosen, book), book, control):
        if isinstance(event, SeriesClosed):
            control.cancel()
    before = {series.id: series for series in all_series(book)}
    assert sorted(s.status for s in before.values()) == [SeriesStatus.COMPLETE, SeriesStatus.INTERRUPTED]
    going_on = plan(chosen, book)
    assert going_on.continued
    assert [isinstance(what, Resumption) for _, what in going_on.todo] == [True]
    for _ in measure_round(going_on, book, SeriesControl()):
        pass
    after = {series.id: series for series in all_series(book)}
    assert after.keys() == before.keys()
    assert all(series.status is SeriesStatus.COMPLETE for series in after.values())
    for series_id, series in before.items():
        if series.status is SeriesStatus.COMPLETE:
            assert after[series_id] == series
        assert set(series.measured()) <= set(after[series_id].measured())
    with Notebook(book) as notebook:
        filled = result(going_on, notebook)
    loopback = [s for s in filled.stations if s.place is StationPlace.LOOPBACK]
    assert [s.state for s in loopback] == [StationState.DONE, StationState.DONE]
    assert [row.name.rpartition(" ")[2] for row in filled.table.rows] == ["get", "put"]
    assert list(smbd.folder.glob(".sharebench-*")) == []
    assert not plan(chosen, book).continued
    with Notebook(book) as notebook:
        assert notebook.experiments(ExperimentKind.STEPS) == []
        assert [entry.experiment for entry in notebook.experiments(ExperimentKind.SURVEY)] == [going_on.experiment]
    assert all(series.base_id is None for series in after.values())


@pytest.mark.long
def test_a_round_that_another_program_measures_is_not_taken_up(smbd: Smbd, book: Path):
    chosen, control = choices(smbd), SeriesControl()
    for _, event in measure_round(plan(chosen, book), book, control):
        if isinstance(event, SeriesClosed):
            control.cancel()
    (left,) = (series for series in all_series(book) if series.status is SeriesStatus.INTERRUPTED)
    with Notebook(book) as notebook:
        notebook.take(left.id)
    with pytest.raises(UsageError, match="for the same survey"):
        plan(chosen, book)
    with Notebook(book) as notebook:
        notebook.release(left.id)
    assert plan(chosen, book).continued


@pytest.mark.long
def test_other_choices_or_again_begin_anew(smbd: Smbd, book: Path):
    chosen, control = choices(smbd), SeriesControl()
    for _, event in measure_round(plan(chosen, book), book, control):
        if isinstance(event, SeriesClosed):
            control.cancel()
    assert plan(chosen, book).continued
    assert not plan(chosen, book, again=True).continued
    assert not plan(choices(smbd, spec=varied(choices(smbd).spec, runs=4)), book).continued
    assert not plan(choices(smbd, hosts=("localhost",)), book).continued


@pytest.mark.long
def test_what_failed_is_tried_again(smbd: Smbd, book: Path):
    wrong = choices(smbd, smb=f"{smbd.share}/no such folder")
    planned = plan(wrong, book)
    for _ in measure_round(planned, book, SeriesControl()):
        pass
    with Notebook(book) as notebook:
        filled = result(planned, notebook)
    assert {s.state for s in filled.stations if s.place is StationPlace.LOOPBACK} == {StationState.FAILED}
    assert all("no such folder" in s.why for s in filled.stations if s.state is StationState.FAILED)
    again = plan(wrong, book)
    assert again.continued
    assert len(again.todo) == len(planned.todo)


@pytest.mark.long
def test_a_survey_that_was_killed_before_its_last_station_ended_is_no_complete_one(smbd: Smbd, book: Path):
    one_run = spec_with(size_bytes=1 << 20, runs=1, warmups=0, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP)
    chosen = choices(smbd, spec=one_run)
    events = measure_round(plan(chosen, book), book, SeriesControl())
    next(event for _, event in events if isinstance(event, SeriesClosed))
    events.close()  # type: ignore[attr-defined]
    with Notebook(book) as notebook:
        # Both have their runs by then: none ends before all have.
        assert [one.status for one in notebook.heads()] == [SeriesStatus.INTERRUPTED, SeriesStatus.COMPLETE]
        assert notebook.recording("last", "survey").status is SeriesStatus.INTERRUPTED
    again = plan(chosen, book)
    assert again.continued
    assert [isinstance(what, Resumption) for _, what in again.todo] == [True]
    list(measure_round(again, book, SeriesControl()))
    with Notebook(book) as notebook:
        assert notebook.recording("last", "survey").status is SeriesStatus.COMPLETE
    assert not plan(chosen, book).continued
