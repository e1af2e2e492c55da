"""The tables of loads. Their records are loaded with the first of them: most commands meet none."""

from dataclasses import replace
from typing import TYPE_CHECKING

from storage.codec import object_of, reports_damage
from storage.json_reader import JSONNode
from storage.recordings import LOAD, Recording, RecordingTables, with_head

if TYPE_CHECKING:
    from storage.load.records import Load, LoadPoint


def _is_alike(past: "Load", load: "Load") -> bool:
    return _what_it_is_of(past) == _what_it_is_of(load)


def _what_it_is_of(load: "Load") -> tuple[object, ...]:
    """What loads have in common whose figures can be held beside each other."""
    return load.targets, load.scenario, load.choices.like, load.choices.from_host


class LoadTables(RecordingTables):
    """Loads, with their points."""

    def add_load(self, load: "Load") -> None:
        from storage.load.documents import head_of_load, point_to_row

        with self._db.atomic():
            self.add_recording(head_of_load(load))
            for point in load.points:
                self._db.table("load_points").insert(point_to_row(load.id, point))

    def update_load(self, load: "Load") -> None:
        from storage.load.documents import head_of_load

        self.update_recording(head_of_load(load))

    def put_point(self, load_id: str, point: "LoadPoint") -> None:
        """Store a point, in place of one of the same number."""
        from storage.load.documents import point_to_row

        with self._db.atomic():
            self._db.table("load_points").insert(point_to_row(load_id, point), replace=True)

    def load(self, reference: str) -> "Load":
        """The load that is meant. Raises UnknownReferenceError."""
        return self._load(self.recording(reference, LOAD))

    def loads(self, limit: int | None = None) -> "list[Load]":
        return [self._load(head) for head in self.recordings(LOAD, limit=limit)]

    def loads_like(self, load: "Load", before: str) -> "list[Load]":
        """Those of the same scenario, against the same targets, as the same client and from the same machine, made
        before a moment.

        The oldest comes first.
        """
        from storage.load.documents import head_of_load

        rows = self._rows(
            "SELECT * FROM recordings WHERE kind = ? AND subject = ? AND created_at < ? ORDER BY created_at",
            (LOAD, head_of_load(load).subject, before),
        )
        loads = map(self._load, self._recordings(rows))
        return [past for past in loads if _is_alike(past, load)]

    @reports_damage
    def _load(self, head: Recording) -> "Load":
        from storage.load.documents import NOT_TOLD, point_from_json
        from storage.load.records import Load

        leftovers = head.leftovers or {}
        sql = "SELECT status, reason, figures FROM load_points WHERE load_id = ? ORDER BY number"
        rows = map(dict, self._rows(sql, (head.id,)))
        points = (JSONNode("figures", object_of(row.pop("figures")) | row) for row in rows)

        return replace(
            with_head(head).record(Load, leave=NOT_TOLD),
            points=tuple(map(point_from_json, points)),
            scratch_folder=str(leftovers["scratch_folder"]) if "scratch_folder" in leftovers else None,
            imported_at=head.imported_at,
            owner=head.lease,
        )
