"""Loads and their points in the notebook; a point is stored when it ends."""

import json
from dataclasses import asdict, replace
from typing import Any

from storage.codec import object_of, of_a_sound_file
from storage.json_reader import JSONNode, named
from storage.loads.codec import capacity_to_json, choices_to_json, point_from_json, point_to_json
from storage.loads.records import Load, LoadPoint
from storage.recordings import LOAD, Recording, RecordingTables
from storage.records import Target

_HEAD = ("id", "created_at", "status", "error", "label", "note", "question")

NOT_TOLD = frozenset({"points", "scratch_folder", "imported_at", "owner"})


def load_content(load: Load) -> dict[str, Any]:
    """A load's own content without its points, for documents and the notebook."""
    return {
        "targets": [asdict(target) for target in load.targets],
        "scenario": load.scenario.to_json(),
        "choices": choices_to_json(load.choices),
        **named(load, "link_bits_per_second", "file_set_bytes", "server_memory_bytes"),
        "workers": [asdict(worker) for worker in load.workers],
        "environment": {side: dict(facts) for side, facts in load.environment.items()},
        "capacity": capacity_to_json(load.capacity),
    }


def head_of_load(load: Load) -> Recording:
    """The load as a recording."""
    return Recording(
        **named(load, *_HEAD, "imported_at"),
        kind=LOAD,
        subject=f"{load.scenario.name} {_place(load.targets[0])}",
        leftovers={"scratch_folder": load.scratch_folder} if load.scratch_folder else None,
        content=load_content(load),
    )


def _place(target: Target) -> str:
    return f"{target.protocol}://{target.host}/{target.share or ''}".rstrip("/")


class LoadTables(RecordingTables):
    """Loads with their points."""

    def add_load(self, load: Load) -> None:
        with self._db.atomic():
            self.add_recording(head_of_load(load))
            for point in load.points:
                self._db.table("load_points").insert(_point_to_row(load.id, point))

    def update_load(self, load: Load) -> None:
        self.update_recording(head_of_load(load))

    def put_point(self, load_id: str, point: LoadPoint) -> None:
        with self._db.atomic():
            self._db.table("load_points").insert(_point_to_row(load_id, point), replace=True)

    def load(self, reference: str) -> Load:
        return self._load(self.recording(reference, LOAD))

    def loads(self, limit: int | None = None) -> list[Load]:
        return [self._load(head) for head in self.recordings(LOAD, limit=limit)]

    @of_a_sound_file
    def _load(self, head: Recording) -> Load:
        content = dict(head.content) | {name: getattr(head, name) for name in _HEAD}
        left = head.leftovers or {}
        return replace(
            JSONNode("load", content).record(Load, leave=NOT_TOLD),
            points=self._points(head.id),
            scratch_folder=str(left["scratch_folder"]) if "scratch_folder" in left else None,
            imported_at=head.imported_at,
            owner=head.lease,
        )

    def _points(self, load_id: str) -> tuple[LoadPoint, ...]:
        rows = self._rows(
            "SELECT status, reason, figures FROM load_points WHERE load_id = ? ORDER BY number", (load_id,)
        )
        return tuple(
            point_from_json(JSONNode("figures", object_of(row.pop("figures")) | row)) for row in map(dict, rows)
        )


def _point_to_row(load_id: str, point: LoadPoint) -> dict[str, Any]:
    return {
        "load_id": load_id,
        "status": point.status.value,
        **named(point, "number", "users", "connected", "reason", "seconds", "requests"),
        **named(point, "requests_per_second", "read_bytes_per_second", "write_bytes_per_second"),
        "response_p95_seconds": point.response.quantile_seconds(0.95),
        "figures": json.dumps(point_to_json(point)),
    }
