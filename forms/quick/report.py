"""The form of a quick test: the judgement in a sentence, the table that everybody knows, and each line's details."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from forms import report, wording
from forms.findings import path
from forms.quick import faster_network, limits, line_names, since_before, summary
from forms.quick.advice import SINGLE_SMALL, busy_client_text, quick_advice
from forms.quick.answer import limit_legend, quick_answer
from forms.quick.comparison import QuickComparison
from forms.quick.disk_reference import disk_reference
from forms.quick.reasons import reasons_table
from forms.series import origin
from forms.series.client_text import client_text
from forms.series.head_fields import link_field
from forms.series.imitation import imitation_fields, unsigned_session_hint
from storage import records
from storage.json_reader import named
from storage.quick import records as quick_records

FORM = "quick test"
SCHEMA = "sharebench/quick/1"

_READ = records.Command.GET
_WRITE = records.Command.PUT

_INTERVAL_COLUMNS = (
    report.Column(heading="from", kind=report.ReportKind.DECIMAL),
    report.Column(heading="to", kind=report.ReportKind.DECIMAL),
)
_ALLOWANCE_COLUMNS = (
    report.Column(heading="Limited by", kind=report.ReportKind.TEXT),
    report.Column(heading="Possible", kind=report.ReportKind.DECIMAL),
    report.Column(heading="then by", kind=report.ReportKind.TEXT),
)
_P99_COLUMN = report.Column(heading="p99 ms", kind=report.ReportKind.MILLISECONDS, is_detail=True)


def quick_document(quick: quick_records.Quick) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **named(quick, "id", "created_at", "status", "error", "label", "note", "question"),
        **quick_records.recording_of_quick(quick).content,
        "answer": quick_answer(quick).text,
        "round_trip_seconds": limits.round_trip_seconds(quick),
        "figures": [figures.to_json() for figures in summary.quick_figures(quick)],
    }


def quick_report(quick: quick_records.Quick, since: QuickComparison | None = None) -> report.Report:
    """``since``: the quick test before of the same target compared with it, where there is one."""
    figures = summary.quick_figures(quick)
    return report.Report(
        form=FORM,
        title="Quick test",
        name=quick.label or quick.id,
        fields=tuple(_fields(quick, figures, since)),
        tables=(*_tables(quick, figures, since), *since_before.since_table(since)),
        advice=tuple(quick_advice(quick, figures, since)),
        drawn=tuple(_charts(quick, figures)),
        document=partial(quick_document, quick),
    )


def _fields(
    quick: quick_records.Quick, figures: Sequence[summary.LineFigures], since: QuickComparison | None
) -> Iterator[report.Field]:
    answer = quick_answer(quick)
    answer_texts = filter(None, [answer.text, since_before.since_text(since), busy_client_text(figures, since)])
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
    is_smaller = quick.file_bytes < quick.size_bytes // quick_records.MIB * quick_records.MIB
    if is_smaller:
        asked_size = wording.binary_size(quick.size_bytes)
        text += f" ({asked_size} asked for: {_file_end_text(quick.file_lacks_room)})"
    if quick.past_page_cache is not None:
        text += ", past the page cache" if quick.past_page_cache else ", through the page cache"
    # Of one that is still there, nobody knows yet whether it can be removed.
    return f"{text}, made for this" if quick.scratch_path else f"{text}, made for this and removed"


def _file_end_text(lacks_room: bool | None) -> str:
    """Why it is not as large as was asked for; None where nobody noted that."""
    if lacks_room is None:
        return "time to write it, or the free space, ended it there"
    if lacks_room:
        return "half of the free space is no more"
    return "as much was written in the time for it"


def _round_trip_fields(quick: quick_records.Quick) -> Iterator[report.Field]:
    least = path.number_of_fact(quick.environment.get("path", {}), path.TCP_ROUND_TRIP)
    request_seconds = limits.round_trip_seconds(quick)
    if least is None:
        return
    yield report.Field(name="Network round trip", text=line_names.few_milliseconds(least), number=least, unit="seconds")
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
    text = line_names.few_milliseconds(request_seconds)
    measured_seconds = limits.measured_round_trip_seconds(quick)
    if measured_seconds is None or measured_seconds <= request_seconds:
        return text
    measured_text = line_names.few_milliseconds(measured_seconds)
    return f"{text} (it took {measured_text} before the test; the fastest small requests show that it can be less)"


def _small_request_fields(quick: quick_records.Quick) -> Iterator[report.Field]:
    """What of a small request the path needs, and what that is made of."""
    path_seconds = limits.path_seconds(quick, SINGLE_SMALL)
    on_link = limits.seconds_on_link(quick, SINGLE_SMALL)
    if path_seconds is None or not on_link:
        return
    size = wording.binary_size(SINGLE_SMALL.block_bytes)
    link_text = f"{line_names.few_milliseconds(on_link)} for {size} on the link"
    text = f"{line_names.few_milliseconds(path_seconds)}: the empty request, and {link_text}"
    yield report.Field(name="Path of a small one", text=text, number=path_seconds, unit="seconds")


# The tables


def _tables(
    quick: quick_records.Quick, figures: Sequence[summary.LineFigures], since: QuickComparison | None
) -> Iterator[report.Table]:
    if not figures:
        return
    disputed = {line.name for line in since_before.lines_since(since) if line.has_two_limits}
    yield _known_table(quick, figures, disputed)
    yield from reasons_table(quick, figures)
    for caption, reads in (("Read", True), ("Write", False)):
        lines = [line for line in figures if line.line.reads is reads]
        if lines:
            yield _details_table(caption, quick, lines)
    yield from _references_table(figures)


def _known_table(
    quick: quick_records.Quick, figures: Sequence[summary.LineFigures], disputed: Collection[str]
) -> report.Table:
    """The table of the program that everybody knows, a row an access, its reads beside its writes; and their limits.

    ``disputed``: the lines of which the quick test before is as sure of another limit.
    """
    # Another program does not tell what limits it.
    has_limits = not quick.program
    has_gains = any(line.link_gain for line in figures)
    of_accesses: dict[str, dict[records.Command, summary.LineFigures]] = {}
    for line in figures:
        of_accesses.setdefault(line.line.access.quoted_name, {})[line.line.command] = line

    rows = []
    for name, of_access in of_accesses.items():
        read_cells = _known_cells(of_access.get(_READ), disputed, has_limits=has_limits)
        write_cells = _known_cells(of_access.get(_WRITE), disputed, has_limits=has_limits)
        gain_cells = [_gain_cell(list(of_access.values()))] if has_gains else []
        rows.append(report.row_of(name, *read_cells, *write_cells, *gain_cells))

    limit_headings = ["Limited by"] if has_limits else []
    return report.Table(
        columns=report.columns_of(
            "",
            ("Read MB/s", report.ReportKind.DECIMAL),
            *limit_headings,
            ("Write MB/s", report.ReportKind.DECIMAL),
            *limit_headings,
            *(["Faster network"] if has_gains else []),
        ),
        rows=tuple(rows),
        caption=limit_legend(quick, figures, is_disputed=bool(disputed)) if has_limits else "",
    )


def _known_cells(
    figures: summary.LineFigures | None, disputed: Collection[str], *, has_limits: bool
) -> list[str | float | None]:
    rate = wording.megabytes(figures.bytes_per_second) if figures else None
    if not has_limits:
        return [rate]
    if figures is None:
        return [rate, None]
    is_disputed = figures.line.quoted_name in disputed
    return [rate, f"{figures.limit}?" if is_disputed else _limit_cell(figures.limit, figures)]


def _gain_cell(of_access: Sequence[summary.LineFigures]) -> str:
    """What a faster network does for reads and writes: ``helps``, ``at most 30 %``; both where one is not bounded."""
    gains: dict[faster_network.NetworkHelp, list[faster_network.LinkGain]] = {}
    for figures in of_access:
        if figures.link_gain is not None:
            gains.setdefault(figures.link_gain.help, []).append(figures.link_gain)
    # The larger bound holds for both.
    if faster_network.NetworkHelp.AT_MOST in gains:
        gains.pop(faster_network.NetworkHelp.HARDLY, None)
    largest_gains = [max(of_help, key=lambda gain: gain.told_percent) for of_help in gains.values()]
    return " / ".join(map(_gain_text, largest_gains))


def _gain_text(gain: faster_network.LinkGain) -> str:
    match gain.help:
        case faster_network.NetworkHelp.AT_MOST:
            return gain.likely_text or f"at most {wording.percent(gain.told_percent)}"
        case faster_network.NetworkHelp.HARDLY:
            return faster_network.HARDLY_TEXT
    return gain.help.value


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
    limit = _limit_cell(line.limit, line)
    allowance_cells: tuple[str | float | None, ...] = (limit, None, None)
    if line.allowance is not None:
        rate = wording.megabytes(line.allowance.bytes_per_second)
        allowance_cells = (limit, rate, _limit_cell(line.allowance.limit, line))

    return report.row_of(
        line.line.quoted_name,
        wording.megabytes(line.bytes_per_second),
        *(allowance_cells if has_allowance else ()),
        *([wording.megabytes(_rate_with_disk(line))] if has_disk else []),
    )


def _rate_with_disk(line: summary.LineFigures) -> float | None:
    """No more than this client takes, so that nothing is faster than a server that answers at once."""
    if not line.is_disk_beyond_client or line.allowance is None:
        return line.bytes_per_second_with_disk
    return line.allowance.bytes_per_second


def _references_caption(*, has_allowance: bool, has_disk: bool) -> str:
    disk = disk_reference()["name"]
    if not has_allowance:
        return f"Held against a {disk}"
    against_disk = f", and with a {disk}" if has_disk else ""
    return f"Possible: with a server that answered at once, and what would be the limit then (then by){against_disk}"


def _details_table(caption: str, quick: quick_records.Quick, figures: Sequence[summary.LineFigures]) -> report.Table:
    has_link = quick.link_bits_per_second is not None
    # Another program tells one rate for each line, without an interval.
    has_runs = not quick.program
    columns = [
        report.Column(heading="", kind=report.ReportKind.TEXT),
        report.Column(heading="MB/s", kind=report.ReportKind.DECIMAL),
        *(_INTERVAL_COLUMNS if has_runs else ()),
        report.Column(heading="IOPS", kind=report.ReportKind.WHOLE),
        report.Column(heading="ms", kind=report.ReportKind.MILLISECONDS),
        *([_P99_COLUMN] if has_runs else []),
        *([report.Column(heading="% of link", kind=report.ReportKind.DECIMAL)] if has_link else []),
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
        figures.line.access.quoted_name,
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
    return report.Bar(name=figures.line.quoted_name, value=figures.bytes_per_second * scale, interval=interval)
