"""The tables of a load: what was served, the server's processors and memory, kinds of request, sizes of files.

Most have a row for each point, a measurement with one number of users.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter

from forms import wording
from forms.load import shapes
from forms.load.comparison import milliseconds
from forms.report import Mark, ReportKind, Row, Table, columns_of, row_of
from storage.load.records import Load, LoadPoint, PointStatus, Scenario

MARKS = {
    PointStatus.VALID: Mark.NONE,
    PointStatus.REJECTED: Mark.REJECTED,
    PointStatus.FAILED: Mark.FAILED,
    PointStatus.GENERATOR: Mark.UNUSUAL,
}


def load_tables(load: Load) -> Iterator[Table]:
    """The tables that the load has figures for."""
    if not load.points:
        return

    yield points_table(load.points, load.scenario)
    if any(point.server for point in load.points):
        yield _processors_table(load.points)
    yield _resources_table(load.points)

    largest = max(load.valid_points(), key=attrgetter("users"), default=None)
    if largest and len(largest.operations) > 1:
        yield _operations_table(largest)

    by_size = _sizes_table(load.points)
    if by_size.rows:
        yield by_size


_ABOUT_TIMES = "Times are from when a request was due until it was answered (p95: 95 of 100 took no longer)"
_ABOUT_OFFERED = "Offered/s: what the users would ask for if each did as when there were fewest"


def points_table(points: Sequence[LoadPoint], scenario: Scenario) -> Table:
    """What was offered and served at each point, and how long answers took."""
    rates = chain.from_iterable((point.read_bytes_per_second, point.write_bytes_per_second) for point in points)
    is_slow = max((rate for rate in rates if rate is not None), default=0.0) < 1e6
    # One decimal of MB/s would show nothing of a slow server: seconds have four.
    moved_kind = ReportKind.SECONDS if is_slow else ReportKind.DECIMAL
    offered = "" if scenario.pace_seconds else f". {_ABOUT_OFFERED}"

    return Table(
        columns=columns_of(
            "Users",
            ("Logged in", ReportKind.WHOLE),
            ("Requests/s", ReportKind.DECIMAL),
            ("Offered/s", ReportKind.DECIMAL),
            ("Read MB/s", moved_kind),
            ("Write MB/s", moved_kind),
            ("Errors", ReportKind.WHOLE),
            ("p50 ms", ReportKind.DECIMAL),
            ("p95 ms", ReportKind.DECIMAL),
            ("p99 ms", ReportKind.DECIMAL),
            ("Max ms", ReportKind.DECIMAL),
        ),
        rows=tuple(map(_point_row, points)),
        caption=f"{_ABOUT_TIMES}{offered}",
        marked=True,
        entry=_entry_of_name,
    )


def _point_row(point: LoadPoint) -> Row:
    return row_of(
        point_name(point),
        point.connected,
        point.requests_per_second,
        point.offered_per_second,
        wording.megabytes(point.read_bytes_per_second),
        wording.megabytes(point.write_bytes_per_second),
        sum(point.errors.values()),
        milliseconds(point.response, 0.5),
        milliseconds(point.response, 0.95),
        milliseconds(point.response, 0.99),
        _longest_milliseconds(point),
        mark=MARKS[point.status],
        remark=point.reason or "",
    )


def _longest_milliseconds(point: LoadPoint) -> float | None:
    return point.response.max_microseconds / 1000 if point.response.count else None


def point_name(point: LoadPoint) -> str:
    """A point's row or bar: ``40``, or ``40 x 64 KiB`` where each size of files is measured by itself."""
    size = f" x {wording.binary_size(point.size_bytes)}" if point.size_bytes else ""
    return f"{point.users}{size}"


def _entry_of_name(name: str) -> str:
    """What the first cell of a row is called in a sentence."""
    users, _, size = name.partition(" x ")
    with_files = f" with files of {size}" if size else ""
    return f"{wording.count(int(users), 'user')}{with_files}"


def users_text(point: LoadPoint) -> str:
    """The users of a point, and the size of their files where it was measured by size."""
    return _entry_of_name(point_name(point))


_PROCESSOR_COLUMNS = (
    ("User %", "user_percent", "mean"),
    ("System %", "system_percent", "mean"),
    ("Total %", "total_percent", "mean"),
    ("Median %", "total_percent", "median"),
    ("Dev.", "total_percent", "deviation"),
    ("smbd %", "smbd_percent", "mean"),
    ("Kernel %", "kernel_percent", "mean"),
    ("Others %", "others_percent", "mean"),
)
"""(heading, field of the server's figures, which of its statistics)"""


def _processors_table(points: Sequence[LoadPoint]) -> Table:
    headings = [(heading, ReportKind.DECIMAL) for heading, _, _ in _PROCESSOR_COLUMNS]

    rows = []
    for point in points:
        numbers = []
        for _, field, statistic in _PROCESSOR_COLUMNS:
            spread = getattr(point.server, field, None)
            numbers.append(getattr(spread, statistic, None))
        rows.append(row_of(point_name(point), *numbers))

    return Table(
        columns=columns_of("Users", *headings),
        rows=tuple(rows),
        caption="Processors of the server (all of them = 100 %): smbd, the kernel's own work, other programs",
        is_detail=True,
    )


def _resources_table(points: Sequence[LoadPoint]) -> Table:
    return Table(
        columns=columns_of(
            "Users",
            ("USS MB", ReportKind.DECIMAL),
            ("PSS MB", ReportKind.DECIMAL),
            ("Disk %", ReportKind.DECIMAL),
            ("Generator CPU %", ReportKind.DECIMAL),
            ("Late ms p99", ReportKind.DECIMAL),
        ),
        rows=tuple(map(_resources_row, points)),
        caption="Memory and disks of the server; the load generator, and how late its requests went out",
        is_detail=True,
    )


def _resources_row(point: LoadPoint) -> Row:
    server = point.server
    return row_of(
        point_name(point),
        wording.megabytes(server.smbd_uss_bytes) if server else None,
        wording.megabytes(server.smbd_pss_bytes) if server else None,
        _busiest_disk_percent(point),
        max(point.generator_cpu_percent, default=None),
        _late_milliseconds(point),
    )


def _busiest_disk_percent(point: LoadPoint) -> float | None:
    if point.server is None:
        return None
    return max(point.server.disk_busy_percent.values(), default=None)


def _late_milliseconds(point: LoadPoint) -> float | None:
    seconds = point.generator_lateness.quantile_seconds(0.99)
    return None if seconds is None else 1000 * seconds


def _operations_table(point: LoadPoint) -> Table:
    rows = [
        row_of(
            name,
            times.count,
            100 * times.count / point.requests,
            milliseconds(times, 0.5),
            milliseconds(times, 0.95),
            milliseconds(times, 0.99),
            times.max_microseconds / 1000,
        )
        for name, times in point.operations.items()
    ]

    return Table(
        columns=columns_of(
            "Request",
            ("Count", ReportKind.WHOLE),
            ("Share %", ReportKind.DECIMAL),
            ("p50 ms", ReportKind.DECIMAL),
            ("p95 ms", ReportKind.DECIMAL),
            ("p99 ms", ReportKind.DECIMAL),
            ("Max ms", ReportKind.DECIMAL),
        ),
        rows=tuple(rows),
        caption=f"Kinds of request, {wording.count(point.users, 'user')}: from when it was sent until it was answered",
        is_detail=True,
    )


def _sizes_table(points: Sequence[LoadPoint]) -> Table:
    rows = [
        row_of(
            wording.binary_size(size.size_bytes),
            size.users,
            size.requests_per_second,
            size.bytes_per_second / 1e6,
            _cpu_milliseconds_a_megabyte(size),
        )
        for size in shapes.size_rows(points)
    ]

    return Table(
        columns=columns_of(
            "Size",
            ("Users", ReportKind.WHOLE),
            ("Requests/s", ReportKind.DECIMAL),
            ("MB/s", ReportKind.DECIMAL),
            ("CPU ms a MB", ReportKind.DECIMAL),
        ),
        rows=tuple(rows),
        caption="By the size of the files (the Redpaper's figures 5 and 6)",
    )


def _cpu_milliseconds_a_megabyte(size: shapes.SizeRow) -> float | None:
    seconds = size.cpu_seconds_a_megabyte
    return None if seconds is None else 1000 * seconds
