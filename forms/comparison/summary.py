"""The comparison form: two series side by side, the verdict, and what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forms import numbers, wording
from forms.comparison.differences import Difference
from forms.comparison.matrix import base_of
from forms.comparison.verdict import Comparison, compare
from forms.series.summary import SeriesSummary, run_form
from forms.tuning.fact_names import human_name
from storage.quiet import QuietVerdict
from storage.records import Change, JSONValue, Series


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One property of both series, as text."""

    name: str
    base: str
    other: str
    differs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSummary:
    """What a screen or an exporter draws of a comparison."""

    comparison: Comparison
    base: SeriesSummary
    other: SeriesSummary
    rows: tuple[ComparisonRow, ...]
    differences: tuple[ComparisonRow, ...]
    """Settings and environment facts that differ, beside those that ``rows`` have already."""
    remarks: tuple[str, ...]
    """What weakens or explains the verdict, in sentences."""


def comparisons(series: Sequence[Series], **thresholds: float) -> list[ComparisonSummary]:
    """Each of several series against the first one, or the first of its command; ``thresholds`` as compare's."""
    pairs = [(base_of(series, index), one) for index, one in enumerate(series)]
    return [comparison_form(base, one, compare(base, one, **thresholds)) for base, one in pairs if base is not None]


def comparison_form(base: Series, other: Series, comparison: Comparison | None = None) -> ComparisonSummary:
    """The filled comparison form of two series; ``comparison`` where other thresholds than the usual ones hold."""
    comparison = comparison or compare(base, other)
    left, right = run_form(base), run_form(other)
    rows = tuple(
        ComparisonRow(name=name, base=mine, other=theirs, differs=name in _SETTINGS and mine != theirs)
        for (name, mine), (_, theirs) in zip(_properties(left), _properties(right), strict=True)
    )
    return ComparisonSummary(
        comparison=comparison,
        base=left,
        other=right,
        rows=rows,
        differences=tuple(
            ComparisonRow(
                name=difference_name(d), base=_value(d.name, d.base), other=_value(d.name, d.other), differs=True
            )
            for d in comparison.differences
            if d.name not in _SAID
        ),
        remarks=tuple(_remarks(comparison, base, other)),
    )


_NAMED = 4
"""How many differences a sentence names."""
_SETTINGS = frozenset({"Command", "Target", "Size", "Link", "Client", "Protocol"})
_SAID = frozenset(
    {
        "command",
        "target",
        "size_bytes",
        "link_bits_per_second",
        "client.name",
        "client.version",
        "client.dialect",
        "client.signing",
        "client.encryption",
    }
)


def _properties(form: SeriesSummary) -> list[tuple[str, str]]:
    series = form.series
    sizes = {run.size_bytes for run in series.measured()}
    client = series.client
    average, deviation = form.average, form.deviation
    interval = form.confidence
    return [
        ("Series", series.id),
        ("Label", wording.plain(series.label)),
        ("When", series.created_at[:16].replace("T", " ")),
        ("Command", series.command.value),
        ("Target", wording.place(series.target)),
        ("Size", numbers.size(sizes.pop()) if len(sizes) == 1 else "several" if sizes else numbers.ABSENT),
        ("Link", numbers.link_rate(series.link_bits_per_second) if series.link_bits_per_second else numbers.ABSENT),
        ("Client", wording.plain(f"{client.name} {client.version}".strip())),
        ("Protocol", _protocol(series)),
        ("Valid runs", str(len(series.measured()))),
        ("Average", wording.rate(average.bytes_per_second if average else None)),
        ("Deviation", wording.rate(deviation.bytes_per_second if deviation else None)),
        (
            "95 % interval",
            f"{wording.rate(interval[0])} to {wording.rate(interval[1])}" if interval else numbers.ABSENT,
        ),
        ("% of link", numbers.percent(average.percent_of_link if average else None)),
    ]


def _protocol(series: Series) -> str:
    client = series.client
    parts = [f"SMB {client.dialect}" if client.dialect else series.target.protocol]
    if client.signing not in {None, "none"}:
        parts.append(f"signed ({client.signing})")
    if client.encryption not in {None, "none"}:
        parts.append(f"encrypted ({client.encryption})")
    return wording.plain(", ".join(parts))


def _remarks(comparison: Comparison, base: Series, other: Series) -> list[str]:
    said = []
    if base.command is not other.command:
        said.append(f"A {base.command} and a {other.command} are different work: compare like with like.")
    if comparison.change is not None:
        said.append(change_sentence(comparison.change))
    elif comparison.differences and comparison.verdict in {"faster", "slower"}:
        named = [
            f"{difference_name(d)} ({_value(d.name, d.base)}, then {_value(d.name, d.other)})"
            for d in comparison.differences
        ]
        more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
        said.append(f"What differs, and may be the reason: {wording.listed([*named[:_NAMED], *more])}.")
    for series, name in ((base, "base"), (other, "other")):
        unusual = sum(row.unusual is not None for row in run_form(series).rows)
        if unusual:
            said.append(
                f"The {name} has {wording.count(unusual, 'unusual run')}: look at sharebench show {series.id} first."
            )
        if series.quiet_verdict is QuietVerdict.BUSY:
            said.append(f"The {name} was measured at a busy time: measure it again at a quiet one.")
    return said


def change_sentence(change: Change) -> str:
    """What a series claims to have changed and how far that is proven, in one sentence or two."""
    also = f"; also changed: {wording.listed(list(change.also_changed))}" if change.also_changed else ""
    remark = f" {change.remark}" if change.remark else ""
    return wording.plain(f"Change {wording.changed(change)}: {change.evidence}{also}.{remark}")


def difference_name(difference: Difference) -> str:
    """What a difference is called for people: ``strict sync``, ``rate of the link``, ``server: kernel``."""
    if difference.parameter:
        return difference.parameter
    side, _, name = difference.name.partition(".")
    if side not in {"client", "server", "path"} or not name:
        return human_name(difference.name)
    return human_name(name) if side == "path" else f"{side}: {human_name(name)}"


def _value(name: str, value: JSONValue) -> str:
    if name.endswith("_bits_per_second") and isinstance(value, int | float) and not isinstance(value, bool):
        return numbers.link_rate(value)
    return numbers.ABSENT if value is None else wording.plain(str(value)) or "(empty)"
