"""Warnings about one series: what weakens its result, and what to do.

Each rule is a function that yields the warnings of a series, mostly one or none; :func:`advice` asks all of them. The
*ceiling* is this client's own limit, measured without a network.
"""

import math
import posixpath
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, takewhile

from forms import wording
from forms.findings import path
from forms.findings.finding import Finding, warning_from_texts
from forms.stats import readings, summary, trends
from forms.stats import unusual as unusual_runs
from forms.tuning.fact_names import FACTS_UNKNOWN
from storage import plan as plans
from storage import records
from storage.recommended import DEFAULT_WARMUPS

SHORT_SECONDS = 1.0
"""A shorter run is mostly start-up and chance."""

GOOD_SECONDS = 10.0
"""A run that is long enough to trust; the advised size of a file makes runs of it."""

FEW_BLOCKS = 16
"""A run of few blocks may not fill the path, unless it lasts."""

FULL_SECONDS = 1.5
"""A run that lasts so long is full even of few blocks: tune's smaller files take 1.5 to 3 s."""

DRIFT_PERCENT = 2.0
"""The trend over the runs, from the first to the last, from which a series is warned of."""

CEILING_PERCENT = 70.0
"""Of the client's own limit, from which it may be the limit of the runs."""

LIMIT_PERCENT = 85.0
"""Of the client's own limit, from which it was the limit of random requests: they reach it on an idle machine alone."""

FULL_PROCESSORS_PERCENT = 95.0
"""Of the client's processors in use, from which they may be the limit of the runs."""

_ALL_PERCENT = 100.01
"""Allows for rounding where a series raised its own ceiling."""

MANY_RUNS = 10
"""From this number of runs on, more of them hardly make an average better known."""

_LARGEST_ADVISED = 64 * 1024**3

MEMORY_SHARE = 0.5
"""Of the server's memory that a file may fill, so that it is read from there after the warm-up."""

_BUSY = "busy"
"""The key of the warning of a busy time."""

_SHALLOW_REQUESTS = 8
"""Of fewer requests in flight, more may be faster."""


def advice(series: records.Series) -> list[Finding]:
    """All warnings, the gravest first; empty for a series that can be trusted."""
    rules = _PRACTICE_RULES if path.is_practice(series) else _RULES
    return list(chain.from_iterable(rule(series) for rule in rules))


def warnings_beside_busy_time(series: records.Series) -> list[Finding]:
    """The same without that it was a busy time, where that stands already."""
    return [finding for finding in advice(series) if finding.key != _BUSY]


def near_ceiling_percent(series: records.Series) -> float | None:
    """The average in percent of the ceiling; None where one of both is unknown."""
    average = summary.mean(series.rates())
    ceiling = series.ceiling_bytes_per_second
    return 100 * average / ceiling if average is not None and ceiling else None


def ceiling_beaten(series: records.Series) -> bool:
    """Whether the average exceeds the client ceiling: its calibration was disturbed."""
    return (near_ceiling_percent(series) or 0.0) > _ALL_PERCENT


def at_ceiling(series: records.Series) -> bool:
    """Whether this client's own limit may be what limits the series."""
    return CEILING_PERCENT < (near_ceiling_percent(series) or 0.0) <= _ALL_PERCENT


def full_processors_percent(series: records.Series) -> float | None:
    """How much of the client's processors the runs had in use, where that is all; None where it is less, or unknown.

    None as well where the processors have other work of the same runs, as the server is on that machine too, and where
    the client ceiling says already that the client is the limit.
    """
    figures = series.quiet.figures if series.quiet else {}
    percent = figures.get("cpu_percent_during")
    if percent is None or percent < FULL_PROCESSORS_PERCENT:
        return None
    is_on_one_machine = series.target.abilities.is_local or path.is_loopback(series) or path.is_practice(series)
    return None if is_on_one_machine or at_ceiling(series) else percent


def advised_size(bytes_per_second: float, memory_bytes: float | None = None) -> int:
    """The least power of two from 64 MiB to 64 GiB for ten seconds a run, at most half the server's memory."""
    most = min(_LARGEST_ADVISED, (memory_bytes or math.inf) * MEMORY_SHARE)
    size = plans.DEFAULT_SIZE_BYTES
    while size < bytes_per_second * GOOD_SECONDS and 2 * size <= most:
        size *= 2
    return size


def _early_end(series: records.Series) -> Iterator[Finding]:
    """Runs that failed, and a series that ended before its planned runs."""
    failed = [run for run in series.runs if run.status is records.RunStatus.FAILED]
    if failed:
        reason = f" ({wording.plain(failed[0].error)})" if failed[0].error else ""
        yield warning_from_texts("failed", runs=wording.count(len(failed), "run"), why=reason)

    valid = len(series.rates())
    planned = series.plan.counts.runs if series.plan else None
    has_ended_early = series.status is not records.SeriesStatus.COMPLETE and series.running_by is None
    if has_ended_early and planned and valid < planned:
        yield warning_from_texts("interrupted", done=valid, planned=planned, id=series.id)


def _guest(series: records.Series) -> Iterator[Finding]:
    """A server that took the login for a guest's."""
    user = series.target.user
    if user and path.path_facts(series).get("smb.guest") == "yes":
        yield warning_from_texts("guest", user=wording.plain(user))


def _unchecked_size(series: records.Series) -> Iterator[Finding]:
    """An FTP server that tells no sizes, so that nobody knows whether all of a file arrived."""
    if series.command is records.Command.PUT and path.path_facts(series).get("ftp.size") == "no":
        yield warning_from_texts("unchecked")


def _unread_settings(series: records.Series) -> Iterator[Finding]:
    """Settings of the server that were to be read and could not."""
    problem = path.server_facts(series).get(FACTS_UNKNOWN)
    if problem and series.plan and (series.plan.monitor.server_ssh or series.plan.monitor.smb_conf):
        yield warning_from_texts("unread", problem=wording.plain(str(problem)))


def _impossible_link(series: records.Series) -> Iterator[Finding]:
    """An average above the speed that the link is said to have."""
    link = series.link_bits_per_second
    percent = records.percent_of_link(summary.mean(series.rates()), link)
    if not link or percent is None or percent <= _ALL_PERCENT:
        return

    seen_rate = path.seen_link_rate(series)
    is_faster = seen_rate is not None and seen_rate > link
    yield warning_from_texts(
        "link.seen" if is_faster else "link",
        link=wording.link_rate(link),
        average=wording.rate(summary.mean(series.rates())),
        here=path.seen_link_text(series),
        seen=wording.link_rate(seen_rate),
    )


def _overstated_link(series: records.Series) -> Iterator[Finding]:
    """A link speed that was given, and is above that of the interface here: the percentages are too low.

    A lower one may be that of a slower link further on. More than the interface carries came by several at once.
    """
    link = series.link_bits_per_second
    seen_rate = path.seen_link_rate(series)
    average = summary.mean(series.rates())
    if not link or seen_rate is None or link <= seen_rate or average is None or 8 * average > seen_rate:
        return
    yield warning_from_texts(
        "link-given", link=wording.link_rate(link), here=path.seen_link_text(series), seen=wording.link_rate(seen_rate)
    )


def _single_run(series: records.Series) -> Iterator[Finding]:
    rates = series.rates()
    if len(rates) == 1:
        yield warning_from_texts("single")
    if not rates and series.runs:
        yield warning_from_texts("single.none")


def _processor_load(series: records.Series) -> Iterator[Finding]:
    """Other programs, or this client itself, that left no room on its processors."""
    percent = full_processors_percent(series)
    if series.quiet_verdict is records.QuietVerdict.BUSY:
        if percent is None:
            yield warning_from_texts(_BUSY)
        else:
            yield warning_from_texts("busy.full", used=wording.percent(percent))
    elif percent is not None:
        yield warning_from_texts("processors", used=wording.percent(percent))


def _standstill_seconds(series: records.Series, run: records.Run) -> float | None:
    return path.number_of_fact(path.path_facts(series), records.standstill_fact(run.number))


def _standstill(series: records.Series) -> Iterator[Finding]:
    for run in series.measured():
        if seconds := _standstill_seconds(series, run):
            yield warning_from_texts("standstill", run=run.number, seconds=f"{seconds:.1f} s", id=series.id)


def _unusual_runs(series: records.Series) -> Iterator[Finding]:
    runs = [run for run in series.measured() if run.bytes_per_second is not None]
    unusual = unusual_runs.unusual_rates(series.rates(), [run.seconds for run in runs if run.seconds])
    judged = list(zip(runs, unusual, strict=True))
    usual_rate = summary.median(series.rates()) or 0.0

    # Slow runs at the beginning, where nothing was in memory yet, are one warning: too little warm-up.
    def is_cold(pair: tuple[records.Run, unusual_runs.UnusualRate | None]) -> bool:
        run, unusual_rate = pair
        is_slow = (run.bytes_per_second or 0.0) < usual_rate
        return unusual_rate is not None and is_slow and not _standstill_seconds(series, run)

    cold = [(run, unusual_rate) for run, unusual_rate in takewhile(is_cold, judged) if unusual_rate]
    if cold:
        yield _warm_up_warning(series, cold)

    left_out_places = readings.read_series(series.rates()).hiccups if runs else ()
    for place, (run, unusual_rate) in enumerate(judged):
        # A standstill of this machine has a warning of its own, which says why.
        if place >= len(cold) and unusual_rate and not _standstill_seconds(series, run):
            name = "unusual.left-out" if place in left_out_places else "unusual"
            reason = wording.unusual_text(unusual_rate)
            yield warning_from_texts(name, run=run.number, why=reason, id=series.id)


def _warm_up_warning(series: records.Series, cold: list[tuple[records.Run, unusual_runs.UnusualRate]]) -> Finding:
    first_run, unusual_rate = cold[0]
    warmups = sum(run.phase is records.Phase.WARM_UP for run in series.runs)
    warm_up_text = "no warm-up run was made"
    if warmups:
        warm_up_text = f"in spite of {wording.count(warmups, 'warm-up run')}"
    return warning_from_texts(
        "warm-up",
        run=first_run.number,
        why=wording.unusual_text(unusual_rate),
        made=warm_up_text,
        more=max(DEFAULT_WARMUPS, 2 * warmups),
        them=f"run {first_run.number}" if len(cold) == 1 else f"the first {len(cold)} runs",
    )


def _drift(series: records.Series) -> Iterator[Finding]:
    trend = trends.drift(series.rates())
    if trend is None or abs(trend.percent) < DRIFT_PERCENT or not trend.significant:
        return
    warmups = sum(run.phase is records.Phase.WARM_UP for run in series.runs)
    yield warning_from_texts(
        "drift.rose" if trend.percent > 0 else "drift",
        percent=wording.percent(abs(trend.percent)),
        p_value=trend.p_value,
        warmups=max(4, 2 * warmups),
    )


def _dependence(series: records.Series) -> Iterator[Finding]:
    """Neighbouring runs that are alike, where no trend explains it."""
    correlation = trends.lag_1(series.rates())
    if correlation is None or any(_drift(series)):
        return
    until = series.plan.counts.until_percent if series.plan else None
    consequence = "the interval of the average is narrower than the truth"
    if until is not None:
        consequence = f"± {wording.percent(until)} holds less often than 95 times in a hundred"
    yield warning_from_texts("dependence", found=correlation, what=consequence)


def short_runs(series: records.Series) -> Iterator[Finding]:
    """The warning that the runs are too short, and what would make them longer."""
    timed = [run for run in series.measured() if run.seconds]
    typical_seconds = summary.median([run.seconds for run in timed if run.seconds])
    typical_rate = summary.median(series.rates())
    if typical_seconds is None or typical_rate is None:
        return

    # Few random requests in a run are a slow disk's, not a small file's.
    size = timed[0].size_bytes
    block = None if series.is_random else series.client.block_bytes
    has_few_blocks = block is not None and size < FEW_BLOCKS * block and typical_seconds < FULL_SECONDS
    if typical_seconds >= SHORT_SECONDS and not has_few_blocks:
        return

    blocks = f" and takes {wording.count(max(1, size // block), 'block')}" if has_few_blocks and block else ""
    todo, options, command = _way_to_longer_runs(series, typical_seconds, typical_rate)
    yield warning_from_texts(
        "short",
        seconds=wording.seconds(typical_seconds),
        blocks=blocks,
        todo=todo,
        options=options,
        command=command,
    )


def _way_to_longer_runs(series: records.Series, typical_seconds: float, typical_rate: float) -> tuple[str, str, str]:
    """(what to use, options of the same command, or else a whole command)."""
    if series.is_random:
        return "a longer time", f"--seconds {plans.DEFAULT_RANDOM_SECONDS:g}", ""
    if not series.target.abilities.moves_files:
        return "a longer time", "", ""
    if series.plan and series.plan.counts.files:
        number = math.ceil(series.plan.counts.files * GOOD_SECONDS / typical_seconds)
        return f"a tree of {number:,} files", f"--files {number}", ""

    host = "client" if series.target.abilities.is_local else "server"
    memory = path.number_of_fact(series.environment.get(host, {}), "memory_bytes")
    fewest_bytes = FEW_BLOCKS * (series.client.block_bytes or 0)
    advised = wording.typed_size(max(advised_size(typical_rate, memory), fewest_bytes))
    options = f"--size {advised}"

    has_own_file = series.command is records.Command.PUT or bool(series.plan and series.plan.counts.make_file)
    command = ""
    if not has_own_file:
        folder = replace(series.target, path=posixpath.dirname(series.target.path))
        command = f"sharebench run {shlex.quote(records.format_target(folder))} --make-file {options}"
    return f"a file of {advised} or more", options, command


def _variation(series: records.Series) -> Iterator[Finding]:
    rates = series.rates()
    plan = series.plan
    until = plan.counts.until_percent if plan else None
    known_to = summary.known_to_percent(rates)
    if plan and until is not None and known_to is not None and known_to > until:
        yield warning_from_texts(
            "until",
            until=wording.percent(until),
            runs=wording.count(len(rates), "run"),
            known=wording.percent(known_to),
            more=2 * (plan.counts.max_runs or len(rates)),
        )
        return

    spread = summary.deviation_percent(rates)
    half = summary.half_width_percent(rates)
    if spread is not None and half is not None and spread > summary.VARIATION_PERCENT:
        more_runs_help = len(rates) < MANY_RUNS and until is None
        yield warning_from_texts(
            "vary.few" if more_runs_help else "vary",
            many=MANY_RUNS,
            deviation=wording.percent(spread),
            half=wording.percent(half),
        )


def _ceiling(series: records.Series) -> Iterator[Finding]:
    share = near_ceiling_percent(series)
    ceiling = ceiling_text(series)
    if ceiling_beaten(series):
        yield warning_from_texts("ceiling.beaten", ceiling=ceiling)
    elif share is not None and at_ceiling(series):
        ways = wording.listed(ways_past_the_ceiling(series))
        was_limit = series.is_random and share >= LIMIT_PERCENT
        name = "ceiling.random" if was_limit else "ceiling"
        yield warning_from_texts(name, share=wording.percent(share), ceiling=ceiling, ways=ways)


def ceiling_text(series: records.Series) -> str:
    """The client's own limit: ``1.4 GB/s``; of random requests ``15,500 operations/s``."""
    ceiling = series.ceiling_bytes_per_second
    return wording.operations_text(series, ceiling) or wording.byte_rate(ceiling)


def ways_past_the_ceiling(series: records.Series) -> list[str]:
    """How to measure without this client as the limit, as parts of a sentence."""
    client = series.client
    protocol = series.target.abilities
    ways: list[str] = []

    # Another client makes no random requests, and another number of them is another measurement.
    if client.name == "sharebench" and not series.is_random:
        if protocol.has_depth and client.in_flight is not None and client.in_flight < _SHALLOW_REQUESTS:
            ways.append(f"with {2 * client.in_flight} requests in flight")
        if protocol.other_client:
            ways.append(f"with another client ({protocol.other_client})")
    elif client.name != "sharebench" and protocol.other_client:
        ways.append("with sharebench's own client")

    if client.is_encrypted:
        ways.append("without encryption (if the server allows it)")
    elif client.is_signed:
        ways.append("without signing (if the server allows it)")
    ways.append("from a faster machine")
    return ways


# The gravest first.
_RULES: tuple[Callable[[records.Series], Iterator[Finding]], ...] = (
    _early_end,
    _guest,
    _unchecked_size,
    _unread_settings,
    _impossible_link,
    _overstated_link,
    _single_run,
    _processor_load,
    _ceiling,
    short_runs,
    _standstill,
    _unusual_runs,
    _drift,
    _dependence,
    _variation,
)

# A practice server is slow on purpose, and what it is asked of itself is known.
_PRACTICE_RULES = (
    _early_end,
    _single_run,
    _processor_load,
    _standstill,
    _unusual_runs,
    _drift,
    _dependence,
    _variation,
)
