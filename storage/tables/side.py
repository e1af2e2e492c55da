"""Tables of a notebook beside its recordings: clients' own limits, worksheets, and what screens remember."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from storage import codec, records
from storage.base import NotebookBase


class SideTables(NotebookBase):
    def ceiling(self, key: str) -> records.Ceiling | None:
        """A client's own limit, as it was last measured; None where it was not."""
        rows = self._rows("SELECT key, bytes_per_second, measured_at FROM ceilings WHERE key = ?", (key,))
        row = next(rows, None)
        if row is None:
            return None
        return records.Ceiling(key=row["key"], bytes_per_second=row["bytes_per_second"], measured_at=row["measured_at"])

    def set_ceiling(self, ceiling: records.Ceiling) -> None:
        with self._db.atomic():
            self._db.table("ceilings").insert(asdict(ceiling), replace=True)

    def worksheets(self, kind: str) -> list[records.Worksheet]:
        """Those of a kind, the one saved last first."""
        rows = self._rows("SELECT * FROM worksheets WHERE kind = ? ORDER BY saved_at DESC", (kind,))
        return [
            records.Worksheet(
                kind=row["kind"], name=row["name"], saved_at=row["saved_at"], content=codec.object_of(row["content"])
            )
            for row in rows
        ]

    def save_worksheet(self, worksheet: records.Worksheet) -> None:
        with self._db.atomic():
            row = asdict(worksheet) | {"content": json.dumps(dict(worksheet.content))}
            self._db.table("worksheets").insert(row, replace=True)

    def remember(self, key: str, value: Mapping[str, records.JSONValue] | None) -> None:
        """Keep a value for the next start of the program, such as the choices of a screen; None forgets it."""
        with self._db.atomic():
            if value is None:
                self._db.execute("DELETE FROM remembered WHERE key = ?", (key,))
            else:
                self._db.table("remembered").insert({"key": key, "value": json.dumps(dict(value))}, replace=True)

    def remembered(self, key: str) -> dict[str, records.JSONValue] | None:
        row = self._db.execute("SELECT value FROM remembered WHERE key = ?", (key,)).fetchone()
        return codec.object_of(row[0]) if row else None
