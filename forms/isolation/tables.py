"""The tables of an isolation: the layers as in 2003, processors, one operation's time, smbd's costliest calls."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from forms import report, wording
from forms.isolation.profile import REQUESTS, DearCall, ProfileSummary, Waterfall
from forms.isolation.summary import IsolationPoint, IsolationSummary
from forms.isolation.wording import comparison_text, only_part
from storage.isolation import Layer, LayerRun
from storage.records import RunStatus

NAMES = {
    Layer.DISK: "Disk alone",
    Layer.NETWORK: "Network alone",
    Layer.DISK_WITH_NETWORK: "Disk, both busy",
    Layer.NETWORK_WITH_DISK: "Network, both busy",
}
"""What the parts are called in tables and charts."""
SHOWN_LAYERS = (*NAMES, Layer.SERVER)

_BOTH = "Disk + network"
_SHARE = "Server / both"
_RATE = report.ReportKind.SECONDS
"""Rates of small operations are small: four decimals."""

PART_NAMES = {
    "network, and smbd's turn": "network, waiting for smbd",
    "hand-over to threads": "passing work to threads",
}
"""Parts of an operation's time whose names in documents are not plain enough."""


def isolation_tables(summary: IsolationSummary) -> Iterator[report.Table]:
    # A profile alone, as of 2003, has no rates.
    if any(point.rates for point in summary.points):
        yield layers_table(summary)
    yield from _cpu_table(summary)
    if summary.waterfall:
        yield _waterfall_table(summary.waterfall)
    if summary.profile:
        yield from _profile_tables(summary.profile, summary.profile_clients)


def failed_runs(runs: Sequence[LayerRun]) -> list[LayerRun]:
    return [run for run in runs if run.status is RunStatus.FAILED]


def layers_table(summary: IsolationSummary) -> report.Table:
    """A row per number of clients with each layer's rate, as in the post of 2003 that the method is from."""
    has_price = any(point.price for point in summary.points)
    return report.Table(
        columns=_layer_columns(summary, has_price=has_price),
        rows=tuple(_layer_row(summary, point, has_price=has_price) for point in summary.points),
        caption=_layers_caption(summary),
        entry=_entry_of_clients,
    )


def _entry_of_clients(clients: str) -> str:
    return wording.count(int(clients), "client")


def _layer_columns(summary: IsolationSummary, *, has_price: bool) -> tuple[report.Column, ...]:
    is_compared = summary.verdict.evidence.least is not None
    headings = [(f"{name}, MB/s", _RATE) for name in NAMES.values()]
    parts = [replace(column, is_detail=is_compared) for column in report.columns_of(*headings)]

    price_heading = [("Whole script, MB/s", _RATE)] if has_price else []
    last_headings = (
        (f"{_BOTH}, MB/s", _RATE),
        ("Server, MB/s", _RATE),
        (_SHARE, report.ReportKind.RATIO),
        *price_heading,
    )
    return (*report.columns_of(("Clients", report.ReportKind.WHOLE)), *parts, *report.columns_of(*last_headings))


def _layer_row(summary: IsolationSummary, point: IsolationPoint, *, has_price: bool) -> report.Row:
    rates = [point.rates.get(layer) for layer in NAMES]
    cells: list[float | None] = [*map(wording.megabytes, (*rates, point.least, point.server))]
    cells.append(point.ratio.value if point.ratio else None)
    if has_price:
        cells.append(wording.megabytes(point.rates.get(Layer.SERVER_WHOLE_SCRIPT)))

    runs = [run for run in summary.isolation.runs if run.clients == point.clients]
    failed = len(failed_runs(runs))
    if not failed:
        return report.row_of(point.clients, *cells)
    remark = f"{failed} of {len(runs)} measurements failed"
    return report.row_of(point.clients, *cells, mark=report.Mark.UNUSUAL, remark=remark)


def _layers_caption(summary: IsolationSummary) -> str:
    evidence = summary.verdict.evidence
    least = "the slower of the two while both are busy"
    if only_part(evidence):
        least = comparison_text(evidence)
    caption = f"Rates of many small operations, lower than of one large file. {_BOTH}: {least}"

    if not all(_is_ratio_of_shown_rates(point) for point in summary.points):
        caption += f". {_SHARE}: over the rounds in which both were measured"
    return caption


def _is_ratio_of_shown_rates(point: IsolationPoint) -> bool:
    if not point.ratio or not point.server or not point.least:
        return True

    return math.isclose(point.ratio.value, point.server / point.least)


_STATISTICS = (("mean", "mean"), ("median", "median"), ("deviation", "deviation in a run"))
"""(field of a spread, what it is called)"""


def _cpu_table(summary: IsolationSummary) -> Iterator[report.Table]:
    """How busy the server's processors were in each layer, with the most clients."""
    most_clients = max((clients for _, clients in summary.cpu), default=0)
    rows = []
    for (layer, clients), use in summary.cpu.items():
        # Disk and network ran at once: what was busy then is told once.
        if clients != most_clients or layer is Layer.NETWORK_WITH_DISK:
            continue
        name = "disk and network" if layer is Layer.DISK_WITH_NETWORK else layer.value
        for statistic, heading in _STATISTICS:
            numbers = [getattr(spread, statistic) for spread in (use.user, use.system, use.total)]
            rows.append(report.row_of(f"{name}, {heading}", *numbers))
    if not rows:
        return

    kinds = [(f"CPU {kind}, %", report.ReportKind.DECIMAL) for kind in ("user", "system", "total")]
    yield report.Table(
        columns=report.columns_of(f"Layer, {wording.count(most_clients, 'client')}", *kinds),
        rows=tuple(rows),
        caption="Processors of the server, percent of all of them",
        is_detail=True,
    )


def _waterfall_table(waterfall: Waterfall) -> report.Table:
    parts = (*waterfall.parts().items(), ("one operation", waterfall.whole))
    rows = [
        report.row_of(PART_NAMES.get(name, name), microseconds, 100 * microseconds / waterfall.whole)
        for name, microseconds in parts
    ]

    return report.Table(
        columns=report.columns_of(
            "Where one operation's time goes",
            ("Microseconds", report.ReportKind.DECIMAL),
            ("Share, %", report.ReportKind.DECIMAL),
        ),
        rows=tuple(rows),
        is_detail=True,
    )


def _profile_tables(profile: ProfileSummary, profile_clients: int) -> Iterator[report.Table]:
    has_requests = any(call.name.startswith(REQUESTS) for call in profile.dearest)
    whose = "requests'" if has_requests else "these calls'"
    clients = wording.count(profile_clients, "client")
    caption = "Without what smbd counts as idle; a request includes the system calls made for it"
    yield _calls_table(f"Costliest in smbd, {clients}", profile.dearest, whose, "µs a call", caption)
    if profile.waits:
        yield _calls_table(f"Waiting in smbd, {clients}", profile.waits, whose, "µs of waiting a call")


def _calls_table(heading: str, calls: Sequence[DearCall], whose: str, unit: str, caption: str = "") -> report.Table:
    rows = [
        report.row_of(wording.plain(call.name), call.calls, call.microseconds_a_call, 100 * call.share)
        for call in calls
    ]
    return report.Table(
        columns=report.columns_of(
            heading,
            ("Calls", report.ReportKind.WHOLE),
            (unit, report.ReportKind.DECIMAL),
            (f"Share of {whose} time, %", report.ReportKind.DECIMAL),
        ),
        rows=tuple(rows),
        caption=caption,
        is_detail=True,
    )
