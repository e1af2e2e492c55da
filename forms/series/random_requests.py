"""Series of random requests on paper: what was asked for, operations a second, and how long requests took.

Percentiles are of single requests; those of all runs are computed from all their requests, never averaged.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from forms import report, wording
from forms.stats import summary
from storage import records
from storage.request_times import RequestTimes, RunRequests, merge_request_times

SHARES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
"""The percentiles that are told, with the share of requests that stay within."""

OPERATIONS = 2
"""The column of the table that has the operations a second."""

ALL_RUNS = "of all runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFigures:
    """Random requests in numbers, of one run or of all that count."""

    operations_per_second: float | None = None
    p50_seconds: float | None = None
    p95_seconds: float | None = None
    p99_seconds: float | None = None
    """None for too few requests, so that none would lie beyond it."""
    max_seconds: float | None = None


NO_FIGURES = RequestFigures()


def figures_of(times: RequestTimes, operations_per_second: float | None) -> RequestFigures:
    count = times.count
    quantiles = {
        name: times.quantile_seconds(share) if count >= summary.values_needed(share) else None for name, share in SHARES
    }
    return RequestFigures(
        operations_per_second=operations_per_second,
        p50_seconds=quantiles["p50"],
        p95_seconds=quantiles["p95"],
        p99_seconds=quantiles["p99"],
        max_seconds=times.max_seconds,
    )


Part = Callable[[RunRequests], RequestTimes]
"""Which requests of a run: all of them, the reads, or the writes."""


def all_requests(requests: RunRequests) -> RequestTimes:
    return requests.all


def _reads(requests: RunRequests) -> RequestTimes:
    return requests.reads


def _writes(requests: RunRequests) -> RequestTimes:
    return requests.writes


def figures_of_run(run: records.Run, part: Part = all_requests) -> RequestFigures | None:
    """None for a run without requests, as one that failed."""
    if run.requests is None or not run.seconds:
        return None
    times = part(run.requests)
    return figures_of(times, times.count / run.seconds)


def figures_of_runs(runs: Sequence[records.Run], part: Part = all_requests) -> RequestFigures | None:
    """Of all requests of the runs; the operations a second are the mean of the runs'. None without any."""
    requests = [run.requests for run in runs if run.requests is not None and run.seconds]
    if not requests:
        return None

    rates = [figures.operations_per_second for run in runs if (figures := figures_of_run(run, part))]
    times = merge_request_times(map(part, requests))
    return figures_of(times, summary.mean([rate for rate in rates if rate is not None]))


def is_mix(series: records.Series) -> bool:
    return series.plan is not None and series.plan.counts.read_percent is not None


def parts_of(series: records.Series) -> list[tuple[str, Part]]:
    """(caption, requests) of the tables of a series: of a mix, reads and writes have tables of their own."""
    if not is_mix(series):
        return [("Requests", all_requests)]
    return [("Requests", all_requests), ("Reads", _reads), ("Writes", _writes)]


_ABOUT_TIMES = "times are from when one was sent until it was answered (p95: 95 of 100 took no longer)"


def request_tables(series: records.Series) -> Iterator[report.Table]:
    """None for a series that moved whole files."""
    measured = [run for run in series.runs if run.phase is records.Phase.MEASURED]
    if not any(run.requests for run in measured):
        return
    for caption, part in parts_of(series):
        yield _request_table(f"{caption}; {_ABOUT_TIMES}", measured, series.measured(), part)


def _request_table(
    caption: str, measured: Sequence[records.Run], counted: Sequence[records.Run], part: Part
) -> report.Table:
    # No reader of a form takes "of run 1" for a run, which has its row in the table before.
    rows = [_row(f"of run {run.number}", part, [run], _mark(run), run.reason or run.error) for run in measured]
    if counted:
        rows.append(_row(ALL_RUNS, part, counted))

    return report.Table(
        columns=report.columns_of(
            "Requests",
            ("Number", report.ReportKind.WHOLE),
            ("Ops/sec", report.ReportKind.DECIMAL),
            ("p50 ms", report.ReportKind.SECONDS),
            ("p95 ms", report.ReportKind.SECONDS),
            ("p99 ms", report.ReportKind.SECONDS),
            ("Max ms", report.ReportKind.SECONDS),
        ),
        rows=tuple(rows),
        caption=caption,
        marked=True,
        entry=str,
    )


def _row(
    name: str, part: Part, runs: Sequence[records.Run], mark: report.Mark = report.Mark.NONE, remark: str | None = None
) -> report.Row:
    requests = [part(run.requests).count for run in runs if run.requests]
    figures = figures_of_runs(runs, part) or NO_FIGURES
    role = report.Role.RESULT if name == ALL_RUNS else report.Role.ENTRY

    return report.row_of(
        name,
        sum(requests) if requests else None,
        figures.operations_per_second,
        _milliseconds(figures.p50_seconds),
        _milliseconds(figures.p95_seconds),
        _milliseconds(figures.p99_seconds),
        _milliseconds(figures.max_seconds),
        role=role,
        mark=mark,
        remark=remark or "",
    )


def _mark(run: records.Run) -> report.Mark:
    if run.status is records.RunStatus.FAILED:
        return report.Mark.FAILED
    return report.Mark.REJECTED if run.status is records.RunStatus.REJECTED else report.Mark.NONE


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def workload_field(series: records.Series) -> Iterator[report.Field]:
    """What was asked for: ``70 % reads of 4 KiB, 32 at once, 5 s a run, in a file of 1 GiB``."""
    plan = series.plan
    if plan is None or not plan.counts.random:
        return

    counts = plan.counts
    requests = "reads" if series.command is records.Command.GET else "writes"
    if counts.read_percent is not None:
        requests = f"{counts.read_percent} % reads, {100 - counts.read_percent} % writes"
    parts = [requests]
    if series.client.block_bytes:
        parts[0] += f" of {wording.binary_size(series.client.block_bytes)}"
    if series.client.in_flight:
        parts.append(f"{series.client.in_flight} at once")
    if counts.random_seconds:
        parts.append(f"{counts.random_seconds:g} s a run")

    sizes = series.file_sizes()
    if sizes:
        parts.append(f"in a file of {wording.binary_size(sizes.pop())}")
    if series.target.abilities.is_local:
        parts.append("past the page cache" if plan.settings.drop_cache else "through the page cache")
    yield report.Field(name="Random requests", text=", ".join(parts))


def operations_chart(series: records.Series, table: int) -> report.Chart:
    """A bar for the operations a second of each measured run; ``table`` is the place of the table of requests."""
    bars = []
    for run in series.runs:
        if run.phase is records.Phase.MEASURED:
            bars.append(report.Bar(name=str(run.number), value=run.operations_per_second, mark=_mark(run)))

    levels = []
    figures = figures_of_runs(series.measured())
    if figures and figures.operations_per_second is not None:
        levels.append(report.Level(name="average", value=figures.operations_per_second, of_bars=True))
    return report.Chart(
        title="Operations per second of each run",
        unit="operations/sec",
        bars=tuple(bars),
        levels=tuple(levels),
        source=(table, OPERATIONS),
    )
