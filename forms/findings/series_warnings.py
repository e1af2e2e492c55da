"""Warnings about one series: what weakens it, and what to do."""

import math
import posixpath
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile

from forms import wording
from forms.findings.finding import Finding, is_practice, said
from forms.stats import summary
from forms.tuning.smb_conf import FACTS_UNKNOWN
from storage.plan import DEFAULT_SIZE_BYTES, DEFAULT_WARMUPS
from storage.records import (
    Command,
    Phase,
    QuietVerdict,
    Run,
    RunStatus,
    Series,
    SeriesStatus,
    format_target,
    standstill_fact,
)

SHORT_SECONDS = 1.0
GOOD_SECONDS = 10.0
FEW_BLOCKS, FULL_SECONDS = 16, 1.5
"""A run of few blocks may not fill the path, unless it lasts: tune's smaller files take 1.5 to 3 s."""
VARIATION_PERCENT = 5.0
DRIFT_PERCENT = 2.0
CEILING_PERCENT = 70.0
_ALL_PERCENT = 100.01
"""Allows for rounding where a series raised its own ceiling."""
MANY_RUNS = 10
_LARGEST_ADVISED = 64 * 1024**3
MEMORY_SHARE = 0.5


warn = partial(said, "warnings.toml")


def advice(series: Series) -> list[Finding]:
    """All warnings, the gravest first; empty for a series that can be trusted."""
    rules = _PRACTICE_RULES if is_practice(series) else _RULES
    return [said for rule in rules for said in rule(series)]


def near_ceiling_percent(series: Series) -> float | None:
    average = summary.mean(series.rates())
    ceiling = series.ceiling_bytes_per_second
    return 100 * average / ceiling if average is not None and ceiling else None


def ceiling_beaten(series: Series) -> bool:
    """Whether the average exceeds the client ceiling: its calibration was disturbed."""
    return (near_ceiling_percent(series) or 0.0) > _ALL_PERCENT


def at_ceiling(series: Series) -> bool:
    return CEILING_PERCENT < (near_ceiling_percent(series) or 0.0) <= _ALL_PERCENT


def advised_size(bytes_per_second: float, memory_bytes: float | None = None) -> int:
    """The least power of two from 64 MiB to 64 GiB for ten seconds a run, at most half the server's memory."""
    size, most = DEFAULT_SIZE_BYTES, min(_LARGEST_ADVISED, (memory_bytes or math.inf) * MEMORY_SHARE)
    while size < bytes_per_second * GOOD_SECONDS and 2 * size <= most:
        size *= 2
    return size


def _ending(series: Series) -> Iterator[Finding]:
    failed = [r for r in series.runs if r.status is RunStatus.FAILED]
    if failed:
        why = f" ({wording.plain(failed[0].error)})" if failed[0].error else ""
        yield warn("failed", runs=wording.count(len(failed), "run"), why=why)
    done, planned = len(series.rates()), series.plan.runs if series.plan else None
    if series.status is not SeriesStatus.COMPLETE and series.running_by is None and planned and done < planned:
        yield warn("interrupted", done=done, planned=planned, id=series.id)


def _guest(series: Series) -> Iterator[Finding]:
    user = series.target.user
    if user and series.environment.get("path", {}).get("smb.guest") == "yes":
        yield warn("guest", user=wording.plain(user))


def _unchecked(series: Series) -> Iterator[Finding]:
    if series.command is Command.PUT and series.environment.get("path", {}).get("ftp.size") == "no":
        yield warn("unchecked")


def _unread(series: Series) -> Iterator[Finding]:
    problem = series.environment.get("server", {}).get(FACTS_UNKNOWN)
    if problem and series.plan and (series.plan.server_ssh or series.plan.smb_conf):
        yield warn("unread", problem=wording.plain(str(problem)))


def _link(series: Series) -> Iterator[Finding]:
    average, link = summary.mean(series.rates()), series.link_bits_per_second
    percent = 800 * average / link if average is not None and link else 0.0
    if percent > _ALL_PERCENT:
        yield warn("link", link=wording.link_rate(link), percent=wording.percent(percent))


def _single(series: Series) -> Iterator[Finding]:
    rates = series.rates()
    if len(rates) == 1:
        yield warn("single")
    if not rates and series.runs:
        yield warn("single.none")


def _busy(series: Series) -> Iterator[Finding]:
    if series.quiet_verdict is QuietVerdict.BUSY:
        yield warn("busy")


def _standstill_seconds(series: Series, run: Run) -> float | None:
    seconds = series.environment.get("path", {}).get(standstill_fact(run.number))
    return float(seconds) if isinstance(seconds, int | float) else None


def _standstill(series: Series) -> Iterator[Finding]:
    for run in series.measured():
        if seconds := _standstill_seconds(series, run):
            yield warn("standstill", run=run.number, seconds=f"{seconds:.1f} s", id=series.id)


def _unusual(series: Series) -> Iterator[Finding]:
    runs = [r for r in series.measured() if r.bytes_per_second is not None]
    reasons = summary.unusual(series.rates(), [r.seconds for r in runs if r.seconds])
    judged = list(zip(runs, reasons, strict=True))
    usual = summary.median(series.rates()) or 0.0

    def is_cold(run: Run, why: str | None) -> bool:
        return bool(why) and (run.bytes_per_second or 0.0) < usual and not _standstill_seconds(series, run)

    cold = list(takewhile(lambda pair: is_cold(*pair), judged))
    if cold:
        warmups = sum(r.phase is Phase.WARM_UP for r in series.runs)
        made = f"in spite of {wording.count(warmups, 'warm-up run')}" if warmups else "no warm-up run was made"
        more = max(DEFAULT_WARMUPS, 2 * warmups)
        them = f"run {cold[0][0].number}" if len(cold) == 1 else f"the first {len(cold)} runs"
        yield warn("warm-up", run=cold[0][0].number, why=cold[0][1], made=made, more=more, them=them)
    for run, why in judged[len(cold) :]:
        if why and not _standstill_seconds(series, run):  # which says why
            yield warn("unusual", run=run.number, why=why, id=series.id)


def _drift(series: Series) -> Iterator[Finding]:
    trend = summary.drift(series.rates())
    if trend is None or abs(trend.percent) < DRIFT_PERCENT or not trend.significant:
        return
    warmups = max(4, 2 * sum(r.phase is Phase.WARM_UP for r in series.runs))
    name, percent = "drift.rose" if trend.percent > 0 else "drift", wording.percent(abs(trend.percent))
    yield warn(name, percent=percent, p_value=trend.p_value, warmups=warmups)


def _dependence(series: Series) -> Iterator[Finding]:
    found = summary.lag_1(series.rates())
    if found is None or any(_drift(series)):
        return
    until = series.plan.until_percent if series.plan else None
    what = "the interval of the average is narrower than the truth"
    if until is not None:
        what = f"± {wording.percent(until)} holds less often than 95 times in a hundred"
    yield warn("dependence", found=found, what=what)


def short_runs(series: Series) -> Iterator[Finding]:
    timed = [r for r in series.measured() if r.seconds]
    typical = summary.median([r.seconds for r in timed if r.seconds])
    middle = summary.median(series.rates())
    if typical is None or middle is None:
        return
    size, block = timed[0].size_bytes, series.client.block_bytes
    few = block is not None and size < FEW_BLOCKS * block and typical < FULL_SECONDS
    if typical >= SHORT_SECONDS and not few:
        return
    side = "client" if series.target.abilities.is_local else "server"
    memory = series.environment.get(side, {}).get("memory_bytes")
    enough = advised_size(middle, memory if isinstance(memory, int | float) else None)
    advised = wording.typed_size(max(enough, FEW_BLOCKS * (block or 0)))
    own_file = series.command is Command.PUT or bool(series.plan and series.plan.make_file)
    todo, options, command = f"a file of {advised} or more", f"--size {advised}", ""
    if series.plan and series.plan.files:
        number = math.ceil(series.plan.files * GOOD_SECONDS / typical)
        todo, options = f"a tree of {number:,} files", f"--files {number}"
    elif not own_file:
        folder = replace(series.target, path=posixpath.dirname(series.target.path))
        command = f"sharebench run {shlex.quote(format_target(folder))} --make-file {options}"
    if not series.target.abilities.moves_files:
        todo, options, command = "a longer time", "", ""
    blocks = f" and takes {wording.count(max(1, size // block), 'block')}" if few and block else ""
    yield warn("short", seconds=wording.seconds(typical), blocks=blocks, todo=todo, options=options, command=command)


def _variation(series: Series) -> Iterator[Finding]:
    rates = series.rates()
    until, half = series.plan.until_percent if series.plan else None, summary.half_width_percent(rates)
    known = summary.known_to_percent(rates)
    if series.plan and until is not None and known is not None and known > until:
        more, runs = 2 * (series.plan.max_runs or len(rates)), wording.count(len(rates), "run")
        yield warn("until", until=wording.percent(until), runs=runs, known=wording.percent(known), more=more)
        return
    spread = summary.deviation_percent(rates)
    if spread is not None and half is not None and spread > VARIATION_PERCENT:
        name = "vary.few" if len(rates) < MANY_RUNS and until is None else "vary"
        shown = {"deviation": wording.percent(spread), "half": wording.percent(half)}
        yield warn(name, many=MANY_RUNS, **shown)


def _ceiling(series: Series) -> Iterator[Finding]:
    share, ceiling = near_ceiling_percent(series), wording.byte_rate(series.ceiling_bytes_per_second)
    if ceiling_beaten(series):
        yield warn("ceiling.beaten", ceiling=ceiling)
    elif share is not None and at_ceiling(series):
        ways = wording.listed(ways_past_the_ceiling(series))
        yield warn("ceiling", share=wording.percent(share), ceiling=ceiling, ways=ways)


def ways_past_the_ceiling(series: Series) -> list[str]:
    client, protocol = series.client, series.target.abilities
    ways: list[str] = []
    if client.name == "sharebench":
        if protocol.has_depth and client.in_flight is not None and client.in_flight < 8:
            ways.append(f"with {2 * client.in_flight} requests in flight")
        if protocol.other_client:
            ways.append(f"with another client ({protocol.other_client})")
    elif protocol.other_client:
        ways.append("with sharebench's own client")
    if client.is_encrypted:
        ways.append("without encryption (if the server allows it)")
    elif client.is_signed:
        ways.append("without signing (if the server allows it)")
    ways.append("from a faster machine")
    return ways


_RULES: tuple[Callable[[Series], Iterator[Finding]], ...] = (
    _ending, _guest, _unchecked, _unread, _link, _single, _busy, _ceiling, short_runs, _standstill, _unusual, _drift,
    _dependence, _variation,
)  # fmt: skip
_PRACTICE_RULES = (_ending, _single, _busy, _standstill, _unusual, _drift, _dependence, _variation)
