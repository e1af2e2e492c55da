"""Read run forms from CSV, exported or filled in by hand (Using Samba, table B-9).

A form needs its table with a time per run, and the size once. Semicolons, tabs and decimal commas are read. Above the
table stand fields (``Target,…``); what we exported has facts behind a field's text (``name=value``), which are exact.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from forms import wording
from forms.exporters.csv import FORM, REMARK, TITLE, unguarded
from forms.findings.rules_series import CONTRADICTIONS
from forms.importers import form_rows
from forms.importers.contradictions import find_contradictions
from forms.importers.form_rows import PaperColumn, PrintedNumber
from forms.series import put_end
from forms.series.head_fields import TREE
from forms.series.report import BLANK_TITLE
from forms.series.report import FORM as RUN_FORM
from forms.series.run_table import LINK
from forms.wording import rate_from
from storage import json_reader, records
from storage.plan import Plan, RunCounts

_STATISTICS = ("Average", "Deviation")
_MOST_DIGITS = 10
"""Whole numbers of as many digits are none that a form has."""

_MOST_LINES_ABOVE = 200
_MOST_BYTES_ABOVE = 2**20
"""How far down the headings of the table are looked for, to know what separates the cells."""

MOST_LINES = 2_000_000
_MOST_CELLS = 10_000
"""In one line."""

_RUN_NAME = re.compile(r"([Ww]?)(\d+)")
_MEASURED = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?")
_SERIES_ID = re.compile(r"series ([0-9a-f]{12})\b")
"""As version 0.1.0 wrote it, without facts beside it."""

BY_HAND = "by hand"


@dataclass
class _Form:
    """The lines of one form, not read any further."""

    line: int
    """Where it begins, for errors."""
    decimal_comma: bool
    fields: dict[str, list[str]] = field(default_factory=dict)
    """The cells behind each name above the table: a text, and the facts of what we exported."""
    headings: list[str] = field(default_factory=list)
    """Of the table, as column names; empty until it begins."""
    link_heading: str = ""
    """The one that ends in the rate of the link, such as ``% of 1 Gb/s``, as it is printed."""
    runs: list[tuple[int, list[str]]] = field(default_factory=list)
    """With the numbers of their lines."""
    statistics: dict[str, list[str]] = field(default_factory=dict)

    def begin_table(self, headings: list[str], record: list[str]) -> None:
        self.headings = headings
        self.link_heading = next((cell for cell in record if cell.strip().startswith("%")), "")

    def add(self, line: int, record: list[str]) -> None:
        """Take a line that is no heading: a field above the table; below it a run, or a statistic, or nothing."""
        first = record[0].strip()
        name = first.rstrip(":")
        if not self.headings:
            self.fields[name] = record[1:]
        elif _RUN_NAME.fullmatch(first):
            self.runs.append((line, record))
        elif name in _STATISTICS:
            self.statistics.setdefault(name, record)

    def text(self, name: str) -> str:
        """The first cell of a field, empty where there is none."""
        return next(iter(self.fields.get(name, ())), "")

    def facts(self, name: str) -> json_reader.JSONNode:
        """The cells behind a field's text, each written ``name=value``."""
        pairs = (cell.partition("=") for cell in self.fields.get(name, ())[1:])
        return json_reader.JSONNode(name, {key: value for key, sign, value in pairs if sign})

    def row(self, line: int, record: list[str]) -> form_rows.FormRow:
        return form_rows.FormRow(line, self.headings, record, self.decimal_comma)

    def statistic(self, name: str) -> form_rows.RowNumbers:
        return self.row(self.line, self.statistics.get(name, [])).numbers()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormDefaults:
    """What stands for what a form does not say, and how its targets are read."""

    target_of: Callable[[str], records.Target]
    command: records.Command = records.Command.GET
    target: records.Target | None = None
    size_bytes: int | None = None
    link_bits_per_second: int | None = None


def series_from_csv(content: bytes, defaults: FormDefaults) -> list[records.Series]:
    """The series of a file; ``defaults`` fill what it lacks. Raises DocumentError, naming the line."""
    delimiter = _delimiter_of(content)
    if max(content.count(b"\n"), content.count(b"\r")) > MOST_LINES:
        raise json_reader.DocumentError(f"it has more than {MOST_LINES:,} lines: export fewer series to a file")
    forms = list(_forms(delimiter == ";", _records_of(content, delimiter)))
    if not forms:
        raise json_reader.DocumentError(f"line 1: expected a form (a record {FORM},{RUN_FORM}), or a series document")
    return [_read_form(form, defaults) for form in forms]


def _delimiter_of(content: bytes) -> str:
    """What separates the headings of the table, or the cells of the first line."""
    lines = content[:_MOST_BYTES_ABOVE].splitlines() or [b""]
    headings = (line for line in lines[:_MOST_LINES_ABOVE] if re.match(rb"\W*run\b", line, re.IGNORECASE))
    text = next(headings, lines[0]).decode("latin-1")
    return max(",;\t", key=text.count)


def _records_of(content: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    # What we exported has notes of any length.
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader = csv.reader(_short_enough(lines, delimiter), delimiter=delimiter)
    try:
        for record in reader:
            yield reader.line_num, [unguarded(value) for value in record]
    except csv.Error as error:
        raise json_reader.DocumentError(f"line {reader.line_num}: not CSV: {error}") from error


def _short_enough(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if line.count(delimiter) > _MOST_CELLS:
            raise json_reader.DocumentError(f"line {number}: more than {_MOST_CELLS:,} cells, which no form has")
        yield line


def _forms(decimal_comma: bool, numbered: Iterable[tuple[int, list[str]]]) -> Iterator[_Form]:
    """The forms in a file: one begins with its own line (``Form,…``), or, as people write it, with its table."""
    form: _Form | None = None
    for line, record in numbered:
        first = record[0].strip() if record else ""
        if not first:
            continue

        if first == FORM:
            if form:
                yield form
            form = _begin_form(line, record, decimal_comma)
            continue

        headings = _table_headings(record)
        if headings and form and form.headings:
            # A second table of runs is a form of its own, though no line begins it.
            yield form
            form = None
        if headings:
            form = form or _Form(line, decimal_comma)
            form.begin_table(headings, record)
        elif form:
            form.add(line, record)
    if form:
        yield form


def _begin_form(line: int, record: list[str], decimal_comma: bool) -> _Form:
    if record[1:2] != [RUN_FORM]:
        raise json_reader.DocumentError(f"line {line}: expected a {RUN_FORM}, found {' '.join(record[1:2])!r}")
    return _Form(line, decimal_comma)


def _table_headings(record: list[str]) -> list[str]:
    """The headings of a table of runs; empty for any other record."""
    headings = form_rows.columns_of_headings(record)
    has_times = PaperColumn.TIME in headings or PaperColumn.RATE in headings
    return headings if headings[0] == PaperColumn.RUN and has_times else []


def _read_form(form: _Form, defaults: FormDefaults) -> records.Series:
    runs = tuple(_runs(form, defaults.size_bytes))
    if not runs:
        raise json_reader.DocumentError(f"line {form.line}: no run of this form has a time")

    link = _link(form) or _rate_in_heading(form.link_heading) or defaults.link_bits_per_second
    doubts = _doubts(form, runs, link)
    measured = _measured(form)
    measured_runs = sum(run.phase is records.Phase.MEASURED for run in runs)
    command = form.text("Command").strip().lower()
    series = records.Series(
        id=measured.series_id,
        created_at=measured.created_at,
        status=measured.status,
        error=form.text("Ended by") or None,
        label=form.text("Label"),
        note=form.text("Note"),
        experiment=form.text("Experiment") or None,
        command=json_reader.JSONNode("Command", command).one_of(records.Command) if command else defaults.command,
        target=_target(form, defaults.target_of) or defaults.target or records.Target(protocol="file"),
        client=_client(form),
        link_bits_per_second=link,
        environment={"client": {CONTRADICTIONS: "; ".join(doubts)}} if doubts else {},
        plan=Plan(counts=RunCounts(runs=measured_runs)),
        runs=runs,
    )
    series = replace(series, flushed=_was_flushed(form, series))

    title = form.text(TITLE)
    is_untitled = title in {"", BLANK_TITLE, wording.default_title(series.command, series.target)}
    return series if is_untitled else replace(series, title=title)


class _Measured(NamedTuple):
    """What the field "Measured" says."""

    created_at: str
    series_id: str
    status: records.SeriesStatus


def _measured(form: _Form) -> _Measured:
    """By the facts of what we exported, else by the field's text: ``2026-01-31 10:00, series ID, interrupted``.

    What the text lacks is made up: this moment, a new id, and that it is complete.
    """
    text = form.text("Measured")
    created_at = _moment_in(text) or records.utc_now()
    facts = form.facts("Measured")
    if facts.value:
        return _Measured(
            series_id=facts.at("series").filled_text(),
            created_at=facts.at("created_at").time(),
            status=facts.at("status").one_of(records.SeriesStatus),
        )

    id_match = _SERIES_ID.search(text)
    words = text.split(", ")
    statuses = [status for status in records.SeriesStatus if status.value in words]
    return _Measured(
        series_id=id_match[1] if id_match else records.new_series_id(),
        created_at=created_at,
        status=statuses[0] if statuses else records.SeriesStatus.COMPLETE,
    )


def _moment_in(text: str) -> str | None:
    """The date, and the minute if there is one, in a text; None where it has none. Raises DocumentError."""
    match = _MEASURED.search(text)
    if not match:
        return None
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}").replace(tzinfo=UTC)
    except ValueError as error:
        raise json_reader.DocumentError(
            f"Measured: expected a date such as 2026-01-31 10:00, found {text!r}"
        ) from error
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _target(form: _Form, target_of: Callable[[str], records.Target]) -> records.Target | None:
    text = form.text("Target")
    if not text:
        return None
    url = form.facts("Target").value.get("url")
    if url:
        return target_of(url)

    # What we exported shows a target without its escapes.
    is_exported = form.facts("Measured").value or _SERIES_ID.search(form.text("Measured"))
    return target_of(text.replace("%", "%25") if is_exported else text)


def _client(form: _Form) -> records.ClientFacts:
    facts = form.facts("Client").value
    if not facts:
        return _client_in(form.text("Client"))

    fields = {
        **facts,
        "name": facts.get("name") or BY_HAND,
        "block_bytes": _number_or_text(facts.get("block_bytes", "")),
        "in_flight": _number_or_text(facts.get("in_flight", "")),
    }
    return json_reader.JSONNode("Client", fields).record(records.ClientFacts)


def _client_in(text: str) -> records.ClientFacts:
    """The client of a text such as ``smbclient 4.20, 8 in flight``: a version begins with a digit behind a blank."""
    first = text.partition(", ")[0].strip()
    if not re.search(r" v?\d", first):
        return records.ClientFacts(name=first or BY_HAND, version="")
    name, _, version = first.rpartition(" ")
    return records.ClientFacts(name=name or BY_HAND, version=version)


def _number_or_text(text: str) -> int | str | None:
    """The whole number in a text, None for an empty one; any other stays as it is, for an error to show it."""
    if text.isdecimal() and len(text) < _MOST_DIGITS:
        return int(text)
    return text or None


def _was_flushed(form: _Form, series: records.Series) -> bool:
    """As the form says it; a form of a version that did not say it follows what that version did."""
    fact = form.facts(put_end.PUT_END).maybe(put_end.FLUSHED)
    if fact.value is None:
        return records.was_flushed(series) and not form.text(TREE)
    if fact.value not in ("yes", "no"):
        raise fact.wrong("yes or no")
    return bool(fact.value == "yes")


def _link(form: _Form) -> int | None:
    text = form.text(LINK)
    if not text.strip():
        return None
    for cell in reversed(form.fields[LINK][:2]):
        rate = rate_from(cell)
        if rate:
            return rate
    if text.strip() != "unknown":
        raise json_reader.DocumentError(f"{LINK}: expected a rate such as 1 Gb/s, found {text!r}")
    return None


def _rate_in_heading(heading: str) -> int | None:
    """The rate of the link in the heading of its column: ``% of 1 Gb/s``, ``%OF 100M``; None where it has none."""
    return rate_from(heading.strip(" %oOfF"))


def _doubts(form: _Form, runs: tuple[records.Run, ...], link: int | None) -> list[str]:
    """The cells that contradict the others, a line each."""
    valid_runs = {
        str(run.number): run
        for run in runs
        if run.phase is records.Phase.MEASURED and run.status is records.RunStatus.VALID
    }
    numbers_by_run: list[tuple[str, form_rows.RowNumbers]] = []
    for line, record in form.runs:
        name = record[0].strip()
        if name in valid_runs:
            size = PrintedNumber(valid_runs[name].size_bytes)
            numbers_by_run.append((name, {PaperColumn.SIZE: size, **form.row(line, record).numbers()}))

    return find_contradictions(numbers_by_run, form.statistic("Average"), form.statistic("Deviation"), link)


def _runs(form: _Form, size_bytes: int | None) -> Iterator[records.Run]:
    """The runs with a time, and the failed ones; ``size_bytes`` is that of a first run whose row says none."""
    size = size_bytes
    keys: set[tuple[records.Phase, int]] = set()
    for line, record in form.runs:
        row = form.row(line, record)
        status = row.status()
        is_failed = status is records.RunStatus.FAILED

        size_cell = row.number(PaperColumn.SIZE, zero=is_failed)
        size = _size_of_run(size_cell, size)
        seconds = row.seconds(size)
        if seconds is None and not is_failed:
            continue

        phase, number = _key_of_run(row)
        if (phase, number) in keys or number < 1:
            raise _no_such_run(row)
        if size is None and not is_failed:
            raise json_reader.DocumentError(
                f"line {line}: Size in Bytes: is missing in the first run; give it there or by --size"
            )

        keys.add((phase, number))
        remark = row.text(REMARK) or None
        yield records.Run(
            number=number,
            phase=phase,
            status=status,
            size_bytes=_stored_size(size_cell, size),
            seconds=None if is_failed else seconds,
            reason=remark if status is records.RunStatus.REJECTED else None,
            error=remark if is_failed else None,
        )


def _size_of_run(size_cell: PrintedNumber | None, size_before: int | None) -> int | None:
    """Bytes by the run's own cell, else those of the run before: a form may give the size once.

    The 0 of a failed run is passed over, so that the runs below it have the size of those above.
    """
    own_size = round(size_cell.value) if size_cell else 0
    return own_size or size_before


def _stored_size(size_cell: PrintedNumber | None, size: int | None) -> int:
    """Bytes as they are stored with a run: 0 for a failed one that says so, or whose size nothing tells."""
    says_zero = size_cell is not None and size_cell.value == 0
    return 0 if says_zero or size is None else size


def _key_of_run(row: form_rows.FormRow) -> tuple[records.Phase, int]:
    """The phase and number in a run's name: ``3``, or ``W1`` of a warm-up run. Raises DocumentError."""
    match = _RUN_NAME.fullmatch(row.record[0].strip())
    assert match
    warm_up_letter, digits = match.groups()
    if len(digits) >= _MOST_DIGITS:
        raise _no_such_run(row)
    return records.Phase.WARM_UP if warm_up_letter else records.Phase.MEASURED, int(digits)


def _no_such_run(row: form_rows.FormRow) -> json_reader.DocumentError:
    name = row.record[0].strip()[:20]
    return json_reader.DocumentError(f"line {row.line}: a second run {name}, or none that can be")
