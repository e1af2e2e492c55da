"""Loads on paper and as JSON."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from forms import wording
from forms.findings.path import practice_text
from forms.load import lateness, summary
from forms.load.comparison import Prediction, milliseconds
from forms.report import Bar, Chart, Field, Mark, Report, ReportKind, Table, columns_of, fields_of, row_of, table_of
from forms.series.report import origin_fields
from forms.stats.distributions import student_t
from forms.stats.summary import LEVEL, confidence_interval
from storage.json_reader import DocumentError, JSONNode, named
from storage.load.records import Histogram, Limit, Load, LoadPoint, PointStatus, PrintQueue, RequestKind, Scenario
from storage.load.tables import NOT_TOLD, head_of_load, point_from_json, point_to_json
from storage.records import SeriesStatus, format_target

LOAD_SCHEMA = "sharebench/load/1"
QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))

Document = dict[str, Any]


def load_document(load: Load, prediction: Prediction | None = None) -> Document:
    knee, line = summary.knee_of(load.valid_points()), summary.memory_line(load)
    return {
        "schema": LOAD_SCHEMA,
        **named(load, "id", "created_at", "status", "error", "label", "note", "question"),
        **head_of_load(load).content,
        "points": [_point_document(point) for point in load.points],
        "answer": summary.load_answer(load),
        "limit_seconds": summary.limit_seconds(load.choices, load.scenario),
        "memory": line and _memory_document(line),
        "knee": knee and asdict(knee),
        "prediction": prediction and asdict(prediction),
    }


def _memory_document(line: summary.MemoryLine) -> Document:
    return {
        "bytes_per_user": line.bytes_a_session,
        **named(line, "low_bytes", "high_bytes"),
        "kind": "USS",
        "pss_bytes_per_user": line.shared_bytes_a_session,
    }


def _point_document(point: LoadPoint) -> Document:
    found = point_to_json(point)
    found["generator"] |= {
        "cpu_percent_max": max(point.generator_cpu_percent, default=None),
        "lateness_p99_seconds": point.generator_lateness.quantile_seconds(0.99),
        "lateness_in_p95_seconds": lateness.added_to_percentile(point, 0.95),
        "standstill_seconds": lateness.standstill_seconds(point),
    }
    return found | {
        **named(point, "requests_per_second", "read_bytes_per_second", "write_bytes_per_second"),
        "response_seconds": quantiles(point.response),
        "service_seconds": quantiles(point.service),
        "operations": {name: {"count": each.count, **quantiles(each)} for name, each in point.operations.items()},
    }


def quantiles(histogram: Histogram) -> dict[str, float | None]:
    """p50, p95, p99 and maximum in seconds; a percentile is None for too few requests."""
    found = {name: summary.percentile_seconds(histogram, share) for name, share in QUANTILES}
    return found | {"max": histogram.max_microseconds / 1e6 if histogram.count else None}


def load_from_document(node: JSONNode) -> Load:
    """The load in a document. Raises DocumentError with the first wrong place."""
    load = node.record(Load, leave=NOT_TOLD, needs=("status",))
    if not load.targets:
        raise node.at("targets").wrong("at least one target")
    points = tuple(point_from_json(place) for place in node.at("points").items())
    if len({point.number for point in points}) < len(points):
        raise DocumentError("points: two points of the same number")
    return replace(load, points=points)


FORM = "load"
_MARKS = {
    PointStatus.VALID: Mark.NONE,
    PointStatus.REJECTED: Mark.REJECTED,
    PointStatus.FAILED: Mark.FAILED,
    PointStatus.GENERATOR: Mark.UNUSUAL,
}
_OVERLOAD = f"less than {100 * summary.ACHIEVED_SHARE:.0f} % of the requests offered (by more than chance), errors"
_ADVICE: Mapping[Limit | None, str] = {
    Limit.NETWORK: "The network was full: a faster link, or a second card, carries more users.",
    Limit.SERVER_CPU: "The server's processors were the limit: look at signing, encryption and the log level first.",
    Limit.DISK: "A disk of the server was busy nearly all the time: more memory or more disks carry more users.",
    Limit.ERRORS: "The server answered with errors: its log says why.",
    Limit.OTHERS: "Other programs kept the server's processors busy: measure again when they rest.",
}


_DETAILS = {"Overload", "Knee", "Memory", "Cards"}


def load_report(load: Load, prediction: Prediction | None = None) -> Report:
    points = load.points
    tables = [points_table(points, load.scenario), *_processors_table(points), _beside_table(points)]
    tables += [*_operations_table(load.valid_points()), *(one for one in [_sizes_table(points)] if one.rows)]
    return Report(
        form=FORM, title=f"Load {load.scenario.name}: many users at once", name=load.label or load.id,
        fields=tuple(_fields(load)), tables=tuple(tables),
        results=tuple(replace(one, is_detail=one.name in _DETAILS) for one in _results(load, prediction)),
        advice=tuple(_advice(load)), drawn=tuple(load_charts(points)), document=lambda: load_document(load, prediction),
    )  # fmt: skip


def _fields(load: Load) -> Iterator[Field]:
    if text := summary.load_answer(load):
        number = load.capacity.carried if load.capacity else None
        yield Field(name=wording.ANSWER, text=text, number=number, unit="users")
    yield Field(name="Load", text=" · ".join(filter(None, (load.id, load.label))))
    targets = ", ".join(format_target(target, escaped=False) for target in load.targets)
    yield Field(name="Target" if len(load.targets) == 1 else "Targets", text=wording.plain(targets))
    yield from fields_of(("Server", practice_text(load.targets[0])))
    yield from origin_fields([load])
    single = load.choices.single_requests
    yield from fields_of(
        ("Users", "one connection and one login each, without caching or oplocks"),
        ("Scenario", scenario_text(load.scenario)),
        ("Requests", "open, read or write, and close in exchanges of their own" if single else ""),
    )
    if load.file_set_bytes:
        yield Field(name="Files", text=_files_text(load), number=load.file_set_bytes, unit="bytes")
    ended = "" if load.status is SeriesStatus.COMPLETE else load.status.value
    makers = (f"{w.processes} process{'es' if w.processes > 1 else ''} on {w.host}" for w in load.workers)
    yield from fields_of(
        ("Link", wording.link_rate(load.link_bits_per_second) if load.link_bits_per_second else ""),
        ("Made by", ", ".join(makers)),
        ("Status", f"{ended}: {load.error}" if ended and load.error else ended),
        ("Question", load.question),
        ("Note", load.note),
        ("Leftovers", load.scratch_folder and f"{load.scratch_folder} may still be there: delete it"),
    )


def scenario_text(scenario: Scenario) -> str:
    whole = sum(scenario.requests.values())
    mix = ", ".join(f"{kind.value} {100 * share / whole:.3g} %" for kind, share in scenario.requests.items())
    pause = f"pauses of {scenario.think.seconds:g} s{' on average' if scenario.think.exponential else ''}"
    if scenario.pace_seconds:
        pause = f"a request every {scenario.pace_seconds:g} s a user"
    times = f"settle {scenario.settle_seconds:g} s, measured {scenario.duration_seconds:g} s"
    parts = (scenario.name, mix or "sessions only", pause if mix else "", times, f"seed {scenario.seed}")
    return "; ".join(filter(None, parts))


def _files_text(load: Load) -> str:
    whole = sum(each.share for each in load.scenario.sizes)
    shares = [(wording.binary_size(each.size_bytes), 100 * each.share / whole) for each in load.scenario.sizes]
    sizes = ", ".join(f"{size} ({percent:.3g} %)" for size, percent in shares)
    memory = ""
    if load.server_memory_bytes is not None:
        memory = "; larger than the server's memory"
        if load.file_set_bytes < load.server_memory_bytes:
            memory = "; fits in the server's memory, so this is no measure of its disks"
    return f"{load.scenario.files:,} files, {wording.binary_size(load.file_set_bytes)}: {sizes}{memory}"


def points_table(points: Sequence[LoadPoint], scenario: Scenario) -> Table:
    offered = "" if scenario.pace_seconds else ". Offered/s: as the fewest users made"
    moved = [rate for p in points for rate in (p.read_bytes_per_second, p.write_bytes_per_second) if rate is not None]
    kind = ReportKind.SECONDS if max(moved, default=0.0) < 1e6 else ReportKind.DECIMAL  # four decimals, or one
    return table_of(
        points,
        ("Users", ReportKind.TEXT, _name),
        ("Logged in", ReportKind.WHOLE, lambda point: point.connected),
        ("Requests/s", ReportKind.DECIMAL, lambda point: point.requests_per_second),
        ("Offered/s", ReportKind.DECIMAL, lambda point: point.offered_per_second),
        ("Read MB/s", kind, lambda point: wording.megabytes(point.read_bytes_per_second)),
        ("Write MB/s", kind, lambda point: wording.megabytes(point.write_bytes_per_second)),
        ("Errors", ReportKind.WHOLE, lambda point: sum(point.errors.values())),
        ("p50 ms", ReportKind.DECIMAL, lambda point: milliseconds(point.response, 0.5)),
        ("p95 ms", ReportKind.DECIMAL, lambda point: milliseconds(point.response, 0.95)),
        ("p99 ms", ReportKind.DECIMAL, lambda point: milliseconds(point.response, 0.99)),
        ("Max ms", ReportKind.DECIMAL, lambda p: p.response.max_microseconds / 1000 if p.response.count else None),
        look=lambda point: {"mark": _MARKS[point.status], "remark": point.reason or ""},
        marked=True,
        entry=_entry,
        caption=f"p50 to Max: due time to answer{offered}",
    )


def _name(point: LoadPoint) -> str:
    size = f" x {wording.binary_size(point.size_bytes)}" if point.size_bytes else ""
    return f"{point.users}{size}"


def _entry(name: str) -> str:
    users, _, size = name.partition(" x ")
    return wording.count(int(users), "user") + (f" with files of {size}" if size else "")


def _users(point: LoadPoint) -> str:
    return _entry(_name(point))


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _processors_table(points: Sequence[LoadPoint]) -> list[Table]:
    if not any(point.server for point in points):
        return []
    names = ("user", "system", "total", "total", "total", "smbd", "kernel", "others")
    kinds = ("mean", "mean", "mean", "median", "deviation", "mean", "mean", "mean")
    headings = ("User %", "System %", "Total %", "Median %", "Dev.", "smbd %", "Kernel %", "Others %")
    figures = [(heading, ReportKind.DECIMAL) for heading in headings]
    caption = "Processors of the server (all of them = 100 %): smbd, the kernel's own work, other programs"
    rows = []
    for point in points:
        spreads = (getattr(point.server, f"{name}_percent", None) for name in names)
        numbers = (getattr(spread, kind, None) for spread, kind in zip(spreads, kinds, strict=True))
        rows.append(row_of(_name(point), *numbers))
    return [Table(columns=columns_of("Users", *figures), rows=tuple(rows), caption=caption, is_detail=True)]


def _beside_table(points: Sequence[LoadPoint]) -> Table:
    def busiest(point: LoadPoint) -> float | None:
        return max(point.server.disk_busy_percent.values(), default=None) if point.server else None

    return table_of(
        points,
        ("Users", ReportKind.TEXT, _name),
        ("USS MB", ReportKind.DECIMAL, lambda point: wording.megabytes(getattr(point.server, "smbd_uss_bytes", None))),
        ("PSS MB", ReportKind.DECIMAL, lambda point: wording.megabytes(getattr(point.server, "smbd_pss_bytes", None))),
        ("Disk %", ReportKind.DECIMAL, busiest),
        ("Generator CPU %", ReportKind.DECIMAL, lambda point: max(point.generator_cpu_percent, default=None)),
        ("Late ms p99", ReportKind.DECIMAL, lambda p: _times(1000, p.generator_lateness.quantile_seconds(0.99))),
        caption="Memory and disks of the server; the load generator, and how late its requests went out",
        is_detail=True,
    )


def _operations_table(points: Sequence[LoadPoint]) -> Iterator[Table]:
    point = max(points, key=lambda each: each.users, default=None)
    if point and len(point.operations) > 1:
        requests = point.requests
        yield table_of(
            point.operations.items(),
            ("Request", ReportKind.TEXT, lambda each: each[0]),
            ("Count", ReportKind.WHOLE, lambda each: each[1].count),
            ("Share %", ReportKind.DECIMAL, lambda each: 100 * each[1].count / requests),
            ("p50 ms", ReportKind.DECIMAL, lambda each: milliseconds(each[1], 0.5)),
            ("p95 ms", ReportKind.DECIMAL, lambda each: milliseconds(each[1], 0.95)),
            ("p99 ms", ReportKind.DECIMAL, lambda each: milliseconds(each[1], 0.99)),
            ("Max ms", ReportKind.DECIMAL, lambda each: each[1].max_microseconds / 1000),
            caption=f"Kinds of request, {wording.count(point.users, 'user')}: from request to answer",
            is_detail=True,
        )


def _sizes_table(points: Sequence[LoadPoint]) -> Table:
    return table_of(
        summary.size_rows(points),
        ("Size", ReportKind.TEXT, lambda row: wording.binary_size(row.size_bytes)),
        ("Users", ReportKind.WHOLE, lambda row: row.users),
        ("Requests/s", ReportKind.DECIMAL, lambda row: row.requests_per_second),
        ("MB/s", ReportKind.DECIMAL, lambda row: row.bytes_per_second / 1e6),
        ("CPU ms a MB", ReportKind.DECIMAL, lambda row: _times(1000, row.cpu_seconds_a_megabyte)),
        caption="By the size of the files (the Redpaper's figures 5 and 6)",
    )


def knee_text(load: Load) -> str:
    """The knee in words; empty where the points cannot show one."""
    points = [point for point in load.valid_points() if point.requests and point.size_bytes is None]
    if (found := summary.knee_of(points)) is not None:
        return (
            f"at {wording.count(found.users, 'user')}: {found.requests_per_second:,.1f} requests/s, answered in "
            f"{1000 * found.response_seconds:,.1f} ms on average; beyond it time grows faster than requests"
        )
    return "no knee in these points" if len(points) >= summary.KNEE_POINTS else ""


def _prediction_text(load: Load, prediction: Prediction) -> str:
    server, user = map(wording.rate, (prediction.capacity_bytes_per_second, prediction.user_bytes_per_second))
    return (
        f"{prediction.users:,} users by the worksheet {prediction.worksheet}: the server moves {server}, and a user "
        f"asked for {user} here; measured: {summary.load_answer(load, brief=True) or 'nothing'}"
    )


def _error_texts(points: Sequence[LoadPoint]) -> Iterator[str]:
    for point in points:
        if point.errors:
            kinds = ", ".join(f"{count:,} x {kind}" for kind, count in point.errors.items())
            yield f"{_users(point)}: {kinds}{f', first: {point.first_error}' if point.first_error else ''}"


def _queue_text(load: Load) -> str:
    seen = [(point, point.print_queue) for point in load.points if point.print_queue is not None]
    if not seen:
        return (
            "not seen: it is asked on the server, by lpstat (CUPS) or the lpq command of its smb.conf; name the way "
            "there by ssh, and that smb.conf where it is not the usual one"
        )
    return "; ".join(
        f"{wording.count(point.users, 'user')}: {queue.waiting:,} jobs waited after the last hand-over, {_until(queue)}"
        for point, queue in seen
    )


def _until(queue: PrintQueue) -> str:
    if queue.drained_seconds is not None:
        return f"{queue.drained_seconds:.0f} s long"
    return f"of which {queue.left:,} still did when it was ended" if queue.left else "and some still did at the end"


def _results(load: Load, prediction: Prediction | None) -> Iterator[Field]:
    judged = load.scenario.requests and summary.load_answer(load)
    yield from fields_of(
        ("Overload", f"{_OVERLOAD}, or {summary.limit_text(load)}" if judged else ""),
        ("Errors", "; ".join(_error_texts(load.points))),
        ("Print queue", _queue_text(load) if RequestKind.PRINT in load.scenario.requests else ""),
        ("Knee", knee_text(load)),
    )
    if prediction is not None:
        yield Field(name="Predicted", text=_prediction_text(load, prediction), number=prediction.users, unit="users")
    if line := summary.memory_line(load):
        redpaper = f"the Redpaper found about {summary.REDPAPER_SESSION_BYTES / 1000:.0f} kB with Samba 3.0.5"
        interval = "with the 95 % interval" if line.low_bytes is not None else "no interval from two points"
        text = f"{summary.memory_text(line)} (USS, PSS), {interval}; {redpaper}"
        yield Field(name="Memory", text=text, number=line.bytes_a_session, unit="bytes")
    if cards := summary.card_check(load.valid_points()):
        rates = (f"{name} {wording.byte_rate(come)} in, {wording.byte_rate(go)} out" for name, come, go in cards.cards)
        yield Field(name="Cards", text=", ".join(rates))


def _advice(load: Load) -> Iterator[str]:
    limit = load.capacity.limit if load.capacity else None
    if limit in _ADVICE:
        yield _ADVICE[limit]
    fewest = summary.fewest_users(load.points)
    are_judged = {point.number: summary.is_judged(point, load.choices, load.scenario, fewest) for point in load.points}
    judged = [(point.users, point.size_bytes) for point in load.points if are_judged[point.number]]
    held_back = [
        point for point in load.points if point.status is PointStatus.GENERATOR and not are_judged[point.number]
    ]
    if limit is Limit.GENERATOR or any(
        not any(users >= point.users and size == point.size_bytes for users, size in judged) for point in held_back
    ):
        yield (
            "This machine could not keep up with its own load: end other programs, then use more machines or"
            " --processes (command line)."
        )
    cards = summary.card_check(load.valid_points())
    if cards is not None and cards.only_out is not None:
        yield (
            f"Nearly all outbound traffic leaves by {cards.only_out} although others take in: put the cards in subnets "
            "of their own and list all of them in `interfaces`."
        )
    yield from _stalls(load.points)
    yield from _delays_here(load.points)
    if few := [point for point in load.points if 0 < point.response.count < summary.requests_needed(0.99)]:
        made = ", ".join(f"{point.response.count} at {_users(point)}" for point in few)
        least_requests = min(point.response.count for point in few)
        needs = {f"p{100 * share:.0f}": summary.requests_needed(share) for share in (0.5, 0.95, 0.99)}
        each = wording.listed([f"{name} needs {needed}" for name, needed in needs.items() if least_requests < needed])
        yield f"Too few requests for some percentiles ({made}): {each}; measure longer."
    for point in load.points:
        if summary.mostly_others(point) and point.server and point.server.others_percent:
            yield (
                f"At {_users(point)}, other programs used {point.server.others_percent.mean:.0f} % of the server's"
                f" processors (more than {summary.MOST_OTHERS_PERCENT:.0f} %): its CPU figures are not the file"
                " server's alone."
            )
    seen = [point.server is not None for point in load.points if point.status is not PointStatus.FAILED]
    if seen and not any(seen):
        yield "No figures of the server: name it with --server-ssh, or measure longer."
    elif not all(seen):
        yield "Too few figures of the server at some points: measure longer."


def _stalls(points: Sequence[LoadPoint]) -> Iterator[str]:
    for point in points:
        if (stall := summary.stall_of(point)) is None:
            continue
        hidden = f"; p99 ({1000 * stall.p99_seconds:,.1f} ms) does not show it, since users who wait make no requests"
        if stall.silent_seconds is not None:
            silent = f"for {stall.silent_seconds:.1f} of {point.seconds:.0f} s the server answered nothing"
            is_hidden = stall.p99_seconds < stall.silent_seconds
            yield f"At {_users(point)}, {silent} although users waited{hidden if is_hidden else ''}."
        else:
            times = stall.longest_seconds / stall.p99_seconds
            yield (
                f"At {_users(point)}, the longest answer took {stall.longest_seconds:.1f} s, {times:,.0f} times "
                f"p99{hidden}."
            )


_TOLD_SHARE = 0.1
"""A tenth of a percentile that is this machine's own is worth a line."""


def _delays_here(points: Sequence[LoadPoint]) -> Iterator[str]:
    """What the machine that made the load did to figures that are true all the same."""
    judged = [point for point in points if point.status is PointStatus.VALID and point.requests]
    for point in judged:
        if standstill := lateness.standstill_seconds(point):
            yield f"At {_users(point)}, this machine stood still for {standstill:.1f} of {point.seconds:.0f} s."
    for point in judged:
        p95, added = summary.percentile_seconds(point.response, 0.95), lateness.added_to_percentile(point, 0.95)
        if p95 is not None and added > _TOLD_SHARE * p95:
            yield (
                f"At {_users(point)}, about {1000 * added:.1f} of the {1000 * p95:,.1f} ms of p95 are delays of this"
                " machine, which made the load."
            )


def load_charts(points: Sequence[LoadPoint]) -> Iterator[Chart]:
    """Requests/s, p95 and server CPU over users, with their intervals; charts of one bar are left out."""
    drawn: tuple[tuple[str, str, tuple[int, int], Callable[[LoadPoint], _Drawn]], ...] = (
        (
            "Requests a second over users",
            "requests/s",
            (0, 2),
            lambda point: (point.requests_per_second, confidence_interval(point.slice_rates)),
        ),
        ("p95 of the response over users", "ms", (0, 8), _p95),
        ("The server's processors over users", "%", (1, 3), _processors),
    )
    for title, unit, source, value_of in drawn:
        values = [value_of(point) for point in points]
        bars = tuple(
            Bar(name=_name(point), value=value, interval=interval, mark=_MARKS[point.status])
            for point, (value, interval) in zip(points, values, strict=True)
        )
        if any(point.requests for point in points) and sum(bool(bar.value) for bar in bars) > 1:
            chart = Chart(title=title, unit=unit, bars=bars, source=source, in_text=True)
            yield replace(chart, title=f"{title}, with 95 % intervals") if chart.has_intervals else chart


_Drawn = tuple[float | None, tuple[float, float] | None]


def _p95(point: LoadPoint) -> _Drawn:
    ends = summary.percentile_interval(point.response, 0.95)
    return milliseconds(point.response, 0.95), ends and (1000 * ends[0], 1000 * ends[1])


def _processors(point: LoadPoint) -> _Drawn:
    if point.server is None:
        return None, None
    seen = point.server.total_percent
    count = point.server.samples  # readings that all agree are of too short a time
    half = student_t(LEVEL, count - 1) * seen.deviation / math.sqrt(count) if seen.deviation and count > 1 else None
    return seen.mean, None if half is None else (max(0.0, seen.mean - half), min(100.0, seen.mean + half))
