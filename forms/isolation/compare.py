"""Two isolations side by side: each layer's rate, what the server reaches of the least, both verdicts."""

from collections.abc import Sequence
from typing import Any

from forms import wording
from forms.isolation.document import isolation_document
from forms.isolation.profile import profile_changes
from forms.isolation.summary import IsolationSummary, isolation_summary
from forms.isolation.words import verdict_sentence
from forms.report import Field, Report, ReportKind, Row, Table, columns_of, row_of
from storage.isolations import Isolation, Layer

SCHEMA = "sharebench/isolation-comparison/1"
_SHOWN = (Layer.DISK, Layer.NETWORK, Layer.DISK_WITH_NETWORK, Layer.NETWORK_WITH_DISK, Layer.SERVER)
_MEGABYTE = 1_000_000


def isolation_comparison(base: Isolation, other: Isolation) -> Report:
    """The report of two isolations; layers that one of them has not are left empty."""
    both = (isolation_summary(base), isolation_summary(other))
    fields = [Field(name=label, text=_name(one)) for label, one in zip(("Base", "Other"), both, strict=True)]
    verdicts = [
        Field(name=f"{label}'s verdict", text=verdict_sentence(one.verdict))
        for label, one in zip(("Base", "Other"), both, strict=True)
    ]
    return Report(
        form="isolation comparison",
        title="Two isolations",
        name="Isolations",
        fields=tuple(fields),
        tables=(_table(both), *_profile_table(both)),
        results=tuple(verdicts),
        advice=tuple(_differences(base, other)),
        document=lambda: _document(both),
    )


def _name(summary: IsolationSummary) -> str:
    one = summary.isolation
    parts = (one.id, wording.plain(one.label), wording.place(one.target), f"script {wording.plain(one.script)}")
    return " · ".join(part for part in parts if part)


def _table(both: Sequence[IsolationSummary]) -> Table:
    rates = (("Base, MB/s", ReportKind.DECIMAL), ("Other, MB/s", ReportKind.DECIMAL))
    columns = columns_of(("Clients", ReportKind.WHOLE), "Layer", *rates, ("Change in %", ReportKind.SIGNED))
    points = [{point.clients: point for point in one.points} for one in both]
    rows = []
    for clients in sorted(set(points[0]) | set(points[1])):
        found = [one.get(clients) for one in points]
        for layer in _SHOWN:
            pair = [point.rates.get(layer) if point else None for point in found]
            if any(pair):
                rows.append(_row(clients, layer.value, pair))
    return Table(columns=columns, rows=tuple(rows))


def _profile_table(both: Sequence[IsolationSummary]) -> list[Table]:
    """What smbd counted in each, those calls first whose time changed most."""
    runs = [
        [run for run in one.isolation.runs if run.layer is Layer.SERVER and run.clients == one.profile_clients]
        for one in both
    ]
    changes = profile_changes(*runs)
    times = (("Base, s", ReportKind.DECIMAL), ("Other, s", ReportKind.DECIMAL), ("Change, s", ReportKind.DECIMAL))
    a_call = (("Base, µs a call", ReportKind.DECIMAL), ("Other, µs a call", ReportKind.DECIMAL))
    counts = (("Base, calls", ReportKind.WHOLE), ("Other, calls", ReportKind.WHOLE))
    rows = []
    for one in changes:
        sides = (one.before, one.after)
        seconds = [None if side is None else side.microseconds / 1e6 for side in sides]
        each = [side.microseconds / side.calls if side and side.calls else None for side in sides]
        change = one.seconds if all(sides) else None
        calls = [side.calls if side else None for side in sides]
        rows.append(row_of(wording.plain(one.name), *calls, *seconds, change, *each))
    columns = columns_of("Call", *counts, *times, *a_call)
    caption = "smbd's profile of the server layer, the largest change first"
    return [Table(columns=columns, rows=tuple(rows), caption=caption)] if rows else []


def _row(clients: int, name: str, rates: Sequence[float | None]) -> Row:
    base, other = rates
    change = 100 * (other / base - 1) if base and other else None
    return row_of(clients, name, *(rate / _MEGABYTE if rate else None for rate in rates), change)


def _differences(base: Isolation, other: Isolation) -> list[str]:
    """What keeps the two from being measured alike."""
    said = []
    if base.script_sha256 != other.script_sha256 or base.without != other.without:
        said.append("They asked for different operations: the scripts, or what was left out of them, differ.")
    if base.seconds != other.seconds:
        said.append(f"Their runs lasted {base.seconds} and {other.seconds} s.")
    return said


def _document(both: Sequence[IsolationSummary]) -> dict[str, Any]:
    base, other = (isolation_document(one) for one in both)
    return {"schema": SCHEMA, "base": base, "other": other}
