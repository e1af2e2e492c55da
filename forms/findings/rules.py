"""The method's rules applied to measured series: what they say of a set-up, the gravest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forms.findings import rules_cross, rules_link, rules_session
from forms.findings.finding import Finding, Severity
from storage.records import Series

_ORDER = list(Severity)


def findings(series: Sequence[Series]) -> list[Finding]:
    """All findings in the series, the gravest first; of those alike in every series, the first with all their ids."""
    found = [finding for rule in (*rules_link.RULES, *rules_session.RULES) for one in series for finding in rule(one)]
    found += [finding for rule in rules_cross.RULES for finding in rule(series)]
    return sorted(_merged(found), key=lambda finding: _ORDER.index(finding.severity))


def first_to_look_at(found: Sequence[Finding]) -> Finding | None:
    """The one thing to look at first, from the findings in their order; None where all is as it should be."""
    return next((finding for finding in found if finding.severity is not Severity.GOOD), None)


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """Findings of one kind and title become one, with the evidence of the first and the series of all."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.key, finding.title), []).append(finding)
    return [_joined(group) for group in groups.values()]


def _joined(group: list[Finding]) -> Finding:
    first = group[0]
    ids = tuple(dict.fromkeys(series_id for finding in group for series_id in finding.series_ids))
    more = len(ids) - len(first.series_ids)
    likewise = f" Likewise in {more} of the other series." if more else ""
    return replace(first, series_ids=ids, evidence=first.evidence + likewise)
