"""The survey as a form: what counts, what is missing, what comes first."""

import json

from forms.experiments.survey import Station, StationPlace, StationState, survey, survey_document, with_series
from forms.experiments.survey_text import survey_text
from storage.records import Command, Series, SeriesStatus, Target
from tests.builders import CLIENT, series

SHAPE = (1.0, 1.004, 0.997, 1.002, 0.998, 1.001)


def station(place: StationPlace, protocol: str, command: Command, host: str = "nas") -> Station:
    return Station(place=place, host=host, protocol=protocol, command=command)


def measured(one: Station, megabytes: float, **fields) -> Station:
    stored: Series = series(
        [megabytes * 1e6 * share for share in SHAPE],
        id=f"{one.protocol}{one.command}{one.host}",
        label=one.name,
        command=one.command,
        target=Target(protocol=one.protocol, host=one.host, path="/f"),
        client=CLIENT,
        **fields,
    )
    return with_series(one, stored)


NETWORK = [station(StationPlace.NETWORK, p, c) for p in ("ftp", "smb") for c in Command]


def test_a_full_survey_has_the_table_of_the_book_and_the_first_thing():
    filled = survey("survey nas 2026", [measured(s, 110 if s.protocol == "ftp" else 60) for s in NETWORK])
    assert filled.complete
    assert filled.table.columns == ("FTP", "SMB")
    assert [row.name for row in filled.table.rows] == ["get", "put"]
    assert filled.first is not None
    assert filled.first.key == "time-to-tune"
    assert filled.next_step.startswith("SMB get reaches 55 % of FTP: time to tune. ")


def test_nothing_amiss_says_so():
    filled = survey("survey nas", [measured(s, 110) for s in NETWORK])
    assert filled.first is None
    assert "baseline" in filled.next_step


def test_only_complete_series_count():
    stations = [
        measured(NETWORK[0], 110),
        measured(NETWORK[2], 60, status=SeriesStatus.INTERRUPTED),
        measured(NETWORK[3], 60, status=SeriesStatus.FAILED, error="the share is gone\nreally"),
    ]
    filled = survey("survey nas", stations)
    assert not filled.complete
    assert [s.state for s in filled.stations] == [StationState.DONE, StationState.INTERRUPTED, StationState.FAILED]
    assert filled.findings == ()
    assert "run the same survey again" in filled.next_step
    text = survey_text(filled)
    assert "interrupted: network SMB get" in text
    assert "failed: network SMB put: the share is gone" in text


def test_nothing_measured_yet():
    filled = survey("survey nas", NETWORK)
    assert filled.next_step == "Nothing is measured yet."
    assert "waiting: network FTP get and put" in survey_text(filled)


def test_what_was_left_out_for_one_reason_is_said_once():
    out = [
        Station(
            place=StationPlace.NETWORK,
            host="nas",
            protocol="iperf3",
            command=c,
            state=StationState.LEFT_OUT,
            why="no answer",
        )
        for c in Command
    ]
    filled = survey("survey nas", [*(measured(s, 110) for s in NETWORK), *out])
    assert filled.complete
    assert survey_text(filled).count("left out: network bare TCP get and put: no answer") == 1


def test_the_text_fits_and_ends_with_what_to_look_at_first():
    loop = [station(StationPlace.LOOPBACK, p, c, "127.0.0.1") for p in ("ftp", "smb", "iperf3") for c in Command]
    filled = survey("survey nas", [*(measured(s, 118.5) for s in loop), *(measured(s, 111) for s in NETWORK)])
    text = survey_text(filled)
    for width in (60, 77, 80):
        lines = survey_text(filled, width).splitlines()
        assert max(len(line) for line in lines if not line.startswith((" ", "get", "127"))) <= width
    assert max(map(len, text.splitlines())) <= 80
    assert "127.0.0.1 is this machine's loopback." in text
    assert text.index("MB/s") < text.index("Findings") < text.index("Look at this first")
    assert "The loopback is no faster than the network" in text.partition("Look at this first")[2]


def test_the_document():
    filled = survey("survey nas", [measured(NETWORK[0], 110), NETWORK[1]])
    document = json.loads(json.dumps(survey_document(filled)))
    assert document["schema"] == "sharebench/survey/1"
    assert [s["state"] for s in document["stations"]] == ["done", "waiting"]
    assert document["stations"][0]["bytes_per_second"] > 109e6
    assert document["stations"][1]["series"] is None
    assert document["first"] is None
