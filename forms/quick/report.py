"""The form of a quick test: the judgement in a sentence, the table that everybody knows, and each line's details."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from forms import report, wording
from forms.findings import path
from forms.quick import limits, summary
from forms.quick.answer import limit_legend, quick_answer
from forms.quick.disk_reference import disk_reference
from forms.quick.since_before import since_text
from forms.series import origin
from forms.series.client_text import client_text
from forms.series.head_fields import link_field
from forms.series.imitation import imitation_fields, unsigned_session_hint
from forms.tuning import usual_server
from storage import records
from storage.json_reader import named
from storage.quick import records as quick_records

FORM = "quick test"
SCHEMA = "sharebench/quick/1"

_READ = records.Command.GET
_WRITE = records.Command.PUT
_SMALL = quick_records.ACCESSES[-1]
"""Single small requests."""

_INTERVAL_COLUMNS = (
    report.Column(heading="from", kind=report.ReportKind.DECIMAL),
    report.Column(heading="to", kind=report.ReportKind.DECIMAL),
)
_ALLOWANCE_COLUMNS = (
    report.Column(heading="At most", kind=report.ReportKind.DECIMAL),
    report.Column(heading="Set by", kind=report.ReportKind.TEXT),
)
_P99_COLUMN = report.Column(heading="p99 ms", kind=report.ReportKind.SECONDS, is_detail=True)


def quick_document(quick: quick_records.Quick) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **named(quick, "id", "created_at", "status", "error", "label", "note", "question"),
        **quick_records.recording_of_quick(quick).content,
        "answer": quick_answer(quick).text,
        "round_trip_seconds": limits.round_trip_seconds(quick),
        "figures": [figures.to_json() for figures in summary.quick_figures(quick)],
    }


def quick_report(quick: quick_records.Quick, before: quick_records.Quick | None = None) -> report.Report:
    """``before``: the quick test before of the same target, where there is one."""
    figures = summary.quick_figures(quick)
    return report.Report(
        form=FORM,
        title="Quick test",
        name=quick.label or quick.id,
        fields=tuple(_fields(quick, before)),
        tables=tuple(_tables(quick, figures)),
        advice=tuple(_advice(quick, figures)),
        drawn=tuple(_charts(quick, figures)),
        document=partial(quick_document, quick),
    )


def _fields(quick: quick_records.Quick, before: quick_records.Quick | None) -> Iterator[report.Field]:
    answer = quick_answer(quick)
    answer_texts = filter(None, [answer.text, since_text(before, quick)])
    yield report.answer_field(" ".join(answer_texts), answer.tone)
    yield from report.fields_of(("Label", wording.plain(quick.label)))
    if quick.target is not None:
        target_text = records.format_target(quick.target, escaped=False)
        yield report.Field(name="Target", text=wording.plain(target_text))
        yield from report.fields_of(("Server", path.practice_text(quick.target)))

    yield from _client_fields(quick)
    yield from imitation_fields(quick.settings.like, quick.client)
    if quick.file_bytes:
        yield report.Field(name="File", text=file_text(quick), number=quick.file_bytes, unit="bytes")
    if quick.target is not None and not quick.target.abilities.is_local:
        yield link_field(quick.link_bits_per_second)
    yield from _round_trip_fields(quick)

    state = "" if quick.status is records.SeriesStatus.COMPLETE else f", {quick.status.value}"
    machines = origin.from_machines([quick.environment])
    text = f"{records.with_zone(quick.created_at)}{machines}{state}, quick test {quick.id}"
    facts = (("quick", quick.id), ("created_at", quick.created_at), ("status", quick.status.value))
    yield report.measured_field(text, facts)
    yield from origin.who_fields([quick.environment])
    if quick.scratch_path:
        text = f"{wording.plain(quick.scratch_path)} may still be on the target: delete it there"
        yield report.Field(name="Leftovers", text=text, is_known_at_end=True)


def _client_fields(quick: quick_records.Quick) -> Iterator[report.Field]:
    if quick.program:
        yield report.Field(name="Client", text=wording.plain(quick.program))
    elif quick.client is not None:
        path_facts = quick.environment.get("path", {})
        hint = unsigned_session_hint(quick.client, quick.settings.like, path_facts)
        # Its requests are those of each line.
        client = replace(quick.client, block_bytes=None, in_flight=None)
        yield report.Field(name="Client", text=client_text(client, unsigned_hint=hint))


def file_text(quick: quick_records.Quick) -> str:
    """Its size, and why it is not as large as was asked for."""
    text = wording.binary_size(round(quick.file_bytes))
    if quick.program:
        return text
    if quick.file_bytes < quick.size_bytes:
        asked_size = wording.binary_size(quick.size_bytes)
        text += f" ({asked_size} asked for: time to write it, or the free space, ended it there)"
    if quick.past_page_cache is not None:
        text += ", past the page cache" if quick.past_page_cache else ", through the page cache"
    return f"{text}, made for this and removed"


def _round_trip_fields(quick: quick_records.Quick) -> Iterator[report.Field]:
    least = path.number_of_fact(quick.environment.get("path", {}), path.TCP_ROUND_TRIP)
    request_seconds = limits.round_trip_seconds(quick)
    if least is None:
        return
    yield report.Field(name="Network round trip", text=wording.milliseconds(least), number=least, unit="seconds")
    if request_seconds is not None:
        yield report.Field(
            name="Empty SMB request",
            text=_empty_request_text(quick, request_seconds),
            number=request_seconds,
            unit="seconds",
        )
        yield from _small_request_fields(quick)


def _empty_request_text(quick: quick_records.Quick, request_seconds: float) -> str:
    """Its time, and why it is less than was measured."""
    text = wording.milliseconds(request_seconds)
    measured_seconds = limits.measured_round_trip_seconds(quick)
    if measured_seconds is None or measured_seconds <= request_seconds:
        return text
    measured_text = wording.milliseconds(measured_seconds)
    return f"{text} (it took {measured_text} before the test; the fastest small requests show that it can be less)"


def _small_request_fields(quick: quick_records.Quick) -> Iterator[report.Field]:
    """What of a small request the path needs, and what that is made of."""
    path_seconds = limits.path_seconds(quick, _SMALL)
    on_link = limits.seconds_on_link(quick, _SMALL)
    if path_seconds is None or not on_link:
        return
    size = wording.binary_size(_SMALL.block_bytes)
    text = f"{wording.milliseconds(path_seconds)}: the empty request, and {wording.milliseconds(on_link)} for {size}"
    yield report.Field(name="Path of a small one", text=f"{text} on the link", number=path_seconds, unit="seconds")


# The tables


def _tables(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> Iterator[report.Table]:
    if not figures:
        return
    yield _known_table(quick, figures)
    yield from _references_table(figures)
    for caption, reads in (("Read", True), ("Write", False)):
        lines = [line for line in figures if line.line.reads is reads]
        if lines:
            yield _details_table(caption, quick, lines)


def _known_table(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> report.Table:
    """The table of the program that everybody knows, a row an access, its reads beside its writes; and their limits."""
    # Another program does not tell what limits it.
    has_limits = not quick.program
    of_accesses: dict[str, dict[records.Command, summary.LineFigures]] = {}
    for line in figures:
        of_accesses.setdefault(line.line.access.name, {})[line.line.command] = line

    rows = []
    for name, of_access in of_accesses.items():
        read_cells = _known_cells(of_access.get(_READ), has_limits=has_limits)
        write_cells = _known_cells(of_access.get(_WRITE), has_limits=has_limits)
        rows.append(report.row_of(name, *read_cells, *write_cells))

    limit_headings = ["Limited by"] if has_limits else []
    return report.Table(
        columns=report.columns_of(
            "",
            ("Read MB/s", report.ReportKind.DECIMAL),
            *limit_headings,
            ("Write MB/s", report.ReportKind.DECIMAL),
            *limit_headings,
        ),
        rows=tuple(rows),
        caption=limit_legend(quick, figures) if has_limits else "",
    )


def _known_cells(figures: summary.LineFigures | None, *, has_limits: bool) -> list[str | float | None]:
    rate = wording.megabytes(figures.bytes_per_second) if figures else None
    if not has_limits:
        return [rate]
    return [rate, _limit_cell(figures.limit, figures) if figures else None]


def _limit_cell(limit: limits.LineLimit | None, figures: summary.LineFigures) -> str | None:
    """A limit of a line, with a ``?`` where its runs leave that in doubt."""
    return f"{limit}?" if limit and figures.is_limit_doubtful else limit


def _references_table(figures: Sequence[summary.LineFigures]) -> Iterator[report.Table]:
    """Each line held against the most that path and client allow, and against a server with the disk of reference."""
    has_allowance = any(line.allowance for line in figures)
    has_disk = any(line.bytes_per_second_with_disk for line in figures)
    if not has_allowance and not has_disk:
        return

    columns = [
        report.Column(heading="", kind=report.ReportKind.TEXT),
        report.Column(heading="MB/s", kind=report.ReportKind.DECIMAL),
        *(_ALLOWANCE_COLUMNS if has_allowance else ()),
    ]
    if has_disk:
        columns.append(report.Column(heading=f"With a {disk_reference()['name']}", kind=report.ReportKind.DECIMAL))
    yield report.Table(
        columns=tuple(columns),
        rows=tuple(_references_row(line, has_allowance=has_allowance, has_disk=has_disk) for line in figures),
        caption=_references_caption(has_allowance=has_allowance, has_disk=has_disk),
    )


def _references_row(line: summary.LineFigures, *, has_allowance: bool, has_disk: bool) -> report.Row:
    allowance_cells: tuple[str | float | None, ...] = (None, None)
    if line.allowance is not None:
        rate = wording.megabytes(line.allowance.bytes_per_second)
        allowance_cells = (rate, _limit_cell(line.allowance.limit, line))

    return report.row_of(
        line.line.name,
        wording.megabytes(line.bytes_per_second),
        *(allowance_cells if has_allowance else ()),
        *([wording.megabytes(line.bytes_per_second_with_disk)] if has_disk else []),
    )


def _references_caption(*, has_allowance: bool, has_disk: bool) -> str:
    disk = disk_reference()["name"]
    if not has_allowance:
        return f"Held against a {disk}"
    against_disk = f", and against a {disk}" if has_disk else ""
    return (
        f"Held against the most that a server could reach that answered at once{against_disk}. Set by: what would stop"
        " it then; what limits a line now stands in the first table"
    )


def _details_table(caption: str, quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> report.Table:
    has_link = quick.link_bits_per_second is not None
    # Another program tells one rate for each line, without an interval.
    has_runs = not quick.program
    columns = [
        report.Column(heading="", kind=report.ReportKind.TEXT),
        report.Column(heading="MB/s", kind=report.ReportKind.DECIMAL),
        *(_INTERVAL_COLUMNS if has_runs else ()),
        report.Column(heading="IOPS", kind=report.ReportKind.DECIMAL),
        report.Column(heading="ms", kind=report.ReportKind.SECONDS),
        *([_P99_COLUMN] if has_runs else []),
        *([report.Column(heading="% of link", kind=report.ReportKind.PERCENT)] if has_link else []),
    ]

    return report.Table(
        columns=tuple(columns),
        rows=tuple(_details_row(quick, line, has_link=has_link, has_runs=has_runs) for line in figures),
        caption=f"{caption}; from, to: 95 % interval of MB/s" if has_runs else caption,
    )


def _details_row(
    quick: quick_records.Quick, figures: summary.LineFigures, *, has_link: bool, has_runs: bool
) -> report.Row:
    low, high = possible_interval(quick, figures) or (None, None)
    interval = (wording.megabytes(low), wording.megabytes(high))

    return report.row_of(
        figures.line.access.name,
        wording.megabytes(figures.bytes_per_second),
        *(interval if has_runs else ()),
        figures.operations_per_second,
        _milliseconds(figures.request_seconds),
        *([_milliseconds(figures.p99_seconds)] if has_runs else []),
        *([figures.percent_of_link] if has_link else []),
    )


def possible_interval(quick: quick_records.Quick, figures: summary.LineFigures) -> tuple[float, float] | None:
    """The interval of a line's average as far as rates are possible: from zero to what the link can carry.

    With three runs it may reach beyond either. An average above the link's speed is shown with the interval it has.
    """
    if figures.interval is None:
        return None

    low, high = figures.interval
    link_bytes = (quick.link_bits_per_second or 0) / 8
    if link_bytes >= figures.bytes_per_second:
        high = min(high, link_bytes)
    return max(0.0, low), high


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


# What is to be known of the figures


def _advice(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> Iterator[str]:
    if not figures:
        return
    if quick.program:
        yield (
            f"{wording.plain(quick.program)} tells its best run of each line, not the average: such figures are higher"
            " than those of sharebench for the same server."
        )
        return

    restless = [line for line in figures if line.is_restless]
    if restless:
        names = wording.listed([line.line.name for line in restless])
        yield (
            f"The runs of {names} differ by over {summary.RESTLESS_PERCENT:.0f} %, so that these figures say little"
            " (hence the ? after what limits them): something else was at work here or on the server. Measure again at"
            " a quiet time."
        )
    yield from _usual_text(quick, figures)
    yield from _disk_text(quick, figures)
    slow_clients = [line for line in figures if line.limit is limits.LineLimit.CLIENT and not line.is_restless]
    if slow_clients:
        names = wording.listed([line.line.name for line in slow_clients])
        text = f"This client was the limit of {names}: the server may be faster than these figures."
        yield f"{text}{_busy_text(slow_clients)}"
    if quick.past_page_cache is None:
        yield (
            "The file was written just before: what fits into the server's memory is read from there, not from its"
            " disk. A write counts once the server has answered it, which may be before its disk has it."
        )
    elif not quick.past_page_cache:
        yield "This file system does not let requests past the page cache: its figures are those of memory."
    yield from _split_text(quick)


def _busy_text(slow_clients: Sequence[summary.LineFigures]) -> str:
    """That others had its processors, where it did not compute that long by itself."""
    if all((line.client_percent or 0.0) >= limits.BUSY_CLIENT_PERCENT for line in slow_clients):
        return ""
    return " Other programs had its processors: measure again when they have ended, or on another machine (--from)."


def _usual_text(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> Iterator[str]:
    """What a usual server on this path takes for a small read, with the source."""
    network_seconds = path.number_of_fact(quick.environment.get("path", {}), path.TCP_ROUND_TRIP)
    small_reads = [line for line in figures if line.line.access == _SMALL and line.line.reads]
    if network_seconds is None or not small_reads or small_reads[0].request_seconds is None:
        return

    on_link = limits.seconds_on_link(quick, _SMALL)
    usual_seconds = network_seconds + on_link + usual_server.usual_request_seconds("read")
    source = usual_server.usual_server()["request_source"]
    yield (
        f"A usual server on this path takes {wording.milliseconds(usual_seconds)} for a small read from its memory,"
        f" this one {wording.milliseconds(small_reads[0].request_seconds)} ({source})."
    )


def _disk_text(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> Iterator[str]:
    """What the column of the disk of reference says, and where its figures are from."""
    if not any(line.bytes_per_second_with_disk for line in figures):
        return

    disk = disk_reference()
    if quick.past_page_cache is not None:
        yield f"With a {disk['name']}: what such a disk moves by itself ({disk['source']})."
        return
    yield (
        f"With a {disk['name']}: what a usual server reaches on this path where every request goes to such a disk; one"
        f" that answers from its memory is faster ({disk['source']})."
    )


def _split_text(quick: quick_records.Quick) -> Iterator[str]:
    """Where the server takes no whole block, or grants fewer requests at once than a line asks for."""
    parts = {line.request_bytes for line in quick.lines if line.request_bytes}
    if parts:
        size = wording.binary_size(min(parts))
        yield f"The server takes requests of at most {size}: blocks of 1 MiB were asked for in parts; ms is of a part."
    wanted_in_flight = quick_records.ACCESSES[0].in_flight
    granted = quick.client.in_flight if quick.client else None
    is_network = quick.past_page_cache is None
    if is_network and granted is not None and granted < wanted_in_flight and not parts:
        asked_text = f"where {wanted_in_flight} were asked for"
        yield f"The server's credits allow {granted} requests of 1 MiB at once, {asked_text}."


# Charts


def _charts(quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> Iterator[report.Chart]:
    sequential = [line for line in figures if not line.line.access.random]
    if sequential:
        yield report.Chart(
            title="Sequential: MB/s of each line",
            unit="MB/s",
            bars=tuple(_bar(quick, line, 1e-6) for line in sequential),
        )
    small = [line for line in figures if line.line.access.random]

    if small:
        # The rate of a line is the operations of one block each.
        yield report.Chart(
            title="Random: operations per second of each line",
            unit="IOPS",
            bars=tuple(_bar(quick, line, 1 / line.line.access.block_bytes) for line in small),
        )


def _bar(quick: quick_records.Quick, figures: summary.LineFigures, scale: float) -> report.Bar:
    """A bar of its rate times ``scale``, with its interval."""
    interval = possible_interval(quick, figures)
    if interval is not None:
        low, high = interval
        interval = (low * scale, high * scale)
    return report.Bar(name=figures.line.name, value=figures.bytes_per_second * scale, interval=interval)
