"""Files of other programs, told as what they are, and text in UTF-16 as UTF-8."""

import codecs
import io
import re
import zipfile
from typing import Any

from app.exchange import ansi_text
from storage.json_reader import DocumentError

_SAVE_AS_CSV = "save its sheet as CSV UTF-8, and import that file"
_EXPORT_AGAIN = "export it again with --format json or --format csv, and import that file"
_SEPARATE_CELLS = "separate its cells by commas, semicolons or tabs"
_TAKE_TO_THE_FORM = (
    "write its sizes and times into a form (`sharebench export --blank --format csv -o FORM.csv`), and import that"
)

_BEGINNINGS = {
    b"\xd0\xcf\x11\xe0": f"it is an old workbook (.xls), or another document of Office; {_SAVE_AS_CSV}",
    b"%PDF": f"it is a PDF, which is for reading: {_EXPORT_AGAIN}",
    b"\x1f\x8b": "it is compressed by gzip: unpack it, and import the file inside",
    b"\xfd7zXZ": "it is compressed by xz: unpack it, and import the file inside",
    b"(\xb5/\xfd": "it is compressed by zstd: unpack it, and import the file inside",
    b"BZh": "it is compressed by bzip2: unpack it, and import the file inside",
    b"SQLite format 3": "it is a notebook: import it by the name of its file, not through a pipe",
    b"\x89PNG": "it is a picture; type its numbers into a form",
    b"\xff\xd8\xff": "it is a picture; type its numbers into a form",
    b"{\\rtf": "it is a text with fonts (RTF); save it as plain text in UTF-8, with a comma between the cells",
}
"""What a file is, and what to do instead, by the bytes that it begins with."""

_ARCHIVE = b"PK\x03\x04"
_PARTS_OF_WORKBOOKS = ("xl/", "Index/", "content.xml")
"""Files inside of .xlsx, .numbers and .ods, which are ZIP archives."""

_FORMS_FOR_READING = {
    "a page (HTML or XML)": re.compile(
        rb"\A\s*<(?:!doctype html|html|\?xml|table|meta|head|body|div)|^\s*<(?:table|tr|td)[ >]",
        re.IGNORECASE | re.MULTILINE,
    ),
    "a form as the terminal shows it": re.compile(rb"^ *Run No +Size in Bytes +Time \(sec\)", re.MULTILINE),
    "a table in Markdown": re.compile(rb"^[ \t]*\|.*\|[ \r]*\n[ \t]*\|[ :|+-]+\|", re.MULTILINE),
}
"""What a text is in which no form was found, by what it has near its beginning."""

_OTHER_TABLES = {
    "a table with lines drawn between its cells": re.compile(
        rb"^[ \t]*[^|\n]*\|[^|\n]*\||^[ \t]*(?:\+-+)+\+|^[ \t]*(?:\xe2\x94\x82|\xe2\x95\x91)", re.MULTILINE
    ),
    "a table whose lines are in quotes as a whole": re.compile(
        rb"\A\"[^\"\n]*[,;\t][^\"\n]*[,;\t][^\"\n]*\"[ \r]*\n\""
    ),
}
"""What a table may be that no program is known for."""

_TEXTS_OF_PROGRAMS = {
    "dd": re.compile(
        rb"^\d+\+\d+ \S+.*\n\d+\+\d+ |^\d+ (?:bytes?|octets)\b[^,\n]*(?:\([^)\n]*\))?[^,\n]*,"
        rb" [\d.,e-]+ s, [\d.,]+ [kMGT]?B/s"
        rb"|^\d+ bytes transferred in [\d.]+ secs",
        re.MULTILINE | re.IGNORECASE,
    ),
    "rsync": re.compile(
        rb"^(?:total size is .* speedup is|sent [\d.,]+\S* bytes +received|sending incremental file list"
        rb"| +[\d.,]+ +\d+% +[\d.,]+[kMG]B/s)",
        re.MULTILINE,
    ),
    "iperf": re.compile(rb"^\[ *(?:ID|SUM|\d+)\].*(?:Interval|bits/sec)", re.MULTILINE),
    "fio": re.compile(rb"^fio[-:] ?|: \(g=\d+\): rw=|^ +(?:read|write): IOPS=|^\d;fio-\d", re.MULTILINE),
    "DiskSpd": re.compile(
        rb"diskspd|^thread \| +bytes +\| +I/Os|\A\s*<Results>\s*<System>", re.MULTILINE | re.IGNORECASE
    ),
    "Robocopy": re.compile(
        rb"ROBOCOPY|^ *\S+ ?: +[\d.,]+ (?:Bytes/s(?:ec)?|Bytes/Sek|Mega-?bytes?/min|Octets/s)",
        re.MULTILINE | re.IGNORECASE,
    ),
    "smbclient": re.compile(rb"^(?:getting|putting) file .*\([\d.,]+ [Kk]", re.MULTILINE),
    "hyperfine": re.compile(rb"^command,mean,stddev|^Benchmark \d+:|^ +Time \(mean", re.MULTILINE),
    "curl": re.compile(rb"% Total +% Received"),
    "wget": re.compile(rb"\([\d.,]+ [KMG]B/s\) - |^--\d{4}-\d\d-\d\d \d\d:\d\d:\d\d--  ", re.MULTILINE),
    "the shell's time": re.compile(
        rb"^real[\t ]+\d|[\d.,]+s user [\d.,]+s system|[\d.]+user [\d.]+system|^Executed in +[\d.]+|^TotalSeconds +:",
        re.MULTILINE,
    ),
    "iozone": re.compile(rb"^ +kB +reclen +write|\A\"Writer report\"", re.MULTILINE),
    "bonnie++": re.compile(rb"^Version +[\d.]+ +-+Sequential Output|\A[\d.]+,[\d.]+,[^,\n]*,\d+,\d+,", re.MULTILINE),
    "Iometer": re.compile(rb"^'Test Type,Test Description", re.MULTILINE),
    "ATTO": re.compile(rb"ATTO Disk Benchmark"),
    "AS SSD": re.compile(rb"AS SSD Benchmark"),
    "HD Tune": re.compile(rb"^HD Tune", re.MULTILINE),
    "hdparm": re.compile(rb"^ Timing (?:cached|buffered)", re.MULTILINE),
    "sysbench": re.compile(rb"^sysbench \d", re.MULTILINE),
    "elbencho": re.compile(rb"^ISO date,label,path type|^OPERATION +RESULT TYPE", re.MULTILINE),
    "scp": re.compile(rb"^\S.* +100% +[\d.]+[KMG]?B +[\d.]+[KMG]B/s +\d\d:\d\d", re.MULTILINE),
    "pv": re.compile(rb"^ *[\d.,]+[KMGT]i?B +\d+:\d\d:\d\d +\[", re.MULTILINE),
    "rclone": re.compile(rb"^Transferred: ", re.MULTILINE),
    "NTttcp": re.compile(rb"^ *Thread +Time\(s\) +Throughput", re.MULTILINE),
    "an FTP program": re.compile(rb"^226 |^\d+ bytes (?:received|sent|transferred) in ", re.MULTILINE),
    "NAS performance tester": re.compile(rb"^Iteration \d+: +[\d.,]+ MB/s", re.MULTILINE),
}
"""What other programs print, by lines of it."""

_KEYS_OF_PROGRAMS = {
    "iperf3 --json": {"start", "intervals", "end"},
    "fio --output-format=json": {"fio version", "jobs"},
    "hyperfine --export-json": {"results"},
    "smbstatus --json": {"smb_conf", "version"},
    "lsblk --json": {"blockdevices"},
    "sysstat (sadf, mpstat, iostat)": {"sysstat"},
    "k6": {"root_group", "metrics"},
}
"""What the documents of other programs have at their top, by how they are made."""

_FRAME_WITH_BRACKET = re.compile(rb"\[code|\{(?:code|noformat|\|)", re.IGNORECASE)
"""What begins a text that was copied from a forum, and no JSON."""

_BYTES_LOOKED_AT = 4096
_MOST_NULS = 0.4
"""The share of NUL among every other byte from which on it is UTF-16; in a table of numbers it is all of them."""
_FEWEST_NULS = 0.25
"""The share up to which NUL may be among the bytes between those: of signs such as ─ (U+2500). In UTF-32 it is half."""


def utf_8_of(content: bytes) -> bytes:
    """The content, in UTF-8 if it is UTF-16, as Excel and PowerShell write it. Raises DocumentError."""
    encoding = _encoding_of(content)
    if encoding is None:
        return content
    if encoding == "utf-32":
        raise DocumentError("it is text in UTF-32: save it as CSV UTF-8, and import that file")

    try:
        return content.decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"it begins as text in UTF-16, and byte {error.start} is none: save it as CSV UTF-8, and import that file"
        ) from error


def utf_8_of_country(content: bytes) -> bytes | None:
    """A table in the 8-bit code of a country, in UTF-8; None for anything else. Raises DocumentError where it is open.

    JSON has no such codes.
    """
    if b"\0" in content or content.lstrip()[:1] in {b"{", b"["}:
        return None
    return ansi_text.utf_8_of(content)


def _encoding_of(content: bytes) -> str | None:
    """UTF-16 or UTF-32 by the mark at the beginning, or by its zeros; None for anything else."""
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"

    start = content[:_BYTES_LOOKED_AT]
    first_share = _share_of_nuls(start[::2])
    second_share = _share_of_nuls(start[1::2])
    if second_share > _MOST_NULS and first_share < _FEWEST_NULS:
        return "utf-16-le"
    if first_share > _MOST_NULS and second_share < _FEWEST_NULS:
        return "utf-16-be"
    return None


def _share_of_nuls(content: bytes) -> float:
    return content.count(0) / max(1, len(content))


def refuse_other_files(content: bytes) -> None:
    """Raises DocumentError for a file that is no text, which says what it is and what to do instead."""
    for beginning, text in _BEGINNINGS.items():
        if content.startswith(beginning):
            raise DocumentError(text)
    if content.startswith(_ARCHIVE):
        raise DocumentError(_archive_in_words(content))


def may_be_json(content: bytes) -> bool:
    """Whether a text begins as JSON does."""
    start = content.removeprefix(codecs.BOM_UTF8).lstrip()[:10]
    return start[:1] in {b"{", b"["} and not _FRAME_WITH_BRACKET.match(start)


def form_for_reading(content: bytes) -> str:
    """What the text is in which no table was found, and what to do instead; empty where nobody knows."""
    start = content[:_BYTES_LOOKED_AT].removeprefix(codecs.BOM_UTF8)
    for name, pattern in _FORMS_FOR_READING.items():
        if pattern.search(start):
            return f"it is {name}, which is for reading: {_EXPORT_AGAIN}; if you wrote it, {_SEPARATE_CELLS}"

    program = text_of_program(content)
    tables = [name for name, pattern in _OTHER_TABLES.items() if not program and pattern.search(start)]
    return program or (f"it is {tables[0]}: {_SEPARATE_CELLS}" if tables else "")


def text_of_program(content: bytes) -> str:
    """Which other program printed the text, and what to do with it; empty where nobody knows."""
    start = content[:_BYTES_LOOKED_AT].removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")
    for name, pattern in _TEXTS_OF_PROGRAMS.items():
        if pattern.search(start):
            return f"it is what {name} prints, not a form of sharebench: {_TAKE_TO_THE_FORM}"
    return ""


def _archive_in_words(content: bytes) -> str:
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        # The end is missing, where its names are; most that people have here are workbooks.
        names = list(_PARTS_OF_WORKBOOKS)
    if any(name.startswith(_PARTS_OF_WORKBOOKS) for name in names):
        return f"it is a workbook; {_SAVE_AS_CSV}"
    return "it is a ZIP archive: unpack it, and import the file inside"


def bytes_in_words(content: bytes, error: DocumentError) -> DocumentError:
    """The error for bytes that are no UTF-8, in a spreadsheet's words if it is a table."""
    if b"\0" in content[:_BYTES_LOOKED_AT]:
        return DocumentError(f"it is no text ({error}): expected JSON or CSV that `sharebench export` wrote, or a form")
    return DocumentError(f"{error}: save it as CSV UTF-8, and import that file")


def check_document(document: Any) -> None:
    """Raises DocumentError for JSON of another program."""
    if not isinstance(document, dict) or "schema" in document:
        return
    for program, keys in _KEYS_OF_PROGRAMS.items():
        if keys <= document.keys():
            raise DocumentError(f"it is JSON of {program}, not of sharebench: {_TAKE_TO_THE_FORM}")
    if document:
        raise DocumentError(f"it is JSON of another program, without a schema of sharebench: {_TAKE_TO_THE_FORM}")
