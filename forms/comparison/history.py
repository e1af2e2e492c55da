"""Earlier series of a path in groups of equal ones: what shows how far equal series differ."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from forms.comparison.differences import differences_of_repeat
from forms.comparison.verdict import moment, rates_of
from forms.stats.decision import Verdict, decide
from storage.records import Series

_CONFIRMED = 2
"""Series in a row that must differ from a group, the same way, to end it."""


def groups_of(
    earlier: Sequence[Series], base: Series, new_normal: Collection[str] = ()
) -> tuple[tuple[Series, ...], ...]:
    """The earlier series that are equal to the base in settings, session and machines, the oldest first.

    A group ends at a recorded change, at a difference that was seen, at a faster or slower that the next series
    confirmed, and before a series that somebody called the ``new_normal``: what lies between two groups is no
    variation. The base is the newest series being judged on its side.
    """
    usable = [one for one in earlier if one.measured() and _path(one) == _path(base)]
    groups: list[list[Series]] = []
    for one in usable:
        last = groups[-1] if groups else []
        ends = one.change is not None or one.id in new_normal or not last or differences_of_repeat(last[-1], one)
        if ends:
            groups.append([one])
        else:
            last.append(one)
    parts = [part for group in groups for part in _at_confirmed_changes(group)]
    return tuple(tuple(part) for part in parts if not differences_of_repeat(part[-1], base))


def _at_confirmed_changes(group: list[Series]) -> list[list[Series]]:
    """The group, cut where the verdict on a series is faster or slower and the next series says so as well."""
    parts, part = [], group[:1]
    for place, one in enumerate(group[1:], 1):
        following = group[place : place + _CONFIRMED]
        verdicts = {_against(part, each) for each in following}
        if len(following) == _CONFIRMED and verdicts in ({Verdict.FASTER}, {Verdict.SLOWER}):
            parts.append(part)
            part = []
        part.append(one)
    return [*parts, part]


def _against(part: Sequence[Series], one: Series) -> Verdict:
    rates = [rates_of(each) for each in part]
    return decide(rates, [rates_of(one)], times=[moment(each) for each in (*part, one)]).verdict


def _path(series: Series) -> tuple[object, ...]:
    """What makes a path: the way, the client, the command and the size, whatever the session negotiated."""
    target = replace(series.target, user=None, domain=None)
    return target, series.client.name, series.command, {run.size_bytes for run in series.measured()}
