"""A load laid out as a form: its points, the server beside them, each kind of request, and what follows."""

from collections.abc import Iterator, Sequence

from forms import numbers, wording
from forms.load.document import load_document
from forms.load.prediction import Prediction
from forms.load.summary import KNEE_POINTS, card_check, fits_in_memory, knee_of, memory_line, size_rows
from forms.report import Bar, Chart, Field, Mark, Report, ReportKind, Row, Table, columns_of, row_of
from forms.series.origin import when_field, who_fields
from storage.loads.histogram import Histogram
from storage.loads.records import Limit, Load, LoadPoint, PointStatus
from storage.loads.scenario import RequestKind, Scenario
from storage.records import SeriesStatus
from storage.target_url import format_target

FORM = "load"
_MARKS = {
    PointStatus.VALID: Mark.NONE,
    PointStatus.REJECTED: Mark.REJECTED,
    PointStatus.FAILED: Mark.FAILED,
    PointStatus.GENERATOR: Mark.UNUSUAL,
}
_NOT_SEEN = "not seen"
_WHOLE = ReportKind.WHOLE
_ADVICE = {
    Limit.NETWORK: "The network was full: a faster link, or a second card, carries more users.",
    Limit.SERVER_CPU: "The server's processors were the limit: look at signing, encryption and the log level first.",
    Limit.DISK: "A disk of the server was busy nearly all the time: more memory or more disks carry more users.",
    Limit.ERRORS: "The server answered with errors: its log says why.",
    Limit.GENERATOR: "This end was the limit: use more processes, or more machines.",
}


def load_report(load: Load, prediction: Prediction | None = None) -> Report:
    """The form of a load, beside what a worksheet of its server promised."""
    points = load.points
    tables = [points_table(points), _server_table(points)]
    if operations := _operations_table(load.valid_points()):
        tables.append(operations)
    if sizes := _sizes_table(points):
        tables.append(sizes)
    charts = tuple(load_charts(points))
    return Report(
        form=FORM,
        title=f"Load {load.scenario.name}: many users at once",
        name=load.label or load.id,
        fields=tuple(_fields(load)),
        tables=tuple(tables),
        results=tuple(_results(load, prediction)),
        advice=tuple(_advice(load)),
        chart=charts[0] if charts else None,
        more_charts=charts[1:],
        document=lambda: load_document(load, prediction),
    )


def _fields(load: Load) -> Iterator[Field]:
    yield Field(name="Load", text=" · ".join(filter(None, (load.id, load.label))))
    targets = ", ".join(format_target(target, escaped=False) for target in load.targets)
    yield Field(name="Target" if len(load.targets) == 1 else "Targets", text=wording.plain(targets))
    yield when_field([load.created_at], [load.environment])
    yield from who_fields([load.environment])
    yield Field(name="Users", text="one connection and one login each, no caching and no oplocks at this end")
    yield Field(name="Scenario", text=scenario_text(load.scenario))
    if load.file_set_bytes:
        yield Field(name="Files", text=_files_text(load), number=load.file_set_bytes, unit="bytes")
    if load.link_bits_per_second:
        yield Field(name="Link", text=numbers.link_rate(load.link_bits_per_second))
    made = ", ".join(f"{w.processes} process{'es' if w.processes > 1 else ''} on {w.host}" for w in load.workers)
    if made:
        yield Field(name="Made by", text=made)
    if load.status is not SeriesStatus.COMPLETE:
        yield Field(name="Status", text=f"{load.status.value}{f': {load.error}' if load.error else ''}")
    if load.note:
        yield Field(name="Note", text=load.note)
    if load.scratch_folder:
        yield Field(name="Left behind", text=f"{load.scratch_folder} may still be there: delete it")


def scenario_text(scenario: Scenario) -> str:
    """Every number of a scenario in a line."""
    whole = sum(scenario.requests.values())
    mix = ", ".join(f"{kind.value} {100 * share / whole:.3g} %" for kind, share in scenario.requests.items())
    pause = (
        f"a request every {scenario.pace_seconds:g} s a user" if scenario.pace_seconds else f"think {scenario.think} s"
    )
    times = f"settle {scenario.settle_seconds:g} s, steady {scenario.duration_seconds:g} s"
    parts = (scenario.name, mix or "sessions only", pause if mix else "", times, f"seed {scenario.seed}")
    return "; ".join(filter(None, parts))


def _files_text(load: Load) -> str:
    whole = sum(each.share for each in load.scenario.sizes)
    sizes = ", ".join(
        f"{numbers.size(each.size_bytes)} ({100 * each.share / whole:.3g} %)" for each in load.scenario.sizes
    )
    fits = fits_in_memory(load)
    memory = {
        True: "; fits in the server's memory, so this is no measure of its disks",
        False: "; larger than the server's memory",
        None: "",
    }[fits]
    return f"{load.scenario.files:,} files, {numbers.size(load.file_set_bytes)}: {sizes}{memory}"


def _ms(histogram: Histogram, share: float) -> float | None:
    seconds = histogram.quantile_seconds(share)
    return None if seconds is None else 1000 * seconds


def _decimals(*headings: str) -> tuple[tuple[str, ReportKind], ...]:
    return tuple((heading, ReportKind.DECIMAL) for heading in headings)


def points_table(points: Sequence[LoadPoint]) -> Table:
    """What the users did at each point."""
    columns = columns_of(
        "Users",
        ("With session", _WHOLE),
        *_decimals("Requests/s", "Offered/s", "Read MB/s", "Write MB/s"),
        ("Errors", _WHOLE),
        *_decimals("p50 ms", "p95 ms", "p99 ms", "Max ms"),
    )
    return Table(columns=columns, rows=tuple(map(_point_row, points)), marked=True, entry="users",
                 caption="Load points: response times, from due to answered")  # fmt: skip


def _point_row(point: LoadPoint) -> Row:
    longest = point.response.max_microseconds / 1000 if point.response.count else None
    return row_of(
        _name(point),
        point.connected,
        point.requests_per_second,
        point.offered_per_second,
        _mega(point.read_bytes_per_second),
        _mega(point.write_bytes_per_second),
        sum(point.errors.values()),
        _ms(point.response, 0.5),
        _ms(point.response, 0.95),
        _ms(point.response, 0.99),
        longest,
        mark=_MARKS[point.status],
        remark=point.reason or "",
    )


def _name(point: LoadPoint) -> str:
    size = f" x {numbers.size(point.size_bytes)}" if point.size_bytes else ""
    return f"{point.users}{size}"


def _mega(value: float | None) -> float | None:
    return None if value is None else value / 1e6


def _server_table(points: Sequence[LoadPoint]) -> Table:
    processors = _decimals("CPU user %", "System %", "Total %", "Median %", "Dev.", "smbd %")
    beside = _decimals("USS MB", "PSS MB", "Disk %", "This end's CPU %", "Late ms p99")
    columns = columns_of("Users", *processors, *beside)
    return Table(columns=columns, rows=tuple(map(_server_row, points)),
                 caption="The server beside it (all processors = 100 %), and this end")  # fmt: skip


def _server_row(point: LoadPoint) -> Row:
    server = point.server
    seen: tuple[str | float | None, ...] = (_NOT_SEEN, *[None] * 8)
    if server is not None:
        seen = (
            server.user_percent.mean,
            server.system_percent.mean,
            server.total_percent.mean,
            server.total_percent.median,
            server.total_percent.deviation,
            server.smbd_percent.mean if server.smbd_percent else None,
            _mega(server.smbd_uss_bytes),
            _mega(server.smbd_pss_bytes),
            max(server.disk_busy_percent.values(), default=None),
        )
    own = (max(point.generator_cpu_percent, default=None), _ms(point.generator_lateness, 0.99))
    return row_of(_name(point), *seen, *own)


def _operations_table(points: Sequence[LoadPoint]) -> Table | None:
    """Each kind of request at the point with the most users."""
    point = max(points, key=lambda each: each.users, default=None)
    if point is None or len(point.operations) < 2:
        return None
    figures = _decimals("Share %", "p50 ms", "p95 ms", "p99 ms", "Max ms")
    columns = columns_of("Request", ("Count", _WHOLE), *figures)
    rows = tuple(
        row_of(
            name,
            each.count,
            100 * each.count / point.requests,
            *(_ms(each, share) for share in (0.5, 0.95, 0.99)),
            each.max_microseconds / 1000,
        )
        for name, each in point.operations.items()
    )
    return Table(columns=columns, rows=rows, caption=f"Kinds of request, {point.users} users: asked to answered")


def _sizes_table(points: Sequence[LoadPoint]) -> Table | None:
    rows = size_rows(points)
    if not rows:
        return None
    return Table(
        columns=columns_of("Size", ("Users", _WHOLE), *_decimals("Requests/s", "MB/s", "CPU ms a MB")),
        rows=tuple(
            row_of(
                numbers.size(row.size_bytes),
                row.users,
                row.requests_per_second,
                row.bytes_per_second / 1e6,
                None if row.cpu_seconds_a_megabyte is None else 1000 * row.cpu_seconds_a_megabyte,
            )
            for row in rows
        ),
        caption="By the size of the files (the Redpaper's figures 5 and 6)",
    )


def capacity_text(load: Load) -> str:
    """The bracket in words: ``640 carried, 680 not``."""
    found = load.capacity
    if found is None:
        return ""
    if found.not_carried is None:
        return f"{found.carried} users carried, and no more were tried" if found.carried else "not known"
    begin = f"{found.carried} users carried, {found.not_carried} not" if found.carried else (
        f"not even {found.not_carried} users carried"
    )  # fmt: skip
    limit = f"; the limit: {found.limit.value}" if found.limit else ""
    return f"{begin} (overload: {found.reason}){limit}"


def knee_text(load: Load) -> str:
    """The knee in words; empty for a load whose points are not for one."""
    points = [point for point in load.valid_points() if point.requests and point.size_bytes is None]
    found = knee_of(points)
    if found is not None:
        return (
            f"at {found.users} users: {found.requests_per_second:,.1f} requests/s, answered in "
            f"{1000 * found.response_seconds:,.1f} ms on average; beyond it time grows faster than requests"
        )
    return "no knee in these points" if len(points) >= KNEE_POINTS else ""


def _prediction_text(load: Load, prediction: Prediction) -> str:
    server, user = (
        wording.rate(rate) for rate in (prediction.capacity_bytes_per_second, prediction.user_bytes_per_second)
    )
    found = load.capacity
    measured = "not known" if found is None else f"{found.carried or 0:,} carried" + (
        f", {found.not_carried:,} not" if found.not_carried else ", and no more were tried"
    )  # fmt: skip
    return (
        f"{prediction.users:,} users by the worksheet {prediction.worksheet}: the server moves {server}, and a user "
        f"asked for {user} here; measured: {measured}"
    )


def _error_texts(points: Sequence[LoadPoint]) -> Iterator[str]:
    """How often what went wrong at each point, and the first of it in the server's words."""
    for point in points:
        if point.errors:
            kinds = ", ".join(f"{count:,} x {kind}" for kind, count in point.errors.items())
            yield f"{_name(point)} users: {kinds}{f', first: {point.first_error}' if point.first_error else ''}"


def _queue_text(load: Load) -> str:
    """How long the printer went on after the last job of each point was handed over, as its server told."""
    seen = [(point, point.print_queue) for point in load.points if point.print_queue is not None]
    if not seen:
        return (
            "not seen: it is asked on the server, by lpstat (CUPS) or the lpq command of its smb.conf; name the way "
            "there by ssh, and that smb.conf where it is not the usual one"
        )
    return "; ".join(
        f"{point.users} users: {queue.waiting:,} jobs waited after the last hand-over, "
        + ("and some still did at the end" if queue.drained_seconds is None else f"{queue.drained_seconds:.0f} s long")
        for point, queue in seen
    )


def _results(load: Load, prediction: Prediction | None) -> Iterator[Field]:
    if text := capacity_text(load):
        yield Field(name="Capacity", text=text, number=load.capacity.carried if load.capacity else None, unit="users")
    if any(point.errors for point in load.points):
        yield Field(name="Errors", text="; ".join(_error_texts(load.points)))
    if RequestKind.PRINT in load.scenario.requests:
        yield Field(name="Print queue", text=_queue_text(load))
    if text := knee_text(load):
        yield Field(name="Knee", text=text)
    if prediction is not None:
        yield Field(name="Predicted", text=_prediction_text(load, prediction), number=prediction.users, unit="users")
    if not load.scenario.requests and (line := memory_line(load.valid_points())):
        within = "" if line.low_bytes is None or line.high_bytes is None else (
            f", 95 % sure between {line.low_bytes / 1000:,.0f} and {line.high_bytes / 1000:,.0f} kB"
        )  # fmt: skip
        text = f"{line.bytes_a_session / 1000:,.0f} kB of its own (USS) a session{within}"
        yield Field(name="Memory", text=text, number=line.bytes_a_session, unit="bytes")
    if cards := card_check(load.valid_points()):
        rates = ", ".join(
            f"{name} {numbers.byte_rate(come)} in, {numbers.byte_rate(go)} out" for name, come, go in cards.cards
        )
        yield Field(name="Cards", text=rates)


def _advice(load: Load) -> Iterator[str]:
    if load.capacity and load.capacity.limit in _ADVICE and load.capacity.limit is not None:
        yield _ADVICE[load.capacity.limit]
    cards = card_check(load.valid_points())
    if cards is not None and cards.only_out is not None:
        yield (
            f"Nearly all outbound traffic leaves by {cards.only_out} although others take in: put the cards in subnets "
            "of their own and list all of them in `interfaces`."
        )
    think = load.scenario.think.seconds
    most = max((point.users for point in load.valid_points() if point.requests), default=0)
    if think and not load.scenario.pace_seconds and most:
        yield (
            f"With {think:g} s of thinking a user makes at most {1 / think:.3g} requests/s, however fast the server: "
            f"{most} users at most {most / think:,.0f}."
        )
    seen = [point.server is not None for point in load.points if point.status is not PointStatus.FAILED]
    if seen and not any(seen):
        yield "The server was not seen: let it be read by ssh for its processors, memory and cards; or measure longer."
    elif not all(seen):
        yield "The server was seen too seldom at some points: measure longer."


def load_charts(points: Sequence[LoadPoint]) -> Iterator[Chart]:
    """Requests a second, p95 and the server's processors over users; a drawing without any value is left out."""
    drawn = (
        ("Requests a second over users", "requests/s", (0, 2), lambda each: each.requests_per_second),
        ("p95 of the response over users", "ms", (0, 8), lambda each: _ms(each.response, 0.95)),
        ("The server's processors over users", "%", (1, 3), _processors),
    )
    for title, unit, source, value_of in drawn:
        bars = tuple(Bar(name=_name(point), value=value_of(point), mark=_MARKS[point.status]) for point in points)
        if any(point.requests for point in points) and any(bar.value for bar in bars):
            yield Chart(title=title, unit=unit, bars=bars, source=source, in_text=True)


def _processors(point: LoadPoint) -> float | None:
    return point.server.total_percent.mean if point.server else None
