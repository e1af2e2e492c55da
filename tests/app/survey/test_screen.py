"""The survey in the TUI, against a real smbd."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from app.base.errors import LoginError, UsageError
from app.clients.base import Secrets
from app.clients.session_logins import Logins, PasswordNeededError
from app.recording.ceiling import Calibration
from app.recording.kind import kind_of
from app.recording.process import Failed, Finished, Progressed, RunFinished, RunStarted, SeriesControl, Started, Warned
from app.series.events import RecorderEvent, SeriesClosed, SeriesOpened
from app.survey.planning import SurveyRound
from app.survey.progress import begin
from app.survey.record import measure_round
from app.survey.run_screen import SurveyRunScreen
from app.survey.screen import SurveyScreen
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.dialogs import AskDialog, ConfirmDialog, MessageDialog
from app.tui.notebook.screen import NotebookScreen
from app.tui.widgets.views import AnsiView
from forms.experiments.survey import Station, StationPlace, StationState, survey
from storage.notebook import Notebook
from storage.records import ClientFacts, Command, Experiment, Phase, Run, SeriesStatus, Target
from tests.builders import series
from tests.servers.smbd import Smbd
from tests.tui import measured, painted, press, settled, shows, text_of
from tests.waiting import HANG_SECONDS


@pytest.fixture
def app(tmp_path: Path, monkeypatch) -> SharebenchApp:
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    monkeypatch.setattr("app.series.monitor.ceiling_of", lambda *_args, **_more: Calibration())
    context = Context(notebook_path=tmp_path / "notebook.db")
    return SharebenchApp(context, first="survey")


def fill(screen, **values: str) -> None:
    for key, value in values.items():
        screen.query_one(f"#{key}", Input).value = value


async def test_what_is_typed_takes_the_place_of_the_host_of_last_time(app):
    with Notebook(app.context.notebook_path) as notebook:
        notebook.remember("survey", {"hosts": "nas1"})
    async with app.run_test() as pilot:
        await settled(app, pilot)
        assert app.screen.query_one("#hosts", Input).value == "nas1"
        await pilot.press(*"nas2", "enter")
        assert app.screen.query_one("#hosts", Input).value == "nas2"
        app.screen._fill({"hosts": "nas1", "smb": "data"})
        assert app.screen.typed_texts()["hosts"] == "nas2", "what is known came later than what was typed"
        assert app.screen.typed_texts()["smb"] == ""


def lines_for(server: Smbd) -> dict[str, str]:
    return {
        "hosts": "127.0.0.1",
        "smb": server.share,
        "user": server.user,
        "runs": "2",
        "size": "1M",
        "ports": f"smb {server.port}, iperf3 1",
    }


@pytest.mark.long
async def test_from_the_lines_to_the_findings_with_the_password_asked_once(app, smbd: Smbd):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        assert shows(app, SurveyScreen)
        fill(app.screen, **lines_for(smbd))
        await pilot.press("f9")
        assert shows(app, AskDialog)
        app.screen.query_one("#answer", Input).value = smbd.password
        await pilot.press("enter")
        await settled(app, pilot)
        assert shows(app, SurveyRunScreen)
        await measured(app, pilot)
        await settled(app, pilot)
        text = app.screen.query_one("#run-text", AnsiView).drawn_text
        assert "Findings" in text
        assert "Answer" not in text, "it stands above"
        assert "MB/s" in text
        answer = text_of(app.screen, "#now").strip()
        assert answer
        assert painted(app).startswith("─sharebench · survey"), "it has the look of a screen that measures"
        assert not [part for part in ("#machine", "#warnings") if app.screen.query_one(part).region.height]
        assert app.screen.quit_question() is None
        await pilot.press("enter")
        assert "See what can be changed" in painted(app)
        await pilot.press("escape", "escape")
        assert shows(app, SurveyScreen)
    with Notebook(app.context.notebook_path) as notebook:
        assert {head.status for head in notebook.heads()} == {SeriesStatus.COMPLETE}
        head = notebook.recording("last", "survey")
        assert kind_of(head).answer(notebook, head).text == answer, "the list has it"
        kept = notebook.remembered("survey")
    assert kept is not None
    assert kept["smb"] == smbd.share
    assert smbd.password not in str(kept)


async def test_wrong_lines_are_told_and_kept(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        fill(app.screen, hosts="nas", runs="many")
        await pilot.press("f9")
        assert shows(app, MessageDialog)
        assert "Runs: expected a whole number" in text_of(app.screen, ".dialog-text")
        await pilot.press("enter")
        assert app.screen.query_one("#hosts", Input).value == "nas"


async def test_nobody_there_is_told(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        fill(app.screen, hosts="127.0.0.1", ports="iperf3 1", runs="2")
        await pilot.press("f9")
        await settled(app, pilot)
        assert shows(app, MessageDialog)
        assert "no answer on 127.0.0.1 port 1" in text_of(app.screen, ".dialog-text")


class Held:
    """A survey that measures one run and then nothing until it is stopped, however slow the machine is."""

    def __init__(self) -> None:
        self.has_measured = threading.Event()

    def __call__(self, planned: SurveyRound, path: Path, control: SeriesControl) -> Iterator[tuple[int, RecorderEvent]]:
        for index, event in measure_round(planned, path, control):
            yield index, event
            if isinstance(event, RunFinished):
                self.has_measured.set()
                assert control.cancelled.wait(HANG_SECONDS)


@pytest.mark.long
async def test_stopping_keeps_what_is_done_and_it_goes_on_or_begins_anew(app, smbd: Smbd, monkeypatch):
    monkeypatch.setattr("app.survey.record.measure_round", held := Held())
    app.context.logins = Known(Secrets(password=smbd.password))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        fill(app.screen, **lines_for(smbd))
        app.screen.action_start()
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "plan"])
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, SurveyRunScreen)
        assert screen.quit_question()
        await pilot.press("escape")
        assert shows(app, ConfirmDialog)
        await pilot.press("escape")
        await pilot.press("s", "enter")
        assert not screen.control.cancelled.is_set(), "Enter alone goes on"
        assert await asyncio.to_thread(held.has_measured.wait, HANG_SECONDS)
        await pilot.press("s", "left", "enter")
        await measured(app, pilot)
        await settled(app, pilot)
        assert screen.survey is not None
        assert not screen.survey.complete
        text = screen.query_one("#run-text", AnsiView).drawn_text
        assert "loopback SMB get" in text
        assert "interrupted" in text
        await pilot.press("escape", "f9")
        await settled(app, pilot)
        assert shows(app, ConfirmDialog)
        assert "is not complete" in text_of(app.screen, ".dialog-text")
        await pilot.press("escape")
        assert shows(app, SurveyScreen)
    with Notebook(app.context.notebook_path) as notebook:
        assert SeriesStatus.COMPLETE not in {head.status for head in notebook.heads()}


async def test_a_wrong_password_is_sent_once_and_asked_for_before_the_survey_goes_on(app, smbd: Smbd, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "wrong")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(app, pilot)
        fill(app.screen, **lines_for(smbd))
        await press(app, pilot, "f9")
        (running,) = (one for one in app.screen_stack if isinstance(one, SurveyRunScreen))
        await measured(app, pilot)
        assert shows(app, AskDialog)
        assert "Type the password again" in text_of(app.screen, ".dialog-text")
        assert "failed" in running.query_one("#run-text", AnsiView).drawn_text
        app.screen.query_one("#answer", Input).value = smbd.password
        await press(app, pilot, "enter")
        assert shows(app, ConfirmDialog)
        assert "is not complete" in text_of(app.screen, ".dialog-text")
        assert app.context.logins.find(smbd.target()).password == smbd.password


def test_the_time_it_takes_is_said_before_it_starts_and_the_rest_while_it_runs():
    typed = {
        "hosts": "nas",
        "smb": "data",
        "ftp": "",
        "user": "",
        "ftp_user": "",
        "runs": "5",
        "size": "1G",
        "ports": "",
    }
    assert "interleaved: about 4.5 min or longer (at 1 Gb/s, assumed). " in SurveyScreen.plan_of(typed)
    ready = typed | {"hosts": "127.0.0.1", "user": "practice", "size": "16M"}
    assert "about 27 s or longer (at 20 MB/s, the practice server's limit). " in SurveyScreen.plan_of(ready)
    assert "about 7 min or longer" in SurveyScreen.plan_of(typed | {"ftp": "/"})
    (station,) = (Station(place=StationPlace.NETWORK, host="nas", protocol="smb", command=Command.GET),)
    planned = SurveyRound(
        experiment=Experiment(name="survey"), stations=(station,), todo=(), continued=False, runs_to_come=(2,),
        time_text="about 9 min or longer",
    )  # fmt: skip
    screen = SurveyRunScreen(planned, [], lambda: None)
    assert screen.now() == "Measuring, interleaved, about 9 min or longer …"
    screen.take_event(0, RunStarted(number=1, phase=Phase.MEASURED, of=2))
    screen.take_event(0, RunFinished(run=Run(number=1, phase=Phase.MEASURED, size_bytes=1, seconds=1.0)))
    assert screen.now() == "Measuring, interleaved, about 1 s left …"


@pytest.mark.varied
@pytest.mark.parametrize("covered", [False, True])
async def test_one_refused_login_is_asked_for_once_and_no_other_screen_is_left(app, monkeypatch, covered: bool):
    heard, again = threading.Event(), []
    target = Target(protocol="smb", host="192.0.2.71", port=445, user="anna")
    stations = tuple(
        Station(place=StationPlace.NETWORK, host=target.host, protocol="smb", command=command) for command in Command
    )
    planned = SurveyRound(experiment=Experiment(name="survey"), stations=stations, todo=(), continued=False)

    def refused(*_: object) -> Iterator[tuple[int, Failed]]:
        assert heard.wait(HANG_SECONDS)
        for index in range(len(stations)):
            yield index, Failed(kind=LoginError, text="the server refused anna")

    monkeypatch.setattr("app.survey.record.measure_round", refused)
    monkeypatch.setattr("app.survey.record.result", lambda *_: survey("survey", stations))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        app.push_screen(SurveyRunScreen(planned, [target], lambda: again.append(app.screen)))
        await settled(app, pilot)
        if covered:
            await press(app, pilot, "f2")
            assert shows(app, NotebookScreen)
            await press(app, pilot, "f3")
            assert shows(app, SurveyRunScreen), "nothing else is measured meanwhile"
            await press(app, pilot, "f2")
            assert "esc Back" in painted(app)
            await press(app, pilot, "escape")
            assert shows(app, SurveyRunScreen), "back at what is measured"
            await press(app, pilot, "f2")
        heard.set()
        await measured(app, pilot)
        if covered:
            assert app.screen_stack[-2].check_action("back", ()), "what was measured lies below"
        app.screen.query_one("#answer", Input).value = "typed"
        await press(app, pilot, "enter")
        assert shows(app, NotebookScreen if covered else SurveyScreen)
        assert again == [app.screen]
    assert app.context.logins.find(target).password == "typed"


async def test_another_hosts_password_is_not_sent_where_it_was_refused(app, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "of the environment")
    async with app.run_test() as pilot:
        await settled(app, pilot)
        one, two = (Target(protocol="smb", host=host, port=445, user="anna") for host in ("192.0.2.71", "192.0.2.72"))
        app.context.logins.refuse(two)
        fill(app.screen, hosts="192.0.2.71, 192.0.2.72", smb="data", user="anna")
        await press(app, pilot, "f9")
        assert shows(app, AskDialog)
        assert "password for anna on 192.0.2.72" in text_of(app.screen, ".dialog-text")
        monkeypatch.setattr(app.screen_stack[-2], "_begin", lambda **_: None)
        app.screen.query_one("#answer", Input).value = "typed"
        await press(app, pilot, "enter")
    found = [app.context.logins.find(target).password for target in (one, two)]
    assert found == ["of the environment", "typed"]


async def test_a_password_said_for_smb_is_not_sent_by_plain_ftp(app):
    async with app.run_test() as pilot:
        await settled(app, pilot)
        smb, ftp = (Target(protocol=name, host="127.0.0.1", user="anna") for name in ("smb", "ftp"))
        app.context.logins.keep(replace(smb, port=445, share="data"), Secrets(password="of SMB"))
        fill(app.screen, hosts="127.0.0.1", smb="data", ftp="/", user="anna")
        await pilot.press("f9")
        assert shows(app, AskDialog)
        assert "FTP password for anna on 127.0.0.1" in text_of(app.screen, ".dialog-text")
        with pytest.raises(PasswordNeededError):
            app.context.logins.find(replace(ftp, port=21, path="/"))


class Known(Logins):
    """Logins that know one password."""

    def __init__(self, secrets: Secrets) -> None:
        super().__init__()
        self.secrets = secrets

    def find(self, target, *, kerberos=False) -> Secrets:
        return self.secrets


GET = Station(place=StationPlace.LOOPBACK, host="127.0.0.1", protocol="smb", command=Command.GET)
PUT = Station(place=StationPlace.LOOPBACK, host="127.0.0.1", protocol="smb", command=Command.PUT)
OUT = Station(
    place=StationPlace.NETWORK, host="nas", protocol="iperf3", command=Command.PUT, state=StationState.LEFT_OUT
)


def test_a_password_typed_beside_the_user_is_refused():
    with pytest.raises(UsageError) as caught:
        SurveyScreen.parse({"hosts": "nas", "smb": "data", "user": "alice%hush"})
    assert "hush" not in str(caught.value)


def test_the_lines_are_read():
    choices = SurveyScreen.parse(
        {
            "hosts": "nas, 127.0.0.1",
            "smb": "data/bench",
            "ftp": "/upload",
            "user": "WORK;alice",
            "runs": "7",
            "size": "1G",
            "ports": "smb 4450, iperf3 5301",
        }
    )
    assert choices.hosts == ("nas", "127.0.0.1")
    assert (choices.smb, choices.ftp, choices.domain, choices.user) == ("data/bench", "/upload", "WORK", "alice")
    assert (choices.spec.counts.runs, choices.spec.counts.size_bytes, choices.ports) == (
        7,
        1 << 30,
        {"smb": 4450, "iperf3": 5301},
    )
    least = SurveyScreen.parse({"hosts": "nas", "runs": "5"})
    assert (least.smb, least.ftp, least.user, least.spec.counts.size_bytes, least.ports) == (None, None, None, None, {})


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ({}, "which server"),
        ({"hosts": "nas", "runs": "many"}, "Runs: expected a whole number"),
        ({"hosts": "nas", "runs": "0"}, "Runs: expected a whole number"),
        ({"hosts": "nas", "runs": "5", "size": "big"}, "not a size"),
        ({"hosts": "nas", "runs": "5", "ports": "smb"}, "not a port"),
        ({"hosts": "nas", "runs": "5", "ports": "nfs 2049"}, "not a port"),
        ({"hosts": "nas", "runs": "5", "ports": "smb 99999"}, "not a port"),
    ],
)
def test_wrong_lines_are_told(typed, why):
    with pytest.raises(UsageError, match=why):
        SurveyScreen.parse(typed)


def test_first_values_are_the_practice_servers_or_what_was_typed_last():
    assert SurveyScreen.first_values(None, ())["runs"] == "5"
    kept = SurveyScreen.first_values({"hosts": "nas", "smb": "data", "unknown": "x", "runs": 3}, ())
    assert (kept["hosts"], kept["smb"], kept["runs"]) == ("nas", "data", "5")
    assert set(kept) == {line.key for line in SurveyScreen.LINES}
    practice = (
        Target(protocol="smb", host="127.0.0.1", port=4450, share="practice", user="practice"),
        Target(protocol="ftp", host="127.0.0.1", port=2121, path="/", user="practice"),
    )
    ready = SurveyScreen.first_values({"hosts": "nas"}, practice)
    assert ready["hosts"] == "127.0.0.1"
    assert SurveyScreen.parse(ready).ports == {"smb": 4450, "ftp": 2121}


def test_what_was_measured_before_a_survey_went_on_has_its_average():
    done = replace(GET, state=StationState.DONE, series=series([100e6] * 5))
    assert begin([done]).draw(80).split()[-2:] == ["100.0", "MB/s"]


def test_what_is_said_of_a_series_under_way():
    now = begin([GET, PUT, OUT])
    assert now.draw(80).splitlines()[0].split() == ["loopback", "SMB", "get", "waiting"]
    assert "network bare TCP put: left out" in now.draw(80)
    run = Run(number=1, phase=Phase.MEASURED, size_bytes=100_000_000, seconds=1.0)
    said = []
    for event in (
        SeriesOpened(series_id="a" * 12),
        Started(client=ClientFacts(name="x"), size_bytes=1),
        RunStarted(number=1, phase=Phase.WARM_UP, of=1),
        Progressed(seconds=0.1, moved_bytes=50, size_bytes=100),
        RunFinished(run=run),
        RunStarted(number=2, phase=Phase.MEASURED, of=5),
        Finished(),
        SeriesClosed(series_id="a" * 12, status=SeriesStatus.COMPLETE),
    ):
        now = now.after(0, event)
        said.append(now.series[0].line(80))
    assert [line[27:52].strip() for line in said] == [
        "checking the environment",
        "connected",
        "warm-up 1 of 1",
        "warm-up 1 of 1",
        "warm-up 1 of 1",
        "run 2 of 5",
        "tidying up",
        "done",
    ]
    assert "█████░░░░░" in said[3]
    assert said[-1].endswith("100.0 MB/s")
    assert now.series[1].doing == "waiting"


def test_failures_warnings_and_narrow_screens():
    now = begin([GET]).after(0, Warned(text="look out")).after(0, Warned(text="look out"))
    assert now.warnings == ("look out",)
    now = now.after(0, Failed(kind=LoginError, text="the server refused the password of alice"))
    assert "failed: the server refu" in now.draw(80)
    assert all(len(line) <= 40 for line in now.draw(40).splitlines())
    stopped = begin([GET]).after(0, SeriesClosed(series_id="a", status=SeriesStatus.INTERRUPTED))
    assert "interrupted" in stopped.draw(80)
