"""The survey as a form: what counts, what is missing, what comes first."""

import io
import json
from dataclasses import replace

import pytest
from pypdf import PdfReader

from forms.experiments.survey import Station, StationPlace, StationState, Survey, survey, survey_of, with_series
from forms.experiments.survey_report import next_step_sentence, survey_document, survey_report
from forms.exporters import FORMATS, export_reports
from forms.exporters.text import WIDTH, report_text
from storage.records import Command, Quiet, QuietVerdict, Series, SeriesStatus, Target
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


def survey_text(filled: Survey, width: int = WIDTH) -> str:
    return report_text(survey_report(filled), width=width)


NETWORK = [station(StationPlace.NETWORK, p, c) for p in ("ftp", "smb") for c in Command]


def test_a_full_survey_has_the_table_of_the_book_and_the_first_thing():
    filled = survey("survey nas 2026", [measured(s, 110 if s.protocol == "ftp" else 60) for s in NETWORK])
    assert filled.complete
    assert [column.name for column in filled.table.columns] == ["FTP", "SMB"]
    assert [row.name for row in filled.table.rows] == ["get", "put"]
    assert filled.first is not None
    assert filled.first.key == "time-to-tune"
    assert next_step_sentence(filled).startswith("SMB get reaches 55 % of FTP: time to tune. ")


def test_nothing_amiss_says_so():
    filled = survey("survey nas", [measured(s, 110) for s in NETWORK])
    assert filled.first is None
    assert "baseline" in next_step_sentence(filled)


def test_healthy_is_said_in_figures():
    wired = [station(StationPlace.NETWORK, p, Command.GET) for p in ("smb", "iperf3")]
    full = survey("survey nas", [measured(one, rate) for one, rate in zip(wired, (119.4, 120.0), strict=True)])
    assert next_step_sentence(full).startswith("SMB is 100 % of bare TCP: the network is the limit, no problems found.")
    alone = survey("survey nas", [measured(wired[0], 119.4)])
    assert "bare TCP" not in next_step_sentence(alone)


def test_a_full_wire_is_said_also_of_a_busy_time():
    wired = [station(StationPlace.NETWORK, p, Command.GET) for p in ("smb", "iperf3")]
    busy = Quiet(verdict=QuietVerdict.BUSY)
    found = [measured(one, rate, quiet=busy) for one, rate in zip(wired, (119.4, 120.0), strict=True)]
    assert next_step_sentence(survey("survey nas", found)) == (
        "SMB is 100 % of bare TCP: the network is the limit, no problems found. Measured at a busy time. Measure"
        " again at a quiet time, or wait for one."
    )
    slow = [measured(one, rate, quiet=busy) for one, rate in zip(wired, (100.0, 120.0), strict=True)]
    assert next_step_sentence(survey("survey nas", slow)).startswith("Measured at a busy time.")


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
    assert "run the same survey again" in next_step_sentence(filled)
    text = survey_text(filled)
    assert "network SMB get: interrupted" in text
    assert "network SMB put: failed: the share is gone" in text


def test_nothing_measured_yet():
    filled = survey("survey nas", NETWORK)
    assert next_step_sentence(filled) == "Nothing measured yet."
    assert "network FTP get and put: waiting" in survey_text(filled)


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
    assert survey_text(filled).count("network bare TCP get and put: left out: no answer") == 1


def test_the_text_fits_and_begins_with_what_to_look_at_first():
    loop = [station(StationPlace.LOOPBACK, p, c, "127.0.0.1") for p in ("ftp", "smb", "iperf3") for c in Command]
    filled = survey("survey nas", [*(measured(s, 118.5) for s in loop), *(measured(s, 111) for s in NETWORK)])
    text = survey_text(filled)
    for width in (60, 77, 80):
        lines = survey_text(filled, width).splitlines()
        assert max(map(len, lines)) <= width
    assert max(map(len, text.splitlines())) <= 80
    assert "127.0.0.1: this machine's loopback" in text
    assert text.index("Answer:") < text.index("127.0.0.1:") < text.index("Findings")
    first = " ".join(text.partition("127.0.0.1:")[0].split())
    assert "The loopback is no faster than the network" in first


def test_the_document():
    filled = survey("survey nas", [measured(NETWORK[0], 110), NETWORK[1]])
    document = json.loads(json.dumps(survey_document(filled)))
    assert document["schema"] == "sharebench/survey/1"
    assert [s["state"] for s in document["stations"]] == ["done", "waiting"]
    assert document["stations"][0]["bytes_per_second"] > 109e6
    assert document["stations"][1]["series"] is None
    assert document["first"] is None


def test_a_survey_is_read_back_from_its_series_whatever_they_are_called():
    own = station(StationPlace.OWN_ADDRESS, "smb", Command.GET, "192.0.2.7")
    loop = station(StationPlace.LOOPBACK, "ftp", Command.PUT, "127.0.0.1")
    measured_ones = [
        measured(NETWORK[0], 110),
        measured(own, 60, environment={"path": {"link.kind": "loopback"}}),
        measured(loop, 60, status=SeriesStatus.FAILED, error="the share is gone"),
    ]
    series_of_it = [replace(one.series, label="renamed") for one in measured_ones if one.series]
    found = survey_of("survey nas", series_of_it)
    assert [(one.place, one.state, one.name) for one in found.stations] == [
        (one.place, one.state, one.name) for one in measured_ones
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_a_survey_without_findings_and_one_with_are_written_in_every_format(name):
    for filled in (survey("survey nas", NETWORK), survey("survey nas", [measured(s, 60) for s in NETWORK])):
        assert export_reports([survey_report(filled)], name)


def test_findings_are_no_smaller_than_other_text_in_a_pdf():
    content = export_reports([survey_report(survey("survey nas", [measured(s, 60) for s in NETWORK]))], "pdf")
    sizes: set[float] = set()

    def seen(operator: bytes, operands: list[object], *_where: object) -> None:
        if operator == b"Tf":
            sizes.add(float(str(operands[1])))

    for page in PdfReader(io.BytesIO(content)).pages:
        page.extract_text(visitor_operand_before=seen)
    assert min(sizes) >= 7
