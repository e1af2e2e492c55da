"""The figures of a quick test: rate, operations and times of each line, what limits it, and what it is held against."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forms.link_share import is_possible_share
from forms.quick import faster_network, limits
from forms.quick.disk_reference import bytes_per_second_with_disk
from forms.stats import summary as stats
from storage import records
from storage.quick.records import ACCESSES, Quick, QuickLine, QuickRun

RESTLESS_PERCENT = 20.0
"""From the slowest run of a line to its fastest, of their average: with more, the average is hardly a figure."""
_P99 = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFigures:
    """A line in numbers; what another program does not tell is None."""

    line: QuickLine
    bytes_per_second: float
    """The mean of the runs, or the best run that another program tells."""
    interval: tuple[float, float] | None
    """(low, high) of that mean at 95 %; None for a single rate."""
    operations_per_second: float
    """Blocks a second, whole ones where a server took them in parts."""
    request_seconds: float | None
    """The mean time of a request."""
    p99_seconds: float | None
    """None for too few requests, so that none would lie beyond it."""
    percent_of_link: float | None
    client_percent: float | None
    """How much of one processor the client used."""
    held_percent: float | None
    """Of the time in which the client computed, or waited for a processor: so long the server did not hold it up."""
    waited_percent: float | None
    """Of the time in which the client waited for a processor that others had, in its worst run; None for unknown."""
    limit: limits.LineLimit | None
    """None where another program measured."""
    run_limits: tuple[limits.LineLimit, ...]
    """What limits each of its runs; none where another program measured."""
    link_gain: faster_network.LinkGain | None
    """What a faster link would do; None where there is no link, or its speed is unknown."""
    allowance: limits.Allowance | None
    """The most that path and client allow, never less than was reached.

    None of a local path, where another program measured, and where the link cannot be as slow as it is said to be.
    """
    bytes_per_second_with_disk: float | None
    """What a usual server with the disk of reference would reach in its place; None where nobody can say."""

    @property
    def is_restless(self) -> bool:
        """Whether the runs differ so much that the average says little."""
        return self.spread_percent > RESTLESS_PERCENT

    @property
    def spread_percent(self) -> float:
        """From the slowest run to the fastest, of their average."""
        rates = line_rates(self.line)
        return 100 * (max(rates) - min(rates)) / self.bytes_per_second

    @property
    def is_disk_beyond_client(self) -> bool:
        """Whether the disk of reference would be faster than this client can take."""
        if self.allowance is None or self.bytes_per_second_with_disk is None:
            return False
        is_client = self.allowance.limit is limits.LineLimit.CLIENT
        return is_client and self.bytes_per_second_with_disk > self.allowance.bytes_per_second

    @property
    def is_full_link(self) -> bool:
        return self.percent_of_link is not None and self.percent_of_link >= limits.FULL_LINK_PERCENT

    @property
    def is_beyond_link(self) -> bool:
        """Whether it is more than a link of that speed can carry, so that the speed is another."""
        return self.percent_of_link is not None and not is_possible_share(self.percent_of_link)

    @property
    def is_limit_doubtful(self) -> bool:
        """Runs that differ much leave the limit in doubt only where not all of them have the same one."""
        has_other_limits = len(set(self.run_limits)) > 1
        return self.is_beyond_link or (self.is_restless and has_other_limits)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.line.name,
            "bytes_per_second": self.bytes_per_second,
            "bytes_per_second_interval": list(self.interval) if self.interval else None,
            "operations_per_second": self.operations_per_second,
            "request_seconds": self.request_seconds,
            "p99_seconds": self.p99_seconds,
            "percent_of_link": self.percent_of_link,
            "client_cpu_percent": self.client_percent,
            "client_held_percent": self.held_percent,
            "limit": self.limit,
            "is_limit_doubtful": self.is_limit_doubtful,
            "run_limits": list(self.run_limits),
            "faster_link": self.link_gain.to_json() if self.link_gain else None,
            "allowed": self.allowance.to_json() if self.allowance else None,
            "with_ssd_bytes_per_second": self.bytes_per_second_with_disk,
        }


def line_rates(line: QuickLine) -> tuple[float, ...]:
    """Bytes per second of the runs; one rate where another program tells only its best."""
    if line.runs:
        return tuple(run.bytes_per_second for run in line.runs)
    return (line.best_bytes_per_second,) if line.best_bytes_per_second else ()


def line_figures(quick: Quick, line: QuickLine) -> LineFigures | None:
    """None for a line without a rate."""
    rates = line_rates(line)
    rate = stats.mean(rates)
    if rate is None:
        return None

    requests = sum(run.requests for run in line.runs)
    request_seconds = line.best_request_seconds
    client_percent = None
    held_percent = None
    if requests:
        request_seconds = sum(run.request_nanoseconds for run in line.runs) / requests / 1e9
        seconds = sum(run.seconds for run in line.runs)
        client_percent = 100 * sum(run.cpu_seconds for run in line.runs) / seconds
        held_percent = 100 * sum(_held_seconds(run) for run in line.runs) / seconds

    waited_percents = [100 * waited for run in line.runs if (waited := _waited_share(run)) is not None]
    has_p99 = line.times.count >= stats.values_needed(_P99)
    percent_of_link = records.percent_of_link(rate, quick.link_bits_per_second)
    limit = _limit(quick, line, percent_of_link, held_percent, request_seconds) if line.runs else None
    runs = [_run_shares(quick, line, run) for run in line.runs]
    figures = LineFigures(
        line=line,
        bytes_per_second=rate,
        interval=stats.confidence_interval(rates),
        operations_per_second=rate / line.access.block_bytes,
        request_seconds=request_seconds,
        p99_seconds=line.times.quantile_seconds(_P99) if has_p99 else None,
        percent_of_link=percent_of_link,
        client_percent=client_percent,
        held_percent=held_percent,
        waited_percent=max(waited_percents, default=None),
        limit=limit,
        run_limits=tuple(run.limit for run in runs),
        link_gain=None,
        allowance=_allowance(quick, line, rate, held_percent),
        bytes_per_second_with_disk=bytes_per_second_with_disk(quick, line),
    )
    return replace(figures, link_gain=_link_gain(quick, figures, runs))


def _limit(
    quick: Quick,
    line: QuickLine,
    percent_of_link: float | None,
    held_percent: float | None,
    request_seconds: float | None,
) -> limits.LineLimit:
    by_shares = limits.limit_of_shares(percent_of_link, held_percent)
    return by_shares or limits.limit_of_requests(quick, line.access, request_seconds)


def _run_shares(quick: Quick, line: QuickLine, run: QuickRun) -> faster_network.RunShares:
    held_percent = 100 * _held_seconds(run) / run.seconds
    percent_of_link = records.percent_of_link(run.bytes_per_second, quick.link_bits_per_second)
    request_seconds = run.request_nanoseconds / max(1, run.requests) / 1e9
    return faster_network.RunShares(
        bytes_per_second=run.bytes_per_second,
        held_percent=held_percent,
        limit=_limit(quick, line, percent_of_link, held_percent, request_seconds),
    )


def _link_gain(
    quick: Quick, figures: LineFigures, runs: Sequence[faster_network.RunShares]
) -> faster_network.LinkGain | None:
    if figures.limit is None:
        return None
    if figures.is_beyond_link:
        return faster_network.LinkGain(help=faster_network.NetworkHelp.UNCLEAR)
    return faster_network.link_gain(
        quick, figures.line.access, figures.limit, runs, is_doubtful=figures.is_limit_doubtful
    )


def _held_seconds(run: QuickRun) -> float:
    """Processor time alone where nobody looked at the waiting for a processor."""
    return run.cpu_seconds if run.held_seconds is None else run.held_seconds


def _waited_share(run: QuickRun) -> float | None:
    """The share of its time in which the client waited for a processor; None where nobody looked at that."""
    if run.held_seconds is None:
        return None
    return min(1.0, max(0.0, run.held_seconds - run.cpu_seconds) / run.seconds)


def _allowance(quick: Quick, line: QuickLine, rate: float, held_percent: float | None) -> limits.Allowance | None:
    # A local path is asked by many threads: what one processor allows is no limit of theirs.
    if quick.target is None or quick.target.abilities.is_local:
        return None
    percent_of_link = records.percent_of_link(rate, quick.link_bits_per_second)
    if percent_of_link is not None and not is_possible_share(percent_of_link):
        return None

    by_path = limits.path_allowance(quick, line.access)
    lowest = limits.lowest_allowance(by_path, limits.client_allowance(rate, held_percent))
    # Frames may be larger than those that a link is computed with: what was reached is possible.
    return lowest and replace(lowest, bytes_per_second=max(rate, lowest.bytes_per_second))


def quick_figures(quick: Quick) -> list[LineFigures]:
    """In the order of the table: the four lines that every quick test has, each read first, then those of others."""
    return [figures for line in _in_order(quick) if (figures := line_figures(quick, line))]


def _in_order(quick: Quick) -> Iterator[QuickLine]:
    accesses = dict.fromkeys([*ACCESSES, *(line.access for line in quick.lines)])
    for access in accesses:
        for command in records.Command:
            line = quick.line(access, command)
            if line is not None:
                yield line
