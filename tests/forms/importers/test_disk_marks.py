"""The text results of CrystalDiskMark and KDiskMark, in the form in which these programs write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.base.targets import parse_target
from forms.importers.disk_marks import is_disk_mark, quick_test_from_disk_mark
from forms.importers.filled_form import FormDefaults
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.quick.records import MIB, Quick, quick_of, recording_of_quick
from storage.records import Command, SeriesStatus, Target
from tests.command_line import Inside
from tests.quick_tests import RND_Q1, RND_Q32, SEQ_Q1, SEQ_Q8, quick_test

DEFAULTS = FormDefaults(target_of=parse_target)

CRYSTAL = """\
------------------------------------------------------------------------------
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
                                  Crystal Dew World: https://crystalmark.info/
------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
  SEQ    1MiB (Q=  8, T= 1):   117.123 MB/s [    111.7 IOPS] < 71412.34 us>
  SEQ    1MiB (Q=  1, T= 1):    92.004 MB/s [     87.7 IOPS] < 11391.02 us>
  RND    4KiB (Q= 32, T= 1):    58.310 MB/s [  14235.8 IOPS] <  2240.12 us>
  RND    4KiB (Q=  1, T= 1):    11.902 MB/s [   2905.8 IOPS] <   343.77 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):   115.870 MB/s [    110.5 IOPS] < 72101.55 us>
  SEQ    1MiB (Q=  1, T= 1):    88.412 MB/s [     84.3 IOPS] < 11855.30 us>
  RND    4KiB (Q= 32, T= 1):    40.250 MB/s [   9826.7 IOPS] <  3250.40 us>
  RND    4KiB (Q=  1, T= 1):    10.112 MB/s [   2468.8 IOPS] <   404.61 us>

Profile: Default
   Test: 1 GiB (x5) [Z: 45% (1654/3667GiB)]
   Mode: [Admin]
   Time: Measure 5 sec / Interval 5 sec\x20
   Date: 2026/01/31 9:05:12
     OS: Windows 11 Pro 24H2 [10.0 Build 26100] (x64)
Comment: old switch
"""

KDE = """\
                   KDiskMark (3.1.4): https://github.com/JonMagon/KDiskMark
             Flexible I/O Tester (fio-3.36): https://github.com/axboe/fio
--------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
 Sequential   1 MiB (Q=  8, T= 1):   114.378 MB/s [    111.7 IOPS] < 71412.34 us>
     Random   4 KiB (Q= 32, T= 1):    56.944 MB/s [  14236.0 IOPS] <  2240.12 us>

[Write]
 Sequential   1 MiB (Q=  8, T= 1):   113.150 MB/s [    110.5 IOPS] < 72101.55 us>
     Random   4 KiB (Q= 32, T= 1):     0.000 MB/s [      0.0 IOPS] <     0.00 us>

[Mix] Read 70%/Write 30%
 Sequential   1 MiB (Q=  8, T= 1):    99.000 MB/s [     96.7 IOPS] < 71412.34 us>

Profile: Default [+Mix]
   Test: 512 MiB (x3) [Measure: 5 sec / Interval: 5 sec]
   Date: 2026-01-31 21:05:12
     OS: debian 13 [linux 6.12.41]
 Target: /mnt/nas (45% 1654/3667 GiB)
"""


def read(text: str, defaults: FormDefaults = DEFAULTS) -> Quick:
    assert is_disk_mark(text)
    return quick_test_from_disk_mark(text, defaults)


def test_a_result_of_crystaldiskmark_is_read_whole():
    quick = read(CRYSTAL)
    assert quick.program == "CrystalDiskMark 8.0.4 x64"
    assert (quick.created_at, quick.file_bytes, quick.status) == (
        "2026-01-31T09:05:12.000Z",
        1024 * MIB,
        SeriesStatus.COMPLETE,
    )
    rates = {(line.access, line.command): line.best_bytes_per_second for line in quick.lines}
    assert rates[SEQ_Q8, Command.GET] == pytest.approx(117.123e6)
    assert rates[RND_Q1, Command.PUT] == pytest.approx(10.112e6)
    assert set(rates) == {(access, command) for access in (SEQ_Q8, SEQ_Q1, RND_Q32, RND_Q1) for command in Command}
    first = quick.line(SEQ_Q8, Command.GET)
    assert first is not None
    assert first.best_request_seconds == pytest.approx(0.07141234)
    assert quick.note.startswith("Comment: old switch; Profile: Default; Test: 1 GiB (x5)")
    assert "Windows 11" in quick.note


def test_a_result_of_kdiskmark_has_its_megabytes_put_right():
    """It tells KiB/s over 1,000: 114.378 of its MB/s are 117.123."""
    quick = read(KDE)
    assert quick.program == "KDiskMark 3.1.4"
    assert quick.file_bytes == 512 * MIB
    assert [line.name for line in quick.lines] == ["SEQ1M Q8 read", "RND4K Q32 read", "SEQ1M Q8 write"]
    assert quick.lines[0].best_bytes_per_second == pytest.approx(117.123e6, rel=1e-4)
    assert quick.lines[1].best_bytes_per_second == pytest.approx(14236 * 4096, rel=1e-3)
    assert "/mnt/nas" in quick.note


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n", "\r\n"),
        ("  SEQ    1MiB", "Sequential 1MiB"),  # of version 7
        ("117.123 MB/s [    111.7", "117,123 MB/s [    111,7"),
        ("CrystalDiskMark 8.0.4 x64", "CrystalDiskMark 8.0.4 Shizuku Edition x64"),
    ],
)
def test_other_ways_to_write_it_are_read_alike(before: str, after: str):
    quick = read(CRYSTAL.replace(before, after))
    assert [line.best_bytes_per_second for line in quick.lines] == [
        line.best_bytes_per_second for line in read(CRYSTAL).lines
    ]


def test_other_profiles_have_their_own_lines():
    text = CRYSTAL.replace("RND    4KiB (Q= 32, T= 1)", "RND    4KiB (Q= 32, T=16)")
    names = [line.name for line in read(text).lines]
    assert "RND4K Q32T16 read" in names
    assert "RND4K Q32 read" not in names


def test_what_the_result_does_not_say_is_taken_from_the_options():
    target = Target(protocol="smb", host="nas", share="data")
    quick = read(CRYSTAL, FormDefaults(target_of=parse_target, target=target, link_bits_per_second=10**9))
    assert (quick.target, quick.link_bits_per_second) == (target, 10**9)
    dateless = "\n".join(line for line in CRYSTAL.splitlines() if "Date:" not in line and "Test:" not in line)
    assert read(dateless, FormDefaults(target_of=parse_target, size_bytes=5 * MIB)).file_bytes == 5 * MIB


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CRYSTAL.replace("IOPS] <", "<"), "CrystalDiskMark 8.0.4 x64 without a line"),
        (CRYSTAL.replace("[Read]", "").replace("[Write]", ""), "without a line"),
        (CRYSTAL + CRYSTAL[CRYSTAL.index("[Read]") :], "twice"),
        (CRYSTAL.replace("2026/01/31", "some day"), "Measured"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, words: str):
    with pytest.raises(DocumentError, match=words):
        read(text)


@pytest.mark.parametrize(
    "text", ["", "Run No,Size in Bytes\n1,5", '{"schema": "CrystalDiskMark"}', "see CrystalDiskMark"]
)
def test_other_texts_are_no_results(text: str):
    assert not is_disk_mark(text)


def test_what_steers_a_terminal_is_made_visible_and_a_comment_is_cut():
    quick = read(CRYSTAL.replace("old switch", "\x1b[2Jold" + "!" * 5000))
    assert "\x1b" not in quick.note
    assert len(quick.note) < 1000


def test_an_imported_result_is_kept_once_shown_and_compared(tmp_path: Path):
    inside = Inside(tmp_path / "notebook.db", None)
    file = tmp_path / "result.txt"
    file.write_bytes(CRYSTAL.encode("utf-16"))  # as the clipboard has it, pasted into an editor
    done = inside("import", str(file))
    assert done.returncode == 0, done.stderr
    with Notebook(inside.db) as notebook:
        imported = quick_of(notebook.recording("last"))
        notebook.add_recording(recording_of_quick(quick_test()))
    assert inside("rename", imported.id, "old switch").returncode == 0
    again = json.loads(inside("import", str(file), "--json").stdout)
    assert again == {"imported": [], "already_there": [imported.id]}

    shown = inside("show", imported.id).stdout
    assert "CrystalDiskMark 8.0.4 x64" in shown
    assert "117.1" in shown
    compared = inside("compare", imported.id, "aa77aa77aa77")
    assert compared.returncode == 3
    assert "CrystalDiskMark 8.0.4 x64" in compared.stdout
    assert inside("export", imported.id, "--format", "html", "-o", str(tmp_path / "form.html")).returncode == 0


def test_an_older_result_is_refused_in_a_line(tmp_path: Path):
    file = tmp_path / "result.txt"
    file.write_text(
        "CrystalDiskMark 5.1.2 x64 (C) 2007-2016 hiyohiyo\n  Sequential Read (Q= 32,T= 1) :   559.846 MB/s\n"
    )
    done = Inside(tmp_path / "notebook.db", None)("import", str(file))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
