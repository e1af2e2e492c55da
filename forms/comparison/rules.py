"""All findings about measured series, the gravest first: ``sharebench findings``, surveys and the guide show them.

A *finding* says what was measured, what that means, and what to do. Most rules look at one series
(``forms/findings``). The rules here, in ``rules_network`` and in ``rules_ftp`` compare several with each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from forms import wording
from forms.comparison import measured_series
from forms.comparison.comparison import Comparison
from forms.comparison.rules_ftp import against_ftp
from forms.comparison.rules_network import both_slow, loopback_no_faster
from forms.comparison.verdict import compare
from forms.findings import path, rules_series
from forms.findings.finding import Finding, finding_from_texts, gravest_first
from forms.stats import decision
from storage import records

_WAITING = frozenset({"low-utilisation", "low-share"})
"""The keys of the findings that the link is hardly used, so that everybody waits for something."""

_EXPLAINS_WAITING = frozenset(
    {"network-slow", "network-or-disk", "server-slow", "wireless-slow", "latency", "far", "lower-ethernet"}
)
"""The keys of the findings that say for what."""


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
    return [
        finding for finding in findings if finding.key not in _WAITING or not explained.issuperset(finding.series_ids)
    ]


def _join(group: list[Finding], commands: Mapping[str, records.Command]) -> Finding:
    """One finding in place of the same about several series; ``commands``: the direction of each, by its id."""
    first = group[0]
    ids = tuple(dict.fromkeys(chain.from_iterable(finding.series_ids for finding in group)))
    more = [commands[series_id] for series_id in ids if series_id not in first.series_ids]
    counts = [wording.count(more.count(command), command.value) for command in records.Command if command in more]
    likewise = f" Likewise in {wording.listed(counts)} more." if more else ""
    return replace(first, series_ids=ids, evidence=first.evidence + likewise)


def slower_with_a_change(series: Sequence[records.Series]) -> Iterator[Finding]:
    """A set-up slower than the one before, even if only by the averages."""
    for (host, command), group in measured_series.by_host_and_command(series):
        for before, after in pairwise(measured_series.newest_of_set_ups(group)):
            is_same_place = measured_series.measured_place(before) == measured_series.measured_place(after)
            if not is_same_place or not measured_series.set_up_name(after.series):
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
                with_base=measured_series.with_set_up(before) or " before",
                with_it=measured_series.with_set_up(after),
            )


def _is_loss(comparison: Comparison, change_percent: float) -> bool:
    """Whether it is slower by its verdict or, with too few runs for a verdict, by clearly lower averages."""
    if comparison.verdict is decision.Verdict.SLOWER:
        return True
    if comparison.verdict is not decision.Verdict.UNKNOWN or comparison.interval_percent is not None:
        return False

    # Too few runs for a verdict: the average must have fallen by more than the margin, and no run may deny it.
    runs_interval = comparison.runs_interval_percent
    return change_percent <= -decision.Limits().margin_percent and (runs_interval is None or runs_interval[1] < 0)


_CROSS_RULES = (both_slow, loopback_no_faster, against_ftp, slower_with_a_change)
