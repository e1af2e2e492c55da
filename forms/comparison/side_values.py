"""Figures and properties of the sides of a comparison that hold whatever its verdict is."""

import statistics as basic
from collections.abc import Sequence
from itertools import chain

from forms.comparison import hiccups
from forms.comparison.comparison import OldLink
from forms.comparison.judged_sides import Sides
from forms.comparison.settling import replaced_in
from forms.findings.full_links import FULL_LINK_PERCENT, limiting_shaper
from forms.findings.series_warnings import advice
from forms.series.names import names_beside
from forms.series.summary import SeriesSummary
from forms.tuning.differences import Difference, effective, parameter_of
from storage import records


def names_of_sides(several: Sequence[Sides]) -> dict[str, str]:
    """What people call the sides of comparisons that stand together, by the ids of the first series of each side."""
    first_series: dict[str, records.Series] = {}
    baselines: dict[str, str] = {}
    for sides in several:
        for side in (sides.base, sides.other):
            first_series[side[0].id] = side[0]
        baselines |= sides.baselines
    return names_beside(list(first_series.values()), baselines)


def names_of_series(sides: Sides) -> dict[str, str]:
    """What people call each series of a comparison, by its id: one that stands alone as its side is called."""
    side_names = sides.called or names_of_sides([sides])
    names: dict[str, str] = {}
    for side in (sides.base, sides.other):
        side_name = side_names[side[0].id]
        if len(side) == 1:
            names[side[0].id] = side_name
            continue
        # The series of a baseline have its name, and their times tell them apart.
        has_baseline_name = side[0].id in sides.baselines
        unlabelled = {series.id: side_name for series in side if has_baseline_name and not series.label}
        names |= names_beside(side, unlabelled)
    return names


def rates_of_side(side: Sequence[records.Series]) -> list[list[float]]:
    """The rates of the valid runs of each series, in bytes per second."""
    return [series.rates() for series in side]


def average_rate(side: Sequence[records.Series]) -> float | None:
    """The mean of the series' means of all their runs; None where a series has no run."""
    return mean_of_averages(rates_of_side(side))


def mean_of_averages(rates: Sequence[Sequence[float]]) -> float | None:
    """As :func:`average_rate`, of the rates of each series."""
    return basic.fmean(map(basic.fmean, rates)) if all(rates) else None


def rate_deviation(side: Sequence[records.Series]) -> float | None:
    """The standard deviation of the runs, pooled over the series; None where a series has only one.

    s² = the sum of (n - 1) s_series² over the sum of (n - 1), for series of n runs.
    """
    return pooled_deviation(rates_of_side(side))


def pooled_deviation(rates: Sequence[Sequence[float]]) -> float | None:
    """As :func:`rate_deviation`, of the rates of each series."""
    if any(len(series_rates) < 2 for series_rates in rates):
        return None

    squares = sum(basic.variance(series_rates) * (len(series_rates) - 1) for series_rates in rates)
    freedom = sum(len(series_rates) - 1 for series_rates in rates)
    return float((squares / freedom) ** 0.5)


def counted_rates(summaries: Sequence[SeriesSummary], left_out: Sequence[hiccups.OutstandingRun]) -> list[list[float]]:
    """The rates of the runs of each series that count, in bytes per second: without those that are left out."""
    rates = []
    for summary in summaries:
        series = summary.series
        numbers = {run.number for run in left_out if run.series_id == series.id}
        rates.append(hiccups.rates_without(series, numbers))
    return rates


def wander_percent(side: Sequence[records.Series]) -> float | None:
    """How far the averages of a side's series lie apart, in percent of their mean; None for a single series."""
    averages = [basic.fmean(rates) for rates in rates_of_side(side) if rates]
    if len(averages) < 2:
        return None
    return 100 * (max(averages) - min(averages)) / basic.fmean(averages)


def busy_ids(sides: Sides) -> tuple[str, ...]:
    """The ids of the series of each side of which all series were measured at a busy time."""
    busy: list[str] = []
    for side in (sides.base, sides.other):
        if all(series.quiet_verdict is records.QuietVerdict.BUSY for series in side):
            busy += [series.id for series in side]
    return tuple(busy)


def newer_has_short_runs(base: records.Series, other: records.Series) -> bool:
    """Whether the newer of both series has the warning that its runs are short."""
    newer = other if other.moment > base.moment else base
    return any(warning.key == "short" for warning in advice(newer))


def shows_parameters(series: records.Series) -> bool:
    """Whether settings of the server were read for a series."""
    return any(map(parameter_of, series.environment.get("server", {})))


def shows_its_change(base: records.Series, other: records.Series) -> bool:
    """Whether the change of ``other``, if it is still in force, must show as a difference between both sides.

    It was confirmed on the server, and is a setting outside smb.conf, or a parameter that was read for both sides.
    """
    if other.change is None or other.change.evidence is not records.Evidence.CONFIRMED:
        return False

    # It loads the whole catalogue, which no other comparison needs.
    from forms.tuning.own_setting import own_setting

    if own_setting(other.change.name) is not None:
        return True
    return all(
        effective(series.environment.get("server", {}), other.change.name) is not None for series in (base, other)
    )


def old_link_of(sides: Sides, differing: Sequence[Difference], claimed: records.Change | None) -> OldLink | None:
    """The full link of the base, where it was replaced and the other side's average is more than it could carry.

    Then it is certain that the other side is faster, however much equal series differ by themselves.
    """
    link_bits = sides.base[0].link_bits_per_second
    base_rate = average_rate(sides.base)
    other_rate = average_rate(sides.other)
    is_other_way = any(difference.name in ("command", "target") for difference in differing)
    if not link_bits or base_rate is None or other_rate is None or is_other_way:
        return None
    # What carried more than the base's link can is another one, also where nobody gave its speed.
    is_other_link_unknown = sides.other[0].link_bits_per_second is None
    if not replaced_in(differing, claimed) and not is_other_link_unknown:
        return None

    share_percent = records.percent_of_link(base_rate, link_bits)
    if share_percent is None or share_percent < FULL_LINK_PERCENT or other_rate <= link_bits / 8:
        return None
    return OldLink(
        bits_per_second=link_bits,
        spread_percent=_changes_of_parts(sides.other, base_rate),
        shaper=limiting_shaper(sides.base[0], base_rate),
    )


def _changes_of_parts(other: Sequence[records.Series], base_rate: float) -> tuple[float, float]:
    """(lowest, highest) change from the base in percent, of the series of a side, or of the runs of its only one."""
    if len(other) > 1:
        rates = [basic.fmean(series.rates()) for series in other]
    else:
        rates = list(chain.from_iterable(series.rates() for series in other))
    return 100 * (min(rates) / base_rate - 1), 100 * (max(rates) / base_rate - 1)
