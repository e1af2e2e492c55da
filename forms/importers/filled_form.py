"""Read run forms from CSV, exported or filled in by hand (Using Samba, table B-9).

A form needs its table with a time per run, and the size once. Semicolons, tabs and decimal commas are read.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from statistics import fmean, pstdev, stdev
from typing import NamedTuple

from forms import wording
from forms.exporters.csv import FORM, REMARK, STATUS, TITLE, unguarded
from forms.findings.rules_series import CONTRADICTIONS
from forms.series import put_end
from forms.series.document import series_inside
from forms.series.report import BLANK_TITLE, TREE
from forms.series.report import FORM as RUN_FORM
from forms.series.run_table import LINK
from forms.trial import report as trial_report
from forms.tuning.catalogue import misprints_about
from forms.wording import number_from, rate_from
from storage import changes, json_reader, records
from storage.plan import Plan, RunCounts


class PaperColumn(StrEnum):
    RUN = "run"
    SIZE = "bytes"
    TIME = "s"
    RATE = "bytes/sec"
    BITS = "bits/sec"
    PERCENT = "% of the link"


_HEADINGS = {
    PaperColumn.RUN: "runno run runnumber no",
    PaperColumn.SIZE: "sizeinbytes size sizebytes filesize filesizeinbytes bytes",
    PaperColumn.TIME: "timesec time times timesecs timeinsec timeseconds timeinseconds seconds secs sec s",
    PaperColumn.RATE: "bytessec bytess bytespersec bytespersecond",
    PaperColumn.BITS: "bitssec bitss bitspersec bitspersecond",
}


def _columns_by_heading() -> dict[str, PaperColumn]:
    columns: dict[str, PaperColumn] = {}
    for column, headings in _HEADINGS.items():
        columns |= dict.fromkeys(headings.split(), column)
    return columns


_COLUMN_OF = _columns_by_heading()
_SAME = 1e-9
"""Share by which numbers may differ that are the same but for the rounding of floats."""


def columns_of_headings(record: Sequence[str]) -> list[str]:
    """Headings with the form's own, in any spelling, replaced by column names."""
    folded = [re.sub(r"[^a-z%]", "", heading.lower()) for heading in record]
    headings: list[str] = []
    for index, (name, heading) in enumerate(zip(folded, record, strict=True)):
        # "Time, sec" without quotes is two headings of one column.
        if folded[max(0, index - 1) : index + 1] == ["time", "sec"]:
            continue
        if name.startswith("%of"):
            headings.append(str(PaperColumn.PERCENT))
        else:
            headings.append(str(_COLUMN_OF.get(name, heading.strip())))
    return headings


@dataclass(frozen=True, slots=True)
class Printed:
    value: float
    decimals: int = 0

    @property
    def unit(self) -> float:
        return float(10**-self.decimals)

    @property
    def range(self) -> tuple[float, float]:
        slack = max(self.unit / 2, abs(self.value) * _SAME)
        return self.value - slack, self.value + slack

    @property
    def text(self) -> str:
        """The number as it was printed, to six decimals."""
        decimals = min(self.decimals, 6)
        return f"{self.value:,.{decimals}f}"


def printed(text: str, *, decimal_comma: bool) -> Printed | None:
    """The number in a cell with its precision, else None."""
    number = number_from(text, decimal_comma=decimal_comma)
    if number is None:
        return None
    _, point, fraction = text.strip().rpartition("," if decimal_comma else ".")
    decimals = len(fraction) if point and fraction.isdecimal() else 0
    return Printed(number, decimals)


def finer_seconds(size_bytes: float, time: Printed, rate: Printed) -> float:
    """A run's time by its rate where that has more digits of the same time, else the time itself."""
    by_rate = size_bytes / rate.value
    is_finer = rate.unit / rate.value < time.unit / time.value
    is_same_time = abs(by_rate - time.value) < time.unit * (1 + _SAME)
    return by_rate if is_finer and is_same_time else time.value


Cells = Mapping[PaperColumn, Printed]


class _Expected(NamedTuple):
    """What a cell should say by others, and the ends that their rounding allows."""

    value: float
    low: float
    high: float


def contradictions(
    runs: Sequence[tuple[str, Cells]], average: Cells, deviation: Cells, link_bits_per_second: int | None
) -> list[str]:
    """Cells that contradict the others beyond rounding, a line each; ``runs`` are all that count."""
    lines: list[str] = []
    for name, cells in runs:
        lines += _run_contradictions(name, cells, link_bits_per_second)

    for column in (PaperColumn.SIZE, PaperColumn.TIME, PaperColumn.RATE, PaperColumn.BITS, PaperColumn.PERCENT):
        expected = [_expected(cells, column, link_bits_per_second) for _, cells in runs]
        computable = [cell for cell in expected if cell]
        if not computable or len(computable) < len(runs):
            continue

        values = [cell.value for cell in computable]
        slack = max(cell.high - cell.low for cell in computable)
        if column in average:
            lines += _contradiction("average", average[column], column, [_around(fmean(values), slack / 2)])
        if column in deviation and len(values) > 1:
            # Of a sample or of a population: forms have either.
            either = [_around(stdev(values), slack), _around(pstdev(values), slack)]
            lines += _contradiction("deviation", deviation[column], column, either)
    return lines


def _around(value: float, slack: float) -> _Expected:
    return _Expected(value, value - slack, value + slack)


def _run_contradictions(name: str, cells: Cells, link: int | None) -> Iterator[str]:
    for column in (PaperColumn.RATE, PaperColumn.BITS, PaperColumn.PERCENT):
        other_cells = {other: cell for other, cell in cells.items() if other is not column}
        expected = _expected(other_cells, column, link)
        if column in cells and expected:
            yield from _contradiction(f"run {name}", cells[column], column, [expected])


def _contradiction(place: str, cell: Printed, column: PaperColumn, expected: Sequence[_Expected]) -> Iterator[str]:
    low, high = cell.range
    if any(low <= expected_range.high and expected_range.low <= high for expected_range in expected):
        return
    computed = Printed(expected[0].value, cell.decimals).text
    misprint = next((misprint for misprint in misprints_about("B-9") if cell.value in misprint.numbers), None)
    copied = f" (a misprint of {misprint.source})" if misprint else ""
    yield f"{place}: printed {cell.text} {column}, the other cells give {computed}{copied}"


def _expected(cells: Cells, column: PaperColumn, link: int | None) -> _Expected | None:
    if column in cells:
        return _Expected(cells[column].value, *cells[column].range)
    if column is PaperColumn.RATE and PaperColumn.SIZE in cells and PaperColumn.TIME in cells:
        size = cells[PaperColumn.SIZE].value
        time = cells[PaperColumn.TIME]
        shortest, longest = time.range
        return _Expected(size / time.value, size / longest, size / shortest) if shortest > 0 else None

    if column is PaperColumn.BITS:
        rate = _expected(cells, PaperColumn.RATE, link)
        return _Expected(8 * rate.value, 8 * rate.low, 8 * rate.high) if rate else None
    if column is PaperColumn.PERCENT and link:
        bits = _expected(cells, PaperColumn.BITS, link)
        if bits:
            return _Expected(100 * bits.value / link, 100 * bits.low / link, 100 * bits.high / link)
    return None


_STATISTICS = ("Average", "Deviation")
_MOST_DIGITS = 10
# How far down the headings of the table are looked for, to know what separates the cells.
_MOST_LINES_ABOVE = 200
_MOST_BYTES_ABOVE = 2**20
MOST_LINES = 2_000_000
_MOST_CELLS = 10_000
_RUN_NAME = re.compile(r"([Ww]?)(\d+)")
_MEASURED = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?")
_SERIES_ID = re.compile(r"series ([0-9a-f]{12})\b")
"""As version 0.1.0 wrote it, without facts beside it."""
BY_HAND = "by hand"


@dataclass
class _Form:
    line: int
    decimal_comma: bool
    fields: dict[str, list[str]] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    link_heading: str = ""
    runs: list[tuple[int, list[str]]] = field(default_factory=list)
    statistics: dict[str, list[str]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The first cell of a field, empty where there is none."""
        return next(iter(self.fields.get(name, ())), "")

    def cells(self, line: int, record: list[str]) -> "_Cells":
        return _Cells(line, self.headings, record, self.decimal_comma)

    def facts(self, name: str) -> json_reader.JSONNode:
        """The cells behind a field's text, each written ``name=value``."""
        pairs = (cell.partition("=") for cell in self.fields.get(name, ())[1:])
        return json_reader.JSONNode(name, {key: value for key, sign, value in pairs if sign})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was given beside a file, for what it does not say."""

    target_of: Callable[[str], records.Target]
    command: records.Command = records.Command.GET
    target: records.Target | None = None
    size_bytes: int | None = None
    link_bits_per_second: int | None = None


def series_from_csv(content: bytes, gaps: Given) -> list[records.Series]:
    """The series of a file; ``gaps`` fills what it lacks. Raises DocumentError, naming the line."""
    delimiter = _delimiter_of(content)
    if max(content.count(b"\n"), content.count(b"\r")) > MOST_LINES:
        raise json_reader.DocumentError(f"it has more than {MOST_LINES:,} lines: export fewer series to a file")
    forms = list(_forms(delimiter == ";", _records_of(content, delimiter)))
    if not forms:
        raise json_reader.DocumentError(f"line 1: expected a form (a record {FORM},{RUN_FORM}), or a series document")
    return [_series(form, gaps) for form in forms]


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
    form: _Form | None = None
    for line, record in numbered:
        first = record[0].strip() if record else ""
        headings = _table_headings(record) if first else []

        if first == FORM:
            if form:
                yield form
            if record[1:2] != [RUN_FORM]:
                raise json_reader.DocumentError(f"line {line}: expected a {RUN_FORM}, found {' '.join(record[1:2])!r}")
            form = _Form(line, decimal_comma)
        elif headings:
            # A second table of runs is a form of its own, though no line begins it.
            if form and form.headings:
                yield form
                form = None
            form = form or _Form(line, decimal_comma)
            form.headings = headings
            form.link_heading = next((cell for cell in record if cell.strip().startswith("%")), "")
        elif form is None or not first:
            continue
        elif form.headings and _RUN_NAME.fullmatch(first):
            form.runs.append((line, record))
        elif form.headings and first.rstrip(":") in _STATISTICS:
            form.statistics.setdefault(first.rstrip(":"), record)
        elif not form.headings:
            form.fields[first.rstrip(":")] = record[1:]
    if form:
        yield form


def _table_headings(record: list[str]) -> list[str]:
    """The headings of a table of runs; empty for any other record."""
    headings = columns_of_headings(record)
    has_times = PaperColumn.TIME in headings or PaperColumn.RATE in headings
    return headings if headings[0] == PaperColumn.RUN and has_times else []


def _series(form: _Form, gaps: Given) -> records.Series:
    runs = tuple(_runs(form, gaps.size_bytes))
    if not runs:
        raise json_reader.DocumentError(f"line {form.line}: no run of this form has a time")

    link = _link(form) or rate_from(form.link_heading.strip(" %oOfF")) or gaps.link_bits_per_second
    doubts = _contradictions(form, runs, link)
    measured = form.facts("Measured")
    created_at, series_id = _when_and_which(form.text("Measured"))
    words = form.text("Measured").split(", ")
    statuses = [status for status in records.SeriesStatus if status.value in words]
    status = statuses[0] if statuses else records.SeriesStatus.COMPLETE
    if measured.value:
        series_id = measured.at("series").filled_text()
        created_at = measured.at("created_at").time()
        status = measured.at("status").one_of(records.SeriesStatus)

    measured_runs = sum(run.phase is records.Phase.MEASURED for run in runs)
    command = form.text("Command").strip().lower()
    series = records.Series(
        id=series_id,
        created_at=created_at,
        status=status,
        error=form.text("Ended by") or None,
        label=form.text("Label"),
        note=form.text("Note"),
        experiment=form.text("Experiment") or None,
        command=json_reader.JSONNode("Command", command).one_of(records.Command) if command else gaps.command,
        target=_target(form, gaps.target_of) or gaps.target or records.Target(protocol="file"),
        client=_client(form),
        link_bits_per_second=link,
        environment={"client": {CONTRADICTIONS: "; ".join(doubts)}} if doubts else {},
        plan=Plan(counts=RunCounts(runs=measured_runs)),
        runs=runs,
    )
    series = replace(series, flushed=_was_flushed(form, series))

    title = form.text(TITLE)
    untitled = title in {"", BLANK_TITLE, wording.default_title(series.command, series.target)}
    return series if untitled else replace(series, title=title)


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
    facts = form.facts("Client")
    if not facts.value:
        first = form.text("Client").partition(", ")[0].strip()
        name, _, version = first.rpartition(" ") if re.search(r" v?\d", first) else (first, "", "")
        return records.ClientFacts(name=name or BY_HAND, version=version)

    for name in ("block_bytes", "in_flight"):
        text = facts.value.get(name, "")
        facts.value[name] = int(text) if text.isdecimal() and len(text) < _MOST_DIGITS else text or None
    return json_reader.JSONNode("Client", {**facts.value, "name": facts.value.get("name") or BY_HAND}).record(
        records.ClientFacts
    )


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


def _when_and_which(text: str) -> tuple[str, str]:
    """The time and the id of the series, new ones where the text has none."""
    moment = _MEASURED.search(text)
    id_match = _SERIES_ID.search(text)
    series_id = id_match[1] if id_match else records.new_series_id()
    if not moment:
        return records.utc_now(), series_id
    try:
        created_at = datetime.fromisoformat(f"{moment[1]}T{moment[2] or '00:00'}").replace(tzinfo=UTC)
    except ValueError as error:
        raise json_reader.DocumentError(
            f"Measured: expected a date such as 2026-01-31 10:00, found {text!r}"
        ) from error
    return created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"), series_id


def _contradictions(form: _Form, runs: tuple[records.Run, ...], link: int | None) -> list[str]:
    valid = {
        str(run.number): run
        for run in runs
        if run.phase is records.Phase.MEASURED and run.status is records.RunStatus.VALID
    }
    rows: list[tuple[str, Cells]] = []
    for line, record in form.runs:
        name = record[0].strip()
        if name in valid:
            size = Printed(valid[name].size_bytes)
            rows.append((name, {PaperColumn.SIZE: size, **form.cells(line, record).numbers()}))

    average, deviation = (form.cells(form.line, form.statistics.get(name, [])).numbers() for name in _STATISTICS)
    return contradictions(rows, average, deviation, link)


def _runs(form: _Form, size_bytes: int | None) -> Iterator[records.Run]:
    size = size_bytes
    numbers: set[tuple[records.Phase, int]] = set()
    for line, record in form.runs:
        cells = form.cells(line, record)
        status = cells.status()
        is_failed = status is records.RunStatus.FAILED

        # A run without a size has that of the one before.
        size_cell = cells.number(PaperColumn.SIZE, zero=is_failed)
        size = round(size_cell.value if size_cell else 0) or size
        seconds = cells.seconds(size)
        if seconds is None and not is_failed:
            continue

        name = record[0].strip()
        name_match = _RUN_NAME.fullmatch(name)
        assert name_match
        warm_up_letter, digits = name_match.groups()
        phase = records.Phase.WARM_UP if warm_up_letter else records.Phase.MEASURED
        number = int(digits[:_MOST_DIGITS])
        if (phase, number) in numbers or number < 1 or len(digits) >= _MOST_DIGITS:
            raise json_reader.DocumentError(f"line {line}: a second run {name[:20]}, or none that can be")
        if size is None and not is_failed:
            raise json_reader.DocumentError(
                f"line {line}: Size in Bytes: is missing in the first run; give it there or by --size"
            )

        numbers.add((phase, number))
        remark = cells.text(REMARK) or None
        yield records.Run(
            number=number,
            phase=phase,
            status=status,
            size_bytes=0 if size_cell and not size_cell.value else size or 0,
            seconds=None if is_failed else seconds,
            reason=remark if status is records.RunStatus.REJECTED else None,
            error=remark if is_failed else None,
        )


_PRINTED_HEADINGS = {PaperColumn.SIZE: "Size in Bytes", PaperColumn.TIME: "Time (sec)", PaperColumn.RATE: "Bytes/sec"}


@dataclass
class _Cells:
    line: int
    headings: list[str]
    record: list[str]
    decimal_comma: bool

    def text(self, heading: str) -> str:
        """The cell below a heading, empty where there is none."""
        if heading not in self.headings:
            return ""
        index = self.headings.index(heading)
        return self.record[index] if index < len(self.record) else ""

    def numbers(self) -> Cells:
        numbers: dict[PaperColumn, Printed] = {}
        for column in PaperColumn:
            cell = printed(self.text(column), decimal_comma=self.decimal_comma)
            if column is not PaperColumn.RUN and cell is not None:
                numbers[column] = cell
        return numbers

    def seconds(self, size_bytes: int | None) -> float | None:
        """The run's time, or what its rate makes of it."""
        time = self.number(PaperColumn.TIME)
        rate = self.number(PaperColumn.RATE)
        if rate and size_bytes:
            return finer_seconds(size_bytes, time, rate) if time else size_bytes / rate.value
        return time.value if time else None

    def number(self, column: PaperColumn, *, zero: bool = False) -> Printed | None:
        text = self.text(column).strip()
        if not text:
            return None
        number = printed(text, decimal_comma=self.decimal_comma)
        if number is None or number.value < 0 or (number.value == 0 and not zero):
            raise json_reader.DocumentError(
                f"line {self.line}: {_PRINTED_HEADINGS[column]}: expected a number above 0, found {text!r}"
            )
        return number

    def status(self) -> records.RunStatus:
        text = self.text(STATUS).strip().lower()
        if text in {"", "warm-up"}:
            return records.RunStatus.VALID
        return json_reader.JSONNode(f"line {self.line}: {STATUS}", text).one_of(records.RunStatus)


KINDS = {
    trial_report.TRIAL_SCHEMA: records.ExperimentKind.TRIAL,
    trial_report.SWEEP_SCHEMA: records.ExperimentKind.SWEEP,
}
MOST_PAIRS = 1000
_LEADS_SOMEWHERE = frozenset({"server_ssh", "smb_conf", "apply", "revert", "accepted_risks"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTrial:
    experiment: records.Experiment
    plan: changes.TrialPlan
    slots: tuple[changes.Slot, ...]
    series: tuple[records.Series, ...]


def trial_from_document(document: object) -> ImportedTrial:
    """The trial or sweep of a document; its result is computed again. Raises DocumentError."""
    top = json_reader.JSONNode("", document).object()
    name = top.at("experiment").filled_text()
    plan = top.at("plan").record(changes.TrialPlan, leave=_LEADS_SOMEWHERE)
    if not plan.looks or not plan.values or not all(0 < look <= MOST_PAIRS for look in plan.looks):
        raise json_reader.DocumentError(
            f"plan.looks: expected numbers of pairs from 1 to {MOST_PAIRS}, and values to try"
        )

    series = [replace(series_inside(place), experiment=name) for place in top.at("series").items()]
    values = {member.change.value if member.change else None for member in series}
    if values != {None, *plan.values}:
        raise json_reader.DocumentError("series: expected one of each value of the plan, and one without a change")

    series_ids = {member.id for member in series}
    slots = [place.record(changes.Slot) for place in top.maybe("slots").items()]
    kind = KINDS[top.value["schema"]]
    return ImportedTrial(
        experiment=records.Experiment(name=name, kind=kind, created_at=top.at("created_at").time()),
        plan=plan,
        slots=tuple(slot for slot in slots if slot.series_id in series_ids and slot.number > 0),
        series=tuple(series),
    )
