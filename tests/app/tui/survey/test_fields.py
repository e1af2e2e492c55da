"""The lines before a survey, and what is said while it is measured."""

from dataclasses import replace

import pytest

from app.errors import UsageError
from app.measure.events import Failed, Finished, Progressed, RunFinished, RunStarted, Started, Warned
from app.recorder.recording import SeriesClosed, SeriesOpened
from app.tui.survey.fields import LINES, first_values, read_choices
from app.tui.survey.progress import begin
from forms.experiments.survey import Station, StationPlace, StationState
from storage.records import ClientFacts, Command, Phase, Run, SeriesStatus, Target
from tests.builders import series

GET = Station(place=StationPlace.LOOPBACK, host="127.0.0.1", protocol="smb", command=Command.GET)
PUT = Station(place=StationPlace.LOOPBACK, host="127.0.0.1", protocol="smb", command=Command.PUT)
OUT = Station(
    place=StationPlace.NETWORK, host="nas", protocol="iperf3", command=Command.PUT, state=StationState.LEFT_OUT
)


def test_the_lines_are_read():
    choices = read_choices(
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
    assert (choices.options.runs, choices.options.size_bytes, choices.ports) == (
        7,
        1 << 30,
        {"smb": 4450, "iperf3": 5301},
    )
    least = read_choices({"hosts": "nas", "runs": "5"})
    assert (least.smb, least.ftp, least.user, least.options.size_bytes, least.ports) == (None, None, None, None, {})


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ({}, "which server"),
        ({"hosts": "nas", "runs": "many"}, "number of runs"),
        ({"hosts": "nas", "runs": "0"}, "number of runs"),
        ({"hosts": "nas", "runs": "5", "size": "big"}, "not a size"),
        ({"hosts": "nas", "runs": "5", "ports": "smb"}, "not a port"),
        ({"hosts": "nas", "runs": "5", "ports": "nfs 2049"}, "not a port"),
        ({"hosts": "nas", "runs": "5", "ports": "smb 99999"}, "not a port"),
    ],
)
def test_wrong_lines_are_told(typed, why):
    with pytest.raises(UsageError, match=why):
        read_choices(typed)


def test_first_values_are_the_practice_servers_or_what_was_typed_last():
    assert first_values(None, ())["runs"] == "5"
    kept = first_values({"hosts": "nas", "smb": "data", "unknown": "x", "runs": 3}, ())
    assert (kept["hosts"], kept["smb"], kept["runs"]) == ("nas", "data", "5")
    assert set(kept) == {line.key for line in LINES}
    practice = (
        Target(protocol="smb", host="127.0.0.1", port=4450, share="practice", user="practice"),
        Target(protocol="ftp", host="127.0.0.1", port=2121, path="/", user="practice"),
    )
    ready = first_values({"hosts": "nas"}, practice)
    assert ready["hosts"] == "127.0.0.1"
    assert read_choices(ready).ports == {"smb": 4450, "ftp": 2121}


def test_what_was_measured_before_a_survey_went_on_has_its_average():
    done = replace(GET, state=StationState.DONE, series=series([100e6] * 5))
    assert begin([done]).text(80).split()[-2:] == ["100.0", "MB/s"]


def test_what_is_said_of_a_series_under_way():
    now = begin([GET, PUT, OUT])
    assert now.text(80).splitlines()[0].split() == ["loopback", "SMB", "get", "waiting"]
    assert "network bare TCP put: left out" in now.text(80)
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
        now = now.heard(0, event)
        said.append(now.series[0].line(80))
    assert [line[27:52].strip() for line in said] == [
        "looking around",
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
    now = begin([GET]).heard(0, Warned(text="look out")).heard(0, Warned(text="look out"))
    assert now.warnings == ("look out",)
    now = now.heard(0, Failed(kind="LoginError", text="the server refused the password of alice"))
    assert "failed: the server refu" in now.text(80)
    assert all(len(line) <= 40 for line in now.text(40).splitlines())
    stopped = begin([GET]).heard(0, SeriesClosed(series_id="a", status=SeriesStatus.INTERRUPTED))
    assert "interrupted" in stopped.text(80)
