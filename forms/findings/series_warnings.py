"""Warnings about one series: what weakens it, and what to do."""

import math
import posixpath
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from forms import wording
from forms.findings.finding import is_practice
from forms.stats import summary
from storage.plan import DEFAULT_WARMUPS
from storage.records import Command, Phase, QuietVerdict, RunStatus, Series, SeriesStatus, format_target

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
UNKNOWN = "facts.unknown"
_LARGEST_ADVISED = 64 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One warning; ``text`` has the figures and ends with what to do."""

    key: str
    text: str
    options: str = ""


def advice(series: Series) -> list[Advice]:
    """All warnings, the gravest first; empty for a series that can be trusted."""
    rules = _PRACTICE_RULES if is_practice(series) else _RULES
    return [said for rule in rules for said in rule(series)]


def near_ceiling_percent(series: Series) -> float | None:
    """The average in percent of the client ceiling; None where either is unknown."""
    average = summary.mean(series.rates())
    ceiling = series.ceiling_bytes_per_second
    return 100 * average / ceiling if average is not None and ceiling else None


def ceiling_beaten(series: Series) -> bool:
    """Whether the average exceeds the client ceiling: its calibration was disturbed."""
    return (near_ceiling_percent(series) or 0.0) > _ALL_PERCENT


def at_ceiling(series: Series) -> bool:
    """Whether the client ceiling may be what was measured."""
    return CEILING_PERCENT < (near_ceiling_percent(series) or 0.0) <= _ALL_PERCENT


def busy_reasons(series: Series) -> str:
    """Why the time was busy; empty where it was not."""
    return "; ".join(map(wording.plain, series.quiet.reasons)) if series.quiet else ""


def advised_size(bytes_per_second: float) -> int:
    """The least power of two, in bytes from 64 MiB to 64 GiB, that makes runs last ten seconds."""
    size = 64 * 1024**2
    while size < bytes_per_second * GOOD_SECONDS and size < _LARGEST_ADVISED:
        size *= 2
    return size


def _ending(series: Series) -> Iterator[Advice]:
    failed = [r for r in series.runs if r.status is RunStatus.FAILED]
    if failed:
        first = failed[0]
        why = f" ({wording.plain(first.error)})" if first.error else ""
        yield Advice(
            key="failed",
            text=f"{wording.count(len(failed), 'run')} failed{why}; they count in no average: find out why,"
            " then measure again.",
            options="sharebench check TARGET",
        )
    done, planned = len(series.rates()), series.plan.runs if series.plan else None
    unfinished = series.status is not SeriesStatus.COMPLETE and series.running_by is None
    if unfinished and planned and done < planned:
        yield Advice(
            key="interrupted",
            text=f"Only {done} of {planned:.0f} planned runs count: resume the series to complete it.",
            options=f"sharebench run --resume {series.id}",
        )


def _guest(series: Series) -> Iterator[Advice]:
    user = series.target.user
    if user and series.environment.get("path", {}).get("smb.guest") == "yes":
        yield Advice(
            key="guest",
            text=f"The server logged in a guest, not {wording.plain(user)}: it does not know the user, or not with this"
            " password (Samba: map to guest): check both, or measure as a guest on purpose, without a user.",
        )


def _unchecked(series: Series) -> Iterator[Advice]:
    if series.command is Command.PUT and series.environment.get("path", {}).get("ftp.size") == "no":
        yield Advice(
            key="unchecked",
            text="The server has no SIZE, so nobody compared what it stored with what was sent: look at"
            " the server's log whether all of it came.",
        )


def _unread(series: Series) -> Iterator[Advice]:
    problem = series.environment.get("server", {}).get(UNKNOWN)
    if problem and series.plan and (series.plan.server_ssh or series.plan.smb_conf):
        yield Advice(key="unread", text=f"The server's settings are not all known: {wording.plain(str(problem))}.")


def _link(series: Series) -> Iterator[Advice]:
    average, link = summary.mean(series.rates()), series.link_bits_per_second
    percent = 800 * average / link if average is not None and link else 0.0
    if percent > _ALL_PERCENT:
        yield Advice(
            key="link",
            text=f"No link of {wording.link_rate(link)} carries {wording.percent(percent)} of itself: give its true"
            " rate, or look whether the bytes came over it at all.",
            options="--link RATE",
        )


def _single(series: Series) -> Iterator[Advice]:
    rates = series.rates()
    if len(rates) == 1:
        yield Advice(
            key="single",
            text="One valid run has no deviation and cannot show a difference: measure at least five.",
            options="--runs 5",
        )
    if not rates and series.runs:
        yield Advice(
            key="single", text="No valid run is left, so there is no average: accept a rejected run, or measure again."
        )


def _busy(series: Series) -> Iterator[Advice]:
    if series.quiet_verdict is not QuietVerdict.BUSY:
        return
    why = busy_reasons(series)
    yield Advice(
        key="busy",
        text=f"The time was busy{f' ({why})' if why else ''}, so the results include the effect of that load:"
        " measure again at a quiet time, or wait for one.",
        options="--quiet-time require --wait 600",
    )


def _unusual(series: Series) -> Iterator[Advice]:
    runs = [r for r in series.measured() if r.bytes_per_second is not None]
    reasons = summary.unusual(series.rates(), [r.seconds for r in runs if r.seconds])
    flagged = [(run, why) for run, why in zip(runs, reasons, strict=True) if why]
    usual = summary.median(series.rates()) or 0.0
    slow_from_the_start = takewhile(
        lambda pair: pair[1] is not None and (pair[0].bytes_per_second or 0.0) < usual, zip(runs, reasons, strict=True)
    )
    cold = [(run, why) for run, why in slow_from_the_start if why]
    if cold:
        warmups = sum(r.phase is Phase.WARM_UP for r in series.runs)
        made = f"in spite of {wording.count(warmups, 'warm-up run')}" if warmups else "no warm-up run was made"
        more = max(DEFAULT_WARMUPS, 2 * warmups)
        yield Advice(
            key="warm-up",
            text=f"Run {cold[0][0].number}: {cold[0][1]}; {made}: measure again with {more} warm-up runs, or"
            f" leave out {'it' if len(cold) == 1 else f'the first {len(cold)} runs'}.",
            options=f"--warmup {more}",
        )
    for run, why in flagged:
        if (run, why) not in cold:
            yield Advice(
                key="unusual",
                text=f"Run {run.number} is unusual: {why}; find out what else happened then, and leave it out"
                " if it does not belong.",
                options=f"sharebench reject {series.id} {run.number} --reason …",
            )


def _drift(series: Series) -> Iterator[Advice]:
    trend = summary.drift(series.rates())
    if trend is None or abs(trend.percent) < DRIFT_PERCENT or not trend.significant:
        return
    what = "rose" if trend.percent > 0 else "fell"
    warmups = max(4, 2 * sum(r.phase is Phase.WARM_UP for r in series.runs))
    todo = (
        f"more warm-up may help, {warmups} runs of it;"
        if trend.percent > 0
        else "look for heat, a filling disk or growing load;"
    )
    yield Advice(
        key="drift",
        text=f"Throughput {what} by {wording.percent(abs(trend.percent))} over the series (Mann-Kendall"
        f" p = {trend.p_value:.3f}), so its average depends on when it stopped: {todo} and compare it only with a"
        " series whose runs alternate with its own.",
        options=f"{f'--warmup {warmups}, ' if trend.percent > 0 else ''}sharebench selftest TARGET",
    )


def _dependence(series: Series) -> Iterator[Advice]:
    found = summary.lag_1(series.rates())
    if found is None or any(_drift(series)):
        return
    until = series.plan.until_percent if series.plan else None
    what = "the interval of the average is narrower than the truth"
    if until is not None:
        what = f"± {wording.percent(until)} holds less often than 95 times in a hundred"
    yield Advice(
        key="dependence",
        text=f"Neighbouring runs are alike (correlation {found:.2f}), so {what}: measure the series again later, or"
        " several of them, to see how much its average varies.",
        options="sharebench selftest --apart 3 TARGET",
    )


def short_runs(series: Series) -> Iterator[Advice]:
    """Runs that are too short, and a file size that is long enough."""
    timed = [r for r in series.measured() if r.seconds]
    typical = summary.median([r.seconds for r in timed if r.seconds])
    middle = summary.median(series.rates())
    if typical is None or middle is None:
        return
    size, block = timed[0].size_bytes, series.client.block_bytes
    few = block is not None and size < FEW_BLOCKS * block and typical < FULL_SECONDS
    if typical >= SHORT_SECONDS and not few:
        return
    advised = wording.typed_size(max(advised_size(middle), FEW_BLOCKS * (block or 0)))
    own_file = series.command is Command.PUT or bool(series.plan and series.plan.make_file)
    todo, options = f"a file of {advised} or more", f"--size {advised}"
    if series.plan and series.plan.files:
        number = math.ceil(series.plan.files * GOOD_SECONDS / typical)
        todo, options = f"a tree of {number:,} files", f"--files {number}"
    elif not own_file:
        folder = replace(series.target, path=posixpath.dirname(series.target.path))
        options = f"sharebench run {shlex.quote(format_target(folder))} --make-file {options}"
    if not series.target.abilities.moves_files:
        todo, options = "a longer time", ""
    blocks = f" and takes {wording.count(max(1, size // block), 'block')}" if few and block else ""
    yield Advice(
        key="short",
        text=f"A run lasts {wording.seconds(typical)}{blocks}, too short to measure reliably: use {todo}.",
        options=options,
    )


def _variation(series: Series) -> Iterator[Advice]:
    rates = series.rates()
    until, half = series.plan.until_percent if series.plan else None, summary.half_width_percent(rates)
    known = summary.known_to_percent(rates)
    if series.plan and until is not None and known is not None and known > until:
        more = 2 * (series.plan.max_runs or len(rates))
        yield Advice(
            key="until",
            text=f"± {wording.percent(until)} was not reached in {wording.count(len(rates), 'run')}"
            f" (± {wording.percent(known)}): allow up to {more}"
            " runs, make them longer, or wait for a quiet time.",
            options=f"--max-runs {more}",
        )
        return
    spread = summary.deviation_percent(rates)
    if spread is None or half is None or spread <= VARIATION_PERCENT:
        return
    if len(rates) < MANY_RUNS and until is None:
        todo, options = (
            f"measure more runs, {MANY_RUNS} or so, longer ones, or at a quieter time",
            f"--runs {MANY_RUNS}",
        )
    else:
        todo, options = "more runs alone help slowly: make them longer, or find what else is at work", "--size SIZE"
    yield Advice(
        key="scatter",
        text=f"The runs vary by {wording.percent(spread)} (standard deviation), so the average is known to ± "
        f"{wording.percent(half)} only: {todo}.",
        options=options,
    )


def _ceiling(series: Series) -> Iterator[Advice]:
    share = near_ceiling_percent(series)
    if ceiling_beaten(series):
        yield Advice(
            key="ceiling",
            text="The series beat this client's own limit"
            f" ({wording.byte_rate(series.ceiling_bytes_per_second)}), which was calibrated at a busy moment: have"
            " it found again at a quiet time.",
            options="--ceiling renew",
        )
        return
    if share is None or not at_ceiling(series):
        return
    ways = ways_past_the_ceiling(series)
    yield Advice(
        key="ceiling",
        text=f"This is {wording.percent(share)} of what this client can do on this machine"
        f" ({wording.byte_rate(series.ceiling_bytes_per_second)}), so the server may be faster than it looks: measure"
        f" {wording.listed(ways)}.",
    )


def ways_past_the_ceiling(series: Series) -> list[str]:
    """Ways past the client ceiling not tried yet, the cheapest first."""
    client, protocol = series.client, series.target.abilities
    ways: list[str] = []
    if client.name == "sharebench":
        other = protocol.other_client
        if protocol.has_depth and client.in_flight is not None and client.in_flight < 8:
            ways.append(f"with {2 * client.in_flight} requests in flight")
        if other:
            ways.append(f"with another client, {other}")
    elif protocol.other_client:
        ways.append("with sharebench's own client")
    if client.is_encrypted:
        ways.append("without encryption, if the server allows it")
    elif client.is_signed:
        ways.append("without signing, if the server allows it")
    ways.append("from a faster machine")
    return ways


_RULES: tuple[Callable[[Series], Iterator[Advice]], ...] = (
    _ending,
    _guest,
    _unchecked,
    _unread,
    _link,
    _single,
    _busy,
    _ceiling,
    short_runs,
    _unusual,
    _drift,
    _dependence,
    _variation,
)
_PRACTICE_RULES = (_ending, _single, _busy, _unusual, _drift, _dependence, _variation)
