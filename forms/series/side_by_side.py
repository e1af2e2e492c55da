"""Recordings of a kind that has no comparison of its own, side by side."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from forms import report
from storage.recordings import Recording


def side_by_side(heads: Sequence[Recording], reports: Sequence[report.Report]) -> report.Report:
    """The fields of several recordings of one kind, a column each."""
    texts_of_reports = list(map(_texts_by_field, reports))
    names = list(dict.fromkeys(chain.from_iterable(texts_of_reports)))

    rows = []
    values: dict[str, list[str | None]] = {}
    for name in names:
        values[name] = [texts.get(name) for texts in texts_of_reports]
        rows.append(report.row_of(name, *(text or "" for text in values[name])))

    columns = report.columns_of("", *(head.label or head.id for head in heads))
    return report.Report(
        form="comparison",
        title=f"Recordings of kind {heads[0].kind} side by side",
        name="Comparison",
        tables=(report.Table(columns=columns, rows=tuple(rows)),),
        document=partial(_side_by_side_document, heads, values),
    )


def _texts_by_field(form: report.Report) -> dict[str, str]:
    return {field.name: field.text for field in (*form.fields, *form.results)}


def _side_by_side_document(heads: Sequence[Recording], values: Mapping[str, Sequence[str | None]]) -> dict[str, Any]:
    return {
        "schema": "sharebench/side-by-side/1",
        "kind": heads[0].kind,
        "recordings": [head.id for head in heads],
        "fields": [{"name": name, "values": list(texts)} for name, texts in values.items()],
    }
