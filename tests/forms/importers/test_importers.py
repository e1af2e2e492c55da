"""Series read back from documents and from filled forms."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.base.targets import parse_target
from forms.exporters import export_reports, times_for
from forms.findings.rules_series import series_findings
from forms.importers.filled_form import FormDefaults
from forms.series.report import blank_series_report
from forms.series.summary import run_form
from forms.stats import summary as stats
from storage.json_reader import DocumentError
from storage.records import Command, Phase, Run, RunStatus, Series, SeriesStatus, Target
from tests.builders import HOSTILE, book_series, export, full_series, hostile_series, read_series
from tests.specs import plan_with

GIVEN = FormDefaults(target_of=parse_target)


def read(content: bytes | str, given: FormDefaults = GIVEN) -> list[Series]:
    return read_series(content.encode() if isinstance(content, str) else content, given)


def test_documents_one_and_many():
    many = [full_series(), book_series()]
    assert [one.runs for one in read(export(many, "json"))] == [one.runs for one in many]
    assert read(export(many[:1], "json"))[0].label == "cut-through on"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "an empty array"),
        ('[{"schema": "sharebench/series/1"}]', r"\[0\].target: is missing"),
        ('{"schema": "other"}', "schema: expected"),
        ("[1]", "expected an object"),
        ("[" * 100_000, "nested too deep|not JSON"),
        ("hello", "line 1: expected a form"),
        ("", "line 1: expected a form"),
        ("Form,comparison\r\n", "line 1: expected a run form"),
    ],
)
def test_what_is_wrong_is_named(text, said):
    with pytest.raises(DocumentError, match=said):
        read(text)


def test_bytes_that_are_no_text():
    with pytest.raises(DocumentError, match="may be 'ab€'; save it as CSV UTF-8"):
        read(b"ab\xff")


def test_a_form_keeps_its_time_between_machines_of_other_zones(zone: Callable[[str], None]):
    zone("Asia/Kolkata")
    with times_for("csv"):
        exported = export([full_series()], "csv")
    zone("America/New_York")
    assert [one.created_at for one in read(exported)] == [full_series().created_at]


def test_an_exported_form_comes_back_with_its_runs_and_facts():
    for series in (full_series(), book_series()):
        (found,) = read(export([series], "csv"))
        assert found.id == series.id
        assert found.created_at == series.created_at
        assert found.client == series.client
        assert found.target == series.target
        assert (found.title, found.label, found.note) == (series.title, series.label, series.note)
        assert found.link_bits_per_second == series.link_bits_per_second
        assert [(r.number, r.phase, r.status, r.seconds, r.size_bytes, r.reason, r.error) for r in found.runs] == [
            (r.number, r.phase, r.status, r.seconds, r.size_bytes, r.reason, r.error) for r in series.runs
        ]
        assert run_form(found).average == run_form(series).average
    assert len(read(export([full_series(), book_series()], "csv"))) == 2


def test_facts_come_back_however_the_lines_are_worded(monkeypatch):
    monkeypatch.setattr("forms.series.head_fields.client_text", lambda _client, **_hint: "reworded, 9 in flight")
    monkeypatch.setattr("forms.series.head_fields._measured_text", lambda _series: "once upon a time")
    series = replace(full_series(), status=SeriesStatus.INTERRUPTED)
    (found,) = read(export([series], "csv"))
    assert found.client == series.client
    assert (found.id, found.created_at, found.status) == (series.id, series.created_at, series.status)


def test_a_form_that_an_older_version_exported_has_no_facts_but_its_name_and_id():
    series = replace(full_series(), status=SeriesStatus.INTERRUPTED)
    (found,) = read(re.sub(rb",[a-z_]+=[^,\r]*", b"", export([series], "csv")))
    assert (found.id, found.status) == (series.id, series.status)
    assert (found.client.name, found.client.version) == (series.client.name, series.client.version)
    assert found.client.dialect is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"block_bytes=", b"block_bytes=x", "Client.block_bytes: expected a number, found 'x"),
        (b"status=complete", b"status=perhaps", "Measured.status: expected one of"),
        (b"created_at=2", b"created_at=x2", "Measured.created_at: expected a time"),
    ],
)
def test_facts_that_are_none_are_refused(old, new, words):
    with pytest.raises(DocumentError, match=words):
        read(export([full_series()], "csv").replace(old, new))


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_comes_back_through_csv(text):
    series = replace(hostile_series(text), target=Target(protocol="file", path="/srv/x"))
    (found,) = read(export([series], "csv"))
    assert (found.label, found.note, found.experiment) == (text, text, text)
    assert [run.reason for run in found.runs if run.status is RunStatus.REJECTED] == [text]


def filled(*cells: str, head: str = "") -> str:
    """The blank form with cells filled in its first rows, as an editor or a spreadsheet would leave it."""
    lines = export_reports([blank_series_report(10**7)], "csv").decode("utf-8-sig").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Run No")) + 1
    for index, cell in enumerate(cells):
        lines[start + index] = f"{index + 1},{cell}"
    return "\r\n".join([lines[0], *head.splitlines(), *lines[1:]])


def test_table_b9_filled_by_hand_has_its_size_once():
    """The printed average of 777,310 is not what the printed rates average to: 761,908."""
    rates = ("761,580", "767,820", "747,420", "760,020", "772,700")
    (found,) = read(filled(*(f'{"1812898" if i == 0 else ""},,"{rate}"' for i, rate in enumerate(rates))))
    form = run_form(found)
    assert form.average is not None
    assert form.average.bytes_per_second == pytest.approx(761_908)
    assert form.average.percent_of_link == pytest.approx(60.95, abs=0.01)
    assert {run.size_bytes for run in found.runs} == {1_812_898}
    assert found.link_bits_per_second == 10_000_000
    assert found.client.name == "by hand"


B9 = """Ethernet Interface to Same Host: FTP
{headings}
1,"1,812,898",2.3,"761,580"
2,,2.3,"767,820"
3,,2.4,"747,420"
4,,2.3,"760,020"
5,,2.3,"772,700"
Average:,,2.32,"777,310","6,218,480",62
Deviation:,,0.04
"""
HEADINGS = 'Run No,Size in Bytes,"Time, sec",Bytes/sec,Bits/sec,% of 10 Mb/s'


def doubts_of(series: Series) -> str:
    return str(series.environment.get("client", {}).get("form.contradictions", ""))


@pytest.mark.parametrize(
    "headings",
    [
        HEADINGS,
        "Run No,Size in Bytes,Time, sec,Bytes/sec,Bits/sec,% of 10 Mb/s",
        "RUN NO.,SIZE IN BYTES,TIME (SEC),BYTES/SEC,BITS/SEC,% OF 10 MB/S".replace("10 MB/S", "10 Mb/s"),
        "Run,Size,Seconds,Bytes/s,Bits/s,% of 10 Mb/s",
        "run number,Bytes,s,Bytes per second,bits per second,% of 10Mb/s",
    ],
)
def test_table_b9_as_it_is_printed(headings):
    (found,) = read(B9.format(headings=headings))
    form = run_form(found)
    assert form.average is not None
    assert form.average.bytes_per_second == pytest.approx(761_908)
    assert form.average.bits_per_second == pytest.approx(6_095_264)
    assert form.average.percent_of_link == pytest.approx(60.95, abs=0.01)
    assert [round(run.seconds or 0, 1) for run in found.runs] == [2.4, 2.4, 2.4, 2.4, 2.3]
    assert doubts_of(found) == (
        "run 1: printed 761,580 bytes/sec, the other cells give 788,217; "
        "run 2: printed 767,820 bytes/sec, the other cells give 788,217; "
        "run 4: printed 760,020 bytes/sec, the other cells give 788,217; "
        "average: printed 777,310 bytes/sec, the other cells give 761,908"
        " (a misprint of Using Samba, table B-9); "
        "average: printed 6,218,480 bits/sec, the other cells give 6,095,264"
        " (a misprint of Using Samba, table B-9); "
        "average: printed 62 % of the link, the other cells give 61; "
        "average: printed 2.32 s, the other cells give 2.38; deviation: printed 0.04 s, the other cells give 0.03"
    )
    assert [f.key for f in series_findings(found)] == ["contradicting-cells"]


def test_times_alone_under_the_printed_heading():
    (found,) = read('Run No,Size in Bytes,"Time, sec"\n1,1000,2\n2,,4\n')
    assert [run.seconds for run in found.runs] == [2.0, 4.0]
    assert doubts_of(found) == ""


def test_each_given_cell_is_computed_again():
    """10 s for 1,000,000 bytes are 100,000 bytes/sec, 800,000 bits/sec and 8 % of 10 Mb/s."""
    (found,) = read(filled("1000000,10,500000,8000000,7").replace("Average:", "Average:,,,999999", 1))
    assert [run.seconds for run in found.runs] == [10.0]
    assert doubts_of(found) == (
        "run 1: printed 500,000 bytes/sec, the other cells give 100,000; "
        "run 1: printed 8,000,000 bits/sec, the other cells give 4,000,000; "
        "run 1: printed 7 % of the link, the other cells give 80; "
        "average: printed 999,999 bytes/sec, the other cells give 500,000"
    )


@pytest.mark.parametrize(
    ("cells", "agrees"),
    [
        ("1000000,10.0,100502", True),  # 9.95 s would be 100,503
        ("1000000,10.0,100504", False),
        ("1000000,10.0,99502", True),
        ("1000000,10.0,99501", False),
        ("1000000,10.0,,803212", True),
        ("1000000,10.0,,804030", False),
        ("1000000,10.0,,,8.04", True),
        ("1000000,10.0,,,8.05", False),
        ("1000000,,100000,800004", True),
        ("1000000,,100000,800005", False),
    ],
)
def test_a_cell_may_be_rounded_and_no_more(cells, agrees):
    (found,) = read(filled(cells))
    assert (doubts_of(found) == "") is agrees


def test_a_finer_rate_tells_the_time_that_was_rounded_or_cut():
    (found,) = read(filled("1000000,10.0,99010", ",10.0,99009", ",10,91000", ",10,90000"))
    seconds = [run.seconds for run in found.runs]
    assert seconds[:2] == [pytest.approx(10.1, abs=1e-3), 10.0]
    assert seconds[2:] == [pytest.approx(10.989, abs=1e-3), 10.0]


def test_several_bare_tables_are_several_series():
    table = "Run No;Size in Bytes;Time, sec\n1;1000;2,5\n2;;2,5\nAverage;;2,5\nDeviation;;0,0\n"
    found = read(f"First\n{table}\n{table}")
    assert [[run.seconds for run in one.runs] for one in found] == [[2.5, 2.5], [2.5, 2.5]]
    assert found[0].id != found[1].id
    assert [doubts_of(one) for one in found] == ["", ""]
    (off,) = read(table.replace("0,0", "0,2"))
    assert doubts_of(off) == "deviation: printed 0.2 s, the other cells give 0.0"


def test_what_this_program_exported_does_not_contradict_itself():
    assert [doubts_of(one) for one in read(export([full_series(), book_series()], "csv"))] == ["", ""]


def test_times_win_over_rates_and_empty_rows_are_left_out():
    (found,) = read(filled("1000,2.0,999", ",4"))
    assert [run.seconds for run in found.runs] == [2.0, 4.0]
    assert found.plan == plan_with(runs=2)


def test_a_spreadsheet_with_semicolons_and_decimal_commas():
    text = (
        "Form;run form;\r\nLabel;'=1+1;\r\nLink;1 Gb/s;\r\nRun No;Size in Bytes;Time (sec)\r\n1;1.812.898;2,3\r\n2;;2,4"
    )
    (found,) = read(text)
    assert [run.seconds for run in found.runs] == [2.3, 2.4]
    assert found.runs[0].size_bytes == 1_812_898
    assert found.label == "=1+1"
    assert found.link_bits_per_second == 10**9


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ((",2.0",), r"line 11: Size in Bytes: is missing in the first run"),
        (("1000,fast",), r"line 11: Time \(sec\): expected a number above 0, found 'fast'"),
        (("1000,-2",), "expected a number above 0"),
        (("1000,2,,,,odd",), "Status: expected one of valid, rejected, failed, found 'odd'"),
        ((), "no run of this form has a time"),
    ],
)
def test_what_is_wrong_in_a_form_is_named_by_its_line(cells, said):
    with pytest.raises(DocumentError, match=said):
        read(filled(*cells))


def test_what_the_form_does_not_say_is_taken_from_the_command_line():
    target = Target(protocol="file", path="/srv/x")
    (found,) = read(filled(",2.0"), replace(GIVEN, size_bytes=5000, target=target, command=Command.PUT))
    assert (found.runs[0].size_bytes, found.target, found.command) == (5000, target, Command.PUT)
    assert found.runs[0].phase is Phase.MEASURED


def test_a_percent_sign_in_a_path_is_one_when_we_wrote_it_and_an_escape_when_a_person_did():
    series = replace(
        book_series(), target=Target(protocol="smb", host="nas", port=445, share="data", path="100%20.bin")
    )
    assert read(export([series], "csv"))[0].target.path == "100%20.bin"
    by_hand = filled("1000,2.0").replace("Target,", "Target,smb://nas/data/two%20words")
    assert read(by_hand)[0].target.path == "two words"


def test_a_failed_series_comes_back_from_its_own_form():
    empty = Run(number=1, phase=Phase.MEASURED, status=RunStatus.FAILED, size_bytes=0, error="the file is empty")
    series = replace(book_series(), status=SeriesStatus.FAILED, error="the file is empty", runs=(empty,))
    (again,) = read(export([series], "csv"))
    assert (again.id, again.status, again.error, again.runs) == (series.id, series.status, series.error, series.runs)


def test_a_failed_run_without_a_size_gives_none_to_the_next():
    form = "Form,run form\r\nRun No,Size in Bytes,Time (sec),Status\r\n1,0,,failed\r\n2,1000,1,\r\n3,,2,\r\n"
    (series,) = read(form)
    assert [run.size_bytes for run in series.runs] == [0, 1000, 1000]


def test_a_form_with_a_long_note_comes_back_from_its_csv():
    long = replace(full_series(), note="x" * 200_000)
    (found,) = read_series(export([long], "csv"), GIVEN)
    assert found.note == long.note


def test_a_run_number_that_no_form_can_have_is_refused():
    text = export([book_series()], "csv").decode("utf-8-sig").replace("\r\n1,", f"\r\n{'9' * 5000},", 1)
    with pytest.raises(DocumentError, match="or none that can be"):
        read_series(text.encode(), GIVEN)


def times_form(*times: str, rates: bool = False) -> str:
    heading = "Run No,Size in Bytes,Time (sec)" + (",Bytes/sec" if rates else "")
    rows = [f"{number},1812898,{time}" for number, time in enumerate(times, start=1)]
    if rates:
        rows = [f"{row},{1812898 / float(time):.0f}" for row, time in zip(rows, times, strict=True)]
    return "\r\n".join([heading, *rows])


@pytest.mark.parametrize(
    ("times", "percent"),
    [
        (("2.3", "2.3"), 2.174),
        (("2.30", "2.30"), 0.2174),
        (("2", "2", "2"), 25.0),
        (("23", "23"), 2.174),
    ],
)
def test_an_average_is_known_no_better_than_its_times_are_printed(times: tuple[str, ...], percent: float):
    (found,) = read(times_form(*times))
    half_width = run_form(found).half_width_percent
    assert half_width == pytest.approx(percent, rel=1e-3)
    low, high = run_form(found).confidence or (0.0, 0.0)
    assert 50 * (high - low) / (high + low) * 2 == pytest.approx(percent, rel=1e-3)


def test_times_that_vary_more_than_their_rounding_are_known_as_well_as_they_vary():
    (found,) = read(times_form("2.3", "2.9", "2.5"))
    by_runs = stats.half_width_percent(found.rates())
    assert run_form(found).half_width_percent == pytest.approx(by_runs)


def test_rates_beside_the_times_tell_them_better_than_their_rounding():
    (found,) = read(times_form("2.3", "2.3", rates=True))
    assert run_form(found).half_width_percent == pytest.approx(0.0)


def test_a_printed_average_of_times_that_the_rates_deny_is_named():
    rows = ["Run No,Size in Bytes,Time (sec),Bytes/sec", "1,1812898,2.3,761580", "2,1812898,2.3,762000"]
    (found,) = read("\r\n".join([*rows, "Average:,,2.30,"]))
    assert "average: printed 2.30 s, the other cells give 2.38" in str(found.environment)
    rows = [row.replace(",2.3,", ",2.4,") for row in rows]
    (agreeing,) = read("\r\n".join([*rows, "Average:,,2.38,"]))
    assert agreeing.environment == {}


@pytest.mark.parametrize(
    ("rate", "bytes_per_second"),
    [("788.216", 788_216), ("1.788.216", 1_788_216), ("788216", 788_216), ("788,5", 788.5)],
)
def test_bytes_of_a_form_with_decimal_commas_are_whole(rate: str, bytes_per_second: float):
    form = f"Run No;Size in Bytes;Bytes/sec\r\n1;1.812.898;{rate}\r\n2;1.812.898;{rate}"
    (found,) = read(form)
    assert found.runs[0].size_bytes == 1_812_898
    assert found.runs[0].bytes_per_second == pytest.approx(bytes_per_second)


def test_times_of_a_form_with_decimal_commas_keep_their_decimals():
    (found,) = read("Run No;Size in Bytes;Time (sec)\r\n1;1812898;2,305")
    assert found.runs[0].seconds == pytest.approx(2.305)
