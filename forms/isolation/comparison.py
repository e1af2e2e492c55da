"""Two isolations side by side."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

from forms import wording
from forms.comparison.blame_report import with_blame
from forms.isolation.document import isolation_document
from forms.isolation.summary import IsolationSummary, isolation_summary, profiled_rounds
from forms.isolation.tables import SHOWN_LAYERS
from forms.isolation.wording import verdict_sentence
from forms.report import Report, ReportKind, Table, columns_of, fields_of, row_of
from storage.isolation import Isolation

COMPARISON_SCHEMA = "sharebench/isolation-comparison/1"


def isolation_comparison(base: Isolation, other: Isolation) -> Report:
    """Two isolations side by side; layers that one lacks stay empty."""
    base_summary = isolation_summary(base)
    other_summary = isolation_summary(other)

    report = Report(
        form="isolation comparison",
        title="Two isolations",
        name="Isolations",
        fields=fields_of(
            ("Base's verdict", verdict_sentence(base_summary.verdict)),
            ("Other's verdict", verdict_sentence(other_summary.verdict)),
            ("Base", _describe_isolation(base)),
            ("Other", _describe_isolation(other)),
        ),
        tables=tuple(_rates_tables(base_summary, other_summary)),
        advice=(*_differences(base, other), *_one_sided_rates(base_summary, other_summary)),
        document=partial(_comparison_document, base_summary, other_summary),
    )
    return with_blame(report, profiled_rounds(base_summary), profiled_rounds(other_summary))


def _comparison_document(base: IsolationSummary, other: IsolationSummary) -> dict[str, Any]:
    return {
        "schema": COMPARISON_SCHEMA,
        "base": isolation_document(base),
        "other": isolation_document(other),
    }


def _differences(base: Isolation, other: Isolation) -> Sequence[str]:
    differences = []
    if base.script_sha256 != other.script_sha256 or base.without != other.without:
        differences.append("They asked for different operations: the scripts, or what was left out of them, differ.")
    if base.seconds != other.seconds:
        differences.append(f"Their runs lasted {base.seconds} and {other.seconds} s.")
    return differences


def _describe_isolation(isolation: Isolation) -> str:
    parts = (
        isolation.id,
        wording.plain(isolation.label),
        wording.place(isolation.target),
        f"script {wording.plain(isolation.script)}",
    )
    return " · ".join(filter(None, parts))


def _one_sided_rates(base: IsolationSummary, other: IsolationSummary) -> Sequence[str]:
    """Which side has no rates, so that only the profiles are compared."""
    without = [summary.isolation.id for summary in (base, other) if not _has_rates(summary)]
    return [f"{isolation_id} has no rates: only the profiles are compared." for isolation_id in without]


def _has_rates(summary: IsolationSummary) -> bool:
    return any(point.rates for point in summary.points)


def _rates_tables(base: IsolationSummary, other: IsolationSummary) -> Iterator[Table]:
    """The layers side by side; nothing where a side has none of them."""
    if not _has_rates(base) or not _has_rates(other):
        return

    base_rates = {point.clients: point.rates for point in base.points}
    other_rates = {point.clients: point.rates for point in other.points}

    rows = []
    for clients, layer in product(sorted(base_rates.keys() | other_rates.keys()), SHOWN_LAYERS):
        base_rate = base_rates.get(clients, {}).get(layer)
        other_rate = other_rates.get(clients, {}).get(layer)
        if base_rate or other_rate:
            change = 100 * (other_rate / base_rate - 1) if base_rate and other_rate else None
            megabytes = (wording.megabytes(base_rate), wording.megabytes(other_rate))
            rows.append(row_of(clients, layer.value, *megabytes, change))

    yield Table(
        columns=columns_of(
            ("Clients", ReportKind.WHOLE),
            "Layer",
            ("Base, MB/s", ReportKind.DECIMAL),
            ("Other, MB/s", ReportKind.DECIMAL),
            ("Change in %", ReportKind.SIGNED),
        ),
        rows=tuple(rows),
    )
