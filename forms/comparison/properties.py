"""What was measured on each side of a comparison, property by property."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from forms import report, wording
from forms.comparison.comparison import Comparison
from forms.comparison.pair_tables import confidence_of_counted, counted_rates_of, side_averages
from forms.comparison.remarks import known_value_text
from forms.comparison.side_values import pooled_deviation
from forms.comparison.summary import ComparisonSummary
from forms.findings.full_links import carrying_link_rate
from forms.findings.link_text import link_text
from forms.series import random_requests
from forms.series.summary import SeriesSummary
from forms.tuning.differences import requests_text, settings_of_one_version, told_differences
from storage import records

_TWO_FIGURES = 100
"""A rate this many times smaller than its unit has less than two figures."""


_SHOWN_SIDE_BY_SIDE = {
    "command",
    "target",
    "size_bytes",
    "link_bits_per_second",
    "client.name",
    "client.version",
    "client.dialect",
}
"""Differences that the table of properties has rows of, so that they are not told twice."""


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A property of both sides, as text."""

    name: str
    base: str
    other: str
    differs: bool | None = None
    """Whether the setting differs; None for what is no setting, or where a side's value is not known."""


@dataclass(frozen=True, slots=True)
class _Figures:
    """What the runs of a side that count come to, in bytes per second; None where that is not known."""

    average: float | None
    deviation: float | None
    interval: tuple[float, float] | None
    """The 95 % interval of the average, by the runs alone."""


@dataclass(frozen=True, slots=True)
class _Property:
    """What a series has, in words."""

    name: str
    text: str
    is_setting: bool = False


def side_by_side(compared: ComparisonSummary) -> list[ComparisonRow]:
    """The properties of both sides; of settings those of the first series, which the others of a side share."""
    comparison = compared.comparison
    base_rate, other_rate = side_averages(comparison)
    base_deviation = pooled_deviation(counted_rates_of(comparison, compared.bases))
    other_deviation = pooled_deviation(counted_rates_of(comparison, compared.others))
    base_figures = _Figures(base_rate, base_deviation, _interval_of_side(comparison, compared.bases))
    other_figures = _Figures(other_rate, other_deviation, _interval_of_side(comparison, compared.others))
    load = comparison.other_load
    base_properties = _properties(compared.bases, comparison.base_baseline, base_figures, other_rate)
    other_properties = _properties(compared.others, comparison.other_baseline, other_figures, base_rate)
    if load is not None:
        base_properties.append(_Property("Other programs", _share_of_processors(load.base_percent)))
        other_properties.append(_Property("Other programs", _share_of_processors(load.other_percent)))
    rows = []
    for base, other in zip(base_properties, other_properties, strict=True):
        differs = None
        if base.is_setting and base.text and other.text:
            differs = base.text != other.text
        rows.append(ComparisonRow(base.name, base.text, other.text, differs))
    return rows


def _share_of_processors(percent: float) -> str:
    return f"{wording.percent(percent)} of the client's CPUs"


def _interval_of_side(comparison: Comparison, side: Sequence[SeriesSummary]) -> tuple[float, float] | None:
    """By the runs of its only series; of several the runs alone give none: by how much series differ counts."""
    return confidence_of_counted(comparison, side[0]) if len(side) == 1 else None


def _properties(
    side: Sequence[SeriesSummary], baseline: str, figures: _Figures, opposite_average: float | None
) -> list[_Property]:
    """Those of a side, by its first series; ``baseline`` is the name of one that the side is called by, or empty.

    Both sides have the same properties in the same order. Rates of either are in one unit, for which the average of the
    ``opposite`` side is needed.
    """
    all_series = [series_summary.series for series_summary in side]
    series = all_series[0]
    in_time = sorted(all_series, key=attrgetter("created_at"))
    labels = dict.fromkeys(one_series.label for one_series in in_time if one_series.label)
    moments = dict.fromkeys(one_series.created_at for one_series in in_time)
    runs = sum(len(one_series.measured()) for one_series in all_series)
    client = series.client
    samba = str(series.environment.get("server", {}).get("samba.version", ""))

    return [
        _Property("Series", ", ".join(one_series.id for one_series in in_time)),
        _Property("Label", wording.plain(", ".join(labels) or baseline)),
        _Property("When", ", ".join(map(records.with_zone, moments))),
        _Property("Command", series.command.value, is_setting=True),
        _Property("Target", wording.place(series.target), is_setting=True),
        _Property("Requests", _requests_text(series), is_setting=True),
        _Property("Size", _size_text(all_series), is_setting=True),
        _Property("Link", link_text(series, figures.average), is_setting=True),
        _Property("Client", wording.plain(f"{client.name} {client.version}".strip()), is_setting=True),
        _Property("Protocol", wording.plain(_protocol_text(side[0])), is_setting=True),
        _Property("Samba", wording.plain(samba), is_setting=True),
        _Property("Valid runs", str(runs)),
        *_rate_properties(side, figures, opposite_average),
    ]


def _requests_text(series: records.Series) -> str:
    """What random requests ask for; empty for whole files, which need no word."""
    if not series.is_random:
        return ""
    block_bytes = series.client.block_bytes
    blocks = f" of {wording.binary_size(block_bytes)}" if block_bytes else ""
    in_flight = series.client.in_flight
    at_once = f", {in_flight} at once" if in_flight else ""
    return f"{requests_text(series)}{blocks}{at_once}"


def _size_text(all_series: Sequence[records.Series]) -> str:
    sizes = set().union(*(series.file_sizes() for series in all_series))
    if not sizes:
        return wording.ABSENT
    return wording.binary_size(sizes.pop()) if len(sizes) == 1 else "several"


def _protocol_text(series_summary: SeriesSummary) -> str:
    client = series_summary.series.client
    parts = [f"SMB {client.dialect}" if client.dialect else series_summary.series.target.protocol]
    if client.is_signed:
        parts.append(f"signed ({client.signing})")
    if client.is_encrypted:
        parts.append(f"encrypted ({client.encryption})")
    return ", ".join(parts)


def _rate_properties(
    side: Sequence[SeriesSummary], figures: _Figures, opposite_average: float | None
) -> list[_Property]:
    """Rates in the unit of the faster side, unless this side is too slow for two figures in that unit."""
    average = figures.average
    fastest = max(average or 0.0, opposite_average or 0.0)
    unit = fastest
    if average is not None and average * _TWO_FIGURES < fastest:
        unit = average

    interval = wording.ABSENT
    if figures.interval:
        low, high = (wording.rate(end, beside=unit) if end > 0 else "0" for end in figures.interval)
        interval = f"{low} to {high}"
    share = None
    if average is not None:
        carrying_rate = carrying_link_rate(side[0].series, average)
        share = records.percent_of_link(average, round(carrying_rate) if carrying_rate else None)
    return [
        _Property("Average", wording.rate(average, beside=unit)),
        _Property("Deviation", wording.rate(figures.deviation, beside=unit)),
        _Property("95 %, runs alone", interval),
        *_request_properties(side, average),
        _Property("% of link", "" if share is None else wording.cell_percent(share)),
    ]


def _request_properties(side: Sequence[SeriesSummary], average: float | None) -> list[_Property]:
    """Operations a second and how long random requests took; without a text for whole files."""
    runs = [run for series_summary in side for run in series_summary.series.measured()]
    figures = random_requests.figures_of_runs(runs) or random_requests.NO_FIGURES
    return [
        _Property("Operations", wording.operations_text(side[0].series, average)),
        _Property("p50 of a request", _time_text(figures.p50_seconds)),
        _Property("p95 of a request", _time_text(figures.p95_seconds)),
        _Property("p99 of a request", _time_text(figures.p99_seconds)),
        _Property("Longest request", _time_text(figures.max_seconds)),
    ]


def _time_text(seconds: float | None) -> str:
    return "" if seconds is None else wording.milliseconds(seconds)


def difference_rows(compared: ComparisonSummary) -> list[ComparisonRow]:
    """What differs beside the properties that stand side by side."""
    rows = [
        ComparisonRow(
            difference.label,
            known_value_text(difference.name, difference.base),
            known_value_text(difference.name, difference.other),
            differs=True,
        )
        for difference in told_differences(compared.comparison.differences)
        if difference.name not in _SHOWN_SIDE_BY_SIDE
    ]

    of_one_version = settings_of_one_version(compared.comparison.differences)
    if of_one_version:
        base_count = sum(difference.base is not None for difference in of_one_version)
        other_count = len(of_one_version) - base_count
        name = "other parameters that only this version has"
        rows.append(ComparisonRow(name, str(base_count), str(other_count), differs=True))
    return rows


_DIFFERS_TEXTS = {True: "differs", False: "same", None: ""}


def properties_table(caption: str, comparison: Comparison, rows: Sequence[ComparisonRow]) -> report.Table:
    """The rows that have a text on a side; a last column says whether a setting differs, where there is one."""
    has_settings = any(row.differs is not None for row in rows)
    table_rows = []
    for row in rows:
        if row.base or row.other:
            differs = [_DIFFERS_TEXTS[row.differs]] if has_settings else []
            table_rows.append(report.row_of(row.name, row.base, row.other, *differs))
    columns = report.columns_of("", comparison.base_name, comparison.other_name, *(["Setting"] if has_settings else []))
    return report.Table(columns=columns, rows=tuple(table_rows), caption=caption)
