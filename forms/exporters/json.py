"""Forms as JSON: one object, or an array of them where there are several forms."""

import json
from collections.abc import Sequence
from typing import Any

from forms.layout import json_escaped
from forms.report import Report


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    """UTF-8; what steers a terminal or what UTF-8 cannot hold is escaped."""
    documents = [report.document() or _to_be_filled(report) for report in reports]
    content = documents[0] if len(documents) == 1 else documents
    return json_escaped(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _to_be_filled(report: Report) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for table in report.tables:
        headings = [column.heading for column in table.columns]
        for row in table.rows:
            values = [cell.value for cell in row.cells]
            rows.append(dict(zip(headings, values, strict=False)))

    document: dict[str, Any] = {"form": report.form}
    document |= dict.fromkeys(field.name for field in report.fields)
    document["rows"] = rows
    return document
