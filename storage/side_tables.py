"""What a notebook keeps beside series: ceilings, worksheets, what the guide remembers."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from storage.base import NotebookBase
from storage.codec import object_of
from storage.records import Ceiling, JSONValue, Worksheet


class SideTables(NotebookBase):
    """Ceilings, worksheets, and values under keys."""

    def ceiling(self, key: str) -> Ceiling | None:
        """The calibrated limit under that key."""
        for row in self._rows("SELECT key, bytes_per_second, measured_at FROM ceilings WHERE key = ?", (key,)):
            return Ceiling(**row)
        return None

    def set_ceiling(self, ceiling: Ceiling) -> None:
        """Store a calibrated limit, in place of an earlier one."""
        with self._db.atomic():
            self._db.table("ceilings").insert(asdict(ceiling), replace=True)

    def worksheets(self, kind: str) -> list[Worksheet]:
        """The saved worksheets of one kind, newest first."""
        rows = self._rows("SELECT * FROM worksheets WHERE kind = ? ORDER BY saved_at DESC", (kind,))
        return [Worksheet(**row | {"content": object_of(row["content"])}) for row in rows]

    def save_worksheet(self, worksheet: Worksheet) -> None:
        """Save a worksheet, in place of one of the same kind and name."""
        with self._db.atomic():
            row = asdict(worksheet) | {"content": json.dumps(dict(worksheet.content))}
            self._db.table("worksheets").insert(row, replace=True)

    def remember(self, key: str, value: Mapping[str, JSONValue] | None) -> None:
        """Keep a value under a key across restarts; None forgets it."""
        with self._db.atomic():
            if value is None:
                self._db.execute("DELETE FROM remembered WHERE key = ?", (key,))
            else:
                self._db.table("remembered").insert({"key": key, "value": json.dumps(dict(value))}, replace=True)

    def remembered(self, key: str) -> dict[str, JSONValue] | None:
        """The value that was kept under the key."""
        for (value,) in self._db.execute("SELECT value FROM remembered WHERE key = ?", (key,)):
            return object_of(value)
        return None
