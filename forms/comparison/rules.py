"""The method's rules for several measured series, and all findings together, the gravest first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from operator import attrgetter

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import compare
from forms.findings import path, rules_series, series_warnings
from forms.findings.finding import Finding, finding_from_texts, gravest_first
from forms.findings.rules_distance import spends_runs_in_slow_start
from forms.stats import decision, summary
from forms.tuning.catalogue import misprints_about
from storage import records

_WAITING = "low-utilisation"
_EXPLAINS_WAITING = frozenset({"network-slow", "network-or-disk", "wireless-slow", "latency", "far"})

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

_OTHER_DIRECTION = {records.Command.GET: records.Command.PUT, records.Command.PUT: records.Command.GET}


def findings(series: Sequence[records.Series]) -> list[Finding]:
    """All findings, the gravest first; those of several series once, with all ids."""
    series = [one_series for one_series in series if not path.is_practice(one_series)]
    all_findings: list[Finding] = []
    for one_series in series:
        all_findings += rules_series.series_findings(one_series)
    for rule in _CROSS_RULES:
        all_findings += rule(series)

    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in _without_explained_waiting(all_findings):
        groups.setdefault((finding.key, finding.title), []).append(finding)
    commands = {one_series.id: one_series.command for one_series in series}
    return gravest_first(_join(group, commands) for group in groups.values())


def _without_explained_waiting(findings: Sequence[Finding]) -> list[Finding]:
    """The findings but for that everybody waits, where another one says for what."""
    explained: set[str] = set()
    for finding in findings:
        if finding.key in _EXPLAINS_WAITING:
            explained |= set(finding.series_ids)
    return [finding for finding in findings if finding.key != _WAITING or not explained.issuperset(finding.series_ids)]


def _join(group: list[Finding], commands: Mapping[str, records.Command]) -> Finding:
    """One finding in place of the same about several series."""
    first = group[0]
    ids = tuple(dict.fromkeys(chain.from_iterable(finding.series_ids for finding in group)))
    more = [commands[series_id] for series_id in ids if series_id not in first.series_ids]
    counts = [wording.count(more.count(command), command.value) for command in records.Command if command in more]
    likewise = f" Likewise in {wording.listed(counts)} more." if more else ""
    return replace(first, series_ids=ids, evidence=first.evidence + likewise)


@dataclass(frozen=True, slots=True, kw_only=True)
class _MeasuredSeries:
    """A series with its average."""

    series: records.Series
    bytes_per_second: float
    is_loopback: bool

    @property
    def percent_of_link(self) -> float | None:
        link = None if self.is_loopback else self.series.link_bits_per_second
        return records.percent_of_link(self.bytes_per_second, link)

    @property
    def at_ceiling(self) -> bool:
        return series_warnings.at_ceiling(self.series)

    @property
    def is_smb(self) -> bool:
        return self.series.target.abilities.is_held_to_yardstick

    @property
    def is_ftp(self) -> bool:
        return self.series.target.abilities.is_yardstick

    @property
    def is_bare_tcp(self) -> bool:
        return not self.series.target.abilities.moves_files

    @property
    def text(self) -> str:
        """``SMB 95.2 MB/s (76 % of 1 Gb/s)``."""
        protocol = wording.plain(self.series.target.abilities.label)
        text = f"{protocol} {wording.rate(self.bytes_per_second)}"
        share = self.percent_of_link
        if share is None:
            return text
        return f"{text} ({share:.0f} % of {wording.link_rate(self.series.link_bits_per_second)})"


def against_ftp(series: Sequence[records.Series]) -> Iterator[Finding]:
    for (host, command), group in _by_host_and_command(_not_flushed(series)):
        ftp = _fastest(measured for measured in group if measured.is_ftp)
        if ftp is None:
            continue

        set_ups = _set_ups([measured for measured in group if measured.is_smb])
        for smb in set_ups:
            in_slow_start = [measured for measured in (smb, ftp) if spends_runs_in_slow_start(measured.series)]
            if in_slow_start:
                round_trip = path.round_trip_seconds(in_slow_start[0].series) or 0.0
                yield finding_from_texts(
                    "ratio-far",
                    smb.series,
                    ftp.series,
                    smb=smb.text,
                    ftp=ftp.text,
                    command=command,
                    host=wording.plain(host),
                    trip=wording.milliseconds(round_trip),
                )
            else:
                with_set_up = _with_set_up(smb) if len(set_ups) > 1 else ""
                yield _ratio_finding(host, smb, ftp, f"SMB {command}{with_set_up}")


def slower_with_a_change(series: Sequence[records.Series]) -> Iterator[Finding]:
    """A set-up slower than the one before, even if only by the averages."""
    for (host, command), group in _by_host_and_command(series):
        for before, after in pairwise(_set_ups(group)):
            if _place_key(before) != _place_key(after) or not _set_up_name(after.series):
                continue

            comparison = compare(before.series, after.series)
            change = comparison.change_percent
            if change is None or not _is_loss(comparison, change):
                continue

            yield finding_from_texts(
                "slower.proven" if comparison.verdict is decision.Verdict.SLOWER else "slower",
                before.series,
                after.series,
                command=command,
                host=wording.plain(host),
                loss=-change,
                base=wording.rate(before.bytes_per_second),
                rate=wording.rate(after.bytes_per_second),
                with_base=_with_set_up(before) or " before",
                with_it=_with_set_up(after),
            )


def _is_loss(comparison: Comparison, change_percent: float) -> bool:
    if comparison.verdict is decision.Verdict.SLOWER:
        return True
    if comparison.verdict is not decision.Verdict.UNKNOWN or comparison.interval_percent is not None:
        return False

    # Too few runs for a verdict: the average must have fallen by more than the margin, and no run may deny it.
    runs_interval = comparison.runs_interval_percent
    return change_percent <= -decision.Limits().margin_percent and (runs_interval is None or runs_interval[1] < 0)


def _set_ups(group: Sequence[_MeasuredSeries]) -> list[_MeasuredSeries]:
    """The newest series of each set-up, in the order in which the set-ups were first measured."""
    in_order = sorted(group, key=attrgetter("series.created_at"))
    newest = {(_place_key(measured), _set_up_name(measured.series)): measured for measured in in_order}
    return list(newest.values())


def _place_key(measured: _MeasuredSeries) -> object:
    target = measured.series.target
    client_name = measured.series.client.name
    return target.protocol, target.port, target.share, target.path, client_name, measured.series.flushed


def _set_up_name(series: records.Series) -> str:
    name = series.label
    if not name and series.change:
        name = f"{series.change.name} = {series.change.value}"
    return wording.plain(name)


def _with_set_up(measured: _MeasuredSeries) -> str:
    name = _set_up_name(measured.series)
    return f" with {name}" if name else ""


def _ratio_finding(host: str, smb: _MeasuredSeries, ftp: _MeasuredSeries, subject: str) -> Finding:
    percent = 100 * smb.bytes_per_second / ftp.bytes_per_second
    unusual_count = sum(unusual is not None for unusual in summary.unusual_rates(smb.series.rates()))
    comparison = compare(ftp.series, smb.series)
    key, variant = _judge_ratio(percent, comparison, has_unusual_runs=unusual_count > 0)

    guard = "" if _protection_text(ftp.series) else _protection_text(smb.series)
    if key == "time-to-tune" and guard:
        variant = "guarded"

    with_unusual = f", with {wording.count(unusual_count, 'unusual run')}" if unusual_count else ""
    evidence = (
        f"{smb.series.command} on {wording.plain(host)}: {smb.text} is {percent:.1f} % of {ftp.text}{with_unusual}."
    )
    for misprint in misprints_about(key):
        evidence += f" The book's rule is {TIME_TO_TUNE_PERCENT:.0f} to {USUAL_PERCENT:.0f} %. {misprint.right}"

    has_count = key == "ratio-unknown" and not variant and comparison.needed_runs
    return finding_from_texts(
        f"{key}.{variant}",
        smb.series,
        ftp.series,
        seen=evidence,
        what=subject,
        percent=percent,
        about=f" (about {comparison.needed_runs})" if has_count else "",
        guard=guard,
        smb_id=smb.series.id,
    )


def _judge_ratio(percent: float, comparison: Comparison, *, has_unusual_runs: bool) -> tuple[str, str]:
    """The key of the finding about SMB in percent of FTP, and its variant."""
    interval = comparison.runs_interval_percent
    if interval is None:
        return "ratio-unknown", "single"

    # An interval that reaches over an edge of the book's range does not tell on which side of it the ratio is.
    low, high = (100 + edge for edge in interval)
    may_need_tuning = low < TIME_TO_TUNE_PERCENT <= percent
    may_be_good = percent < TIME_TO_TUNE_PERCENT and high >= USUAL_PERCENT
    if may_need_tuning or may_be_good:
        return "ratio-unknown", ""
    if percent >= 100 or comparison.verdict is decision.Verdict.SAME:
        return ("unusual-runs" if has_unusual_runs else "well-configured"), ""
    if percent < TIME_TO_TUNE_PERCENT:
        return "time-to-tune", ""
    return "usual-ratio", ("usual" if percent < USUAL_PERCENT else "")


def _protection_text(series: records.Series) -> str:
    client = series.client
    if client.is_encrypted:
        return f"encrypted ({wording.plain(str(client.encryption))})"
    if client.is_signed:
        return f"signed ({wording.plain(str(client.signing))})"
    return ""


def loopback_no_faster(series: Sequence[records.Series]) -> Iterator[Finding]:
    """Loopback not much faster than the network: suspect the TCP/IP software (Using Samba)."""
    over_sockets = [
        measured for measured in _measured_series(_not_flushed(series)) if not measured.series.target.abilities.is_local
    ]
    for command in records.Command:
        of_command = [measured for measured in over_sockets if measured.series.command is command]
        # Bare TCP tells it without a disk and a server's work; only where it was not measured do files.
        bare_tcp = [measured for measured in of_command if measured.is_bare_tcp]
        candidates = bare_tcp if _are_both_places(bare_tcp) else of_command

        for protocol in dict.fromkeys(measured.series.target.protocol for measured in candidates):
            group = [measured for measured in candidates if measured.series.target.protocol == protocol]
            near = _fastest(measured for measured in group if measured.is_loopback)
            far = _fastest(measured for measured in group if not measured.is_loopback)
            if near is None or far is None:
                continue
            is_much_faster = near.bytes_per_second >= MUCH_FASTER * far.bytes_per_second
            if is_much_faster or near.at_ceiling or _is_fast_network(far):
                continue
            yield finding_from_texts(
                "loopback-no-faster" if near.is_bare_tcp else "loopback-no-faster.disk",
                near.series,
                far.series,
                command=command,
                near=near.text,
                far=far.text,
            )


def both_slow(series: Sequence[records.Series]) -> Iterator[Finding]:
    """FTP and SMB both slow: the network only if the other direction or bare TCP is slow too."""
    groups = dict(_by_host_and_command(_not_flushed(series)))
    for (host, command), group in groups.items():
        over_link = [measured for measured in group if measured.percent_of_link is not None]
        smb = _fastest(measured for measured in over_link if measured.is_smb)
        ftp = _fastest(measured for measured in over_link if measured.is_ftp)
        if smb is None or ftp is None:
            continue
        back = _fastest(groups.get((host, _OTHER_DIRECTION[command]), ()))
        bare_tcp = _fastest(measured for measured in group if measured.is_bare_tcp)
        diagnosis = _diagnose_both_slow(command, smb=smb, ftp=ftp, bare_tcp=bare_tcp, back=back)
        if diagnosis is None:
            continue

        name, evidence = diagnosis
        texts = [
            measured.text if measured.series.command is command else f"{measured.series.command} by {measured.text}"
            for measured in evidence
        ]
        yield finding_from_texts(
            name,
            *(measured.series for measured in evidence),
            told=wording.listed(texts),
            command=command,
            host=wording.plain(host),
            back=_OTHER_DIRECTION[command],
        )


def _diagnose_both_slow(
    command: records.Command,
    *,
    smb: _MeasuredSeries,
    ftp: _MeasuredSeries,
    bare_tcp: _MeasuredSeries | None,
    back: _MeasuredSeries | None,
) -> tuple[str, list[_MeasuredSeries]] | None:
    """The finding's name and the series that show it; None where one of both is fast, or something else limits it.

    ``back`` is the fastest series in the other direction.
    """
    if any(measured.at_ceiling or path.is_far(measured.series) for measured in (smb, ftp)):
        return None
    is_wireless = any(path.is_wireless(measured.series) for measured in (smb, ftp))
    slow_percent = SLOW_PERCENT_OF_WIRELESS if is_wireless else SLOW_PERCENT_OF_LINK
    if any((measured.percent_of_link or 0) >= slow_percent for measured in (smb, ftp)):
        return None

    evidence = [smb, ftp] if bare_tcp is None else [bare_tcp, smb, ftp]
    with_back = evidence if back is None else [*evidence, back]
    is_link_sound = bare_tcp is not None and (bare_tcp.percent_of_link or 0) >= GOOD_PERCENT_OF_LINK
    back_percent = None if back is None else back.percent_of_link or 0

    # Bare TCP tells of the link by itself; without it the other direction shows whether the link is sound.
    if bare_tcp is None and back_percent is not None and back_percent >= GOOD_PERCENT_OF_LINK:
        return f"server-slow.{command}", with_back
    if is_wireless and not is_link_sound:
        return "wireless-slow", evidence
    if bare_tcp is not None:
        return ("server-slow" if is_link_sound else "network-slow.bare"), evidence
    if back_percent is not None and back_percent < slow_percent:
        return "network-slow", with_back
    return ("network-or-disk" if back is None else "network-or-disk.both"), with_back


def _is_fast_network(far: _MeasuredSeries) -> bool:
    share = far.percent_of_link
    is_fast = (far.series.link_bits_per_second or 8 * far.bytes_per_second) >= FAST_BITS_PER_SECOND
    return is_fast and (share is None or share >= SLOW_PERCENT_OF_LINK)


_CROSS_RULES = (both_slow, loopback_no_faster, against_ftp, slower_with_a_change)


def _not_flushed(series: Sequence[records.Series]) -> list[records.Series]:
    """Without puts whose time includes the server's disk, which no FTP put and no other direction has."""
    return [one_series for one_series in series if not one_series.flushed]


def _measured_series(series: Sequence[records.Series]) -> list[_MeasuredSeries]:
    all_measured = []
    for one_series in series:
        average = summary.mean(one_series.rates())
        if average is not None:
            is_loopback = path.is_loopback(one_series)
            all_measured.append(_MeasuredSeries(series=one_series, bytes_per_second=average, is_loopback=is_loopback))
    return all_measured


def _by_host_and_command(
    series: Sequence[records.Series],
) -> Iterator[tuple[tuple[str, records.Command], list[_MeasuredSeries]]]:
    def host_and_command(measured: _MeasuredSeries) -> tuple[str, records.Command]:
        return measured.series.target.host, measured.series.command

    in_order = sorted(_measured_series(series), key=host_and_command)
    for key, group in groupby(in_order, host_and_command):
        yield key, list(group)


def _are_both_places(group: Sequence[_MeasuredSeries]) -> bool:
    return len({measured.is_loopback for measured in group}) > 1


def _fastest(group: Iterable[_MeasuredSeries]) -> _MeasuredSeries | None:
    return max(group, key=attrgetter("bytes_per_second"), default=None)
