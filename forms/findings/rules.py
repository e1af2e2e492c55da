"""The method's rules applied to measured series: what they say of a set-up, the gravest first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forms import wording
from forms.findings import rules_cross, rules_distance, rules_link, rules_session
from forms.findings.finding import Finding, Severity
from storage.records import Command, Series

_ORDER = list(Severity)
_RULES = (*rules_link.RULES, *rules_distance.RULES, *rules_session.RULES)
_WAITING = "low-utilisation"
_EXPLAINS_WAITING = frozenset({"network-slow", "network-or-disk", "wireless-slow", "latency", "far"})
"""Findings that say what a series waits for, so that there is no need to wonder."""


def findings(series: Sequence[Series]) -> list[Finding]:
    """All findings in the series, the gravest first; of those alike in every series, the first with all their ids."""
    commands = {one.id: one.command for one in series}
    found = [finding for one in series for finding in findings_of(one)]
    found += [finding for rule in rules_cross.RULES for finding in rule(series)]
    told = {series_id for finding in found if finding.key in _EXPLAINS_WAITING for series_id in finding.series_ids}
    found = [one for one in found if one.key != _WAITING or not told.issuperset(one.series_ids)]
    return sorted(_merged(found, commands), key=lambda finding: _ORDER.index(finding.severity))


def findings_of(series: Series) -> list[Finding]:
    """What one series says alone, the gravest first."""
    found = [replace(finding, series_ids=(series.id,)) for rule in _RULES for finding in rule(series)]
    return sorted(found, key=lambda finding: _ORDER.index(finding.severity))


def first_to_look_at(found: Sequence[Finding]) -> Finding | None:
    """The one thing to look at first, from the findings in their order; None where all is as it should be."""
    return next((finding for finding in found if finding.severity is not Severity.GOOD), None)


def _merged(found: Sequence[Finding], commands: Mapping[str, Command]) -> list[Finding]:
    """Findings of one kind and title become one, with the evidence of the first and the series of all."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.key, finding.title), []).append(finding)
    return [_joined(group, commands) for group in groups.values()]


def _joined(group: list[Finding], commands: Mapping[str, Command]) -> Finding:
    first = group[0]
    ids = tuple(dict.fromkeys(series_id for finding in group for series_id in finding.series_ids))
    more = [commands[series_id] for series_id in ids if series_id not in first.series_ids]
    counts = [wording.count(more.count(command), command.value) for command in Command if command in more]
    likewise = f" Likewise in {wording.listed(counts)} more." if more else ""
    return replace(first, series_ids=ids, evidence=first.evidence + likewise)
