"""The run form on paper (Using Samba, tables B-6, B-7 and B-9): filled from a series, or blank."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from forms import wording
from forms.findings.finding import finding_document
from forms.findings.rules import findings_of
from forms.findings.series_warnings import advice
from forms.layout import Tone
from forms.report import (
    Bar,
    Cell,
    Chart,
    Column,
    ColumnGroup,
    Field,
    FieldReference,
    Formula,
    Level,
    Mark,
    Report,
    ReportKind,
    Role,
    Row,
    Table,
    blank_fields,
    cell_at,
    row_of,
)
from forms.series.fields import LINK, head_fields, link_field, result_fields
from forms.series.summary import RunMeasures, RunRow, SeriesSummary, column_names, measures_of, run_form
from storage.json_reader import DocumentError, JSONNode, named
from storage.records import Phase, QuietVerdict, RunStatus, Series

SCHEMA = "sharebench/series/1"

Document = dict[str, Any]


def series_document(series: Series) -> Document:
    """The JSON object of a series with its averages."""
    form = run_form(series)
    target = series.target
    document: Document = {
        "schema": SCHEMA,
        **named(series, "id", "created_at", "status", "title", "label", "note", "question", "experiment"),
        "change": series.change and {**asdict(series.change), "also_changed": list(series.change.also_changed)},
        "command": series.command.value,
        "target": named(target, "protocol", "host", "port", "share", "path", "user"),
        "client": asdict(series.client),
        "link_bits_per_second": series.link_bits_per_second,
        "runs": [_run_document(row) for row in form.all_rows],
        "failed_attempts": [
            _run_document(RunRow(run=run, measures=measures_of(run, series.link_bits_per_second)))
            for run in series.failed_attempts
        ],
        "resumed_at": list(series.resumed_at),
        "running": series.running_by
        and {
            "process": series.running_by.process_id,
            "host": series.running_by.host,
            "since": series.running_by.since,
        },
        "left_behind": None if series.running_by else series.scratch_path,
        "average": form.average and asdict(form.average),
        "deviation": form.deviation and asdict(form.deviation),
        "confidence": form.confidence
        and {
            "level": 0.95,
            "low_bytes_per_second": form.confidence[0],
            "high_bytes_per_second": form.confidence[1],
        },
        "shown": form.shown and asdict(form.shown),
        "quiet": series.quiet.to_json() if series.quiet else {"verdict": QuietVerdict.UNKNOWN.value},
        "environment": {side: dict(series.environment.get(side, {})) for side in ("client", "server", "path")},
        **named(series, "ceiling_bytes_per_second", "error", "base_id"),
        "decision": series.decision.value if series.decision else None,
        "plan": series.plan.to_json() if series.plan else {},
        "findings": [finding_document(finding) for finding in findings_of(series)],
        "advice": [{"key": said.key, "text": said.text} for said in advice(series)],
    }
    if target.domain:
        document["target"]["domain"] = target.domain
    return document


def _run_document(row: RunRow) -> Document:
    run = row.run
    return {
        **named(run, "number", "phase", "status", "reason"),
        "unusual": row.unusual is not None,
        **named(run, "started_at", "size_bytes", "seconds", "open_seconds", "close_seconds"),
        **named(row.measures, "bytes_per_second", "bits_per_second", "percent_of_link"),
        "error": run.error,
        "progress": [[seconds, moved] for seconds, moved in run.progress],
    }


_OF_A_RUN = frozenset({"status", "started_at", "size_bytes"})
_OURS = frozenset({"scratch_path", "imported_at", "running_by"})


def series_from_document(document: object) -> Series:
    """The series of a document; averages are computed again. Raises DocumentError."""
    top = JSONNode("", document).object()
    if top.value.get("schema") != SCHEMA:
        raise top.maybe("schema").wrong(f'"{SCHEMA}"')
    for name in ("target", "client"):
        top.at(name).object()
    series = top.record(Series, leave=_OURS, needs=("status", "command", "runs"))
    _check_runs(top, series)
    # what would read files or log in from here is left out
    plan = series.plan and replace(series.plan, server_ssh=None, smb_conf=None)
    failed = tuple(replace(run, status=RunStatus.FAILED) for run in series.failed_attempts)
    return replace(series, plan=plan, failed_attempts=failed)


def _check_runs(top: JSONNode, series: Series) -> None:
    seen: set[tuple[Phase, int]] = set()
    for place in (*top.at("runs").items(), *top.maybe("failed_attempts").items()):
        if not place.value.keys() >= _OF_A_RUN:
            for name in sorted(_OF_A_RUN):
                place.at(name)
    for place, run in zip(top.at("runs").items(), series.runs, strict=True):
        if (run.phase, run.number) in seen:
            raise DocumentError(f"{place.name}: a second {run.phase.value} run {run.number}")
        seen.add((run.phase, run.number))
        if run.status is not RunStatus.FAILED and not (run.seconds and run.seconds > 0):
            raise DocumentError(f"{place.name}.seconds: expected a number above 0")
        if run.status is not RunStatus.FAILED and not run.size_bytes:
            raise DocumentError(f"{place.name}.size_bytes: expected a whole number of at least 1")


FORM = "run form"
BLANK_TITLE = "Measurement form"
BLANK_ROWS = 5
_WARNED_OF = frozenset({"busy", "client-ceiling"})
_KINDS = (ReportKind.TEXT, ReportKind.WHOLE, ReportKind.SECONDS, ReportKind.WHOLE, ReportKind.WHOLE, ReportKind.PERCENT)
_MEASURES = tuple(RunMeasures.__dataclass_fields__)
STATUS_COLUMN = len(_KINDS)


def series_report(form: SeriesSummary) -> Report:
    """A filled run form."""
    series = form.series
    found = (one for one in findings_of(series) if one.key not in _WARNED_OF)
    return Report(
        form=FORM,
        title=series.title or wording.default_title(series.command, series.target),
        name=series.label or series.title or series.id,
        fields=(_answer(form), *head_fields(series)),
        tables=(run_table(form),),
        results=tuple(result_fields(form)),
        advice=tuple(one.text for one in (*advice(series), *found)),
        drawn=(_chart(form),),
        document=lambda: series_document(series),
    )


def _answer(form: SeriesSummary) -> Field:
    """``111.9 MB/s ± 0.2 %, 90 % of a 1 Gb/s link. No problems found.``"""
    found = len(advice(form.series))
    said = f"{wording.count(found, 'warning')}, see below." if found else "No problems found."
    if form.average is None:
        return Field(name=wording.ANSWER, text=f"No run counts, so there is no average. {said}", tone=Tone.BAD)
    half, share = form.half_width_percent, form.average.percent_of_link
    known = "" if half is None else f" ± {wording.percent(half)}"
    link = wording.link_rate(form.series.link_bits_per_second)
    of_link = "" if share is None else f", {wording.percent(share)} of a {link} link"
    tone = Tone.CAUTION if found else Tone.PLAIN
    return Field(name=wording.ANSWER, text=f"{wording.rate(form.average_rate)}{known}{of_link}. {said}", tone=tone)


def blank_series_report(link_bits_per_second: int | None = None, *, runs: int = BLANK_ROWS) -> Report:
    """The empty form: numbered rows, and lines above the table."""
    link = link_field(link_bits_per_second) if link_bits_per_second else Field(name=LINK, text="")
    rows = [row_of(str(n + 1), *[None] * 5) for n in range(runs)]
    rows += [row_of(f"{name}:", *[None] * 5, role=Role.RESULT) for name in ("Average", "Deviation")]
    return Report(
        form=FORM,
        title=BLANK_TITLE,
        name=BLANK_TITLE,
        fields=(*blank_fields("Label", "Command", "Target", "Client"), link, *blank_fields("Measured"), _NOTE),
        tables=(
            Table(columns=_columns(column_names(link_bits_per_second)), rows=tuple(rows), marked=True, entry="run"),
        ),
        blank=True,
    )


_NOTE = Field(name="Note", text="")


def _columns(headings: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(heading=heading, kind=kind) for heading, kind in zip(headings, _KINDS, strict=True))


def run_table(form: SeriesSummary) -> Table:
    """A row per run, then averages and deviations."""
    rows = [_row(row, index) for index, row in enumerate(form.all_rows)]
    first, last = len(form.warm_ups), len(rows) - 1
    some = bool(form.rows)
    valid = '"valid"'
    if form.average:
        rows.append(_statistic("Average:", form.average, _average(first, last, valid) if some else None))
    if form.deviation:
        rows.append(_statistic("Deviation:", form.deviation, _deviation(first, last, valid)))
    if form.average_with_rejected:
        rows.append(Row(cells=(Cell(value="With the rejected runs:"),), role=Role.HEADING))
        rows.append(_statistic("Average:", form.average_with_rejected, _average(first, last, '"<>failed"')))
    if form.deviation_with_rejected:
        rows.append(
            _statistic("Deviation:", form.deviation_with_rejected, _deviation(first, last, '"failed"', same="<>"))
        )
    return Table(columns=_columns(form.columns), rows=tuple(rows), marked=True, entry="run")


def _row(row: RunRow, index: int) -> Row:
    numbers = [getattr(row.measures, name) for name in _MEASURES]
    failed = row.run.status is RunStatus.FAILED
    formulas = [None] * 5 if failed else [None, None, *_formulas(index, row.measures.percent_of_link is not None)]
    return Row(
        cells=(
            Cell(value=row.label),
            *(Cell(value=value, formula=formula) for value, formula in zip(numbers, formulas, strict=True)),
        ),
        mark=mark_of(row),
        remark=row.run.error or "" if failed else row.run.reason or row.unusual or "",
    )


def mark_of(row: RunRow) -> Mark:
    """Why a run differs from the others."""
    if row.run.status is RunStatus.FAILED:
        return Mark.FAILED
    if row.run.status is RunStatus.REJECTED:
        return Mark.REJECTED
    if row.run.phase is Phase.WARM_UP:
        return Mark.WARM_UP
    return Mark.UNUSUAL if row.unusual else Mark.NONE


def _formulas(index: int, has_link: bool) -> Iterator[Formula | None]:
    size, time, rate, bits = (cell_at(column, index) for column in range(1, 5))
    yield Formula(template="{0}/{1}", references=(size, time))
    yield Formula(template="8*{0}", references=(rate,))
    yield Formula(template="100*{0}/{1}", references=(bits, FieldReference(name=LINK))) if has_link else None


def _statistic(name: str, measures: RunMeasures, formulas: Sequence[Formula] | None) -> Row:
    values = [getattr(measures, field) for field in _MEASURES]
    cells = (
        Cell(value=value, formula=formulas[i] if formulas and value is not None else None)
        for i, value in enumerate(values)
    )
    return row_of(name, *cells, role=Role.RESULT)


def _average(first: int, last: int, condition: str) -> list[Formula]:
    status = ColumnGroup(column=STATUS_COLUMN, first=first, last=last)
    return [
        Formula(
            template=f"AVERAGEIF({{1}},{condition},{{0}})",
            references=(ColumnGroup(column=column, first=first, last=last), status),
        )
        for column in range(1, 6)
    ]


def _deviation(first: int, last: int, word: str, *, same: str = "=") -> list[Formula]:
    status = ColumnGroup(column=STATUS_COLUMN, first=first, last=last)
    return [
        Formula(
            template=f"STDEV(IF({{1}}{same}{word},{{0}}))",
            references=(ColumnGroup(column=column, first=first, last=last), status),
            array=True,
        )
        for column in range(1, 6)
    ]


def _chart(form: SeriesSummary) -> Chart:
    bars = tuple(
        Bar(name=row.label, value=None if mark is Mark.FAILED else row.measures.bytes_per_second, mark=mark)
        for row, mark in ((row, mark_of(row)) for row in form.rows)
    )
    average = form.average_rate
    link = form.series.link_bits_per_second
    levels = [Level(name="average", value=average, of_bars=True)] if average is not None else []
    return Chart(
        title="Throughput of each run",
        unit="bytes/sec",
        bars=bars,
        levels=(*levels, *([Level(name="link", value=link / 8)] if link else [])),
        band=(("one deviation", *form.band) if form.band else None),
        source=(0, 3),
    )
