"""The run form on paper (Using Samba, tables B-6, B-7 and B-9), filled or blank; the lines that other forms share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from forms import wording
from forms.findings import path as series_path
from forms.findings.report import finding_document
from forms.findings.rules_series import closing_seconds, harmful_in, opening_seconds, series_findings
from forms.findings.series_warnings import advice, ceiling_beaten, near_ceiling_percent
from forms.layout import Tone
from forms.report import (
    Bar,
    Cell,
    Chart,
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
    columns_of,
    fields_of,
    row_of,
)
from forms.series.summary import RunMeasures, RunRow, SeriesSummary, column_names, measures_of, quiet_text, run_form
from forms.stats.settle import PAIRS, Shown
from forms.stats.summary import LEVEL, mean
from forms.tuning.differences import parameter_of, values_that_matter
from forms.tuning.smb_conf import CONF_SET, lines_of_fact
from storage import records
from storage.json_reader import DocumentError, JSONNode, named
from storage.load.records import Load
from storage.plan import DEFAULT_TREE_FILE_BYTES

_WHO = ("measured.by", "measured.ticket")


def when_field(moments: Iterable[str], environments: Iterable[Mapping[str, records.Facts]]) -> Field:
    known = sorted(moments)
    first, last = records.with_zone(known[0]), records.with_zone(known[-1])
    began = first if first[16:] != last[16:] else first[:16]
    same_day = last[11:] if first[:10] == last[:10] else last
    text = first if first == last else f"{began} to {same_day}"
    return Field(name="When", text=f"{text}{from_machines(environments)}")


def from_machines(environments: Iterable[Mapping[str, records.Facts]]) -> str:
    """``" from alpha and beta"``; empty where no machine is known."""
    clients = (environment.get("client", {}) for environment in environments)
    names = dict.fromkeys(wording.plain(str(client["host.name"])) for client in clients if client.get("host.name"))
    return f" from {wording.listed(list(names))}" if names else ""


def who_fields(environments: Iterable[Mapping[str, records.Facts]]) -> Iterator[Field]:
    clients = [environment.get("client", {}) for environment in environments]
    said = dict.fromkeys(", ".join(str(client[name]) for name in _WHO if name in client) for client in clients)
    named = [each for each in said if each]
    if named:
        yield Field(name="Measured by", text="; ".join(named))


def harmful_fields(environments: Iterable[Mapping[str, records.Facts]]) -> Iterator[Field]:
    harmful = dict.fromkeys(
        f"{one.setting} = {one.value}" for environment in environments for one in harmful_in(environment)
    )
    if harmful:
        text = f"harmful: {wording.plain('; '.join(harmful))}. sharebench audit says why and what to write instead."
        yield Field(name="Settings", text=text, tone=Tone.BAD)


def origin_fields(measured: Sequence[records.Series | Load], *, with_findings: bool = False) -> Iterator[Field]:
    if measured:
        environments = [one.environment for one in measured]
        yield when_field((one.created_at for one in measured), environments)
        yield from who_fields(environments)
        if not with_findings:
            yield from harmful_fields(environments)


NOT_CALIBRATED = "ceiling.not_calibrated_busy_percent"
_SUSTAINED_DIFFERS = 0.005
"""Relative: beyond it the mean of rates differs from the sustained rate, as fast runs weigh more."""
_QUEUES_TIMES = 2
QUESTIONS = (
    "Are files and print jobs served faster than by the older version?",
    "How much memory does an idle user take?",
    "Where is the limit that users report?",
)
"""IBM Redpaper 2004: state the question before measuring."""
LINK = "Link"


def head_fields(series: records.Series) -> Iterator[Field]:
    yield from fields_of(("Label", series.label), ("Question", series.question), ("Command", series.command.value))
    text, url = records.format_target(series.target, escaped=False), records.format_target(series.target)
    yield Field(name="Target", text=text, facts=() if text == url else (("url", url),))
    yield from fields_of(("Server", series_path.practice_text(series.target)))
    facts = tuple((name, str(value)) for name, value in asdict(series.client).items() if value not in {None, ""})
    yield Field(name="Client", text=client_text(series.client), facts=facts)
    plan, rate = series.plan, mean(series.rates())
    if plan and plan.files:
        size = plan.size_bytes or DEFAULT_TREE_FILE_BYTES
        tree = f"{wording.count(plan.files, 'file')} of {wording.binary_size(size)} each"
        yield Field(name="Tree", text=f"{tree}, {rate / size:,.0f} files/s" if rate else tree)
    yield link_field(series.link_bits_per_second)
    yield from _round_trip(series)
    measured = (("series", series.id), ("created_at", series.created_at), ("status", series.status.value))
    yield Field(name="Measured", text=_measured(series), facts=measured)
    yield from who_fields([series.environment])
    yield from fields_of(("Server settings", _settings_text(series.environment.get("server", {}))))
    left = None if series.running_by else series.scratch_path
    reasons = series.quiet.reasons if series.quiet else ()
    yield from fields_of(
        ("Ended by", series.error),
        ("Resumed", resumed_text(series) if series.resumed_at else ""),
        ("Leftovers", left and f"{left} may still be on the target: delete it there"),
        ("Quiet time", f"{quiet_text(series)}{f' ({reasons[0]})' if reasons else ''}"),
    )
    yield from _ceiling(series)
    yield from fields_of(
        ("Experiment", series.experiment),
        ("Change", _change_text(series.change) if series.change else ""),
        ("Decision", series.decision and wording.decided(series.decision)),
        ("Note", series.note),
    )


def _settings_text(facts: records.Facts) -> str:
    """How many settings of the server were read, and which of those that matter are not at their defaults."""
    read = {parameter_of(fact) for fact in facts} - {None}
    known = values_that_matter(facts)
    changed = [f"{entry.parameter} = {value}" for entry, value, is_default in known if not is_default]
    said = f"; of those that matter, all {len(known)} are at their defaults" if known else ""
    said = f"; not default: {'; '.join(changed)}" if changed else said
    count = len(read & {*lines_of_fact(facts, CONF_SET)})
    return wording.plain(f"{len(read)} read{f', {count} of them set in smb.conf' * bool(count)}{said}") if read else ""


def result_fields(form: SeriesSummary) -> Iterator[Field]:
    """The lines below the table: median, sustained rate where it differs, the interval, and what else was at work."""
    sustained, average, rates = form.sustained_bytes_per_second, form.average_rate, []
    if form.median_bytes_per_second is not None:
        rates.append(("Median", form.median_bytes_per_second))
    if sustained and average and abs(average / sustained - 1) > _SUSTAINED_DIFFERS:
        rates.append(("All bytes / all seconds", sustained))
    for name, rate in rates:
        yield Field(name=name, text=f"{wording.whole(rate)} bytes/sec", number=rate, unit="bytes/sec")
    times = (("opening", opening_seconds(form.series)), ("closing", closing_seconds(form.series)))
    parts = [f"{name} {wording.milliseconds(seconds)}" for name, seconds in times if seconds is not None]
    low, high = form.confidence or (0.0, 0.0)
    sure = f"{wording.whole(max(low, 0))} to {wording.whole(high)} bytes/sec"
    yield from fields_of(
        ("Beside each run", f"{', '.join(parts)} (medians; not counted in its time)" if parts else ""),
        ("95 % interval of the average", sure if form.confidence else ""),
        ("Smallest change", before_a_change(form.shown) if form.shown else ""),
        ("Processors", processors_text(form.series.quiet)),
        ("Other load", "; ".join(form.series.quiet.reasons[1:]) if form.series.quiet else ""),
    )


def before_a_change(shown: Shown) -> str:
    pairs, series = wording.change_size(shown.pairs_percent), wording.change_size(shown.series_percent)
    return f"{pairs} by {PAIRS[0]} interleaved pairs, {series} by one more series (nine times in ten)."


def link_field(bits_per_second: int | None) -> Field:
    """The nominal link speed, 100 % in the last column."""
    if bits_per_second is None:
        return Field(name=LINK, text="unknown")
    return Field(name=LINK, text=wording.link_rate(bits_per_second), number=bits_per_second, unit="bits/sec")


def client_text(client: records.ClientFacts) -> str:
    signed = f"signed by {client.signing}" if client.is_signed else "not signed"
    encrypted = f"encrypted by {client.encryption}" if client.is_encrypted else "not encrypted"
    parts = (
        f"{client.name} {client.version}".strip(),
        client.dialect and f"dialect {client.dialect}",
        client.signing and signed,
        client.encryption and encrypted,
        client.block_bytes and f"blocks of {wording.binary_size(client.block_bytes)}",
        client.in_flight and f"{client.in_flight} in flight",
    )
    return ", ".join(str(part) for part in parts if part)


def _change_text(change: records.Change) -> str:
    remark = f": {change.remark}" if change.remark else ""
    listed = ", ".join(change.also_changed)
    also = "" if not listed else f" Also changed: {listed}." if remark.endswith(".") else f"; also changed: {listed}"
    return f"{wording.changed(change)}, {change.evidence}{remark}{also}"


def _measured(series: records.Series) -> str:
    ended = "" if series.status is records.SeriesStatus.COMPLETE else f", {series.status.value}"
    if owner := series.running_by:
        ended = f", {series.status.value}, running (process {owner.process_id} on {owner.host})"
    return f"{records.with_zone(series.created_at)}{from_machines([series.environment])}{ended}, series {series.id}"


def resumed_text(series: records.Series) -> str:
    times = wording.listed([f"{records.with_zone(at)}" for at in series.resumed_at])
    failed = [
        f"{'W' if run.phase is records.Phase.WARM_UP else 'run '}{run.number}{f' ({run.error})' if run.error else ''}"
        for run in series.failed_attempts
    ]
    return f"{times}; failed before: {', '.join(failed)}" if failed else times


def processors_text(quiet: records.Quiet | None) -> str:
    """Processor use of the client during the runs; empty where unknown."""
    figures = quiet.figures if quiet else {}
    parts = []
    for word, name in (("user", "cpu_user_percent"), ("system", "cpu_system_percent"), ("total", "cpu_percent")):
        mean, *others = (figures.get(f"{name}{kind}_during") for kind in ("", "_median", "_deviation"))
        if mean is None or others[0] is None:
            return ""
        median, deviation = (None if value is None else f"{value:.1f}" for value in others)
        parts.append(f"{word} {mean:.1f} % (median {median}{f', deviation {deviation}' if deviation else ''})")
    return f"{', '.join(parts)} of this client's processors, during the runs"


def _round_trip(series: records.Series) -> Iterator[Field]:
    path = series.environment.get("path", {})
    least, loaded = path.get(series_path.TCP_ROUND_TRIP), path.get("tcp.round_trip_seconds")
    if not isinstance(least, int | float):
        return
    rate = mean([r.bytes_per_second for r in series.measured() if r.bytes_per_second])
    text = wording.milliseconds(least)
    if isinstance(loaded, int | float) and loaded >= _QUEUES_TIMES * least:
        text += f", {wording.milliseconds(loaded)} under load"
    request, trip = series_path.request_seconds(series), series_path.round_trip_seconds(series)
    if request is not None:
        text += f"; an empty request {wording.milliseconds(request)}"
    if rate is not None and trip is not None and not series_path.is_loopback(series):
        text += f"; bandwidth-delay product {wording.binary_size(round(rate * trip))}"
    yield Field(name="Round trip", text=text, number=least, unit="seconds")


def _ceiling(series: records.Series) -> Iterator[Field]:
    if series.ceiling_bytes_per_second is None:
        others = series.environment.get("client", {}).get(NOT_CALIBRATED)
        if isinstance(others, int | float):
            busy = f"others took {wording.percent(others)} of the processors when it was to be measured"
            text = f"this client's own limit is not known: {busy}"
            yield Field(name="Ceiling", text=text)
        return
    share, ceiling = near_ceiling_percent(series), series.ceiling_bytes_per_second
    reached = "" if share is None else f"; the average is {wording.percent(share)} of it"
    if ceiling_beaten(series):
        reached = "; the average is above it, so it was calibrated at a busy moment"
    text = f"{wording.byte_rate(ceiling)}, this client's own limit on this machine{reached}"
    yield Field(name="Ceiling", text=text, number=ceiling, unit="bytes/sec")


SCHEMA = "sharebench/series/1"

Document = dict[str, Any]


def series_document(series: records.Series) -> Document:
    form = run_form(series)
    target, owner, sure = series.target, series.running_by, form.confidence
    document: Document = {
        "schema": SCHEMA,
        **named(series, "id", "created_at", "status", "title", "label", "note", "question"),
        **named(series, "experiment", "experiment_kind"),
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
        "running": owner and {"process": owner.process_id, "host": owner.host, "since": owner.since},
        "left_behind": None if owner else series.scratch_path,
        "average": form.average and asdict(form.average),
        "deviation": form.deviation and asdict(form.deviation),
        "confidence": sure and {"level": LEVEL, "low_bytes_per_second": sure[0], "high_bytes_per_second": sure[1]},
        "shown": form.shown and asdict(form.shown),
        "quiet": series.quiet.to_json() if series.quiet else {"verdict": records.QuietVerdict.UNKNOWN.value},
        "environment": {side: dict(series.environment.get(side, {})) for side in ("client", "server", "path")},
        **named(series, "ceiling_bytes_per_second", "error", "base_id"),
        "decision": series.decision.value if series.decision else None,
        "plan": series.plan.to_json() if series.plan else {},
        "findings": [finding_document(one) for one in series_findings(series)],
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


def series_from_document(document: object) -> records.Series:
    """The series of a document; averages are computed again. Raises DocumentError."""
    top = JSONNode("", document).object()
    if top.value.get("schema") != SCHEMA:
        raise top.maybe("schema").wrong(f'"{SCHEMA}"')
    for name in ("target", "client"):
        top.at(name).object()
    series = top.record(records.Series, leave=_OURS, needs=("status", "command", "runs"))
    _check_runs(top, series)
    # what would read files or log in from here is left out
    plan = series.plan and replace(series.plan, server_ssh=None, smb_conf=None)
    failed = tuple(replace(run, status=records.RunStatus.FAILED) for run in series.failed_attempts)
    return replace(series, plan=plan, failed_attempts=failed)


def series_inside(place: JSONNode) -> records.Series:
    try:
        return series_from_document(place.value)
    except DocumentError as error:
        raise DocumentError(f"{place.name}.{error}") from error


def _check_runs(top: JSONNode, series: records.Series) -> None:
    seen: set[tuple[records.Phase, int]] = set()
    for place in (*top.at("runs").items(), *top.maybe("failed_attempts").items()):
        if not place.value.keys() >= _OF_A_RUN:
            for name in sorted(_OF_A_RUN):
                place.at(name)
    for place, run in zip(top.at("runs").items(), series.runs, strict=True):
        if (run.phase, run.number) in seen:
            raise DocumentError(f"{place.name}: a second {run.phase.value} run {run.number}")
        seen.add((run.phase, run.number))
        if run.status is not records.RunStatus.FAILED and not (run.seconds and run.seconds > 0):
            raise DocumentError(f"{place.name}.seconds: expected a number above 0")
        if run.status is not records.RunStatus.FAILED and not run.size_bytes:
            raise DocumentError(f"{place.name}.size_bytes: expected a whole number of at least 1")


FORM = "run form"
BLANK_TITLE = "Measurement form"
BLANK_ROWS = 5
_WARNED_OF = frozenset({"busy", "client-ceiling"})
_KINDS = (ReportKind.TEXT, ReportKind.WHOLE, ReportKind.SECONDS, ReportKind.WHOLE, ReportKind.WHOLE, ReportKind.PERCENT)
_MEASURES = tuple(RunMeasures.__dataclass_fields__)


def series_report(form: SeriesSummary) -> Report:
    series = form.series
    found = (one for one in series_findings(series) if one.key not in _WARNED_OF)
    return Report(
        form=FORM,
        title=series.title or wording.default_title(series.command, series.target),
        name=series.label or series.title or series.id,
        fields=(_answer(form), *head_fields(series)),
        tables=(run_table(form),),
        results=tuple(result_fields(form)),
        advice=tuple(one.text for one in (*advice(series), *found)),
        drawn=(runs_chart(form),),
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


def blank_series_report(link_bits_per_second: int | None = None) -> Report:
    link = link_field(link_bits_per_second) if link_bits_per_second else Field(name=LINK, text="")
    rows = [row_of(str(n + 1), *[None] * 5) for n in range(BLANK_ROWS)]
    rows += [row_of(f"{name}:", *[None] * 5, role=Role.RESULT) for name in ("Average", "Deviation")]
    columns = columns_of(*zip(column_names(link_bits_per_second), _KINDS, strict=True))
    return Report(
        form=FORM,
        title=BLANK_TITLE,
        name=BLANK_TITLE,
        fields=(*blank_fields("Label", "Command", "Target", "Client"), link, *blank_fields("Measured", "Note")),
        tables=(Table(columns=columns, rows=tuple(rows), marked=True, entry="run {}".format),),
        blank=True,
    )


def run_table(form: SeriesSummary) -> Table:
    rows = [_row(row, index) for index, row in enumerate(form.all_rows)]
    first, last = len(form.warm_ups), len(rows) - 1
    count = len(_KINDS) - all(row.measures.percent_of_link is None for row in form.all_rows)
    if form.average:
        averages = _of_column('AVERAGEIF({1},"valid",{0})', first, last, count) if form.rows else None
        rows.append(_statistic("Average:", form.average, averages))
    if form.deviation:
        deviations = _of_column('STDEV(IF({1}="valid",{0}))', first, last, count, array=True)
        rows.append(_statistic("Deviation:", form.deviation, deviations))
    if form.average_with_rejected:
        rows.append(Row(cells=(Cell(value="With the rejected runs:"),), role=Role.HEADING))
        averages = _of_column('AVERAGEIF({1},"<>failed",{0})', first, last, count)
        rows.append(_statistic("Average:", form.average_with_rejected, averages))
    if form.deviation_with_rejected:
        deviations = _of_column('STDEV(IF({1}<>"failed",{0}))', first, last, count, array=True)
        rows.append(_statistic("Deviation:", form.deviation_with_rejected, deviations))
    columns = columns_of(*zip(column_names(form.series.link_bits_per_second), _KINDS, strict=True))[:count]
    kept = tuple(replace(row, cells=row.cells[:count]) for row in rows)
    return Table(columns=columns, rows=kept, marked=True, entry="run {}".format)


def _row(row: RunRow, index: int) -> Row:
    numbers = [getattr(row.measures, name) for name in _MEASURES]
    failed = row.run.status is records.RunStatus.FAILED
    formulas = [None] * 5 if failed else [None, None, *_formulas(index, row.measures.percent_of_link is not None)]
    return Row(
        cells=(
            Cell(value=row.label),
            *(Cell(value=value, formula=formula) for value, formula in zip(numbers, formulas, strict=True)),
        ),
        mark=mark_of(row),
        remark=row.run.error or ""
        if failed
        else row.run.reason or (wording.unusual_text(row.unusual) if row.unusual else ""),
    )


def mark_of(row: RunRow) -> Mark:
    if row.run.status is records.RunStatus.FAILED:
        return Mark.FAILED
    if row.run.status is records.RunStatus.REJECTED:
        return Mark.REJECTED
    if row.run.phase is records.Phase.WARM_UP:
        return Mark.WARM_UP
    return Mark.UNUSUAL if row.unusual else Mark.NONE


def _formulas(index: int, has_link: bool) -> Iterator[Formula | None]:
    size, time, rate, bits = (cell_at(column, index) for column in range(1, 5))
    yield Formula(template="{0}/{1}", references=(size, time))
    yield Formula(template="8*{0}", references=(rate,))
    yield Formula(template="100*{0}/{1}", references=(bits, FieldReference(name=LINK))) if has_link else None


def _statistic(name: str, measures: RunMeasures, formulas: Sequence[Formula] | None) -> Row:
    cells = (
        Cell(value=value, formula=formulas[i] if formulas and value is not None else None)
        for i, value in enumerate(getattr(measures, field) for field in _MEASURES)
    )
    return row_of(name, *cells, role=Role.RESULT)


def _of_column(template: str, first: int, last: int, status: int, *, array: bool = False) -> list[Formula]:
    """A formula of each column's runs, ``{0}``, and their status, ``{1}``, in the column behind them."""
    beside, *columns = (ColumnGroup(column=one, first=first, last=last) for one in (status, *range(1, 6)))
    return [Formula(template=template, references=(column, beside), array=array) for column in columns]


def runs_chart(form: SeriesSummary) -> Chart:
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
