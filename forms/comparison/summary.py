"""The comparison form: two series, the verdict and their differences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.differences import Difference
from forms.comparison.verdict import Sides, compare_several
from forms.findings.series_warnings import DRIFT_PERCENT
from forms.series.summary import SeriesSummary, run_form
from forms.stats.decision import Limits, Verdict
from forms.stats.summary import drift, lag_1
from forms.tuning.facts import human_name
from storage.records import Change, JSONValue, QuietVerdict, Series, with_zone


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One property of both series, as text."""

    name: str
    base: str
    other: str
    differs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSummary:
    """A comparison as screens and exporters draw it."""

    comparison: Comparison
    bases: tuple[SeriesSummary, ...]
    others: tuple[SeriesSummary, ...]
    rows: tuple[ComparisonRow, ...]
    differences: tuple[ComparisonRow, ...]
    remarks: tuple[str, ...]

    @property
    def base(self) -> SeriesSummary:
        return self.bases[0]

    @property
    def other(self) -> SeriesSummary:
        return self.others[0]


def comparison_form(base: Series, other: Series, limits: Limits | None = None) -> ComparisonSummary:
    """The filled comparison form of two series."""
    return comparisons([Sides(base=(base,), other=(other,))], limits)[0]


def comparisons(several: Sequence[Sides], limits: Limits | None = None) -> list[ComparisonSummary]:
    """All comparisons of one command, with a joint error of at most alpha."""
    found = compare_several(several, limits or Limits())
    return [_summary(comparison, sides, len(several)) for comparison, sides in zip(found, several, strict=True)]


def _summary(comparison: Comparison, sides: Sides, at_once: int) -> ComparisonSummary:
    bases, others = tuple(map(run_form, sides.base)), tuple(map(run_form, sides.other))
    rows = tuple(
        ComparisonRow(name=name, base=mine, other=theirs, differs=name in _SETTINGS and mine != theirs)
        for (name, mine), (_, theirs) in zip(_properties(bases[0]), _properties(others[0]), strict=True)
    )
    return ComparisonSummary(
        comparison=comparison,
        bases=bases,
        others=others,
        rows=rows,
        differences=tuple(
            ComparisonRow(
                name=difference_name(d), base=_value(d.name, d.base), other=_value(d.name, d.other), differs=True
            )
            for d in comparison.differences
            if d.name not in _SAID
        ),
        remarks=tuple(_remarks(comparison, sides, at_once)),
    )


_NAMED = 4
_SETTINGS = frozenset({"Command", "Target", "Size", "Link", "Client", "Protocol"})
_OF_CLIENT = ("name", "version", "dialect", "signing", "encryption")
_SAID = {"command", "target", "size_bytes", "link_bits_per_second", *(f"client.{part}" for part in _OF_CLIENT)}


def _properties(form: SeriesSummary) -> list[tuple[str, str]]:
    series = form.series
    sizes = {run.size_bytes for run in series.measured()}
    client = series.client
    interval = form.confidence
    low, high = interval or (0.0, 0.0)
    average = form.average.bytes_per_second if form.average else None
    deviation = form.deviation.bytes_per_second if form.deviation else None
    return [
        ("Series", series.id),
        ("Label", wording.plain(series.label)),
        ("When", with_zone(series.created_at)),
        ("Command", series.command.value),
        ("Target", wording.place(series.target)),
        ("Size", wording.binary_size(sizes.pop()) if len(sizes) == 1 else "several" if sizes else wording.ABSENT),
        ("Link", wording.link_rate(series.link_bits_per_second) if series.link_bits_per_second else wording.ABSENT),
        ("Client", wording.plain(f"{client.name} {client.version}".strip())),
        ("Protocol", _protocol(series)),
        ("Valid runs", str(len(series.measured()))),
        ("Average", wording.rate(average)),
        ("Deviation", wording.rate(deviation, beside=average)),
        (
            "95 % interval",
            f"{wording.rate(low) if low > 0 else '0'} to {wording.rate(high)}" if interval else wording.ABSENT,
        ),
        ("% of link", wording.cell_percent(form.average.percent_of_link if form.average else None)),
    ]


def _protocol(series: Series) -> str:
    client = series.client
    parts = [f"SMB {client.dialect}" if client.dialect else series.target.protocol]
    if client.is_signed:
        parts.append(f"signed ({client.signing})")
    if client.is_encrypted:
        parts.append(f"encrypted ({client.encryption})")
    return wording.plain(", ".join(parts))


def _remarks(comparison: Comparison, sides: Sides, at_once: int) -> list[str]:
    base, other = sides.base[0], sides.other[0]
    said = []
    if comparison.limits.level > 1 - 0.05 + 1e-9 and at_once > 1:
        said.append(f"{at_once} comparisons at once: each interval is wider, so that all of them hold 19 times in 20.")
    if base.command is not other.command:
        said.append(f"A {base.command} and a {other.command} are different work: compare like with like.")
    if comparison.change is not None:
        said.append(change_sentence(comparison.change))
    elif comparison.differences and comparison.verdict in (Verdict.FASTER, Verdict.SLOWER):
        named = [
            f"{difference_name(d)} ({_value(d.name, d.base)}, then {_value(d.name, d.other)})"
            for d in comparison.differences
        ]
        more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
        said.append(f"What differs, and may be the reason: {wording.listed([*named[:_NAMED], *more])}.")
    measured = [
        (f"the {name} ({series.id})" if len(side) == 1 else f"the {name} {number} ({series.id})", series)
        for side, name in ((sides.base, "base"), (sides.other, "other"))
        for number, series in enumerate(side, 1)
    ]
    if busy := [name for name, series in measured if series.quiet_verdict is QuietVerdict.BUSY]:
        said.append(f"Measured at a busy time: {wording.listed(busy)}. Measure again at a quiet one.")
    for name, series in measured:
        said += _doubts(series, f"T{name[1:]}", interleaved=comparison.interleaved)
    return said


def _doubts(series: Series, named: str, *, interleaved: bool) -> Iterator[str]:
    unusual = sum(row.unusual is not None for row in run_form(series).rows)
    if unusual:
        yield f"{named} has {wording.count(unusual, 'unusual run')}: look at them first."
    if interleaved:
        return
    trend, dependence = drift(series.rates()), lag_1(series.rates())
    if trend is not None and trend.significant and abs(trend.percent) >= DRIFT_PERCENT:
        way = "rose" if trend.percent > 0 else "fell"
        yield (
            f"{named} {way} by {wording.percent(abs(trend.percent))} over its runs (Mann-Kendall p ="
            f" {trend.p_value:.3f}): its average depends on when it stopped."
        )
    elif dependence is not None:
        yield (
            f"{named} has runs that depend on each other (correlation of neighbours {dependence:.2f}): they tell less"
            " than as many independent ones."
        )


def change_sentence(change: Change) -> str:
    """The claimed change and its evidence, in one or two sentences."""
    also = f"; also changed: {wording.listed(list(change.also_changed))}" if change.also_changed else ""
    remark = f" {change.remark}" if change.remark else ""
    return wording.plain(f"Change {wording.changed(change)}: {change.evidence}{also}.{remark}")


def difference_name(difference: Difference) -> str:
    """A difference's name for people: ``strict sync``, ``server: kernel``."""
    if difference.parameter:
        return difference.parameter
    side, _, name = difference.name.partition(".")
    if side not in {"client", "server", "path"} or not name:
        return human_name(difference.name)
    return human_name(name) if side == "path" else f"{side}: {human_name(name)}"


def _value(name: str, value: JSONValue) -> str:
    if name.endswith("_bits_per_second") and isinstance(value, int | float) and not isinstance(value, bool):
        return wording.link_rate(value)
    return wording.ABSENT if value is None else wording.plain(str(value)) or "(empty)"
