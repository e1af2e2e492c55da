"""The lines of advice on a load's form: what limited it, what its figures leave out, and what to measure next.

*This machine* is the load generator, which plays the users; a point that it was too slow for says nothing of the
server.
"""

from collections.abc import Iterator, Mapping, Sequence

from forms import wording
from forms.load import lateness, shapes, summary
from forms.load.tables import users_text
from forms.stats.summary import values_needed
from storage.load.records import Limit, Load, LoadPoint, PointStatus

_ADVICE: Mapping[Limit | None, str] = {
    Limit.NETWORK: "The network was full: a faster link, or a second card, carries more users.",
    Limit.SERVER_CPU: "The server's processors were the limit: look at signing, encryption and the log level first.",
    Limit.DISK: "A disk of the server was busy nearly all the time: more memory or more disks carry more users.",
    Limit.ERRORS: "The server answered with errors: its log says why.",
    Limit.OTHERS: "Other programs kept the server's processors busy: measure again when they rest.",
}

_TOLD_SHARE = 0.1
"""A tenth of a percentile that is this machine's own is worth a line."""


def load_advice(load: Load) -> Iterator[str]:
    """The lines, the reason of the limit first."""
    limit = load.capacity.limit if load.capacity else None
    if limit in _ADVICE:
        yield _ADVICE[limit]

    if limit is Limit.GENERATOR or _was_held_back_by_this_machine(load):
        yield (
            "This machine could not keep up with its own load: end other programs, then use more machines or"
            " --processes (command line)."
        )

    cards = shapes.card_check(load.valid_points())
    if cards is not None and cards.only_out is not None:
        yield (
            f"Nearly all outbound traffic leaves by {cards.only_out} although others take in: put the cards in subnets "
            "of their own and list all of them in `interfaces`."
        )

    yield from _stalls(load.points)
    yield from _delays_here(load.points)
    yield from _too_few_requests(load.points)
    yield from _other_programs(load.points)
    yield from _figures_of_server(load.points)


def _was_held_back_by_this_machine(load: Load) -> bool:
    """Whether a point was lost to the load generator, and none with as many users shows what it would have."""
    fewest = summary.fewest_users(load.points)
    judged = []
    lost_points = []
    for point in load.points:
        if summary.is_judged(point, load.choices, load.scenario, fewest):
            judged.append(point)
        elif point.status is PointStatus.GENERATOR:
            lost_points.append(point)

    for point in lost_points:
        is_made_up_for = any(other.users >= point.users and other.size_bytes == point.size_bytes for other in judged)
        if not is_made_up_for:
            return True
    return False


def _stalls(points: Sequence[LoadPoint]) -> Iterator[str]:
    for point in points:
        stall = summary.stall_of(point)
        if stall is None:
            continue

        hidden = f"; p99 ({1000 * stall.p99_seconds:,.1f} ms) does not show it, since users who wait make no requests"
        if stall.silent_seconds is not None:
            silent = f"for {stall.silent_seconds:.1f} of {point.seconds:.0f} s the server answered nothing"
            remark = hidden if stall.p99_seconds < stall.silent_seconds else ""
            yield f"At {users_text(point)}, {silent} although users waited{remark}."
        else:
            times = stall.longest_seconds / stall.p99_seconds
            yield (
                f"At {users_text(point)}, the longest answer took {stall.longest_seconds:.1f} s, {times:,.0f} times "
                f"p99{hidden}."
            )


def _delays_here(points: Sequence[LoadPoint]) -> Iterator[str]:
    """What the machine that made the load did to figures that are true all the same."""
    judged = [point for point in points if point.status is PointStatus.VALID and point.requests]
    for point in judged:
        standstill = lateness.standstill_seconds(point)
        if standstill:
            window = f"{point.seconds:.0f} s"
            yield f"At {users_text(point)}, the load generator stood still for {standstill:.1f} of {window}."

    for point in judged:
        p95 = summary.percentile_seconds(point.response, 0.95)
        added = lateness.added_to_percentile(point, 0.95)
        if p95 is not None and added > _TOLD_SHARE * p95:
            yield (
                f"At {users_text(point)}, about {1000 * added:.1f} of the {1000 * p95:,.1f} ms of p95 are delays of"
                " the load generator."
            )


def _too_few_requests(points: Sequence[LoadPoint]) -> Iterator[str]:
    few = [point for point in points if 0 < point.response.count < values_needed(0.99)]
    if not few:
        return

    counts = ", ".join(f"{point.response.count} at {users_text(point)}" for point in few)
    least_requests = min(point.response.count for point in few)
    needs = {f"p{100 * share:.0f}": values_needed(share) for share in (0.5, 0.95, 0.99)}
    missing = wording.listed([f"{name} needs {needed}" for name, needed in needs.items() if least_requests < needed])
    yield f"Too few requests for some percentiles ({counts}): {missing}; measure longer."


def _other_programs(points: Sequence[LoadPoint]) -> Iterator[str]:
    for point in points:
        if summary.is_mostly_others(point) and point.server and point.server.others_percent:
            yield (
                f"At {users_text(point)}, other programs used {point.server.others_percent.mean:.0f} % of the server's"
                f" processors (more than {summary.MOST_OTHERS_PERCENT:.0f} %): its CPU figures are not the file"
                " server's alone."
            )


def _figures_of_server(points: Sequence[LoadPoint]) -> Iterator[str]:
    measured = [point for point in points if point.status is not PointStatus.FAILED]
    with_server = [point for point in measured if point.server is not None]
    if measured and not with_server:
        yield "No figures of the server: name it with --server-ssh, or measure longer."
    elif len(with_server) < len(measured):
        yield "Too few figures of the server at some points: measure longer."
