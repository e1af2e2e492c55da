"""Forms as JSON: one object, or an array of them where there are several forms."""

import json
from collections.abc import Sequence
from typing import Any

from forms.report import Report


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    """The forms' documents in UTF-8; text that UTF-8 cannot hold (half of a surrogate pair) is escaped."""
    documents = [report.document() or _to_be_filled(report) for report in reports]
    content = documents[0] if len(documents) == 1 else documents
    try:
        return _dumped(content, ascii_only=False).encode()
    except UnicodeEncodeError:
        return _dumped(content, ascii_only=True).encode()


def _to_be_filled(report: Report) -> dict[str, Any]:
    """A blank form that has no document of its own: its lines and columns, every value null."""
    return {
        "form": report.form,
        **{field.name: None for field in report.fields},
        "rows": [
            {column.heading: cell.value for column, cell in zip(table.columns, row.cells, strict=False)}
            for table in report.tables
            for row in table.rows
        ],
    }


def _dumped(content: object, *, ascii_only: bool) -> str:
    return json.dumps(content, indent=1, ensure_ascii=ascii_only, allow_nan=False) + "\n"
