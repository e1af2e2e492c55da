"""Tables as they are copied from e-mails, forums and spreadsheets of other countries: read, or refused in a line."""

from dataclasses import replace

import pytest

from app.base.targets import parse_target
from forms.importers.filled_form import FormDefaults
from forms.importers.run_names import leaves_out, run_name_in
from storage.json_reader import DocumentError
from storage.records import RunStatus, Series
from tests.builders import book_series, export, read_series

GIVEN = FormDefaults(target_of=parse_target)
HEAD = "Run No;Size in Bytes;Time (sec)"
BYTES = 100_000_000


def read(*lines: str) -> Series:
    (series,) = read_series("\n".join(lines).encode(), GIVEN)
    return series


def seconds(*lines: str) -> list[float | None]:
    return [run.seconds for run in read(*lines).runs]


def refusal(*lines: str) -> str:
    with pytest.raises(DocumentError) as caught:
        read_series("\n".join(lines).encode(), GIVEN)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("before", "mark", "after"),
    [
        ("", "> ", ""),
        ("", ">", ""),
        ("Ada wrote:", ">> ", "> Ada"),
        ("```", "", "```"),
        ("~~~ csv", "", "~~~"),
        ("[code]", "", "[/code]"),
        ("{code:title=x}", "", "{code}"),
        ("<pre>", "", "</pre>"),
    ],
)
def test_what_frames_a_copied_table_is_no_part_of_it(before: str, mark: str, after: str):
    rows = [f"{mark}{line}" for line in (HEAD, f"1;{BYTES};2,5", "2;;2,4")]
    series = read(before, *rows, after)
    assert [run.seconds for run in series.runs] == [2.5, 2.4]
    assert "`" not in series.note + series.title
    assert "code" not in series.note + series.title


def test_marks_of_an_e_mail_inside_of_a_note_stay():
    note = "> Run No is what I meant"
    assert read(f'Note;"first\n{note}"', HEAD, f"1;{BYTES};2,5").note == f"first\n{note}"


@pytest.mark.parametrize("cells", ["“1”;“100000000”;“2,5”", "„1“;„100000000“;„2,5“", "1;\u200b100000000;\u200e2,5"])
def test_quotes_of_typography_and_unseen_characters_around_a_number_are_no_part_of_it(cells: str):
    assert seconds(HEAD, cells) == [2.5]


def test_a_number_that_quotes_of_typography_do_not_hold_together_is_refused():
    assert "quotes of typography" in refusal("Run No,Size in Bytes,Time (sec)", f"1,{BYTES},“2,5”")


@pytest.mark.parametrize("row", [f"2,{BYTES},2.4", f"2\t{BYTES}\t2,4", f"2   {BYTES}   2.4", f"2|{BYTES}|2.4"])
def test_a_row_whose_cells_are_separated_otherwise_is_never_taken_for_a_text(row: str):
    assert "line 3" in refusal(HEAD, f"1;{BYTES};2,5", row, "3;;2,6")


@pytest.mark.parametrize("text", ["2 users were on", ";;2,4", "2026-01-31, 10", "see runs 1, 2", "2, by night"])
def test_a_text_below_the_table_is_no_row_that_a_copy_broke(text: str):
    assert seconds(HEAD, f"1;{BYTES};2,5", text) == [2.5]


def test_runs_behind_a_quote_that_nothing_closes_are_not_lost_in_a_remark():
    head = f"{HEAD};Remark"
    assert "quote that nothing closes" in refusal(head, f'1;{BYTES};2,5;"cold', "2;;2,4;", "3;;2,6;")
    assert "quote that nothing closes" in refusal(head, f'1;{BYTES};2,5;"', '2;;2,4;"', "3;;2,6;")
    series = read(head, f'1;{BYTES};2,5;"cold\n2 users were on"', '2;;2,4;2.5" disk')
    assert [run.seconds for run in series.runs] == [2.5, 2.4]


@pytest.mark.parametrize(
    "name",
    [
        "3 Mittelwert",
        "5 runs average",
        "3x average",
        "3er-Mittel",
        "2 (mean)",
        "90th percentile",
        "95. Perzentil",
        "1+2",
        "1..3",
        "1 to 3",
        "10 Gbit",
        "1 GbE",
        "4 MiB",
        "3 max",
        "5 Min",
        "3 Läufe Ø",
    ],
)
def test_a_number_before_what_is_no_run_makes_none(name: str):
    assert run_name_in(name) is None
    series = read(HEAD, f"1;{BYTES};2,5", f"{name};;2,4")
    assert [run.number for run in series.runs] == [1]
    assert "is no run" in str(series.environment)


@pytest.mark.parametrize("name", ["3 (cold)", "2nd", "3 meanwhile a backup", "1 of 5", "1/5", "4 to the branch", "2b"])
def test_a_number_before_a_mark_is_a_run(name: str):
    assert run_name_in(name) is not None


@pytest.mark.parametrize("mark", ["\u0336", "ungültig", "(verworfen)", "- annulé", "inválido"])
def test_a_mark_in_another_language_leaves_a_run_out(mark: str):
    series = read(HEAD, f"1;{BYTES};2,5", f"2 {mark};;9,9")
    assert [run.status for run in series.runs] == [RunStatus.VALID, RunStatus.REJECTED]


@pytest.mark.parametrize(
    ("remark", "is_left_out"),
    [("discarded", True), ("nicht gewertet", True), ("invalid.", True), ("a failed login before", False), ("", False)],
)
def test_a_remark_that_says_nothing_else_leaves_a_run_out(remark: str, is_left_out: bool):
    assert leaves_out(remark) is is_left_out
    status = read(f"{HEAD};Remark", f"1;{BYTES};2,5;{remark}").runs[0].status
    assert (status is RunStatus.REJECTED) is is_left_out
    status = read(f"{HEAD};Status;Remark", f"1;{BYTES};2,5;valid;{remark}").runs[0].status
    assert status is RunStatus.VALID


@pytest.mark.parametrize(
    ("size", "is_read"),
    [
        ("1,07E+09", False),
        ("1,073741824E+09", True),
        ("1,07", False),
        ("100000000,5", False),
        ("100000000,00", True),
    ],
)
def test_a_size_without_all_of_its_bytes_is_refused(size: str, is_read: bool):
    if is_read:
        assert seconds(HEAD, f"1;{size};2,5") == [2.5]
    else:
        assert "line 2: Size in Bytes" in refusal(HEAD, f"1;{size};2,5")


@pytest.mark.parametrize(
    ("headings", "row", "is_read"),
    [
        ("Run No;Size in Bytes;Time", f"1;{BYTES};0,00049", False),  # 204 GB/s: a part of a day
        ("Run No;Size in Bytes;Time", f"1;{BYTES};0,00051", True),
        ("Run No;Size in Bytes;Bytes/sec", f"1;{BYTES};117,7", False),
        ("Run No;Size in Bytes;Bytes/sec", f"1;{BYTES};10000", True),
        ("Run No;Size in Bytes;Bytes/sec", "1;100000;117,7", True),
        ("Run No;Size in Bytes;Bits/sec", f"1;{BYTES};941,5", False),
    ],
)
def test_a_speed_that_no_server_has_asks_for_the_unit(headings: str, row: str, is_read: bool):
    if is_read:
        assert len(seconds(headings, row)) == 1
    else:
        assert "unit" in refusal(headings, row)


@pytest.mark.parametrize("headings", ["Run No;Size in Bytes;Time (sec);Time (sec)", "Run;Bytes;Seconds;Time (ms)"])
def test_two_columns_of_one_meaning_are_refused_where_they_differ(headings: str):
    assert "two columns" in refusal(headings.replace("Time (ms)", "Time (sec)"), f"1;{BYTES};2,5;9,9")
    assert seconds(headings, f"1;{BYTES};2,5;") == [2.5]


def test_two_tables_side_by_side_are_refused():
    assert "two columns" in refusal(f"{HEAD};;{HEAD}", f"1;{BYTES};2,5;;1;{BYTES};9,9")


@pytest.mark.parametrize("heading", ["Time (sec)", "Duration (s)"])
def test_a_time_of_the_day_beside_a_time_in_seconds_is_left_out_by_name(heading: str):
    series = read(f"Date;Time;Run No;Size in Bytes;{heading}", f"31.01.2026;10:30;1;{BYTES};2,5")
    assert [run.seconds for run in series.runs] == [2.5]
    assert "'Time'" in str(series.environment)


@pytest.mark.parametrize("text", ["0:12,5", "00:00:12", "1m23s", "1h 2m", "1 min 23 s"])
def test_a_time_with_minutes_is_asked_for_in_seconds(text: str):
    assert "in seconds alone" in refusal(HEAD, f"1;{BYTES};{text}")


@pytest.mark.parametrize(
    ("headings", "row", "size", "time"),
    [
        ("Lauf;Größe (MiB);Zeit (s)", "1;512;4,4", 2**29, 4.4),
        ("Durchlauf;Dateigröße in Bytes;Dauer in Sekunden", "1;1000000;4,4", 10**6, 4.4),
        ("Essai;Taille (Mio);Durée (s)", "1;512;4,4", 2**29, 4.4),
        ("Essai;Taille (octets);Débit (Mbit/s)", "1;100000000;400", 10**8, 2.0),
        ("Прогон;Размер (МиБ);Скорость (Мбит/\N{CYRILLIC SMALL LETTER ES})", "1;512;2147,483648", 2**29, 2.0),
        ("Run;Size MiB;Time ms", "1;512;4400", 2**29, 4.4),
        ("run,size_MiB,elapsed_ms", "1,512,4400", 2**29, 4.4),
        ("Run;Size / MiB;Time / s", "1;512;4,4", 2**29, 4.4),
        (HEAD, "Lauf 1;1000000;4,4 Sek.", 10**6, 4.4),
    ],
)
def test_headings_of_other_countries_that_name_their_unit_are_read(headings: str, row: str, size: int, time: float):
    (run,) = read(headings, row).runs
    assert (run.number, run.size_bytes) == (1, size)
    assert run.seconds == pytest.approx(time)


@pytest.mark.parametrize(
    ("heading", "unit"), [("Taille (Mo)", "Mo"), ("Size MB", "MB"), ("Размер (МБ)", "МБ"), ("Size (ko)", "ko")]
)
def test_a_unit_of_another_country_that_is_open_is_named(heading: str, unit: str):
    assert f"{unit} may be 1," in refusal(f"Run;{heading};Time (s)", "1;512;4,4")


def test_a_link_without_a_unit_is_asked_for_one():
    assert "has no unit" in refusal("Link;1000", HEAD, f"1;{BYTES};2,5")
    assert read("Link;1000000", HEAD, f"1;{BYTES};2,5").link_bits_per_second == 10**6
    assert read("Link;64 kb/s", HEAD, f"1;{BYTES};2,5").link_bits_per_second == 64_000


def test_what_we_exported_is_read_whatever_its_speeds_and_notes_are():
    exported = replace(book_series(), note="> Run No\n```\n1;2;3")
    (again,) = read_series(export([exported], "csv"), GIVEN)
    assert again.note.splitlines() == exported.note.splitlines()
    assert [run.seconds for run in again.runs] == [run.seconds for run in exported.runs]


def test_a_run_that_is_commented_out_is_left_out_by_name():
    series = read(HEAD, f"1;{BYTES};2,5", "#2;;9,9")
    assert [run.number for run in series.runs] == [1]
    assert "'#2' is no run" in str(series.environment)
    assert [run.number for run in read(HEAD, f"#1;{BYTES};2,5", "#2;;2,4").runs] == [1, 2]


def test_a_rate_without_its_last_digits_is_known_no_better():
    assert "time_rounding" in str(read("Run No;Size in Bytes;Bytes/sec", f"1;{BYTES};1,18E+08").environment)
    assert "time_rounding" not in str(read("Run No;Size in Bytes;Bytes/sec", f"1;{BYTES};118000000").environment)
