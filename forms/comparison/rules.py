"""The method's rules for measured series, the gravest findings first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import compare
from forms.findings import rules_series, series_warnings
from forms.findings.finding import (
    Finding,
    gravest_first,
    is_far,
    is_loopback,
    is_practice,
    is_wireless,
    round_trip_seconds,
    say,
)
from forms.stats import summary
from forms.stats.decision import Limits, Verdict
from forms.tuning.catalogue import misprints_about
from storage.records import Command, Series

_WAITING = "low-utilisation"
_EXPLAINS_WAITING = frozenset({"network-slow", "network-or-disk", "wireless-slow", "latency", "far"})


def findings(series: Sequence[Series]) -> list[Finding]:
    """All findings, the gravest first; those of several series once, with all ids."""
    series = [one for one in series if not is_practice(one)]
    commands = {one.id: one.command for one in series}
    found = [finding for one in series for finding in rules_series.series_findings(one)]
    found += [finding for rule in _CROSS_RULES for finding in rule(series)]
    told = {series_id for finding in found if finding.key in _EXPLAINS_WAITING for series_id in finding.series_ids}
    found = [one for one in found if one.key != _WAITING or not told.issuperset(one.series_ids)]
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.key, finding.title), []).append(finding)
    joined = [_joined(group, commands) for group in groups.values()]
    return gravest_first(joined)


def _joined(group: list[Finding], commands: Mapping[str, Command]) -> Finding:
    first = group[0]
    ids = tuple(dict.fromkeys(series_id for finding in group for series_id in finding.series_ids))
    more = [commands[series_id] for series_id in ids if series_id not in first.series_ids]
    counts = [wording.count(more.count(command), command.value) for command in Command if command in more]
    likewise = f" Likewise in {wording.listed(counts)} more." if more else ""
    return replace(first, series_ids=ids, evidence=first.evidence + likewise)


TIME_TO_TUNE_PERCENT = 68.0
USUAL_PERCENT = 80.0
"""Using Samba, appendix B: expect Samba at 68 to 80 % of FTP; below, tune."""
MUCH_FASTER = 1.2
FAST_BITS_PER_SECOND = 10e9
"""Such a network is about as fast as copying in memory, which is all loopback does."""
SLOW_PERCENT_OF_LINK = 60.0
GOOD_PERCENT_OF_LINK = 80.0
"""One TCP stream fills 80 % of a sound link, less than 60 % of a slow one."""
SLOW_PERCENT_OF_WIRELESS = 35.0
"""Of a wireless link's nominal rate, of which about 60 % is usual."""
_BACK = {Command.GET: Command.PUT, Command.PUT: Command.GET}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    series: Series
    bytes_per_second: float
    loopback: bool

    @property
    def percent_of_link(self) -> float | None:
        link = None if self.loopback else self.series.link_bits_per_second
        return 100 * 8 * self.bytes_per_second / link if link else None

    @property
    def at_ceiling(self) -> bool:
        return series_warnings.at_ceiling(self.series)

    def says(self) -> str:
        share = self.percent_of_link
        of_link = "" if share is None else f" ({share:.0f} % of {wording.link_rate(self.series.link_bits_per_second)})"
        return f"{wording.plain(self.series.target.abilities.label)} {wording.rate(self.bytes_per_second)}{of_link}"


def against_ftp(series: Sequence[Series]) -> Iterator[Finding]:
    for (host, command), group in _by_host_and_command(series):
        ftp = max((m for m in group if m.series.target.abilities.is_yardstick), key=_rate, default=None)
        set_ups = _set_ups([m for m in group if m.series.target.abilities.is_held_to_yardstick])
        for smb in set_ups if ftp else ():
            short = [m for m in (smb, ftp) if m and rules_series.slow_start_rules(m.series)]
            if ftp and short:
                trip = wording.milliseconds(round_trip_seconds(short[0].series) or 0.0)
                words = {"command": command, "host": wording.plain(host), "trip": trip}
                yield say("ratio-far", smb.series, ftp.series, smb=smb.says(), ftp=ftp.says(), **words)
            elif ftp:
                yield _judged(host, smb, ftp, f"SMB {command}{_with(smb) if len(set_ups) > 1 else ''}")


def slower_with_a_change(series: Sequence[Series]) -> Iterator[Finding]:
    """A set-up slower than the one before, even if only by the averages."""
    for (host, command), group in _by_host_and_command(series):
        for before, after in pairwise(_set_ups(group)):
            if _place(before) != _place(after) or not _set_up(after.series):
                continue
            comparison = compare(before.series, after.series)
            change = comparison.change_percent
            if change is None or not _is_loss(comparison, change):
                continue
            rates = {"base": wording.rate(before.bytes_per_second), "rate": wording.rate(after.bytes_per_second)}
            set_ups = {"with_base": _with(before) or " before", "with_it": _with(after)}
            words = {"command": command, "host": wording.plain(host), "loss": -change, **rates, **set_ups}
            name = "slower.proven" if comparison.verdict is Verdict.SLOWER else "slower"
            yield say(name, before.series, after.series, **words)


def _is_loss(comparison: Comparison, change_percent: float) -> bool:
    if comparison.verdict is Verdict.SLOWER:
        return True
    runs = comparison.runs_interval_percent
    unjudged = comparison.verdict is Verdict.UNKNOWN and comparison.interval_percent is None
    return unjudged and change_percent <= -Limits().margin_percent and (runs is None or runs[1] < 0)


def _set_ups(measured: Sequence[_Measured]) -> list[_Measured]:
    in_order = sorted(measured, key=lambda m: m.series.created_at)
    newest = {(_place(one), _set_up(one.series)): one for one in in_order}
    return list(newest.values())


def _place(measured: _Measured) -> object:
    target = measured.series.target
    return target.protocol, target.port, target.share, target.path, measured.series.client.name


def _set_up(series: Series) -> str:
    return wording.plain(series.label or (f"{series.change.name} = {series.change.value}" if series.change else ""))


def _with(measured: _Measured) -> str:
    name = _set_up(measured.series)
    return f" with {name}" if name else ""


def _judged(host: str, smb: _Measured, ftp: _Measured, what: str) -> Finding:
    percent = 100 * smb.bytes_per_second / ftp.bytes_per_second
    unusual = sum(why is not None for why in summary.unusual(smb.series.rates()))
    stray = f", with {wording.count(unusual, 'unusual run')}" if unusual else ""
    name, about = _ratio(percent, compare(ftp.series, smb.series), unusual=bool(unusual))
    guard = "" if _protection(ftp.series) else _protection(smb.series)
    usual = "".join(
        f" The book's rule is {TIME_TO_TUNE_PERCENT:.0f} to {USUAL_PERCENT:.0f} %. {misprint.right}"
        for misprint in misprints_about(name.partition(".")[0])
    )
    seen = f"{smb.series.command} on {wording.plain(host)}: {smb.says()} is {percent:.1f} % of {ftp.says()}{stray}."
    words = {"what": what, "percent": percent, "about": about, "guard": guard, "smb_id": smb.series.id}
    name = "time-to-tune.guarded" if name == "time-to-tune" and guard else name
    return say(name, smb.series, ftp.series, seen=seen + usual, **words)


def _ratio(percent: float, comparison: Comparison, *, unusual: bool) -> tuple[str, str]:
    interval = comparison.runs_interval_percent
    if interval is None:
        return "ratio-unknown.single", ""
    low, high = (100 + edge for edge in interval)
    if (low < TIME_TO_TUNE_PERCENT <= percent) or (percent < TIME_TO_TUNE_PERCENT and high >= USUAL_PERCENT):
        return "ratio-unknown", f" (about {comparison.needed_runs})" if comparison.needed_runs else ""
    if percent >= 100 or comparison.verdict is Verdict.SAME:
        return "unusual-runs" if unusual else "well-configured", ""
    if percent < TIME_TO_TUNE_PERCENT:
        return "time-to-tune", ""
    return "usual-ratio.usual" if percent < USUAL_PERCENT else "usual-ratio", ""


def _protection(series: Series) -> str:
    client = series.client
    if client.is_encrypted:
        return f"encrypted ({wording.plain(str(client.encryption))})"
    return f"signed ({wording.plain(str(client.signing))})" if client.is_signed else ""


def loopback_no_faster(series: Sequence[Series]) -> Iterator[Finding]:
    """Loopback not much faster than the network: suspect the TCP/IP software (Using Samba)."""
    measured = [m for m in _measured(series) if not m.series.target.abilities.is_local]
    for command in Command:
        own = [m for m in measured if m.series.command is command]
        bare = [m for m in own if not m.series.target.abilities.moves_files]
        told = bare if _both_places(bare) else own
        for protocol in dict.fromkeys(m.series.target.protocol for m in told):
            pair = [m for m in told if m.series.target.protocol == protocol]
            if not _both_places(pair):
                continue
            has_disk = pair[0].series.target.abilities.moves_files
            near = max((m for m in pair if m.loopback), key=_rate)
            far = max((m for m in pair if not m.loopback), key=_rate)
            if near.bytes_per_second >= MUCH_FASTER * far.bytes_per_second or near.at_ceiling or _as_fast(far):
                continue
            name = "loopback-no-faster.disk" if has_disk else "loopback-no-faster"
            yield say(name, near.series, far.series, command=command, near=near.says(), far=far.says())


def both_slow(series: Sequence[Series]) -> Iterator[Finding]:
    """FTP and SMB both slow: the network only if the other direction or bare TCP is slow too."""
    groups = dict(_by_host_and_command(series))
    for (host, command), group in groups.items():
        files = [m for m in group if m.percent_of_link is not None and m.series.target.abilities.moves_files]
        bare = max((m for m in group if not m.series.target.abilities.moves_files), key=_rate, default=None)
        smb = max((m for m in files if m.series.target.abilities.is_held_to_yardstick), key=_rate, default=None)
        ftp = max((m for m in files if m.series.target.abilities.is_yardstick), key=_rate, default=None)
        if smb is None or ftp is None or any(m.at_ceiling or is_far(m.series) for m in (smb, ftp)):
            continue
        wireless = any(is_wireless(m.series) for m in (smb, ftp))
        slow = SLOW_PERCENT_OF_WIRELESS if wireless else SLOW_PERCENT_OF_LINK
        if any((m.percent_of_link or 0) >= slow for m in (smb, ftp)):
            continue
        back = max(groups.get((host, _BACK[command]), ()), key=_rate, default=None)
        told = [m for m in (bare, smb, ftp) if m is not None]
        sound = bare is not None and (bare.percent_of_link or 0) >= GOOD_PERCENT_OF_LINK
        back_fills = back is not None and (back.percent_of_link or 0) >= GOOD_PERCENT_OF_LINK
        back_is_slow = back is not None and (back.percent_of_link or 0) < slow
        both = [*told, *([back] if back else [])]
        if bare is None and back_fills:
            name, shown = f"server-slow.{command}", both
        elif wireless and not sound:
            name, shown = "wireless-slow", told
        elif bare is not None:
            name, shown = "server-slow" if sound else "network-slow.bare", told
        elif back_is_slow:
            name, shown = "network-slow", both
        else:
            name, shown = "network-or-disk.both" if back else "network-or-disk", both
        said = [m.says() if m.series.command is command else f"{m.series.command} by {m.says()}" for m in shown]
        words = {"command": command, "host": wording.plain(host), "back": _BACK[command]}
        yield say(name, *(m.series for m in shown), told=wording.listed(said), **words)


def _as_fast(far: _Measured) -> bool:
    share = far.percent_of_link
    fast = (far.series.link_bits_per_second or 8 * far.bytes_per_second) >= FAST_BITS_PER_SECOND
    return fast and (share is None or share >= SLOW_PERCENT_OF_LINK)


_CROSS_RULES = (both_slow, loopback_no_faster, against_ftp, slower_with_a_change)


def _measured(series: Sequence[Series]) -> list[_Measured]:
    return [
        _Measured(series=one, bytes_per_second=average, loopback=is_loopback(one))
        for one in series
        if (average := summary.mean(one.rates())) is not None
    ]


def _by_host_and_command(series: Sequence[Series]) -> Iterator[tuple[tuple[str, Command], list[_Measured]]]:
    def place(measured: _Measured) -> tuple[str, Command]:
        return measured.series.target.host, measured.series.command

    for key, group in groupby(sorted(_measured(series), key=place), place):
        yield key, list(group)


def _both_places(measured: Sequence[_Measured]) -> bool:
    return any(m.loopback for m in measured) and any(not m.loopback for m in measured)


def _rate(measured: _Measured) -> float:
    return measured.bytes_per_second
