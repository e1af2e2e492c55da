"""Reads what CrystalDiskMark and KDiskMark copy to the clipboard or save as text, as a quick test to hold beside ours.

Both write a heading with program and version, then lines such as
``SEQ    1MiB (Q=  8, T= 1):   117.123 MB/s [    111.7 IOPS] < 71412.34 us>`` under ``[Read]`` and ``[Write]``, and what
was asked for. They tell the best of several runs. Sources: DiskMarkDlg.cpp of CrystalDiskMark 8 (``SaveText``),
mainwindow.cpp of KDiskMark 3 (``getTextBenchmarkResult``).
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from forms.importers import moments
from forms.importers.filled_form import FormDefaults
from forms.layout import visible
from storage import records
from storage.json_reader import DocumentError
from storage.quick.records import MIB, Access, Quick, QuickLine

# The blanks before it are of its own line, and a name is short: else a file of empty lines, or a line of blanks, would
# be looked through to its end from each place in it.
_HEADING = re.compile(
    r"^[^\S\n]*(?:(CrystalDiskMark [^(\r\n]{1,200})\(C\)|KDiskMark \(([^)\r\n]{1,200})\)[^\S\n]*:)", re.MULTILINE
)
_LINE = re.compile(
    r"^\s*(?P<order>SEQ|RND|Sequential|Random)\s+(?P<size>\d+)\s*(?P<unit>KiB|MiB)"
    r"\s*\(Q=\s*(?P<queues>\d+),\s*T=\s*(?P<threads>\d+)\)\s*:"
    r"\s*(?P<rate>\d+[.,]\d{3}) MB/s\s*\[\s*(?P<operations>\d+[.,]\d+) IOPS\]\s*<\s*(?P<microseconds>\d+[.,]\d+) us>"
)
"""The decimals are as many as the program writes, so that a comma before them separates no thousands."""
_SECTION = re.compile(r"^\s*\[(Read|Write|Mix)\]", re.IGNORECASE)
_TEST = re.compile(r"^\s*Test:\s*(?P<size>\d+)\s*(?P<unit>[KMG]iB)")
_FIELD = re.compile(r"^\s*(?P<name>Profile|Test|Mode|Time|Date|OS|Target|Comment):\s*(?P<text>.*)$")
_KEPT_FIELDS = ("Comment", "Profile", "Test", "Mode", "Time", "OS", "Target")
"""What goes into the note, in this order."""
_COMMANDS = {"read": records.Command.GET, "write": records.Command.PUT}
_UNIT_BYTES = {"KiB": 1024, "MiB": MIB, "GiB": 1024 * MIB}
_ID_DIGITS = 12
_MOST_CHARACTERS = 200
"""Of a field: a comment may be as long as the file."""
_UNIT_OF_FIO = 1.024
"""KDiskMark writes fio's KiB/s over 1,000 as MB/s, which are units of 1,024,000 bytes; its IOPS tell whether."""
_HALFWAY = 1.012
"""Between a rate in MB/s and one in that unit."""


@dataclass(frozen=True, slots=True)
class _FoundLine:
    command: records.Command
    match: re.Match[str]


def is_disk_mark(text: str) -> bool:
    """Whether a text is the result of one of these programs, in whatever form."""
    return _HEADING.search(text) is not None


def quick_test_from_disk_mark(text: str, defaults: FormDefaults) -> Quick:
    """The quick test in a result; target and link are those of ``defaults``. Raises DocumentError.

    Its id follows from the text, so that the same result is known when it is imported again.
    """
    heading = _HEADING.search(text)
    assert heading is not None
    crystal_name, kde_version = heading.groups()
    program = visible((crystal_name or f"KDiskMark {kde_version}").strip())[:_MOST_CHARACTERS]

    lines = tuple(_quick_lines(text))
    if not lines:
        raise DocumentError(
            f"it is a result of {program} without a line such as `SEQ 1MiB (Q= 8, T= 1): 117.123 MB/s [111.7 IOPS]"
            " < 71412.34 us>`: save it as text by CrystalDiskMark 7 or later, or KDiskMark"
        )

    fields = _fields(text)
    test = next((match for row in text.splitlines() if (match := _TEST.match(row))), None)
    file_bytes = int(test["size"]) * _UNIT_BYTES[test["unit"]] if test else defaults.size_bytes or 0
    return Quick(
        id=hashlib.sha256(text.strip().encode()).hexdigest()[:_ID_DIGITS],
        created_at=_created_at(fields),
        status=records.SeriesStatus.COMPLETE,
        note="; ".join(f"{name}: {fields[name]}" for name in _KEPT_FIELDS if fields.get(name)),
        program=program,
        target=defaults.target,
        size_bytes=file_bytes,
        file_bytes=file_bytes,
        link_bits_per_second=defaults.link_bits_per_second,
        lines=lines,
    )


def _created_at(fields: dict[str, str]) -> str:
    """When it was measured; when it is imported, where the result does not say."""
    return moments.moment_in(fields["Date"], None) if fields.get("Date") else records.utc_now()


def _fields(text: str) -> dict[str, str]:
    """The lines below the figures by their names, the first of each name."""
    fields: dict[str, str] = {}
    for row in text.splitlines():
        match = _FIELD.match(row)
        if match:
            fields.setdefault(match["name"], visible(match["text"][:_MOST_CHARACTERS]))
    return fields


def _found_lines(text: str) -> Iterator[_FoundLine]:
    """The figures of reads and writes; of a mix of both a quick test has no line."""
    command: records.Command | None = None
    for row in text.splitlines():
        section = _SECTION.match(row)
        if section:
            command = _COMMANDS.get(section[1].lower())
            continue
        match = _LINE.match(row)
        if match and command is not None:
            yield _FoundLine(command, match)


def _quick_lines(text: str) -> Iterator[QuickLine]:
    """Those that were measured: others have a rate of zero. Raises DocumentError for one that is there twice."""
    names = set()
    for written_line in _found_lines(text):
        line = _quick_line(written_line)
        if line is None:
            continue
        if line.name in names:
            raise DocumentError(f"it has {line.quoted_name} twice: import one result at a time")
        names.add(line.name)
        yield line


def _quick_line(written_line: _FoundLine) -> QuickLine | None:
    match = written_line.match
    access = Access(
        random=match["order"].lower() in {"rnd", "random"},
        block_bytes=int(match["size"]) * _UNIT_BYTES[match["unit"]],
        in_flight=int(match["queues"]),
        threads=int(match["threads"]),
    )
    rate = 1e6 * _number(match["rate"])
    if not rate or not access.block_bytes or not access.in_flight or not access.threads:
        return None

    rate_of_operations = _number(match["operations"]) * access.block_bytes
    if rate_of_operations > _HALFWAY * rate:
        rate *= _UNIT_OF_FIO
    request_seconds = _number(match["microseconds"]) / 1e6
    return QuickLine(
        access=access,
        command=written_line.command,
        best_bytes_per_second=rate,
        best_request_seconds=request_seconds or None,
    )


def _number(text: str) -> float:
    return float(text.replace(",", "."))
