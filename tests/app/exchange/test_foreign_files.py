"""Files of other programs are named as what they are, with what to do instead; UTF-16 is read."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.base.targets import parse_target
from forms.importers.filled_form import FormDefaults
from storage.json_reader import DocumentError
from tests.builders import book_series, export, full_series, read_series
from tests.command_line import Inside

GIVEN = FormDefaults(target_of=parse_target)
TABLE = "Run No;Size in Bytes;Time (sec);Remark\n1;1812898;2,3;für später\n"


def archive(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name in names:
            file.writestr(name, "x")
    return content.getvalue()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_text_in_utf_16_is_read_with_its_mark_or_without(encoding: str, mark: str):
    if mark and encoding in {"utf-16", "utf-8-sig", "utf-8"}:
        mark = ""
    (series,) = read_series((mark + TABLE).encode(encoding), GIVEN)
    assert (series.runs[0].seconds, series.note) == (2.3, "run 1: für später")
    document = export([full_series()], "json").decode()
    assert read_series((mark + document).encode(encoding), GIVEN)[0].runs == full_series().runs


def words_alone(value: object) -> str:
    """The name of a case: its content may have the time in it, and every process that tests has to find the same."""
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: export([book_series()], "xlsx"), "workbook"),
        (lambda: export([book_series()], "xlsx")[:3000], "workbook"),
        (lambda: archive("mimetype", "content.xml", "meta.xml"), "workbook"),
        (lambda: archive("Index/Document.iwa"), "workbook"),
        (lambda: archive("form.csv"), "ZIP archive"),
        (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "document of Office"),
        (lambda: export([book_series()], "pdf"), "PDF"),
        (lambda: export([book_series()], "html"), "HTML"),
        (lambda: export([book_series()], "markdown"), "Markdown"),
        (lambda: export([book_series()], "text"), "terminal"),
        (lambda: gzip.compress(export([book_series()], "json")), "gzip"),
        (lambda: b"SQLite format 3\0", "notebook"),
        (lambda: b"\x89PNG\r\n\x1a\n", "picture"),
        (lambda: b"{\\rtf1\\ansi Run No}", "RTF"),
        (lambda: TABLE.encode("utf-32"), "UTF-32"),
        (lambda: TABLE.encode("utf-16") + b"\0", "UTF-16"),
        (lambda: bytes(range(256)), "no text"),
    ],
    ids=words_alone,
)
def test_a_file_that_is_no_form_is_named_as_what_it_is(make: Callable[[], bytes], words: str):
    content = make()
    with pytest.raises(DocumentError, match=words) as refusal:
        read_series(content, GIVEN)
    assert "\n" not in str(refusal.value)
    assert "…" not in str(refusal.value)


@pytest.mark.parametrize(
    ("document", "program"),
    [
        ({"start": {}, "intervals": [], "end": {"sum_sent": {}}}, "iperf3"),
        ({"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}, "iperf3"),
        ({"fio version": "fio-3.33", "timestamp": 1, "jobs": [{}], "disk_util": []}, "fio"),
        ({"results": [{"command": "cp a b", "mean": 1.5, "times": [1.5]}]}, "hyperfine"),
        ({"timestamp": "x", "version": "4.17", "smb_conf": "/etc/samba/smb.conf", "sessions": {}}, "smbstatus"),
        ({"sysstat": {"hosts": []}}, "sysstat"),
        ({"something": 1}, "another program"),
    ],
)
def test_json_of_another_program_is_named_as_that(document: dict[str, object], program: str):
    for text, place in ((json.dumps(document), ""), (json.dumps([document]), r"\[0\]\.")):
        with pytest.raises(DocumentError, match=f"^{place}it is JSON of .*{program}") as refusal:
            read_series(text.encode(), GIVEN)
        assert "…" not in str(refusal.value)


def test_what_a_note_holds_makes_no_other_file_of_a_form():
    note = "| a | b |\n|---|---|\n<html>\nRun No   Size in Bytes   Time (sec)"
    form = f'Note;"{note}"\n{TABLE}'
    (series,) = read_series(form.encode(), GIVEN)
    assert series.note.startswith(note)


def test_the_command_says_it_in_one_line_and_stores_nothing(tmp_path: Path):
    here = Inside(tmp_path / "a.db", None)
    for name, content in {
        "a.xlsx": export([book_series()], "xlsx"),
        "fio.json": b'{"fio version": "3", "jobs": []}',
    }.items():
        file = tmp_path / name
        file.write_bytes(content)
        answer = here("import", str(file))
        assert answer.returncode == 2
        assert answer.stderr.count("\n") == 1
        assert str(file) in answer.stderr
    assert "Traceback" not in here("list").stderr


def test_the_command_takes_the_decimal_sign_and_names_what_it_left_out(tmp_path: Path):
    here = Inside(tmp_path / "a.db", None)
    file = tmp_path / "form.tsv"
    file.write_text("Run No\tTime (sec)\n1\t2,244\n2\t2,235\nwarmer\t2,111\n")
    assert here("import", str(file), "--size", "1M").returncode == 2
    assert here("import", str(file), "--size", "1M", "--decimal", ";").returncode == 2

    answer = here("import", str(file), "--size", "1M", "--decimal", ",", "--json")
    assert answer.returncode == 0
    assert "warmer" in answer.stderr
    shown = json.loads(here("show", json.loads(answer.stdout)["imported"][0], "--json").stdout)
    assert [run["seconds"] for run in shown["runs"]] == [2.244, 2.235]


def with_note(note: str) -> str:
    return f"Note;{note}\nRun No;Size in Bytes;Time (sec)\n1;1812898;2,3\n"


@pytest.mark.parametrize(
    ("note", "encoding"),
    [
        ("Größe für Käse", "cp1252"),
        ("Größe", "iso8859_15"),
        ("Größe Käse", "cp850"),
        ("für", "cp437"),
        ("Größe", "mac_roman"),
        ("5\N{NO-BREAK SPACE}000 °C", "cp1252"),
        ("1\N{NO-BREAK SPACE}234", "mac_roman"),
        ("žluťoučký kůň", "cp1250"),
        ("Скорость файла", "cp866"),
        ("Ääni", "cp1252"),
        ("ação", "cp1252"),
    ],
)
def test_a_form_in_the_code_of_a_country_is_read_where_it_is_certain(note: str, encoding: str):
    (series,) = read_series(with_note(note).encode(encoding), GIVEN)
    assert series.note == note


@pytest.mark.parametrize(
    ("note", "encoding"),
    [
        ("très élevé", "cp1252"),  # Czech in another code
        ("Käse", "cp1252"),  # Portuguese
        ("café", "cp1252"),
        ("Prędkość", "cp1250"),
        ("Скорость", "cp1251"),
        ("Ελλάδα", "cp1253"),
        ("ファイルサーバー", "cp932"),
        ("大小 文件", "gbk"),
        ("크기", "cp949"),
    ],
)
def test_a_form_in_the_code_of_a_country_is_never_read_as_another_text(note: str, encoding: str):
    notes: list[str] = []
    refusals: list[str] = []
    try:
        notes += [series.note for series in read_series(with_note(note).encode(encoding), GIVEN)]
    except DocumentError as refusal:
        refusals.append(str(refusal))
    assert notes in ([], [note])
    assert notes or "CSV UTF-8" in refusals[0]


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB) copied, 9.1 s, 118 MB/s\n", "dd"),
        ("8+0 Datens\u00e4tze ein\n8+0 Datens\u00e4tze aus\n8388608 Bytes kopiert, 0,1 s, 84 MB/s\n", "dd"),
        ("sent 1,074,004,083 bytes  received 35 bytes  113,053,065.05 bytes/sec\n", "rsync"),
        ("[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    0   sender\n", "iperf"),
        ("[ ID] Interval           Transfer     Bitrate\n", "iperf"),
        ("  read: IOPS=112, BW=113MiB/s (118MB/s)(1125MiB/10001msec)\n", "fio"),
        ("thread |       bytes     |     I/Os     |    MiB/s   |\n", "DiskSpd"),
        ("   Speed :           118,000,000 Bytes/sec.\n", "Robocopy"),
        ("getting file \\big.iso of size 1073741824 as big.iso (113345.2 KiloBytes/sec)\n", "smbclient"),
        ("command,mean,stddev,median,user,system,min,max\ncp a b,9.1,0.1,9.1,0.1,1.2,9.0,9.2\n", "hyperfine"),
        ("real\t0m9.123s\nuser\t0m0.1s\n", "the shell's time"),
        ("cp a b  0,01s user 1,20s system 13% cpu 9,123 total\n", "the shell's time"),
        ("TotalSeconds      : 9,123\n", "the shell's time"),
        ("8388608 Bytes (8,4 MB, 8,0 MiB) kopiert, 0,0512 s, 164 MB/s\n", "dd"),
        ("8388608 bytes transferred in 0.051212 secs (163801608 bytes/sec)\n", "dd"),
        ("sending incremental file list\nbig.iso\n", "rsync"),
        ("   Geschwindigkeit:           117.123.456 Bytes/Sek.\n", "Robocopy"),
        ("3;fio-3.33;seqread;0;0;1048576;104857;102;10000\n", "fio"),
        ("fio: not supported\n{}\n", "fio"),
        ("<Results>\n  <System>\n", "DiskSpd"),
        ("big.iso      100% 1024MB 112.3MB/s   00:09\n", "scp"),
        ("1.00GiB 0:00:09 [ 113MiB/s] [======>] 100%\n", "pv"),
        ("'Test Type,Test Description\n0,\n", "Iometer"),
        (" Timing buffered disk reads: 560 MB in  3.00 seconds = 186.55 MB/sec\n", "hdparm"),
        ("1.98,1.98,files,1,1700000000,8G,,8192,5,541\n", r"bonnie\+\+"),
        ("ISO date,label,path type,paths,hosts\n", "elbencho"),
        ("1073741824 bytes received in 9.12 secs (112.2 MB/s)\n", "an FTP program"),
    ],
)
def test_what_another_program_prints_is_called_so(text: str, program: str):
    with pytest.raises(DocumentError, match=rf"^it is what {program} prints, .*write its sizes and times into a form"):
        read_series(text.encode(), GIVEN)


def test_what_a_program_printed_may_stand_above_a_form():
    above = "1024+0 records in\n1024+0 records out\n"
    (series,) = read_series(f"{above}{TABLE}".encode(), GIVEN)
    assert series.runs[0].seconds == 2.3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  | Run | Size in Bytes | Time (s) |\n  |----+----+----|\n  | 1 | 1812898 | 2.3 |\n", "Markdown"),
        ("Run No|Size in Bytes|Time (sec)\n1|1812898|2.3\n", "lines drawn between its cells"),
        ("\u2502 Run \u2502 Time (s) \u2502\n", "lines drawn between its cells"),
        ('"Run No;Size in Bytes;Time (sec)"\n"1;1812898;2,3"\n', "in quotes as a whole"),
        ("My runs\n<table><tr><th>Run</th></tr></table>\n", "HTML"),
    ],
)
def test_a_table_whose_cells_are_drawn_is_called_so(text: str, words: str):
    with pytest.raises(DocumentError, match=f"{words}.*separate its cells by commas") as refusal:
        read_series(text.encode(), GIVEN)
    assert "\n" not in str(refusal.value)


def test_a_frame_with_a_bracket_begins_no_json():
    for before, after in (("[code]", "[/code]"), ("{code}", "{code}")):
        (series,) = read_series(f"{before}\n{TABLE}{after}\n".encode(), GIVEN)
        assert (series.runs[0].seconds, series.title) == (2.3, "")
    for document in (b"[{", b'{"code": 1', b'["code'):
        with pytest.raises(DocumentError, match="not JSON"):
            read_series(document, GIVEN)
